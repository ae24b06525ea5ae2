// The arguments that opening, lookups, walks and cursors refuse by name, with and without promises.
import { BloomFilterPolicy } from '@bloom/policy';
import { BlockCache, bytewiseComparator, CorruptionError, MemorySource, SyncTable, Table } from '@bloom/sstable';
import { DatabaseTable, decodeInternalKey, encodeInternalKey, internalKeyComparator, internalKeyPolicy, SyncDatabaseTable } from '@bloom/sstable/database';
import { openTable, openTableSync } from '@bloom/sstable/node';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { numberedEntries, utf8 } from './entries.js';

const source = new MemorySource(buildTable(numberedEntries(100)));
const databaseSource = new MemorySource(buildTable([], { comparator: internalKeyComparator() }));

/** Calls without types, as in JavaScript. */
type Loose = Record<string, (...args: unknown[]) => unknown>;

/** The error of all four ways of opening, or all errors if they differ. */
async function refused(wrongSource: unknown, options?: unknown): Promise<unknown> {
  const args = options === undefined ? [wrongSource] : [wrongSource, options];
  const errors = [
    caught(() => (SyncTable as unknown as Loose).open!(...args)),
    await rejection((Table as unknown as Record<string, (...a: unknown[]) => Promise<unknown>>).open!(...args)),
    caught(() => (SyncDatabaseTable as unknown as Loose).open!(...args)),
    await rejection((DatabaseTable as unknown as Record<string, (...a: unknown[]) => Promise<unknown>>).open!(...args)),
  ].map((error) => `${(error as Error).name}: ${(error as Error).message}`.replace(/^(TypeError: )(Sync)?(Database)?Table\./, '$1').replace(/the options of \w+\./, 'the options of '));
  return new Set(errors).size === 1 ? errors[0] : errors;
}

describe('a source', () => {
  test.each<[string, unknown, string]>([
    ['a path', 'x.ldb', 'source must be a source, got string: to open a file, use FileSource.open of @bloom/sstable/node'],
    ['the bytes themselves', new Uint8Array(100), 'source must be a source, got bytes: pass new MemorySource(bytes)'],
    ['a buffer', new ArrayBuffer(100), 'source must be a source, got an ArrayBuffer without read()'],
    ['nothing', undefined, 'source must be a source, got undefined'],
    ['null', null, 'source must be a source, got null'],
    ['a class', MemorySource, 'source must be a source, got the class MemorySource: pass an instance, new MemorySource()'],
    ['a promise of one', Promise.resolve(source), 'source must be a source, got a Promise without read()'],
  ])('that is %s is rejected', async (_, wrong, message) => {
    expect(await refused(wrong)).toBe(`TypeError: ${message}`);
  });

  test.each([NaN, -1, 1.5, Infinity, '100', undefined, null])('with a byteLength of %s is rejected', async (byteLength) => {
    const wrong = { byteLength, read: () => new Uint8Array() };
    expect(await refused(wrong)).toBe(`RangeError: source.byteLength must be a whole number, at least 0, got ${byteLength === '100' ? '"100"' : String(byteLength)}`);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['string', 'abc'],
    ['an ArrayBuffer', new ArrayBuffer(48)],
    ['a DataView', new DataView(new ArrayBuffer(48))],
    ['an Array', [1, 2, 3]],
  ])('that returns %s is rejected', async (kind, answer) => {
    const message = `TypeError: the result of source.read must be a Uint8Array, got ${kind}`;
    expect(await refused({ byteLength: 48, read: () => answer })).toBe(message);
    const later = { byteLength: 48, read: () => Promise.resolve(answer) };
    expect(await rejection(Table.open(later as unknown as MemorySource))).toEqual(new TypeError(message.slice(11)));
  });

  test('that returns Buffers is read like any other, and the cache does not keep them in memory', async () => {
    const entries = numberedEntries(2000, 100);
    const file = Buffer.from(buildTable(entries, { compression: 'none' }));
    const reads: Buffer[] = [];
    const buffers = {
      byteLength: file.length,
      read: (offset: number, length: number) => {
        const answer = Buffer.from(file.subarray(offset, offset + length));
        reads.push(answer);
        return answer;
      },
    };
    const cache = new BlockCache(2 ** 20);
    const table = await Table.open(buffers, { cache });
    await table.getMany(entries.map(([key]) => key));
    // The cache keeps copies, not views of the bytes that were read together.
    for (const read of reads) read.fill(0);
    expect((await table.getMany(entries.map(([key]) => key))).filter((value, i) => value === undefined || Buffer.compare(value, entries[i]![1]) !== 0)).toEqual([]);
  });
});

