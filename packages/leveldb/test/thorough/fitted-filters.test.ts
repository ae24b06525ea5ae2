// How many blocks LevelDB reads needlessly for absent neighbours of stored keys, with its own filters and with fitted ones, for every
// key pattern. BLOOM_FITTED_ENTRIES is the number of entries: 200,000 in tooling/long-tests.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded } from '@bloom/fixtures';
import { type KeyPattern, keyPatterns } from '@bloom/fixtures/key-patterns';
import { Database, WriteBatch } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { DatabaseReader } from '@bloom/leveldb';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { ClassicLevel } from 'classic-level';
import { afterAll, describe, expect, test } from 'vitest';
import { PowerCutFolder, type Remains } from '../power-cut-folder.js';
import { someDatabase } from '../some-database.js';

const ENTRIES = Number(process.env.BLOOM_FITTED_ENTRIES ?? 20_000);
const CUTS = Number(process.env.BLOOM_REFILTER_CUTS ?? 40);
const isLong = ENTRIES >= 200_000;
const BATCH = 1000;
/** At 10 bits per key and 6 probes, the share of absent keys that match if all bits are independent. */
const THEORY = 0.0084;
const native = nativeDatabase();

const root = mkdtempSync(join(tmpdir(), 'bloom-fitted-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const rawKeys: KeyPattern = { name: 'random keys of 16 bytes', key: (i) => seeded(i + 1).bytes(16) };
/** Numbers whose last four bytes, or last word, are a big-endian number. */
const BIG_ENDIAN = 'big-endian';

interface Figures {
  readonly reads: number;
  readonly filterBytes: number;
}

async function figuresOf(pattern: KeyPattern, fitFilters: boolean): Promise<Figures> {
  const path = join(root, fitFilters ? 'fitted' : 'plain');
  const random = seeded(1);
  const database = await Database.open(new WritableNodeFolder(path), { fitFilters });
  for (let from = 0; from < ENTRIES; from += BATCH) {
    const batch = new WriteBatch();
    for (let i = from; i < from + BATCH; i++) batch.put(pattern.key(2 * i), random.bytes(100));
    await database.write(batch);
  }
  await database.compactRange();
  const filterBytes = database.describe().filters.reduce((sum, level) => sum + level.filterBytes, 0);
  await database.close();
  // LevelDB finds every stored key: a filter that denied one would cost it.
  const { entries } = native!.dump(path, { bitsPerKey: 10 });
  expect(entries.length).toBe(ENTRIES);
  const stored = Array.from({ length: Math.min(ENTRIES, 5000) }, (_, i) => pattern.key(2 * i * Math.floor(ENTRIES / Math.min(ENTRIES, 5000))));
  expect(native!.get(path, stored, { bitsPerKey: 10 }).every((value) => value?.length === 100)).toBe(true);
  const absent = Array.from({ length: ENTRIES }, (_, i) => pattern.key(2 * i + 1));
  const reads = native!.reads(path, absent, { bitsPerKey: 10 });
  rmSync(path, { recursive: true });
  return { reads, filterBytes };
}

const chosen = isLong ? [...keyPatterns, rawKeys] : [...keyPatterns.filter(({ name }) => /^padded|ObjectId|uint64, big|user:42$|SHA-256/.test(name)), rawKeys];

describe.runIf(native !== undefined)(`LevelDB, ${ENTRIES} entries${native === undefined ? `: ${nativeUnavailableReason()}` : ''}`, () => {
  test.each(chosen.map((pattern) => [pattern.name, pattern] as const))('%s: fitted filters save the reads that LevelDB’s lengths waste', async (name, pattern) => {
    const plain = await figuresOf(pattern, false);
    const fitted = await figuresOf(pattern, true);
    const rate = plain.reads / ENTRIES;
    process.stdout.write(`${name}: ${plain.reads} (${(rate * 100).toFixed(2)}%) → ${fitted.reads} (${((fitted.reads / ENTRIES) * 100).toFixed(2)}%), ratio ${(fitted.reads / plain.reads).toFixed(3)}; filter bytes ${(fitted.filterBytes / plain.filterBytes).toFixed(3)}\n`);
    expect(fitted.filterBytes).toBeLessThanOrEqual(plain.filterBytes * 1.05);
    if (name.includes(BIG_ENDIAN)) expect(fitted.reads).toBeLessThanOrEqual(plain.reads * 0.25);
    else if (rate > 2 * THEORY) expect(fitted.reads).toBeLessThanOrEqual(plain.reads * 0.12);
    // What is drawn is not twice the same: three standard deviations.
    else expect(fitted.reads).toBeLessThanOrEqual(plain.reads * 1.02 + 3 * Math.sqrt(2 * plain.reads));
  }, 600_000);

  test(`a power cut at any of ${CUTS} moments of a refilter leaves a database that LevelDB opens, with every entry`, async () => {
    const random = seeded(9);
    let cuts = 0;
    for (let seed = 1; cuts < CUTS; seed++) {
      const { files, entries } = await someDatabase(seed);
      const folder = new PowerCutFolder(files);
      const remains: Remains[] = [];
      folder.onOperation = () => void remains.push(folder.remains());
      await Database.refilter(folder, { lock: 'none' });
      for (const state of remains) {
        if (cuts++ >= CUTS) break;
        const path = join(root, 'cut');
        await new WritableNodeFolder(path).createFolder();
        for (const [file, bytes] of state.folder(random).files()) writeFileSync(join(path, file), bytes);
        const dumped = native!.dump(path, { bitsPerKey: 10 });
        expect(dumped.status).toBe('OK');
        const found = new Map(dumped.entries.map(([key, value]) => [Buffer.from(key).toString('latin1'), Buffer.from(value).toString('latin1')]));
        expect(found.size).toBe(entries.size);
        expect([...entries].every(([key, value]) => found.get(key) === value)).toBe(true);
        rmSync(path, { recursive: true });
      }
    }
  }, 1_200_000);
});

test('classic-level writes a folder, and finds every entry after a refilter, with fewer needless reads', async () => {
  const path = join(root, 'classic');
  const classic = new ClassicLevel<string, string>(path);
  const keyOf = (number: number): string => String(number).padStart(16, '0');
  for (let from = 0; from < 20_000; from += BATCH) {
    await classic.batch(Array.from({ length: BATCH }, (_, i) => ({ type: 'put' as const, key: keyOf(2 * (from + i)), value: `value ${from + i}`.padEnd(100) })));
  }
  await classic.compactRange(keyOf(0), keyOf(40_000));
  await classic.close();
  const wasted = async (): Promise<number> => {
    const reader = await DatabaseReader.open(new NodeFolder(path));
    for (let i = 0; i < 20_000; i++) await reader.get(Buffer.from(keyOf(2 * i + 1)));
    const { filterFalsePositives } = reader.stats;
    await reader.close();
    return filterFalsePositives;
  };
  const before = await wasted();
  cpSync(path, `${path}-before`, { recursive: true });
  await Database.refilter(new WritableNodeFolder(path));
  expect(readdirSync(path).filter((name) => name.endsWith('.ldb')).length).toBe(readdirSync(`${path}-before`).filter((name) => name.endsWith('.ldb')).length);
  expect(await wasted()).toBeLessThan(before * 0.12);
  const again = new ClassicLevel<string, string>(path);
  await again.open();
  let found = 0;
  for await (const [key, value] of again.iterator()) if (value === `value ${Number(key) / 2}`.padEnd(100)) found++;
  expect(found).toBe(20_000);
  expect(await again.getMany(Array.from({ length: 2000 }, (_, i) => keyOf(20 * i)))).not.toContain(undefined);
  await again.close();
}, 120_000);
