import { Database, DatabaseReader, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, type DatabaseParts } from './assemble-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const version = (key: string, sequence: number, value?: string) => ({ key: utf8(key), sequence, value: value === undefined ? undefined : utf8(value) });

/** As LevelDB's `RepairDB` leaves a database in which a compaction made table 12 of older entries than those of table 9. */
const repaired: DatabaseParts = {
  tables: [
    { level: 0, number: 9, versions: [version('m', 9, 'new'), version('n', 10)] },
    { level: 0, number: 12, versions: [version('a', 5, 'old'), version('m', 6, 'old'), version('n', 7, 'old'), version('z', 8, 'old')] },
  ],
};
const folder = (parts: DatabaseParts): MemoryFolder => new MemoryFolder(assembleDatabase(parts));

describe('of two tables of level 0, the one with the higher sequences is newer, whatever its number', () => {
  test('for a reader', async () => {
    const reader = await DatabaseReader.open(folder(repaired));
    expect(text(await reader.get('m'))).toBe('new');
    expect(await reader.get('n')).toBeUndefined();
    expect((await reader.getMany(['a', 'm', 'n', 'z'])).map(text)).toEqual(['old', 'new', undefined, 'old']);
    await reader.close();
  });

  test('for a synchronous reader', () => {
    const reader = SyncDatabaseReader.open(folder(repaired));
    expect(['a', 'm', 'n', 'z'].map((key) => text(reader.get(key)))).toEqual(['old', 'new', undefined, 'old']);
    reader.close();
  });
});

describe('verifyDatabase', () => {
  test('reports tables of level 0 that are not numbered in the order of their writes', async () => {
    const { findings } = await verifyDatabase(folder(repaired));
    expect(findings).toMatchObject([{ code: 'BLOOM_BAD_VERSION', structure: 'MANIFEST', problem: expect.stringContaining('the order of level 0 is wrong for 1 of 2 tables: an older table has a higher number') as string }]);
  });

  test('does not report them if they share no keys', async () => {
    const apart = { tables: [repaired.tables![0]!, { level: 0, number: 12, versions: [version('a', 5, 'old'), version('b', 6, 'old')] }] };
    expect((await verifyDatabase(folder(apart))).findings).toEqual([]);
  });
});

/** Table 12 has an entry that is newer than all of table 9, too, so the order of the tables cannot be told from their first and last keys. */
const mixed: DatabaseParts = { tables: [repaired.tables![0]!, { ...repaired.tables![1]!, versions: [...repaired.tables![1]!.versions.slice(0, 3), version('z', 11, 'newest')] }] };

describe('a repair by the MANIFEST', () => {
  test.each([
    ['later entries in the lower number', repaired, 'old'],
    ['later entries in either', mixed, 'newest'],
  ])('merges tables of level 0 with %s', async (_, parts, last) => {
    const folder = new WritableMemoryFolder(assembleDatabase(parts));
    expect((await Database.repair(folder)).manifest).toMatch(/^MANIFEST-/);
    expect((await verifyDatabase(folder)).findings).toEqual([]);
    const reader = await DatabaseReader.open(folder);
    expect((await reader.getMany(['a', 'm', 'n', 'z'])).map(text)).toEqual(['old', 'new', undefined, last]);
    expect(reader.describe().levels[0]).toEqual([]);
    await reader.close();
  });
});