describe('options', () => {
  test.each<[unknown, string]>([
    [{ maxBlockByte: 5 }, 'open has no option "maxBlockByte": did you mean maxBlockBytes?'],
    [{ filterPolicy: new BloomFilterPolicy() }, 'open has no option "filterPolicy": did you mean filterPolicies?'],
    [{ readahead: 0 }, 'open has no option "readahead": it has'],
    [{ blockSize: 4096 }, 'open has no option "blockSize": it has'],
    [null, 'the options of open must be an object, got null'],
    [10, 'the options of open must be an object, got number'],
    [{ filterPolicies: BloomFilterPolicy }, 'filterPolicies must be an array of filter policies, got the class BloomFilterPolicy'],
    [{ filterPolicies: new BloomFilterPolicy() }, 'filterPolicies must be an array of filter policies, got a BloomFilterPolicy'],
    [{ filterPolicies: [BloomFilterPolicy] }, 'filterPolicies[0] must be a FilterPolicy, got a function: if BloomFilterPolicy is a class, give new BloomFilterPolicy()'],
    [{ filterPolicies: [new BloomFilterPolicy(), null] }, 'filterPolicies[1] must be a FilterPolicy, got null'],
    [{ filterPolicies: [{ name: 'x', keyMayMatch: () => true }] }, 'filterPolicies[0] must be a FilterPolicy, got an object without createFilter'],
    [{ comparator: 'leveldb.BytewiseComparator' }, 'comparator must be a comparator, got string'],
    [{ comparator: bytewiseComparator.compare }, 'comparator must be a comparator, got function'],
    [{ comparator: { compare: () => 0 } }, 'comparator must be a comparator, got object without findShortestSeparator() and findShortSuccessor()'],
    [{ cache: 8e6 }, 'cache must be a BlockCache or null, got number'],
    [{ cache: BlockCache }, 'cache must be a BlockCache or null, got the class BlockCache: pass an instance, new BlockCache()'],
    [{ cache: new Map() }, 'cache must be a BlockCache or null, got a Map without reserve() and drop()'],
    [{ codecs: { type: 2 } }, 'codecs must be an array of codecs, got object'],
    [{ codecs: [undefined] }, 'codecs[0] must be a codec, got undefined'],
    [{ codecs: [{ type: 2, name: 'x' }] }, 'codecs[0] must be a codec, got object without decompress()'],
    [{ signal: true }, 'signal must be an AbortSignal, got boolean'],
  ])('%o are rejected', async (options, message) => {
    const error = await refused(source, options);
    expect(String(error).slice(0, message.length + 11)).toBe(`TypeError: ${message}`);
  });

  test.each([
    ['maxBlockBytes', [0, -1, 1.5, NaN, 2 ** 31, '5', null]],
    ['tailBytes', [0, 47, 48.5, Infinity, '64', null]],
  ])('with an invalid %s are rejected', async (name, values) => {
    for (const value of values) {
      // null means the default, like undefined.
      if (value === null) continue;
      expect(await refused(source, { [name]: value })).toMatch(new RegExp(`^RangeError: ${name} must be a whole number, .*got ${typeof value === 'string' ? JSON.stringify(value) : value}$`));
    }
  });

  test('with an aborted signal are rejected with its reason, by a SyncTable too', async () => {
    const reason = new Error('too late');
    const options = { cache: null, signal: AbortSignal.abort(reason) };
    expect(caught(() => SyncTable.open(source, options))).toBe(reason);
    expect(await rejection(Table.open(source, options))).toBe(reason);
    expect(caught(() => SyncDatabaseTable.open(source, options))).toBe(reason);
    expect(await rejection(DatabaseTable.open(source, options))).toBe(reason);
    expect(caught(() => openTableSync(process.execPath, options))).toBe(reason);
    expect(await rejection(openTable(process.execPath, options))).toBe(reason);
  });

  test('of a Table can be used for a SyncTable, and for several calls', async () => {
    const options = { readAheadBytes: 0, gapBytes: 0, signal: new AbortController().signal, cache: null, tailBytes: undefined, nothing: undefined };
    expect(SyncTable.open(source, options).blockCount).toBe((await Table.open(source, options)).blockCount);
  });
});

