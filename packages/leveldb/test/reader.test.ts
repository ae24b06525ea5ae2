import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { seeded } from '@bloom/fixtures';
import { DatabaseReader, type Dropped, encodeVersionEdit, MemoryFolder, type ReaderOptions, SyncDatabaseReader } from '@bloom/leveldb';
import { storedEntries, storedEntriesSync } from '@bloom/leveldb/inspect';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, MemorySink, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, type DatabaseParts, logOf, recordOf, type TableParts, type Version } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

// Names in CamelCase are those of cases in LevelDB, db/db_test.cc, db/recovery_test.cc and db/corruption_test.cc.

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

function openSync(parts: DatabaseParts, options: ReaderOptions = {}): SyncDatabaseReader {
  return SyncDatabaseReader.open(new MemoryFolder(assembleDatabase(parts)), options);
}

function put(key: string, sequence: number, value: string): Version {
  return { key: utf8(key), sequence, value: utf8(value) };
}

function deletion(key: string, sequence: number): Version {
  return { key: utf8(key), sequence, value: undefined };
}

const shown = (entries: Iterable<[Uint8Array, Uint8Array]>): string[] => [...entries].map(([key, value]) => `${text(key)}->${text(value)}`);

describe('getting', () => {
  test('EmptyKey, EmptyValue: an empty key and an empty value are found, and an absent key gives undefined', () => {
    const database = openSync({ tables: [{ level: 0, number: 5, versions: [put('', 1, 'v'), put('k', 2, '')] }] });
    expect([text(database.get(utf8(''))), text(database.get(utf8('k'))), database.get(utf8('x'))]).toEqual(['v', '', undefined]);
    expect(database.has(utf8('k'))).toBe(true);
  });

  test('GetLevel0Ordering: of the tables at level 0, the one with the highest number is read first, whatever their smallest keys', () => {
    const tables = [
      { level: 0, number: 5, versions: [put('bar', 1, 'b'), put('foo', 2, 'v1')] },
      { level: 0, number: 7, versions: [put('foo', 3, 'v2')] },
    ];
    expect(text(openSync({ tables }).get(utf8('foo')))).toBe('v2');
  });

  test('GetOrderedByLevels: a value in an upper level hides one in a deeper level', () => {
    const tables = [
      { level: 1, number: 5, versions: [put('foo', 1, 'v1')] },
      { level: 0, number: 7, versions: [put('foo', 2, 'v2')] },
    ];
    expect(text(openSync({ tables }).get(utf8('foo')))).toBe('v2');
  });

  test('GetPicksCorrectFile: a get reads the table of a level whose range contains the key', () => {
    const tables = ['a', 'x', 'f'].map((key, i) => ({ level: 2, number: 5 + i, versions: [put(key, i + 1, `v${key}`)] }));
    const database = openSync({ tables });
    expect(['a', 'f', 'x', 'b', 'z'].map((key) => text(database.get(utf8(key))))).toEqual(['va', 'vf', 'vx', undefined, undefined]);
  });

  test('GetEncountersEmptyLevel: a get skips levels without tables', () => {
    const tables = [
      { level: 0, number: 9, versions: [put('b', 9, 'new')] },
      { level: 2, number: 5, versions: [put('a', 1, 'begin'), put('z', 2, 'end')] },
    ];
    const database = openSync({ tables });
    expect([database.get(utf8('missing')), text(database.get(utf8('z')))]).toEqual([undefined, 'end']);
  });

  test('GetSnapshot: a get at a sequence sees exactly the writes up to it, in logs and tables', () => {
    const versions = [put('foo', 1, 'v1'), put('foo', 3, 'v2'), deletion('foo', 5), put('foo', 7, 'v4')];
    const batches = versions.map(({ key, sequence, value }) => ({ sequence, operations: [[key, value]] as const }));
    for (const parts of [{ tables: [{ level: 1, number: 5, versions }] }, { logs: [{ number: 5, batches }] }]) {
      const database = openSync(parts);
      const at = (sequence: bigint): string | undefined => text(database.get(utf8('foo'), { sequence }));
      expect([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 2n ** 60n].map(at)).toEqual([
        undefined,
        ...['v1', 'v1', 'v2', 'v2'],
        undefined,
        undefined,
        ...['v4', 'v4', 'v4'],
      ]);
      expect(shown(database.entries({ sequence: 4n }))).toEqual(['foo->v2']);
    }
  });

  test('gets return their own values when they overlap, when one fails, at different sequences and after a refresh', async () => {
    const keys = ['a', 'b', 'c', 'd', 'a longer key'];
    const versions = keys.flatMap((key, i) => [put(key, 2 * i + 2, `${key} new`), put(key, 2 * i + 1, `${key} old`)]);
    versions.sort((a, b) => Buffer.compare(a.key, b.key) || b.sequence - a.sequence);
    const files = assembleDatabase({ tables: [{ level: 1, number: 5, versions }] });
    // Without a cache, every get waits for a block.
    const database = await DatabaseReader.open(new MemoryFolder(files), { cache: null });
    const asked = keys.flatMap((key, i) => [
      { key, sequence: BigInt(2 * i + 1), expected: `${key} old` },
      { key, sequence: BigInt(2 * i + 2), expected: `${key} new` },
      { key: `${key}!`, sequence: 10n, expected: undefined },
    ]);
    const get = ({ key, sequence }: (typeof asked)[number]): Promise<Uint8Array | undefined> => database.get(utf8(key), { sequence });
    const expected = asked.map((one) => one.expected);
    expect((await Promise.all(asked.map(get))).map(text)).toEqual(expected);
    await expect(database.get(5 as unknown as Uint8Array)).rejects.toThrow(TypeError);
    await database.refresh();
    const inTurn: (string | undefined)[] = [];
    for (const one of asked) inTurn.push(text(await get(one)));
    expect(inTurn).toEqual(expected);
    const found = asked.map(async ({ key, sequence }) => database.has(utf8(key), { sequence }));
    expect(await Promise.all(found)).toEqual(expected.map((value) => value !== undefined));
    await database.close();
  });

  test('a deletion hides values in older logs, tables and levels', () => {
    const database = openSync({
      tables: [
        { level: 2, number: 3, versions: ['a', 'b', 'c', 'd'].map((key, i) => put(key, i + 1, 'old')) },
        { level: 0, number: 5, versions: [deletion('a', 10), put('b', 11, 'newer')] },
      ],
      logs: [
        { number: 6, batches: [{ sequence: 12, operations: [[utf8('b'), undefined]] }] },
        { number: 7, batches: [{ sequence: 13, operations: [[utf8('c'), undefined], [utf8('e'), utf8('new')]] }] },
      ],
    });
    expect(shown(database.entries())).toEqual(['d->old', 'e->new']);
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => text(database.get(utf8(key))))).toEqual([undefined, undefined, undefined, 'old', 'new']);
    expect(database.versions(utf8('b')).map(({ kind, sequence, file, level }) => [kind, sequence, file, level])).toEqual([
      ['deletion', 12n, '000006.log', undefined],
      ['value', 11n, '000005.ldb', 0],
      ['value', 2n, '000003.ldb', 2],
    ]);
  });

  test('ComparatorCheck: a database with another comparator is refused, and the error names that comparator', () => {
    const comparator: Comparator = { ...bytewiseComparator, name: 'leveldb.NewComparator' };
    const parts: DatabaseParts = { comparator, tables: [{ level: 0, number: 5, versions: [put('a', 1, '1')] }] };
    expect((caught(() => openSync(parts)) as Error).message).toContain('leveldb.NewComparator');
    expect(text(openSync(parts, { comparators: [comparator] }).get(utf8('a')))).toBe('1');
  });

  test('CustomComparator: if "[10]" equals "[0xa]", either finds the other, and entries show the newest bytes', () => {
    const comparator: Comparator = {
      name: 'test.NumberComparator',
      keyEquivalence: 'test.numbers',
      compare: (a, b) => Number(text(a)!.slice(1, -1)) - Number(text(b)!.slice(1, -1)),
      findShortestSeparator: (start) => start,
      findShortSuccessor: (key) => key,
    };
    const database = openSync(
      {
        comparator,
        tables: [{ level: 1, number: 5, versions: [put('[10]', 1, 'ten'), put('[0x14]', 2, 'twenty')] }],
        logs: [{ number: 6, batches: [{ sequence: 3, operations: [[utf8('[0xa]'), utf8('TEN')]] }] }],
      },
      { comparators: [comparator] },
    );
    expect(['[10]', '[0xa]', '[20]', '[0x14]', '[15]'].map((key) => text(database.get(utf8(key))))).toEqual(['TEN', 'TEN', 'twenty', 'twenty', undefined]);
    expect(shown(database.entries())).toEqual(['[0xa]->TEN', '[0x14]->twenty']);
    expect(shown(database.entries({ reverse: true }))).toEqual(['[0x14]->twenty', '[0xa]->TEN']);
    expect(database.versions(utf8('[10]')).map(({ key }) => text(key))).toEqual(['[0xa]', '[10]']);
  });
});

