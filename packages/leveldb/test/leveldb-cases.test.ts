import { seeded } from '@bloom/fixtures';
import { Database, type DatabaseOptions, DatabaseReader, parseFileName, WritableMemoryFolder } from '@bloom/leveldb';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { encodeInternalKey, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { keyOrderOf } from '../src/format/database-key.js';
import { type FileMetadata, LEVEL_COUNT } from '../src/format/version-edit.js';
import { Version } from '../src/format/version.js';
import { boundsOfUserKeys, Compaction } from '../src/compact/pick-compaction.js';
import { overlapsLevel } from '../src/compact/overlap.js';
import { logOf, recordOf } from './assemble-database.js';
import { collect } from './collect.js';
import { PowerCutFolder } from './power-cut-folder.js';

// LevelDB's own cases about writing, with their C++ names. Those about reading are in reader.test.ts, the first ones of
// db_test.cc in database.test.ts, and TableFileIndexData in thorough/salvaged-tables.test.ts.

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('latin1');
const small: DatabaseOptions = { writeBufferSize: 65_536, maxFileSize: 2 ** 20, compression: 'none' };

async function valueOf(database: Database, key: string): Promise<string | undefined> {
  return text(await database.get(utf8(key)));
}

/** All entries, as LevelDB's tests print them. */
async function contentsOf(database: Database): Promise<string> {
  return (await collect(database.entries())).map(([key, value]) => `(${text(key)}->${text(value)})`).join('');
}

function namesOf(folder: WritableMemoryFolder, type: 'log' | 'table' | 'manifest'): string[] {
  return folder.list().filter((name) => parseFileName(name)?.type === type);
}

/** Replaces bytes of a file. */
function corrupt(folder: WritableMemoryFolder, name: string, start: number, length: number): void {
  const bytes = folder.files().get(name)!;
  const from = start < 0 ? Math.max(0, bytes.length + start) : start;
  for (let i = from; i < Math.min(from + length, bytes.length); i++) bytes[i]! ^= 0x80;
  void folder.create(name).append(bytes);
}

describe('db_test', () => {
  test('Recover: each reopening finds the newest value of each key', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    await database.put(utf8('foo'), utf8('v1'));
    await database.put(utf8('baz'), utf8('v5'));
    await database.close();
    database = await Database.open(folder);
    expect(await contentsOf(database)).toBe('(baz->v5)(foo->v1)');
    await database.put(utf8('bar'), utf8('v2'));
    await database.put(utf8('foo'), utf8('v3'));
    await database.close();
    database = await Database.open(folder);
    expect(await valueOf(database, 'foo')).toBe('v3');
    await database.put(utf8('foo'), utf8('v4'));
    expect(await contentsOf(database)).toBe('(bar->v2)(baz->v5)(foo->v4)');
    await database.close();
  });

  test('DeletionMarkers2: a compaction drops a deletion together with the value that it hides', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    await database.put(utf8('foo'), utf8('v1'));
    await database.flush();
    await database.put(utf8('a'), utf8('begin'));
    await database.put(utf8('z'), utf8('end'));
    await database.flush();
    await database.delete(utf8('foo'));
    const kinds = async (): Promise<string[]> => (await database.versions(utf8('foo'))).map(({ kind }) => kind);
    expect(await kinds()).toEqual(['deletion', 'value']);
    await database.flush();
    expect(await kinds()).toEqual(['deletion', 'value']);
    await database.compactRange();
    expect(await kinds()).toEqual([]);
    await database.close();
  });

  test.each([
    { name: 'a', steps: ['b=v', 'reopen', '-b -e', 'reopen', '-a', 'reopen', 'a=v', 'reopen', 'reopen'], contents: '(a->v)' },
    {
      name: 'b',
      steps: ['=', 'reopen', '-e =', 'reopen', 'c=cv', 'reopen', '=', 'reopen', '=', 'idle', 'reopen', 'd=dv', 'reopen', '=', 'reopen', '-d -b', 'reopen'],
      contents: '(->)(c->cv)',
    },
  ])('L0_CompactionBug_44_$name: compacting level 0 applies its deletions correctly', async ({ steps, contents }) => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    for (const step of steps) {
      if (step === 'idle') await database.idle();
      else if (step === 'reopen') {
        await database.close();
        database = await Database.open(folder);
      } else {
        for (const operation of step.split(' ')) {
          const [key, value] = operation.split('=');
          if (operation.startsWith('-')) await database.delete(utf8(operation.slice(1)));
          else await database.put(utf8(key!), utf8(value!));
        }
      }
    }
    expect(await contentsOf(database)).toBe(contents);
    await database.idle();
    expect(await contentsOf(database)).toBe(contents);
    await database.close();
  });

  test('IterMulti: a cursor does not see later writes', async () => {
    const database = await Database.open(new WritableMemoryFolder());
    for (const key of ['a', 'b', 'c']) await database.put(utf8(key), utf8(`v${key}`));
    const cursor = database.cursor();
    for (const key of ['a', 'a2', 'b', 'c']) await database.put(utf8(key), utf8(`${key}3`));
    await database.delete(utf8('b'));
    const seen: (string | undefined)[] = [];
    for (let is = await cursor.seekToFirst(); is; is = await cursor.next()) seen.push(text(cursor.value));
    for (let is = await cursor.seekToLast(); is; is = await cursor.prev()) seen.push(text(cursor.value));
    expect(seen).toEqual(['va', 'vb', 'vc', 'vc', 'vb', 'va']);
    cursor.close();
    await database.close();
  });

  test('CustomComparator: "[10]" and "[0xa]" are the same key, in memtables and in tables', async () => {
    const comparator: Comparator = {
      name: 'test.NumberComparator',
      keyEquivalence: 'test.numbers',
      compare: (a, b) => Number(text(a)!.slice(1, -1)) - Number(text(b)!.slice(1, -1)),
      findShortestSeparator: (start) => start,
      findShortSuccessor: (key) => key,
    };
    const folder = new WritableMemoryFolder();
    const options = { ...small, comparator, filterPolicy: null };
    let database = await Database.open(folder, options);
    await database.put(utf8('[10]'), utf8('ten'));
    await database.put(utf8('[0x14]'), utf8('twenty'));
    for (let i = 0; i < 2; i++) {
      for (const key of ['[10]', '[0xa]']) expect(await valueOf(database, key)).toBe('ten');
      for (const key of ['[20]', '[0x14]']) expect(await valueOf(database, key)).toBe('twenty');
      expect(await valueOf(database, '[15]')).toBeUndefined();
      await database.compactRange(utf8('[0]'), utf8('[9999]'));
    }
    for (let run = 0; run < 2; run++) {
      for (let i = 0; i < 1000; i++) await database.put(utf8(`[${i * 10}]`), utf8(`[${i * 10}]`));
      await database.compactRange(utf8('[0]'), utf8('[1000000]'));
    }
    expect(await collect(database.keys())).toHaveLength(1000);
    await database.delete(utf8('[0xa]'));
    expect(await valueOf(database, '[10]')).toBeUndefined();
    await database.close();
    // The Bloom policy would give different answers for keys that this comparator calls equal.
    await expect(Database.open(folder, { ...options, filterPolicy: new BloomFilterPolicy() })).rejects.toThrow('keyEquivalence');
    await expect(Database.open(folder, small)).rejects.toMatchObject({ code: 'BLOOM_UNKNOWN_COMPARATOR' });
    database = await Database.open(folder, options);
    expect(await collect(database.keys())).toHaveLength(999);
    await database.close();
  });

  test('StillReadSST: a table with the old suffix .sst is read, merged and deleted', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    await database.put(utf8('foo'), utf8('bar'));
    await database.flush();
    await database.close();
    const [table] = namesOf(folder, 'table');
    folder.rename(table!, table!.replace('.ldb', '.sst'));
    database = await Database.open(folder);
    expect(await valueOf(database, 'foo')).toBe('bar');
    await database.put(utf8('foo'), utf8('bar2'));
    await database.compactRange();
    expect(namesOf(folder, 'table').some((name) => name.endsWith('.sst'))).toBe(false);
    expect(await contentsOf(database)).toBe('(foo->bar2)');
    await database.close();
  });

  test('BloomFilter: a present key costs at most 1.02 reads on average, and an absent key 0.03', async () => {
    const count = 10_000;
    const keys = Array.from({ length: count }, (_, i) => utf8(`key${String(i).padStart(6, '0')}`));
    const database = await Database.open(new WritableMemoryFolder(), { cache: null, filterPolicy: new BloomFilterPolicy(10) });
    for (const key of keys) await database.put(key, key);
    await database.compactRange(utf8('a'), utf8('z'));
    for (let i = 0; i < count; i += 100) await database.put(keys[i]!, keys[i]!);
    await database.flush();
    const before = database.stats.blockReads;
    expect(keys.filter((key) => text(database.getSync(key)) !== text(key))).toEqual([]);
    const present = database.stats.blockReads - before;
    expect(present).toBeGreaterThanOrEqual(count);
    expect(present).toBeLessThanOrEqual(count + (2 * count) / 100);
    expect(keys.filter((key) => database.getSync(utf8(`${text(key)}.missing`)) !== undefined)).toEqual([]);
    expect(database.stats.blockReads - before - present).toBeLessThanOrEqual((3 * count) / 100);
    await database.close();
  });

  test('WriteSyncError: after a failed sync all writes fail, and the write that failed is not visible', async () => {
    const folder = new PowerCutFolder();
    const database = await Database.open(folder, { ...small, lock: 'none' });
    let fails = true;
    folder.onOperation = (_, operation) => {
      if (fails && operation.startsWith('sync') && operation.endsWith('.log')) throw new Error('EIO: sync');
    };
    await database.put(utf8('k1'), utf8('v1'));
    expect(await valueOf(database, 'k1')).toBe('v1');
    await expect(database.put(utf8('k2'), utf8('v2'), { sync: true })).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    fails = false;
    await expect(database.put(utf8('k3'), utf8('v3'))).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    expect(await contentsOf(database)).toBe('(k1->v1)');
    await database.close();
  });

  test.each(['sync', 'append'])('ManifestWriteError: nothing is lost if the %s of the MANIFEST fails', async (kind) => {
    const folder = new PowerCutFolder();
    const options: DatabaseOptions = { ...small, lock: 'none' };
    let database = await Database.open(folder, options);
    await database.put(utf8('foo'), utf8('bar'));
    await database.flush();
    let fails = true;
    folder.onOperation = (_, operation) => {
      if (fails && operation.startsWith(`${kind} MANIFEST`)) throw new Error('EIO: MANIFEST');
    };
    await database.put(utf8('foo2'), utf8('bar2'));
    await expect(database.compactRange()).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    expect(await contentsOf(database)).toBe('(foo->bar)(foo2->bar2)');
    await database.close();
    fails = false;
    database = await Database.open(folder, options);
    expect(await contentsOf(database)).toBe('(foo->bar)(foo2->bar2)');
    await database.close();
  });
});

