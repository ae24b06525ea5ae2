import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { entriesSha256, seeded } from '@bloom/fixtures';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collect } from '../collect.js';
import { reverseComparator } from '../reverse-comparator.js';

// LevelDB writes the database, Database repairs it, and LevelDB opens it. tooling/long-tests has a run of 300.
const native = nativeDatabase();
const seeds = Array.from({ length: Number(process.env.BLOOM_NATIVE_REPAIRS ?? 4) }, (_, i) => i + 1);

if (native === undefined) {
  const reason = nativeUnavailableReason()?.split('\n')[0] ?? '';
  test.skip(`cannot open repaired databases with LevelDB itself: ${reason}`, () => {});
}

let path: string;
beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), 'bloom-repair-'));
});
afterAll(() => rmSync(path, { recursive: true, force: true }));

describe.runIf(native !== undefined).each(seeds)('the database of seed %i', (seed) => {
  test('opens in LevelDB with paranoid checks after a repair, and LevelDB finds the same entries as we do', async () => {
    const random = seeded(seed);
    const folder = join(path, String(seed));
    native!.writeRandom(folder, seed, (['close', 'stop', 'kill'] as const)[seed % 3]!);
    const comparators = [reverseComparator];
    const before = await DatabaseReader.open(new NodeFolder(folder), { comparators });
    const isReverse = before.describe().comparator === reverseComparator.name;
    const entries = entriesSha256(await collect(before.entries()));
    await before.close();

    // With its MANIFEST it has the same entries, however the writer ended.
    const options = isReverse ? { comparator: reverseComparator } : {};
    const intact = `${folder}-intact`;
    cpSync(folder, intact, { recursive: true });
    expect((await Database.repair(new WritableNodeFolder(intact), options)).manifest).toMatch(/^MANIFEST-/);
    const exact = await DatabaseReader.open(new NodeFolder(intact), { comparators });
    expect(entriesSha256(await collect(exact.entries()))).toBe(entries);
    await exact.close();
    rmSync(intact, { recursive: true, force: true });

    // Every other database lacks only its MANIFEST.
    const isDamaged = seed % 2 === 0;
    for (const name of readdirSync(folder)) {
      if (name.startsWith('MANIFEST')) rmSync(join(folder, name));
      if (!isDamaged || !/\.(ldb|log)$/.test(name) || random.below(3) > 0) continue;
      const bytes = readFileSync(join(folder, name));
      if (bytes.length === 0) continue;
      bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
      writeFileSync(join(folder, name), bytes);
    }

    await Database.repair(new WritableNodeFolder(folder), options);
    expect((await verifyDatabase(new NodeFolder(folder), { comparators })).findings).toEqual([]);
    const reader = await DatabaseReader.open(new NodeFolder(folder), { comparators });
    const repaired = await collect(reader.entries());
    await reader.close();
    // Only a LevelDB that was killed leaves obsolete files behind.
    if (!isDamaged && seed % 3 === 0) expect(entriesSha256(repaired)).toBe(entries);

    const checks = { paranoid: true, comparator: isReverse ? 'reverse' : 'bytewise' } as const;
    const some = repaired.filter(() => random.below(20) === 0);
    expect(native!.get(folder, some.map(([key]) => key), checks).map((value) => value && Buffer.from(value).toString('hex'))).toEqual(
      some.map(([, value]) => Buffer.from(value).toString('hex')),
    );
    const { status, entries: dumped } = native!.dump(folder, checks);
    expect(status).toBe('OK');
    expect(dumped).toHaveLength(repaired.length);
    expect(entriesSha256(dumped)).toBe(entriesSha256(repaired));
    rmSync(folder, { recursive: true, force: true });
  });
});

test.runIf(native !== undefined)('after a repair by LevelDB, the latest value of each key is found, which a get of LevelDB itself does not find', async () => {
  const folder = join(path, 'repaired-by-leveldb');
  const token = (text: string): string => `hex:${Buffer.from(text).toString('hex')}`;
  const puts = (value: string): string[] => ['a', 'm', 'n', 'z'].map((key) => `put ${token(key)} ${token(value)}`);
  // The last compaction makes a table of old entries, with a higher number than the one of the latest.
  const lines = ['open', ...puts('older'), 'flush', ...puts('old'), 'flush', `put ${token('m')} ${token('new')}`, `del ${token('n')}`, 'flush'];
  native!.script(folder, [...lines, `compact ${token('a')} ${token('b')}`, 'close', 'repair']);
  const keys = ['a', 'm', 'n', 'z'].map((key) => new TextEncoder().encode(key));
  const texts = (values: readonly (Uint8Array | undefined)[]): (string | undefined)[] => values.map((value) => value && new TextDecoder().decode(value));
  expect(texts(native!.get(folder, keys))).toEqual(['old', 'old', 'old', 'old']);

  const latest = ['old', 'new', undefined, 'old'];
  const reader = await DatabaseReader.open(new NodeFolder(folder));
  expect(texts(await reader.getMany(keys))).toEqual(latest);
  await reader.close();
  expect((await verifyDatabase(new NodeFolder(folder))).findings).toMatchObject([{ problem: expect.stringContaining('the order of level 0 is wrong for 1 of ') as string }]);
  await Database.repair(new WritableNodeFolder(folder));
  expect((await verifyDatabase(new NodeFolder(folder))).findings).toEqual([]);
  expect(texts(native!.get(folder, keys))).toEqual(latest);
});