describe('iterating', () => {
  const letters: DatabaseParts = { tables: [{ level: 0, number: 5, versions: [put('a', 1, 'va'), put('b', 2, 'vb'), put('c', 3, 'vc')] }] };

  test('IterMulti: a cursor moves both ways, and is on no entry past the ends', () => {
    const cursor = openSync(letters).cursor();
    const at = (): string => (cursor.valid ? `${text(cursor.key)}->${text(cursor.value)}` : '(invalid)');
    const moves: [() => boolean, string][] = [
      [() => cursor.seekToFirst(), 'a->va'],
      [() => cursor.next(), 'b->vb'],
      [() => cursor.next(), 'c->vc'],
      [() => cursor.next(), '(invalid)'],
      [() => cursor.seekToFirst(), 'a->va'],
      [() => cursor.prev(), '(invalid)'],
      [() => cursor.seekToLast(), 'c->vc'],
      [() => cursor.prev(), 'b->vb'],
      [() => cursor.prev(), 'a->va'],
      [() => cursor.prev(), '(invalid)'],
      [() => cursor.seek(utf8('')), 'a->va'],
      [() => cursor.seek(utf8('a')), 'a->va'],
      [() => cursor.seek(utf8('ax')), 'b->vb'],
      [() => cursor.seek(utf8('z')), '(invalid)'],
      [() => cursor.seekForPrev(utf8('')), '(invalid)'],
      [() => cursor.seekForPrev(utf8('b')), 'b->vb'],
      [() => cursor.prev(), 'a->va'],
      [() => cursor.seekForPrev(utf8('ax')), 'a->va'],
      [() => cursor.next(), 'b->vb'],
      [() => cursor.seekForPrev(utf8('z')), 'c->vc'],
      // Changes of direction in the middle.
      [() => cursor.seekToFirst(), 'a->va'],
      [() => cursor.next(), 'b->vb'],
      [() => cursor.next(), 'c->vc'],
      [() => cursor.prev(), 'b->vb'],
      [() => cursor.prev(), 'a->va'],
      [() => cursor.next(), 'b->vb'],
    ];
    for (const [move, expected] of moves) {
      expect(move()).toBe(expected !== '(invalid)');
      expect(at()).toBe(expected);
    }
  });

  test('IterMultiWithDelete: a cursor skips a deleted key', () => {
    const logs = [{ number: 6, batches: [{ sequence: 4, operations: [[utf8('b'), undefined]] as const }] }];
    const database = openSync({ ...letters, logs });
    const cursor = database.cursor();
    expect(database.get(utf8('b'))).toBeUndefined();
    cursor.seek(utf8('c'));
    cursor.prev();
    expect(text(cursor.key)).toBe('a');
  });

  test('an empty database has no entries', async () => {
    const files = assembleDatabase({ logs: [{ number: 3, batches: [] }] });
    const database = SyncDatabaseReader.open(new MemoryFolder(files));
    const cursor = database.cursor();
    expect([cursor.seekToFirst(), cursor.seekToLast(), cursor.seek(utf8('a')), cursor.next(), cursor.prev()]).toEqual([false, false, false, false, false]);
    expect([...database.entries()]).toEqual([]);
    expect(await collect(await DatabaseReader.open(new MemoryFolder(files)))).toEqual([]);
  });
});