describe('recovery_test', () => {
  test('LargeManifestCompacted: a MANIFEST that is too large is replaced, and the new one is reused', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder, { reuseLogs: true });
    await database.put(utf8('foo'), utf8('bar'));
    await database.close();
    const [old] = namesOf(folder, 'manifest');
    const padded = new Uint8Array(3 * 2 ** 20);
    padded.set(folder.files().get(old!)!);
    void folder.create(old!).append(padded);
    for (let i = 0; i < 2; i++) {
      database = await Database.open(folder, { reuseLogs: true });
      const [manifest] = namesOf(folder, 'manifest');
      expect(manifest).not.toBe(old);
      expect(folder.files().get(manifest!)!.length).toBeLessThan(10_000);
      expect(database.describe().manifest).toBe(manifest);
      expect(await valueOf(database, 'foo')).toBe('bar');
      await database.close();
      expect(namesOf(folder, 'manifest')).toEqual([manifest]);
    }
  });

  test.each([true, false])('LogFileReuse: reuseLogs keeps the log, with an empty log: %s', async (isEmpty) => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder, { reuseLogs: true });
    await database.put(utf8('foo'), utf8('bar'));
    if (isEmpty) await database.flush();
    await database.close();
    const logs = namesOf(folder, 'log');
    for (let i = 0; i < 2; i++) {
      database = await Database.open(folder, { reuseLogs: true });
      expect(namesOf(folder, 'table')).toHaveLength(isEmpty ? 1 : 0);
      expect(namesOf(folder, 'log')).toEqual(logs);
      expect(folder.files().get(logs[0]!)!.length === 0).toBe(isEmpty);
      expect(await valueOf(database, 'foo')).toBe('bar');
      await database.close();
    }
  });

  test('MultipleMemTables: a log larger than the buffer becomes several tables and is not reused', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    for (let i = 0; i < 1000; i++) await database.put(utf8(String(i).padStart(100, '0')), utf8(String(i).padStart(100, '0')));
    expect(namesOf(folder, 'table')).toEqual([]);
    await database.close();
    const logs = namesOf(folder, 'log');
    // LevelDB raises this to its minimum of 64 KiB.
    database = await Database.open(folder, { reuseLogs: true, writeBufferSize: 50_000 });
    expect(namesOf(folder, 'table').length).toBeGreaterThanOrEqual(2);
    expect(namesOf(folder, 'log')).not.toEqual(logs);
    expect(await collect(database.keys())).toHaveLength(1000);
    await database.close();
  });

  test('MultipleLogFiles: logs are applied in order, and a log with an older number is ignored', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    await database.put(utf8('foo'), utf8('bar'));
    const { number } = database.describe().logs[0]!;
    await database.close();
    const makeLog = (offset: bigint, key: string, value: string, sequence: number): void => {
      const name = `${String(number + offset).padStart(6, '0')}.log`;
      void folder.create(name).append(logOf([recordOf({ sequence, operations: [[utf8(key), utf8(value)]] })]));
    };
    makeLog(1n, 'hello', 'world', 1000);
    makeLog(2n, 'hi', 'there', 1001);
    makeLog(3n, 'foo', 'bar2', 1002);
    database = await Database.open(folder);
    expect(database.describe().logs[0]!.number).toBeGreaterThan(number + 3n);
    expect(await contentsOf(database)).toBe('(foo->bar2)(hello->world)(hi->there)');
    expect(database.lastSequence).toBe(1002n);
    await database.close();
    makeLog(1n, 'hello', 'stale write', 2000);
    database = await Database.open(folder);
    expect(await contentsOf(database)).toBe('(foo->bar2)(hello->world)(hi->there)');
    await database.close();
  });

  test('ManifestMissing: a database without its MANIFEST is refused as damaged', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder);
    await database.put(utf8('foo'), utf8('bar'));
    await database.close();
    for (const name of namesOf(folder, 'manifest')) folder.delete(name);
    await expect(Database.open(folder)).rejects.toMatchObject({ name: 'CorruptionError', code: 'BLOOM_BAD_CURRENT' });
  });
});

