// A wrong argument is an error that names it, before anything is read.
import { Database, DatabaseReader, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { storedEntries, verifyDatabase } from '@bloom/leveldb/inspect';
import { HttpFolder } from '@bloom/leveldb/http';
import { NodeFolder, SyncNodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { HttpSource } from '@bloom/sstable/http';
import { access, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';

/** The message of a TypeError or RangeError. */
function messageOf(error: unknown): string {
  return error instanceof TypeError || error instanceof RangeError ? error.message : `no error of arguments: ${String(error)}`;
}

const key = new TextEncoder().encode('a');
const folder = new MemoryFolder(assembleDatabase({ tables: [{ level: 1, number: 5, versions: [{ key, sequence: 1, value: key }] }] }));

const WRONG_OPTIONS: readonly (readonly [options: object, message: RegExp])[] = [
  [{ damange: 'skip' }, /has no option "damange": did you mean damage\?/],
  [{ comparator: undefined, comparators: {} }, /^comparators must be an array/],
  [{ comparators: [1] }, /^comparators\[0\] must be a comparator, got number/],
  [{ cache: 1000 }, /^cache must be a BlockCache or null, got number/],
  [{ codecs: 1 }, /^codecs must be an array/],
  [{ filterPolicies: 'x' }, /^filterPolicies must be/],
  [{ damage: 'none' }, /^damage must be 'strict' or 'skip'/],
  [{ readAheadBytes: -1 }, /^readAheadBytes must be/],
  [{ gapBytes: -5 }, /^gapBytes must be/],
  [{ tailBytes: 1 }, /^tailBytes must be/],
  [{ maxBlockBytes: 0 }, /^maxBlockBytes must be/],
  [{ maxOpenFiles: -1 }, /^maxOpenFiles must be/],
  [{ maxOpenTables: 5 }, /has no option "maxOpenTables": did you mean maxOpenFiles\?/],
  [{ maxRestarts: -1 }, /^maxRestarts must be/],
  [{ insistOnBytewise: 1 }, /^insistOnBytewise must be a boolean/],
];

describe('opening for reading', () => {
  test.each(WRONG_OPTIONS)('refuses %j', async (options, message) => {
    expect(messageOf(caught(() => SyncDatabaseReader.open(folder, options)))).toMatch(message);
    expect(messageOf(await rejection(DatabaseReader.open(folder, options)))).toMatch(message);
  });

  test.each([undefined, null, 'path/to/database', {}])('refuses the folder %j', async (wrong) => {
    expect(messageOf(caught(() => SyncDatabaseReader.open(wrong as never)))).toContain('folder must be a folder');
    expect(messageOf(await rejection(DatabaseReader.open(wrong as never)))).toContain('folder must be a folder');
    expect(messageOf(await rejection(storedEntries(wrong as never).next()))).toContain('folder must be a folder');
  });

  test('refuses null for options, and a signal that is none', async () => {
    expect(await rejection(DatabaseReader.open(folder, null as never))).toMatchObject({ message: 'the options of DatabaseReader.open must be an object, got null' });
    expect(messageOf(await rejection(DatabaseReader.open(folder, { signal: 1 as never })))).toContain('signal must be');
  });
});

test.each(WRONG_OPTIONS.filter(([options]) => !('comparators' in options || 'maxRestarts' in options || 'insistOnBytewise' in options || 'maxBlockBytes' in options)))(
  'opening for writing refuses %j',
  async (options, message) => {
    const written = new WritableMemoryFolder();
    expect(messageOf(await rejection(Database.open(written, options)))).toMatch(message);
    expect(written.list()).toEqual([]);
  },
);

describe('reads', () => {
  const database = SyncDatabaseReader.open(folder);
  const WRONG_READS: readonly (readonly [name: string, call: () => unknown, message: RegExp])[] = [
    ['get with a misspelt option', () => database.get(key, { sequnce: 0n } as never), /no option "sequnce": did you mean sequence\?/],
    ['has with a misspelt option', () => database.has(key, { sequnce: 0n } as never), /did you mean sequence\?/],
    ['cursor with a signal', () => database.cursor({ signal: new AbortController().signal } as never), /no option "signal"/],
    ['cursor with a misspelt option', () => database.cursor({ sequnce: 0n } as never), /did you mean sequence\?/],
    ['a range with a misspelt bound', () => database.entries({ gtr: key } as never), /^SyncDatabaseReader\.entries has no option "gtr": did you mean gt/],
    ['a range that is null', () => database.keys(null as never), /^the options of SyncDatabaseReader\.keys must be an object, got null/],
    ['a direction that is no boolean', () => database.values({ reverse: 'no' as never }), /^reverse must be a boolean/],
    ['compare of numbers', () => database.compare(1 as never, 2 as never), /^a must be a Uint8Array or a string, got number/],
    ['compare with nothing', () => database.compare(key, undefined as never), /^b must be a Uint8Array or a string, got undefined/],
    ['getMany of a number', () => database.getMany(5 as never), /^keys must be an iterable of Uint8Arrays/],
    ['hasMany of a number', () => database.hasMany(5 as never), /^keys must be an iterable of Uint8Arrays/],
    ['getMany of a number among keys', () => database.getMany([key, 5 as never]), /^keys\[1\] must be a Uint8Array or a string, got number/],
    ['getMany of no keys with a misspelt option', () => database.getMany([], { sequense: 1n } as never), /has no option "sequense"/],
    ['hasMany of no keys at a number', () => database.hasMany([], { sequence: 1 as never }), /^sequence must be a bigint, got number/],
    ['versions of a number', () => database.versions(5 as never), /^key must be a Uint8Array or a string, got number/],
    ['versions at a number', () => database.versions(key, { sequence: 1 as never }), /^sequence must be a bigint, got number/],
  ];
  test.each(WRONG_READS)('refuse %s', (_, call, message) => {
    expect(messageOf(caught(call))).toMatch(message);
  });

  test('of a reader with promises refuse the same', async () => {
    const promised = await DatabaseReader.open(folder);
    expect(messageOf(await rejection(promised.get(key, { sequnce: 0n } as never)))).toContain('did you mean sequence?');
    expect(await rejection(promised.getMany([key, 5 as never]))).toMatchObject({ message: 'keys[1] must be a Uint8Array or a string, got number' });
    expect(messageOf(await rejection(promised.get(key, { signal: 1 as never })))).toContain('signal must be an AbortSignal');
    expect(messageOf(caught(() => promised.entries({ gtr: key } as never)))).toContain('DatabaseReader.entries has no option "gtr"');
  });
});

test('writes name the call that was made when an option is wrong', async () => {
  const database = await Database.open(new WritableMemoryFolder());
  const wrong = { snyc: true } as never;
  for (const [call, writing] of [
    ['Database.put', database.put(key, key, wrong)],
    ['Database.delete', database.delete(key, wrong)],
    ['Database.write', database.write(new WriteBatch(), wrong)],
  ] as const) {
    expect(messageOf(await rejection(writing))).toMatch(new RegExp(`^${call} has no option "snyc": did you mean sync\\?`));
  }
  await database.close();
});

describe('a call with an argument too many', () => {
  /** Calls as plain JavaScript can make them. */
  type Loose = Readonly<Record<string, (...given: unknown[]) => unknown>>;
  const value = key;

  test.each<readonly [name: string, given: readonly unknown[], message: string]>([
    ['put', [key, value, {}, value], 'Database.put takes a key, a value and options, got 4 arguments'],
    ['put', [key, value, value], 'the options of Database.put must be an object, got a Uint8Array'],
    ['delete', [key, {}, key], 'Database.delete takes a key and options, got 3 arguments'],
    ['delete', [key, key], 'the options of Database.delete must be an object, got a Uint8Array'],
    ['delete', [key, []], 'the options of Database.delete must be an object, got an Array'],
    ['write', [new WriteBatch(), {}, new WriteBatch()], 'Database.write takes a batch and options, got 3 arguments'],
    ['write', [new WriteBatch(), new WriteBatch().delete(key)], 'the options of Database.write must be an object, got a WriteBatch'],
    ['write', [new WriteBatch(), { sync: 'true' }], 'sync must be a boolean, got string'],
    ['compactRange', [key, key, {}], 'Database.compactRange takes begin and end, got 3 arguments'],
    ['compactRange', [1, 2], 'begin must be a Uint8Array or a string, got number'],
  ])('is refused by Database.%s', async (name, given, message) => {
    const database = await Database.open(new WritableMemoryFolder());
    await database.put(key, value);
    const sequence = database.lastSequence;
    expect(messageOf(await rejection((database as unknown as Record<string, (...values: unknown[]) => Promise<void>>)[name]!(...given)))).toBe(message);
    expect(database.lastSequence).toBe(sequence);
    await database.close();
  });

  test('is refused when opening, deleting or repairing a database, which stays unchanged', async () => {
    const written = new WritableMemoryFolder();
    await (await Database.open(written)).close();
    const before = written.files();
    const statics = Database as unknown as Record<string, (...given: unknown[]) => Promise<void>>;
    expect(messageOf(await rejection(statics.open!(written, {}, { errorIfExists: true })))).toBe('Database.open takes a folder and options, got 3 arguments');
    expect(messageOf(await rejection(statics.destroy!(written, {}, {})))).toBe('Database.destroy takes a folder and options, got 3 arguments');
    expect(messageOf(await rejection(statics.destroy!(written, new WritableMemoryFolder())))).toBe("lock must be 'folder' or 'none', got function");
    expect(messageOf(await rejection(statics.repair!(written, {}, {})))).toBe('Database.repair takes a folder and options, got 3 arguments');
    expect(written.files()).toEqual(before);
  });

  test('is refused by a batch, which keeps its operations', () => {
    const batch = new WriteBatch().put(key, value);
    const loose = batch as unknown as Loose;
    expect(messageOf(caught(() => loose.put!(key, value, key, value)))).toBe('WriteBatch.put takes a key and a value, got 4 arguments');
    expect(messageOf(caught(() => loose.delete!(key, key)))).toBe('WriteBatch.delete takes a key, got 2 arguments');
    expect(messageOf(caught(() => loose.append!(new WriteBatch(), new WriteBatch())))).toBe('WriteBatch.append takes a batch, got 2 arguments');
    expect(messageOf(caught(() => loose.append!([])))).toBe('other must be a WriteBatch');
    expect(messageOf(caught(() => loose.append!(undefined)))).toBe('other must be a WriteBatch');
    expect(messageOf(caught(() => loose.clear!(key)))).toBe('WriteBatch.clear takes no arguments, got 1 argument');
    expect(batch.count).toBe(1);
  });

  test('is refused by what deletes files of a folder', () => {
    const memory = new WritableMemoryFolder([['a', key]]);
    expect(messageOf(caught(() => (memory as unknown as Loose).delete!('b', 'a')))).toBe('WritableMemoryFolder.delete takes a name, got 2 arguments');
    const node = new WritableNodeFolder('nowhere') as unknown as Loose;
    expect(messageOf(caught(() => node.delete!('b', 'a')))).toBe('WritableNodeFolder.delete takes a name, got 2 arguments');
  });

  test('is refused when removing a folder, without reading it', async () => {
    const folder = new WritableNodeFolder('nowhere') as unknown as Loose;
    expect(messageOf(await rejection(folder.removeFolder!('sub') as Promise<void>))).toBe('WritableNodeFolder.removeFolder takes no arguments, got 1 argument');
  });
});

test.each<readonly [object, RegExp]>([
  [{ comparators: 7 }, /^comparators must be an array/],
  [{ comparators: [7] }, /^comparators\[0\] must be a comparator, got number/],
  [{ codecs: 1 }, /^codecs must be an array/],
  [{ anyOrder: true }, /^verifyDatabase has no option "anyOrder": it has comparators,/],
  [{ maxFindings: -1 }, /^maxFindings must be/],
  [{ signal: 1 }, /^signal must be an AbortSignal/],
  [{ comparator: null }, /^verifyDatabase has no option "comparator": did you mean comparators\?/],
])('verifyDatabase refuses %j', async (options, message) => {
  expect(messageOf(await rejection(verifyDatabase(folder, options)))).toMatch(message);
});

test('storedEntries refuses an unknown option', async () => {
  expect(messageOf(await rejection(storedEntries(folder, { damge: 'skip' } as never).next()))).toContain('did you mean damage?');
});

test('folders and files behind HTTP refuse an unknown option', async () => {
  for (const files of ['CURRENT', 5, {}]) expect(messageOf(caught(() => new HttpFolder('https://example.org/', { files: files as never })))).toContain('files must be');
  expect(messageOf(caught(() => new HttpFolder('https://example.org/', { retry: 0 } as never)))).toContain('has no option "retry"');
  expect(messageOf(await rejection(HttpSource.open('https://example.org/', { retry: 0 } as never)))).toContain('has no option "retry"');
});

describe('createIfMissing: false', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'bloom-missing-'));
  });
  afterAll(() => rm(root, { recursive: true }));

  test('without a folder is an error of the database, and creates none', async () => {
    const path = join(root, 'nothing');
    expect(await rejection(Database.open(new WritableNodeFolder(path), { createIfMissing: false, lock: 'none' }))).toMatchObject({ code: 'BLOOM_DATABASE_MISSING' });
    expect(await rejection(access(path))).toMatchObject({ code: 'ENOENT' });
  });

  test('creates no database if CURRENT is gone while the folder is opened', async () => {
    const folder = new WritableMemoryFolder();
    await (await Database.open(folder)).close();
    const names = folder.list();
    let lists = 0;
    // The first list is the one before the folder is locked.
    folder.list = () => (++lists === 2 ? names.filter((name) => name !== 'CURRENT') : names);
    const before = folder.files();
    expect(await rejection(Database.open(folder, { createIfMissing: false }))).toMatchObject({ code: 'BLOOM_DATABASE_MISSING' });
    expect(folder.files()).toEqual(before);
  });

  test('in an empty folder leaves it empty', async () => {
    expect(await rejection(Database.open(new WritableNodeFolder(root), { createIfMissing: false }))).toMatchObject({ code: 'BLOOM_DATABASE_MISSING' });
    expect(await readdir(root)).toEqual([]);
  });
});

test.each([['NodeFolder', NodeFolder], ['SyncNodeFolder', SyncNodeFolder], ['WritableNodeFolder', WritableNodeFolder]] as const)(
  'an empty path of a %s is refused, because it would be the current folder',
  (_, AnyFolder) => {
    expect(messageOf(caught(() => new AnyFolder('')))).toBe("path must be a path that is not empty, got ''");
    expect(messageOf(caught(() => new AnyFolder(undefined as never)))).toBe('path must be a path that is not empty, got undefined');
    expect(new AnyFolder('.').path).toBe(process.cwd());
  },
);