describe('recovering', () => {
  const foo = { sequence: 1, operations: [[utf8('foo'), utf8('1')]] as const };
  const old = { level: 2, number: 2, versions: [put('old', 1, 'table')] };

  test('NoLogFiles: a database opens without its logs, and their entries are missing', () => {
    const files = assembleDatabase({ tables: [old], logs: [{ number: 3, batches: [{ ...foo, sequence: 2 }] }] });
    files.delete('000003.log');
    const database = SyncDatabaseReader.open(new MemoryFolder(files));
    expect(shown(database.entries())).toEqual(['old->table']);
  });

  test('MultipleLogFiles: logs are applied in the order of their numbers, and a stale one is ignored', () => {
    const batch = (sequence: number, key: string, value: string) => ({ sequence, operations: [[utf8(key), utf8(value)]] as const });
    const files = assembleDatabase({
      logs: [
        { number: 5, batches: [batch(1, 'foo', 'bar')] },
        { number: 6, batches: [batch(1000, 'hello', 'world')] },
        { number: 7, batches: [batch(1001, 'hi', 'there')] },
        { number: 8, batches: [batch(1002, 'foo', 'bar2')] },
      ],
    });
    files.set('000004.log', logOf([recordOf(batch(2000, 'hello', 'stale write'))]));
    const database = SyncDatabaseReader.open(new MemoryFolder(files));
    expect(shown(database.entries())).toEqual(['foo->bar2', 'hello->world', 'hi->there']);
    expect(database.lastSequence).toBe(1002n);
  });

  test('ManifestMissing: a CURRENT that names a missing file is damage', async () => {
    const files = assembleDatabase({ tables: [old] });
    files.delete('MANIFEST-000001');
    const error = caught(() => SyncDatabaseReader.open(new MemoryFolder(files, 'db')));
    expect(error).toMatchObject({ code: 'BLOOM_BAD_CURRENT', structure: 'CURRENT', file: 'db' });
    expect(await rejection(DatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ code: 'BLOOM_BAD_CURRENT' });
  });

  test('LargeManifestCompacted: a MANIFEST that is padded with 3 MiB of zeros is read', () => {
    const files = assembleDatabase({ tables: [old] });
    const padded = new Uint8Array(3 * 2 ** 20);
    padded.set(files.get('MANIFEST-000001')!);
    files.set('MANIFEST-000001', padded);
    expect(shown(SyncDatabaseReader.open(new MemoryFolder(files)).entries())).toEqual(['old->table']);
  });

  test('MissingSSTFile, StillReadSST: a missing table is an error, and a table with the old suffix .sst is read', () => {
    const files = assembleDatabase({ tables: [old] });
    const table = files.get('000002.ldb')!;
    files.delete('000002.ldb');
    expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ code: 'BLOOM_MISSING_FILE' });
    files.set('000002.sst', table);
    expect(shown(SyncDatabaseReader.open(new MemoryFolder(files)).entries())).toEqual(['old->table']);
  });

  test('a table counts as missing if only a log has its number: in strict mode at once, otherwise when it is read', () => {
    const files = assembleDatabase({ tables: [old, { level: 0, number: 4, versions: [put('new', 2, 'x')] }] });
    files.delete('000002.ldb');
    files.set('000002.log', new Uint8Array(0));
    expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ code: 'BLOOM_MISSING_FILE' });
    const database = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
    expect(shown(database.entries())).toEqual(['new->x']);
    expect(caught(() => database.get(utf8('old')))).toMatchObject({ code: 'BLOOM_MISSING_FILE' });
    expect(database.get(utf8('missing'))).toBeUndefined();
    expect(database.describe().dropped).toMatchObject([{ code: 'BLOOM_MISSING_FILE' }]);
  });

  test('Recovery: 36 of 100 records are left when two blocks of the log are damaged', () => {
    const random = seeded(1);
    const batches = Array.from({ length: 100 }, (_, i) => ({
      sequence: i + 1,
      operations: [[utf8(String(i).padStart(16, '0')), random.bytes(1000)]] as const,
    }));
    const files = assembleDatabase({ logs: [{ number: 3, batches }] });
    const log = files.get('000003.log')!;
    log[19]! ^= 0x80;
    log[32_768 + 1000]! ^= 0x80;
    expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ code: 'BLOOM_BAD_LOG', offset: 0 });
    const database = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
    expect([...database.keys()]).toHaveLength(36);
    expect(database.describe().dropped.map(({ file, reason }) => `${file}: ${reason}`)).toContain('000003.log: checksum mismatch');
  });

  test.each([0xff000000, 1, 4096])('a block is left out of all walks and seeks if one of its restarts is %i despite a right checksum', (offset) => {
    // Its restarts are changed when it is decompressed: so the checksum is right.
    const codec = {
      type: 9,
      name: 'restarts changed',
      compress: (contents: Uint8Array) => new Uint8Array(deflateRawSync(contents)),
      decompress(compressed: Uint8Array) {
        const contents = new Uint8Array(inflateRawSync(compressed));
        const isFirst = text(contents.subarray(0, 20))!.includes('k100');
        const view = new DataView(contents.buffer);
        if (isFirst && contents.length > 500) view.setUint32(contents.length - 12, offset, true);
        return contents;
      },
    };
    const versions = Array.from({ length: 60 }, (_, i) => put(`k${100 + i}`, i + 1, 'v'.repeat(100)));
    const files = assembleDatabase({ tables: [{ level: 1, number: 5, versions }], build: { blockSize: 1024, blockRestartInterval: 2, compression: codec } });
    const database = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip', codecs: [codec] });
    const keys = [...database.keys()].map(text);
    expect(keys.length).toBeGreaterThan(40);
    expect(keys.length).toBeLessThan(60);
    expect([...database.keys({ reverse: true })].map(text).reverse()).toEqual(keys);
    const cursor = database.cursor();
    for (const { key } of versions) {
      expect(cursor.seek(key)).toBe(true);
      expect(text(cursor.key)).toBe(keys.find((kept) => kept! >= text(key)!));
    }
    expect(database.describe().dropped).toMatchObject([{ file: '000005.ldb', code: 'BLOOM_BAD_BLOCK', offset: 0 }]);
  });

  test('TableFile, TableFileIndexData: a damaged block loses its entries, and a damaged index loses the table', () => {
    const random = seeded(2);
    const table = (number: number): TableParts => ({
      level: 1,
      number,
      versions: Array.from({ length: 100 }, (_, i) => ({ key: utf8(String(number * 100 + i).padStart(16, '0')), sequence: i + 1, value: random.bytes(1000) })),
    });
    const files = assembleDatabase({ tables: [table(5), table(6), table(7)] });
    files.get('000006.ldb')![100]! ^= 0x80;
    files.get('000007.ldb')!.fill(0x55, -300, -60);
    const strict = caught(() => [...SyncDatabaseReader.open(new MemoryFolder(files)).entries()]);
    expect(strict).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'index block', file: '000007.ldb' });
    const database = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
    const left = [...database.keys()].map((key) => Math.floor(Number(text(key)) / 100));
    expect([5, 6, 7].map((number) => left.filter((found) => found === number).length)).toEqual([100, 95, 0]);
    expect([...database.keys({ reverse: true })]).toHaveLength(195);
    expect(database.describe().dropped.map(({ file, code, offset }) => [file, code, offset > 0])).toEqual([
      ['000007.ldb', 'BLOOM_BAD_CHECKSUM', true],
      ['000006.ldb', 'BLOOM_BAD_CHECKSUM', false],
    ]);
    const key = (i: number): Uint8Array => utf8(String(i).padStart(16, '0'));
    for (const damaged of [600, 701]) expect(caught(() => database.get(key(damaged)))).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
    expect(database.get(key(650))).toHaveLength(1000);
  });

  test('CorruptedDescriptor, UnrelatedKeys: a damaged MANIFEST is refused, even when skipping damage', () => {
    const files = assembleDatabase({ tables: [old] });
    files.get('MANIFEST-000001')![10]! ^= 1;
    for (const damage of ['strict', 'skip'] as const) {
      const error = caught(() => SyncDatabaseReader.open(new MemoryFolder(files), { damage }));
      expect(error).toMatchObject({ code: 'BLOOM_BAD_LOG', structure: 'log record', file: 'MANIFEST-000001', offset: 0 });
    }
  });

  test.each([
    ['without CURRENT', (files: Map<string, Uint8Array>) => files.delete('CURRENT'), 'BLOOM_NOT_A_DATABASE'],
    ['with an empty CURRENT', (files) => files.set('CURRENT', new Uint8Array(0)), 'BLOOM_BAD_CURRENT'],
    ['whose CURRENT ends in CR LF', (files) => files.set('CURRENT', utf8('MANIFEST-000001\r\n')), 'BLOOM_BAD_CURRENT'],
    ['whose CURRENT has two lines', (files) => files.set('CURRENT', utf8('MANIFEST-000001\nMANIFEST-000002\n')), 'BLOOM_BAD_CURRENT'],
    ['whose CURRENT leads out of the folder', (files) => files.set('CURRENT', utf8('../MANIFEST-000001\n')), 'BLOOM_BAD_CURRENT'],
    ['whose CURRENT is large', (files) => files.set('CURRENT', new Uint8Array(10_000).fill(10)), 'BLOOM_BAD_CURRENT'],
    ['whose MANIFEST is empty', (files) => files.set('MANIFEST-000001', new Uint8Array(0)), 'BLOOM_BAD_VERSION'],
    ['whose MANIFEST lacks a field', (files) => files.set('MANIFEST-000001', logOf([encodeVersionEdit({ logNumber: 2n, nextFileNumber: 3n })])), 'BLOOM_BAD_VERSION'],
    ['whose MANIFEST has no edits', (files) => files.set('MANIFEST-000001', logOf([utf8('hello')])), 'BLOOM_BAD_VERSION_EDIT'],
    ['whose table is short', (files) => files.set('000002.ldb', files.get('000002.ldb')!.subarray(0, -1)), 'BLOOM_TRUNCATED'],
    ['whose table is not a table', (files) => files.set('000002.ldb', new Uint8Array(files.get('000002.ldb')!.length)), 'BLOOM_NOT_A_TABLE'],
  ] satisfies [string, (files: Map<string, Uint8Array>) => unknown, string][])('refuses a folder %s', (_, spoil, code) => {
    const files = assembleDatabase({ tables: [old] });
    spoil(files);
    expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ code });
  });

  test('CURRENT may name any file in the folder, and extra bytes after a table are ignored', () => {
    const files = assembleDatabase({ tables: [old] });
    files.set('anything', files.get('MANIFEST-000001')!);
    files.set('CURRENT', utf8('anything\n'));
    files.set('000002.ldb', Uint8Array.of(...files.get('000002.ldb')!, 1, 2, 3));
    const database = SyncDatabaseReader.open(new MemoryFolder(files));
    expect([database.describe().manifest, ...shown(database.entries())]).toEqual(['anything', 'old->table']);
  });
});