describe('corruption_test', () => {
  const keyOf = (i: number): Uint8Array => utf8(String(i).padStart(16, '0'));
  const valuesOf = seeded(5);
  const values = Array.from({ length: 1001 }, () => valuesOf.bytes(1000));

  async function built(count: number, options: DatabaseOptions = {}): Promise<{ folder: WritableMemoryFolder; database: Database }> {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { compression: 'none', ...options });
    for (let i = 0; i < count; i++) await database.put(keyOf(i), values[i]!);
    return { folder, database };
  }

  /** The number of entries. Fails if one of them was not written. */
  async function countOf(entries: AsyncIterable<[Uint8Array, Uint8Array]>): Promise<number> {
    const all = await collect(entries);
    for (const [key, value] of all) expect(Buffer.compare(value, values[Number(text(key))]!)).toBe(0);
    return all.length;
  }

  /** The same for a reader that skips damage, as LevelDB does. */
  async function readableOf(folder: WritableMemoryFolder): Promise<number> {
    const reader = await DatabaseReader.open(folder, { damage: 'skip' });
    const count = await countOf(reader.entries());
    await reader.close();
    return count;
  }

  /** The same for the database after a repair. */
  async function repairedOf(folder: WritableMemoryFolder): Promise<number> {
    await Database.repair(folder);
    const database = await Database.open(folder);
    const count = await countOf(database.entries());
    await database.close();
    return count;
  }

  test('Recovery: 36 of 100 records are left when two blocks of the log are damaged', async () => {
    const { folder, database } = await built(100);
    expect(await countOf(database.entries())).toBe(100);
    await database.close();
    const [log] = namesOf(folder, 'log');
    corrupt(folder, log!, 19, 1);
    corrupt(folder, log!, 32_768 + 1000, 1);
    await expect(Database.open(folder)).rejects.toMatchObject({ code: 'BLOOM_BAD_LOG' });
    const copy = new WritableMemoryFolder(folder.files());
    const reopened = await Database.open(folder, { damage: 'skip' });
    expect(await countOf(reopened.entries())).toBe(36);
    await reopened.close();
    // A repair loses only the two damaged records.
    expect(await repairedOf(copy)).toBe(98);
  });

  test('TableFile: a damaged block loses only its own entries', async () => {
    const { folder, database } = await built(100);
    await database.compactRange();
    await database.close();
    const [table] = namesOf(folder, 'table');
    corrupt(folder, table!, 100, 1);
    const left = await readableOf(folder);
    expect(left).toBeGreaterThanOrEqual(90);
    expect(left).toBeLessThanOrEqual(99);
    expect(await repairedOf(folder)).toBe(left);
  });

  test('MissingDescriptor: a repair without a MANIFEST finds all 1,000 entries', async () => {
    const { folder, database } = await built(1000);
    await database.close();
    for (const name of [...namesOf(folder, 'manifest'), 'CURRENT']) folder.delete(name);
    expect(await repairedOf(folder)).toBe(1000);
  });

  test('SequenceNumberRecovery: a write after a repair is newer than all writes before', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    for (let i = 1; i <= 5; i++) await database.put(utf8('foo'), utf8(`v${i}`));
    await database.close();
    await Database.repair(folder);
    database = await Database.open(folder);
    expect(await valueOf(database, 'foo')).toBe('v5');
    await database.put(utf8('foo'), utf8('v6'));
    expect(await valueOf(database, 'foo')).toBe('v6');
    await database.close();
    database = await Database.open(folder);
    expect(await valueOf(database, 'foo')).toBe('v6');
    await database.close();
  });

  test('CorruptedDescriptor: a damaged MANIFEST is refused, and a repair brings the key back', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    await database.put(utf8('foo'), utf8('hello'));
    await database.compactRange();
    await database.close();
    corrupt(folder, namesOf(folder, 'manifest')[0]!, 0, 1000);
    await expect(Database.open(folder)).rejects.toMatchObject({ code: expect.stringMatching(/^BLOOM_BAD_(LOG|VERSION)$/) as string });
    await Database.repair(folder);
    database = await Database.open(folder);
    expect(await valueOf(database, 'foo')).toBe('hello');
    await database.close();
  });

  test('UnrelatedKeys: a damaged table does not affect keys that are not in it', async () => {
    const { folder, database } = await built(10);
    await database.flush();
    await database.close();
    corrupt(folder, namesOf(folder, 'table')[0]!, 100, 1);
    const again = await Database.open(folder, { cache: null });
    await expect(again.get(keyOf(0))).rejects.toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
    await again.put(keyOf(1000), values[1000]!);
    expect(await again.get(keyOf(1000))).toEqual(values[1000]);
    await again.flush();
    expect(await again.get(keyOf(1000))).toEqual(values[1000]);
    await again.close();
  });

  test('CompactionInputError: a compaction of a damaged table ends writing and keeps the table', async () => {
    const { folder, database } = await built(10);
    await database.flush();
    await database.close();
    const [table] = namesOf(folder, 'table');
    corrupt(folder, table!, 100, 1);
    const again = await Database.open(folder);
    await again.put(keyOf(5), values[5]!);
    await expect(again.compactRange()).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'BLOOM_BAD_CHECKSUM' } });
    await expect(again.put(keyOf(6), values[6]!)).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    expect(await again.get(keyOf(5))).toEqual(values[5]);
    await again.close();
    expect(namesOf(folder, 'table')).toContain(table);
    expect(await repairedOf(folder)).toBeGreaterThanOrEqual(5);
  });
});