describe('a call', () => {
  const syncTable = SyncTable.open(source) as unknown as Loose;
  const typeError = (message: string): Error => new TypeError(message);

  test.each<[string, unknown[], string]>([
    ['get', [undefined], 'key must be a Uint8Array or a string, got undefined'],
    ['get', [5], 'key must be a Uint8Array or a string, got number'],
    ['get', [[1, 2]], 'key must be a Uint8Array or a string, got an Array'],
    ['find', [true, () => true], 'key must be a Uint8Array or a string, got boolean'],
    ['has', [true], 'key must be a Uint8Array or a string, got boolean'],
    ['batches', [{ limt: 5 }], 'CLASS.batches has no option "limt": did you mean limit?'],
    ['find', [utf8('a'), true], 'matches must be a function, got boolean'],
    ['getMany', ['abc'], 'keys must be an iterable of Uint8Arrays, got string'],
    ['getMany', [undefined], 'keys must be an iterable of Uint8Arrays, got undefined'],
    ['getMany', [utf8('abc')], 'keys[0] must be a Uint8Array or a string, got number'],
    ['getMany', [[utf8('abc'), true]], 'keys[1] must be a Uint8Array or a string, got boolean'],
    ['compare', [1, utf8('b')], 'a must be a Uint8Array or a string, got number'],
    ['compare', [utf8('b'), null], 'b must be a Uint8Array or a string, got null'],
    ['entries', [{ start: utf8('a') }], 'CLASS.entries has no option "start": it has gt, gte, lt, lte, prefix, reverse, limit, fillCache, signal'],
    ['keys', [{ gteq: utf8('a') }], 'CLASS.keys has no option "gteq": did you mean gte?'],
    ['values', [{ limt: 5 }], 'CLASS.values has no option "limt": did you mean limit?'],
    ['keys', [utf8('a')], 'the options of CLASS.keys must be an object, got a Uint8Array'],
    ['keys', [null], 'the options of CLASS.keys must be an object, got null'],
    ['keys', [{ reverse: 'false' }], 'reverse must be a boolean, got string'],
    ['keys', [{ gte: 1 }], 'gte must be a Uint8Array or a string, got number'],
  ])('of %s with %o is rejected', async (method, args, message) => {
    expect(caught(() => syncTable[method]!(...args))).toEqual(typeError(message.replace('CLASS', 'SyncTable')));
    const table = (await Table.open(source)) as unknown as Loose;
    expect(await rejection((async () => table[method]!(...args))())).toEqual(typeError(message.replace('CLASS', 'Table')));
  });

  test.each<[string, unknown[]]>([
    ['get', [utf8('a')]],
    ['has', [utf8('a')]],
    ['find', [utf8('a'), () => true]],
    ['getMany', [[utf8('a')]]],
  ])('of %s with invalid options is rejected', async (method, args) => {
    const table = (await Table.open(source)) as unknown as Loose;
    for (const [options, message] of [
      [{ sginal: 1 }, `Table.${method} has no option "sginal": did you mean signal?`],
      [7, `the options of Table.${method} must be an object, got number`],
      [new AbortController().signal, `the options of Table.${method} must be an object, got an AbortSignal: pass { signal }`],
      [{ signal: {} }, 'signal must be an AbortSignal, got object'],
    ] as const) {
      expect(await rejection(table[method]!(...args, options) as Promise<unknown>)).toEqual(typeError(message));
    }
  });

  test('of a table of a database is rejected in the same way', async () => {
    const syncDatabase = SyncDatabaseTable.open(databaseSource) as unknown as Loose;
    const database = (await DatabaseTable.open(databaseSource)) as unknown as Loose;
    const calls: [unknown[], string][] = [
      [[5], 'key must be a Uint8Array or a string, got number'],
      [[undefined], 'key must be a Uint8Array or a string, got undefined'],
      [[utf8('a'), { sequence: 5 }], 'sequence must be a bigint, got number'],
    ];
    for (const [args, message] of calls) {
      expect(caught(() => syncDatabase.get!(...args))).toEqual(typeError(message));
      expect(await rejection(database.get!(...args) as Promise<unknown>)).toEqual(typeError(message));
    }
    expect(caught(() => syncDatabase.get!(utf8('a'), { seq: 5n }))).toEqual(typeError('SyncDatabaseTable.get has no option "seq": it has sequence, signal'));
    expect(await rejection(database.get!(utf8('a'), { snapshot: 5n }) as Promise<unknown>)).toEqual(typeError('DatabaseTable.get has no option "snapshot": it has sequence, signal'));
    // The error is thrown before the walk begins, not at its first step.
    for (const [name, table] of [['SyncDatabaseTable', syncDatabase], ['DatabaseTable', database]] as const) {
      expect(caught(() => table.entries!({ gte: 1 }))).toEqual(typeError('gte must be a Uint8Array or a string, got number'));
      expect(caught(() => table.entries!({ from: 'a' }))).toEqual(typeError(`${name}.entries has no option "from": it has gt, gte, lt, lte, prefix, reverse, limit, fillCache, signal`));
      expect(caught(() => table.entries!({ limit: -1 }))).toBeInstanceOf(RangeError);
    }
  });

  test('that opens a table of a database counts inherited options', async () => {
    const options = Object.create({ maxBlockBytes: 1 }) as { maxBlockBytes: number };
    expect(caught(() => SyncDatabaseTable.open(databaseSource, options))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
    expect(await rejection(DatabaseTable.open(databaseSource, options))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
  });

  test('of functions for internal keys is rejected in the same way', () => {
    const encode = encodeInternalKey as (key: unknown) => unknown;
    expect(caught(() => encode({ userKey: 'abc', sequence: 1n, type: 1 }))).toEqual(typeError('userKey must be a Uint8Array, got string'));
    expect(caught(() => encode({ userKey: utf8('a'), sequence: 1, type: 1 }))).toEqual(typeError('sequence must be a bigint, got number'));
    expect(caught(() => decodeInternalKey('abcdefghijkl' as unknown as Uint8Array))).toEqual(typeError('key must be a Uint8Array, got string'));
    const policy = internalKeyPolicy as (policy: unknown) => unknown;
    expect(caught(() => policy(BloomFilterPolicy))).toEqual(typeError('userPolicy must be a FilterPolicy, got a function: if BloomFilterPolicy is a class, give new BloomFilterPolicy()'));
    const comparator = internalKeyComparator as (comparator: unknown) => unknown;
    expect(caught(() => comparator(null))).toEqual(typeError('comparator must be a comparator, got null'));
  });

  test('with a wrong argument does not cause a CorruptionError', async () => {
    const table = (await Table.open(source)) as unknown as Loose;
    expect(await rejection(table.get!('abc') as Promise<unknown>)).not.toBeInstanceOf(CorruptionError);
  });
});

test('a MemorySource and a BlockCache reject invalid arguments', () => {
  const memory = (bytes: unknown): unknown => caught(() => new MemorySource(bytes as Uint8Array));
  expect(memory('abc')).toEqual(new TypeError('bytes must be a Uint8Array, got string'));
  expect(memory(new ArrayBuffer(5))).toEqual(new TypeError('bytes must be a Uint8Array, got an ArrayBuffer'));
  for (const maxBytes of [0, -1, NaN, 1.5, '5']) {
    expect(caught(() => new BlockCache(maxBytes as number))).toEqual(new RangeError(`maxBytes must be a whole number, at least 1, got ${maxBytes === '5' ? '"5"' : maxBytes}`));
  }
});