describe('filters', () => {
  const sequences = (from: number, count: number, step = 1): Version[] =>
    Array.from({ length: count }, (_, i) => put(`k${String(i * step).padStart(6, '0')}`, from + i, 'v'.repeat(20)));
  const absent = (i: number): Uint8Array => utf8(`k${String(i).padStart(6, '0')}.missing`);

  test('BloomFilter: a present key costs at most 1.02 reads on average, and an absent key 0.03', () => {
    const count = 10_000;
    const tables = [
      { level: 2, number: 5, versions: sequences(1, count) },
      { level: 0, number: 7, versions: sequences(count + 1, count / 100, 100) },
    ];
    const database = openSync({ tables, filterPolicy: new BloomFilterPolicy(10) }, { cache: null });
    const missing = Array.from({ length: count }, (_, i) => `k${String(i).padStart(6, '0')}`).filter((key) => database.get(utf8(key)) === undefined);
    expect(missing).toEqual([]);
    const present = database.stats.blockReads;
    expect(present).toBeGreaterThanOrEqual(count);
    expect(present).toBeLessThanOrEqual(count * 1.02);
    expect(Array.from({ length: count }, (_, i) => absent(i)).filter((key) => database.get(key) !== undefined)).toEqual([]);
    expect(database.stats.blockReads - present).toBeLessThanOrEqual(count * 0.03);
    expect(database.stats.lookups).toBe(2 * count);
  });

  test('with 20,000 keys in five tables, filters save more than 39 of 40 reads for absent keys', () => {
    const count = 20_000;
    const tables = [
      { level: 2, number: 5, versions: sequences(1, count) },
      { level: 1, number: 6, versions: sequences(count + 1, count / 10, 10) },
      ...[7, 8, 9].map((number) => ({ level: 0, number, versions: sequences(count * (number - 5), 1000, 100) })),
    ];
    const reads = (filterPolicy: BloomFilterPolicy | null): { readonly reads: number; readonly tablesAsked: number } => {
      const database = openSync({ tables, filterPolicy }, { cache: null });
      expect(database.filterStatus.state).toBe(filterPolicy === null ? 'absent' : 'used');
      for (let i = 0; i < 2000; i++) expect(database.get(absent(i * 10 - 5))).toBeUndefined();
      const { blockReads, tablesAsked, filterNegatives, filterFalsePositives } = database.stats;
      expect(filterNegatives + filterFalsePositives).toBe(filterPolicy === null ? 0 : tablesAsked);
      return { reads: blockReads, tablesAsked };
    };
    const without = reads(null);
    const withFilters = reads(new BloomFilterPolicy(10));
    expect(without.reads).toBe(without.tablesAsked);
    expect(without.reads).toBeGreaterThan(9000);
    expect(withFilters.reads).toBeLessThan(without.reads / 40);
  });
});

