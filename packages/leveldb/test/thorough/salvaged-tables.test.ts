import process from 'node:process';
import { seeded } from '@bloom/fixtures';
import { Database, DatabaseReader, parseFileName, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { collect } from '../collect.js';
import { asMap, entriesOf, mustBeSound, someDatabase } from '../some-database.js';

// Repairs of tables whose index or footer may be damaged. Each search for blocks takes a quarter of a second.
// tooling/long-tests has a run of 1,000.
const runs = Number(process.env.BLOOM_REPAIRS ?? 12);

test('a repair of damaged files saves only values that were written, keeps damaged files unchanged, and reports what was lost', async () => {
  const random = seeded(2);
  const { files, entries, history } = await someDatabase(2);
  let losses = 0;
  for (let run = 0; run < runs; run++) {
    const copy = new Map([...files].map(([name, bytes]) => [name, bytes.slice()]));
    for (const [name, bytes] of copy) {
      if (!/\.(ldb|log)$/.test(name) || random.below(3) > 0) continue;
      if (random.below(4) === 0) copy.set(name, bytes.slice(0, random.below(bytes.length)));
      else for (let i = random.below(3); i >= 0; i--) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    }
    const folder = new WritableMemoryFolder(copy);
    const report = await Database.repair(folder);
    await mustBeSound(folder);
    const found = asMap(await entriesOf(folder));
    for (const [key, value] of found) expect(history.get(key)?.has(value), `${key} has a value that was never written`).toBe(true);
    // The end of a table that is truncated at the end of a data block cannot be detected.
    if (report.lost.length === 0 && [...copy].every(([name, bytes]) => bytes.length === files.get(name)!.length)) expect(found).toEqual(entries);
    else losses++;
    // A damaged file is kept unchanged.
    const lost = folder.lostFolder().files();
    for (const { file, as } of report.setAside) expect(lost.get(as)).toEqual(copy.get(file));
  }
  expect(losses).toBeGreaterThan(runs / 4);
}, 60_000 + runs * 1000);

// LevelDB, db/corruption_test.cc.
test('TableFileIndexData: a reader loses a table with a damaged index, and a repair finds its blocks without the index', async () => {
  const random = seeded(5);
  const folder = new WritableMemoryFolder();
  let database = await Database.open(folder, { compression: 'none' });
  const entries = new Map<string, string>();
  for (let i = 0; i < 10_000; i++) {
    const value = random.bytes(1000);
    await database.put(Buffer.from(String(i).padStart(16, '0')), value);
    entries.set(String(i).padStart(16, '0'), Buffer.from(value).toString('latin1'));
  }
  await database.flush();
  await database.idle();
  await database.close();
  const table = folder.list().filter((name) => parseFileName(name)?.type === 'table').sort().at(-1)!;
  const bytes = folder.files().get(table)!;
  for (let i = bytes.length - 2000; i < bytes.length - 1500; i++) bytes[i]! ^= 0x80;
  void folder.create(table).append(bytes);
  const reader = await DatabaseReader.open(folder, { damage: 'skip' });
  const left = (await collect(reader.keys())).length;
  await reader.close();
  expect(left).toBeGreaterThanOrEqual(5000);
  expect(left).toBeLessThanOrEqual(9999);
  await Database.repair(folder);
  database = await Database.open(folder);
  expect(asMap(await collect(database.entries()))).toEqual(entries);
  await database.close();
});