describe('version_set_test', () => {
  const order = keyOrderOf(bytewiseComparator);

  function file(number: number, smallest: [string, number], largest: [string, number]): FileMetadata {
    const key = ([userKey, sequence]: [string, number]): Uint8Array => encodeInternalKey({ userKey: utf8(userKey), sequence: BigInt(sequence), type: VALUE });
    return { number: BigInt(number), size: 1, smallest: key(smallest), largest: key(largest) };
  }

  const versionOf = (level: number, files: readonly FileMetadata[]): Version =>
    new Version(Array.from({ length: LEVEL_COUNT }, (_, i) => (i === level ? files : [])), order, { structure: 'MANIFEST', offset: 0 });

  const overlaps = (version: Version, level: number, begin: string | undefined, end: string | undefined): boolean =>
    overlapsLevel(version, level, order, boundsOfUserKeys(begin === undefined ? undefined : utf8(begin), end === undefined ? undefined : utf8(end)));

  test.each([
    { what: 'Empty', tables: [], none: [['a', 'z'], [undefined, 'z'], ['a', undefined], [undefined, undefined]], some: [] },
    {
      what: 'Single',
      tables: [['p', 'q']],
      none: [['a', 'b'], ['z1', 'z2'], [undefined, 'j'], ['r', undefined]],
      some: [['a', 'p'], ['a', 'q'], ['a', 'z'], ['p', 'p1'], ['p', 'q'], ['p', 'z'], ['p1', 'p2'], ['p1', 'z'], ['q', 'q'], ['q', 'q1'], [undefined, 'p'], [undefined, 'z'], ['p', undefined], ['q', undefined], [undefined, undefined]],
    },
    {
      what: 'Multiple',
      tables: [['150', '200'], ['200', '250'], ['300', '350'], ['400', '450']],
      none: [['100', '149'], ['251', '299'], ['451', '500'], ['351', '399'], [undefined, '149'], ['451', undefined]],
      some: [['100', '150'], ['100', '200'], ['100', '300'], ['100', '400'], ['100', '500'], ['375', '400'], ['450', '450'], ['450', '500'], [undefined, '150'], ['450', undefined], [undefined, undefined]],
    },
  ] as { what: string; tables: [string, string][]; none: [string?, string?][]; some: [string?, string?][] }[])('Overlap $what: finds exactly the ranges that overlap a table', ({ tables, none, some }) => {
    // If two tables share a user key, the second has the older versions.
    const files = tables.map(([smallest, largest], i) => file(i + 1, [smallest, i === 1 ? 50 : 100], [largest, 100]));
    for (const level of [0, 1]) {
      const version = versionOf(level, files);
      for (const [begin, end] of none) expect(overlaps(version, level, begin, end), `${begin} to ${end}`).toBe(false);
      for (const [begin, end] of some) expect(overlaps(version, level, begin, end), `${begin} to ${end}`).toBe(true);
    }
  });

  test.each([
    { what: 'do not include a table that starts with another key', files: [file(1, ['100', 2], ['100', 1]), file(2, ['200', 2], ['200', 1])], inputs: [0], expected: [1n] },
    { what: 'include a table that starts with older versions of their last key', files: [file(1, ['100', 3], ['100', 2]), file(2, ['100', 1], ['200', 3]), file(3, ['300', 2], ['300', 1])], inputs: [0], expected: [1n, 2n] },
    { what: 'include two tables that continue their last key', files: [file(1, ['100', 6], ['100', 5]), file(2, ['100', 2], ['300', 1]), file(3, ['100', 4], ['100', 3])], inputs: [0], expected: [1n, 3n, 2n] },
  ])('AddBoundaryInputs: the inputs of a compaction $what', ({ files, inputs, expected }) => {
    const compaction = new Compaction(versionOf(1, files), order, 2 ** 20, 1, inputs.map((i) => files[i]!));
    expect(compaction.inputs[0].map(({ number }) => number)).toEqual(expected);
  });
});