test('refuses invalid options and arguments, and calls after close', async () => {
  const folder = new MemoryFolder(assembleDatabase({ tables: [{ level: 0, number: 5, versions: [put('a', 1, '1')] }] }));
  for (const options of [{ maxOpenFiles: 1.5 }, { maxRestarts: -1 }, { damage: 'maybe' as 'skip' }]) {
    expect(() => SyncDatabaseReader.open(folder, options)).toThrow(new RegExp(Object.keys(options)[0]!));
    expect(() => SyncDatabaseReader.open(folder, options)).toThrow(RangeError);
  }
  const database = SyncDatabaseReader.open(folder);
  expect(() => database.get(5 as unknown as Uint8Array)).toThrow(TypeError);
  expect(() => database.get(utf8('a'), { sequence: 1 as unknown as bigint })).toThrow(TypeError);
  expect(() => database.get(utf8('a'), { sequence: -1n })).toThrow(RangeError);
  expect(() => database.entries({ limit: -1 })).toThrow(RangeError);
  expect(() => database.entries({ gte: 5 as unknown as Uint8Array })).toThrow(TypeError);
  expect(() => database.cursor().seek(5 as unknown as Uint8Array)).toThrow(TypeError);
  expect(() => new MemoryFolder({ CURRENT: 'MANIFEST' as unknown as Uint8Array })).toThrow(TypeError);
  const cursor = database.cursor();
  const walk = database.entries();
  database.close();
  database.close();
  for (const use of [() => database.get(utf8('a')), () => database.entries(), () => cursor.seekToFirst(), () => walk.next(), () => database.refresh(), () => database.describe()]) {
    expect(use).toThrow('closed');
  }
  const promised = await DatabaseReader.open(folder);
  await promised.close();
  expect(await rejection(promised.get(utf8('a')))).toBeInstanceOf(TypeError);
  expect(await rejection(promised.refresh())).toBeInstanceOf(TypeError);
});

