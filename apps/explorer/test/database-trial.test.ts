import { createHash } from 'node:crypto';
import { Database, DatabaseReader, MemoryFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { InspectedDatabase } from '../src/database/inspected-database.js';

const work = { signal: new AbortController().signal, progress: () => undefined };

/** A database whose MANIFEST is named after its bytes, as @bloom/bulk publishes it. */
async function publishedFolder(): Promise<MemoryFolder> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  for (let i = 0; i < 2000; i++) await database.put(`key ${2 * i}`, 'x'.repeat(100));
  await database.compactRange();
  await database.close();
  const files = [...folder.files()];
  const [manifest, bytes] = files.find(([name]) => name.startsWith('MANIFEST-'))!;
  const name = `MANIFEST-${createHash('sha256').update(bytes).digest().readBigUInt64BE() >> 2n}`;
  const others = files.filter(([other]) => other !== manifest);
  return new MemoryFolder({ ...Object.fromEntries(others), [name]: bytes, CURRENT: new TextEncoder().encode(`${name}\n`) });
}

test('other filters are tried for a published database, whose MANIFEST is named after its bytes', async () => {
  const folder = await publishedFolder();
  await using reader = await DatabaseReader.open(folder);
  expect(reader.describe().manifest).toMatch(/^MANIFEST-\d{18,19}$/u);
  const database = await InspectedDatabase.open(folder, 'published', work, false);
  const trials = await database.trials();
  const start = await trials.start(work, 'random', 1);
  expect(start.without.reads).toBeGreaterThan(start.stored.reads);
  const tried = await trials.try(work, { policy: 'leveldb', bitsPerKey: 10, filterRange: 2048 });
  expect(tried).toMatchObject({ entries: 2000, failures: 0 });
});