describe('entries with a right checksum that are not a database’s', () => {
  const key = (sequence: bigint, type: number): Uint8Array => encodeInternalKey({ userKey: utf8('k'), sequence, type });
  // The order of internal keys puts what is too short to be one first.
  const WRONG: Record<string, Uint8Array> = { 'of an unknown type': key(9n, 5), 'too short': utf8('short') };

  function filesWith(wrong: Uint8Array): Map<string, Uint8Array> {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator: internalKeyComparator(bytewiseComparator), filterPolicy: null });
    builder.add(wrong, utf8('wrong'));
    builder.add(key(8n, 1), utf8('right'));
    builder.finish();
    const table = sink.toBytes();
    const file = { number: 5n, size: table.length, smallest: key(9n, 5), largest: key(8n, 1) };
    const edit = encodeVersionEdit({ comparator: bytewiseComparator.name, logNumber: 6n, nextFileNumber: 9n, lastSequence: 20n, newFiles: [{ level: 1, file }] });
    return new Map([['CURRENT', utf8('MANIFEST-000001\n')], ['MANIFEST-000001', logOf([edit])], ['000005.ldb', table]]);
  }

  test('versions() throws or leaves out one of an unknown type', () => {
    const files = filesWith(WRONG['of an unknown type']!);
    const strict = SyncDatabaseReader.open(new MemoryFolder(files));
    expect(caught(() => strict.versions(utf8('k')))).toMatchObject({ code: 'BLOOM_BAD_INTERNAL_KEY', file: '000005.ldb' });
    const skipping = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
    expect(skipping.versions(utf8('k'))).toMatchObject([{ kind: 'value', sequence: 8n }]);
    expect(skipping.describe().dropped).toMatchObject([{ code: 'BLOOM_BAD_INTERNAL_KEY' }]);
  });

  test('a walk throws or leaves out one that is too short', () => {
    const files = filesWith(WRONG['too short']!);
    expect(caught(() => [...SyncDatabaseReader.open(new MemoryFolder(files)).entries()])).toMatchObject({ code: 'BLOOM_BAD_INTERNAL_KEY' });
    expect(shown(SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' }).entries())).toEqual(['k->right']);
  });
});

test('a cursor whose seek throws is on no entry, and moves from there are none', async () => {
  let isBroken = false;
  const comparator: Comparator = {
    name: 'test.Broken',
    compare(x, y) {
      if (isBroken) throw new Error('broken');
      return bytewiseComparator.compare(x, y);
    },
    findShortestSeparator: (start) => start,
    findShortSuccessor: (key) => key,
  };
  const versions = ['a', 'b', 'c', 'd', 'e'].map((name, i) => put(name, 1 + i, `value of ${name}`));
  const folder = new MemoryFolder(assembleDatabase({ comparator, tables: [{ level: 1, number: 5, versions }] }));
  const options = { comparators: [comparator] };
  for (const database of [SyncDatabaseReader.open(folder, options), await DatabaseReader.open(folder, options)]) {
    const cursor = database.cursor();
    const seek = async (name: string): Promise<unknown> => cursor.seek(utf8(name));
    for (const move of ['next', 'prev'] as const) {
      await seek('c');
      await cursor[move]();
      isBroken = true;
      expect(await rejection(seek('d'))).toMatchObject({ message: 'broken' });
      isBroken = false;
      expect([cursor.valid, await cursor.next(), await cursor.prev()]).toEqual([false, false, false]);
    }
  }
});

describe('storedEntries', () => {
  test('reports what it leaves out of logs as LevelDB does', async () => {
    const operations = [[utf8('a'), utf8('1')]] as const;
    const files = assembleDatabase({ logs: [{ number: 3, batches: [1, 2, 3].map((sequence) => ({ sequence, operations })) }] });
    files.get('000003.log')![0]! ^= 1;
    const dropped: Dropped[] = [];
    await collect(storedEntries(new MemoryFolder(files), { damage: 'skip', onDropped: (drop) => dropped.push(drop) }));
    const described = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' }).describe().dropped;
    expect(dropped).toEqual(described);
    expect(dropped[0]!.reason).toBe('checksum mismatch');
    expect(dropped[0]!.byteLength).toBeGreaterThan(0);
  });

  test('reads few large entries ahead', async () => {
    const versions = Array.from({ length: 8 }, (_, i) => ({ key: utf8(`k${i}`), sequence: 1 + i, value: new Uint8Array(2 ** 20).fill(i) }));
    const memory = new MemoryFolder(assembleDatabase({ tables: [{ level: 1, number: 5, versions }] }));
    let bytesRead = 0;
    const folder = {
      list: () => memory.list(),
      open(name: string) {
        const file = memory.open(name);
        const read = (offset: number, length: number): Uint8Array => {
          bytesRead += length;
          return file!.read(offset, length);
        };
        return file && { byteLength: file.byteLength, name, read };
      },
    };
    for (const { value } of storedEntriesSync(folder)) {
      expect(value).toHaveLength(2 ** 20);
      expect(bytesRead).toBeLessThan(5 * 2 ** 20);
      break;
    }
  });
});

test('a byte order mark in CURRENT is part of the name, as for LevelDB', () => {
  const files = assembleDatabase({ tables: [{ level: 1, number: 5, versions: [put('a', 1, 'v')] }] });
  files.set('CURRENT', Uint8Array.of(0xef, 0xbb, 0xbf, ...files.get('CURRENT')!));
  expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ code: 'BLOOM_BAD_CURRENT' });
});
