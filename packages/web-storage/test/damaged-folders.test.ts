// Damage in one place of a folder hides nothing else.
import { serialize } from 'node:v8';
import { Database, type Folder, WritableMemoryFolder } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { describe, expect, test } from 'vitest';
import { type BlobDirectoryLike, DirectoryBlobFolder } from '../src/browser.js';
import {
  type BlobFolder,
  encodeKey,
  EntryDecoder,
  IndexedDbReader,
  LocalStorageReader,
  SessionStorageReader,
  type StoredBlob,
  storedItems,
  storedRecords,
  storedSessionItems,
} from '../src/index.js';
import { NodeBlobFolder } from '../src/node.js';
import { collected, type Entry, folderOf, indexedDbOf } from './written-folders.js';

const ascii = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf16le').swap16());
const bytesOf = (...parts: readonly (number | Uint8Array)[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])));
const text = (value: string): Uint8Array => bytesOf(value.length, utf16(value));

const store = { id: 1, keyPath: undefined, autoIncrement: false } as const;
const record = (encodedKey: Uint8Array, value: unknown): Entry => [bytesOf(0, 1, 1, 1, encodedKey), bytesOf(1, serialize(value))];

/** Database 1 of `https_a_0@1`, named `d`, in version 2, with the entries of its description. */
const described = (...entries: readonly Entry[]): readonly Entry[] => [[bytesOf(0, 0, 0, 0, 201, text('https_a_0@1'), text('d')), bytesOf(1)], [bytesOf(0, 1, 0, 0, 4), bytesOf(2)], ...entries];
const ofStore = (id: number, type: number, value: Uint8Array): Entry => [bytesOf(0, 1, 0, 0, 50, id, type), value];
const ofIndex = (storeId: number, id: number, type: number, value: Uint8Array): Entry => [bytesOf(0, 1, 0, 0, 100, storeId, id, type), value];
const NO_KEY_PATH = bytesOf(0, 0, 0);

describe('a damaged key of IndexedDB', () => {
  const damagedKeys: readonly (readonly [string, Uint8Array])[] = [
    ['an unknown type', bytesOf(9, 1)],
    ['nothing', bytesOf()],
    ['the end of the order, which is never stored', bytesOf(0)],
    ['the end of the order and more', bytesOf(0, 0xff, 0xff)],
    ['a text that ends early', bytesOf(1, 5, 0, 0x61)],
    ['an array that ends early', bytesOf(4, 2, encodeKey(1))],
    ['a number with bytes after it', bytesOf(encodeKey(5), 7)],
  ];

  test.each(damagedKeys)('with %s is the error of its record, and the records around it are read', async (_, damaged) => {
    const folder = await indexedDbOf([record(encodeKey(1), 'one'), record(damaged, 'lost key'), record(encodeKey('z'), 'last')]);
    await using reader = await IndexedDbReader.open(folder);
    const sound = [[1, 1, 'one', undefined], ['z', 'z', 'last', undefined]];
    const bad = [undefined, undefined, undefined, 'BLOOM_BAD_KEY'];
    for (const walk of [reader.records({ id: 1 }, store), storedRecords(folder)]) {
      const records = (await collected(walk)).map(({ key, primaryKey, value, error }) => [key, primaryKey, value, error?.code]);
      expect(records).toHaveLength(3);
      expect(records).toEqual(expect.arrayContaining([...sound, bad]));
    }
    const placed = await reader.decodeEntry(...record(damaged, 'lost key'));
    expect([placed?.place, placed?.key, placed?.error?.code]).toEqual([{ database: 1, store: 1, index: 1 }, undefined, 'BLOOM_BAD_KEY']);
    await using decoder = await EntryDecoder.open(folder);
    expect(await decoder!.decode(...record(damaged, 'lost key'))).toMatchObject({ key: undefined, error: { code: 'BLOOM_BAD_KEY' }, place: { database: 1, store: 1 } });
  });

  test('is not in a range with two ends of its own', async () => {
    const folder = await indexedDbOf([record(bytesOf(9, 1), 'lost key'), record(encodeKey(1), 'one'), record(encodeKey(2), 'two')]);
    await using reader = await IndexedDbReader.open(folder);
    expect((await collected(reader.records({ id: 1 }, store, { gte: 1, lte: 2 }))).map(({ value }) => value)).toEqual(['one', 'two']);
    expect((await collected(reader.records({ id: 1 }, store, { reverse: true, limit: 1 }))).map(({ value }) => value)).toEqual(['two']);
  });

  // In an index, a byte after the number is the sequence that Chromium wrote there once.
  test.each(damagedKeys.filter(([name]) => !name.includes('after it')))('of an index with %s is the error of its record, and the entries around it are followed', async (_, damaged) => {
    const entry = (key: Uint8Array): Entry => [bytesOf(0, 1, 1, 30, key, 0, encodeKey(7)), bytesOf(1, encodeKey(7))];
    const folder = await indexedDbOf([record(encodeKey(7), 'seven'), entry(encodeKey(1)), [bytesOf(0, 1, 1, 30, damaged), bytesOf(1, encodeKey(7))], entry(encodeKey('z'))]);
    await using reader = await IndexedDbReader.open(folder);
    const records = (await collected(reader.records({ id: 1 }, store, { index: { id: 30 } }))).map(({ key, primaryKey, value, error }) => [key, primaryKey, value, error?.code]);
    expect(records).toHaveLength(3);
    expect(records).toEqual(expect.arrayContaining([[1, 7, 'seven', undefined], ['z', 7, 'seven', undefined], [undefined, undefined, undefined, 'BLOOM_BAD_KEY']]));
  });
});

describe('metadata of IndexedDB', () => {
  test('that is damaged for one store or index is an error of its database, which hides no other store, index or database', async () => {
    const folder = await indexedDbOf([
      ...described(
        ofStore(1, 0, utf16('first')),
        ofStore(1, 1, bytesOf(0, 0, 9)),
        ofStore(2, 0, bytesOf(0)),
        ofStore(2, 1, NO_KEY_PATH),
        ofStore(2, 2, bytesOf()),
        ofStore(3, 0, utf16('third')),
        ofIndex(3, 30, 0, utf16('by name')),
        ofIndex(3, 30, 2, bytesOf(0, 0, 2, 0x80)),
        ofIndex(3, 31, 0, utf16('by size')),
        ofIndex(3, 31, 2, bytesOf(0, 0, 1, text('size'))),
        [bytesOf(0, 1, 0, 0, 50, 0x80), bytesOf(1)],
      ),
      [bytesOf(0, 0, 0, 0, 201, text('https_b_0@1'), text('e')), bytesOf(2)],
      [bytesOf(0, 2, 0, 0, 4), bytesOf(5)],
    ]);
    await using reader = await IndexedDbReader.open(folder);
    const databases = await reader.databases();
    expect(databases.map(({ id, name, version, errors }) => [id, name, version, errors.length])).toEqual([[1, 'd', 2, 5], [2, 'e', 5, 0]]);
    const [damaged] = databases;
    expect(damaged!.stores.map(({ id, name, keyPath }) => [id, name, keyPath])).toEqual([[1, 'first', undefined], [2, undefined, undefined], [3, 'third', undefined]]);
    expect(damaged!.stores[2]!.indexes.map(({ id, name, keyPath }) => [id, name, keyPath])).toEqual([[30, 'by name', undefined], [31, 'by size', 'size']]);
    expect(damaged!.errors.map(({ code, message }) => `${code} ${message}`).sort()).toEqual([
      'BLOOM_BAD_KEY key at offset 6: an entry of database 1: ends within a varint',
      expect.stringMatching(/^BLOOM_BAD_METADATA metadata at offset 0: database 1: store 2, auto-increment: ends early/u),
      expect.stringMatching(/^BLOOM_BAD_METADATA metadata at offset 0: database 1: store 2, name: /u),
      expect.stringMatching(/^BLOOM_BAD_METADATA metadata at offset 2: database 1: store 1, key path: unknown type of key path 9/u),
      expect.stringMatching(/^BLOOM_BAD_METADATA metadata at offset 4: database 1: store 3, index 30, key path: /u),
    ]);
  });

  test('with a damaged name of a database leaves its records readable by its id', async () => {
    const folder = await indexedDbOf([
      [bytesOf(0, 0, 0, 0, 201, text('https_a_0@1'), 9, 0), bytesOf(1)],
      [bytesOf(0, 1, 0, 0, 4), bytesOf(2)],
      ofStore(1, 0, utf16('first')),
      record(encodeKey(1), 'one'),
    ]);
    await using reader = await IndexedDbReader.open(folder);
    const [database] = await reader.databases();
    expect([database!.id, database!.origin, database!.name, database!.errors.map(({ code }) => code)]).toEqual([1, 'https_a_0@1', undefined, ['BLOOM_BAD_KEY']]);
    expect((await collected(reader.records(database!, database!.stores[0]!))).map(({ value }) => value)).toEqual(['one']);
    await using decoder = await EntryDecoder.open(folder);
    expect((await decoder!.decode(...record(encodeKey(1), 'one')))!.place).toEqual({ database: 1, store: 'first' });
  });

  test('has the next key of a store only if it has a key generator', async () => {
    const number = (value: number): Uint8Array => bytesOf(value, 0, 0, 0, 0, 0, 0, 0);
    const folder = await indexedDbOf(
      described(ofStore(1, 0, utf16('numbered')), ofStore(1, 2, bytesOf(1)), ofStore(1, 7, number(5)), ofStore(2, 0, utf16('other')), ofStore(2, 2, bytesOf(0)), ofStore(2, 7, number(1))),
    );
    await using reader = await IndexedDbReader.open(folder);
    expect((await reader.databases())[0]!.stores.map(({ name, nextKey }) => [name, nextKey])).toEqual([['numbered', 5], ['other', undefined]]);
  });

  test('with a damaged version of a database does not hide the database', async () => {
    for (const version of [[[bytesOf(0, 1, 0, 0, 4), bytesOf(0x80)]], []] as const) {
      const folder = await indexedDbOf([[bytesOf(0, 0, 0, 0, 201, text('https_a_0@1'), text('d')), bytesOf(1)], ...version, ofStore(1, 0, utf16('first'))]);
      await using reader = await IndexedDbReader.open(folder);
      expect((await reader.databases()).map(({ name, version: number, stores, errors }) => [name, number, stores.length, errors.length])).toEqual([['d', 0, 1, version.length]]);
    }
  });
});

test('each version of a record that is decoded has the blobs that were stored with it, and none of a later one', async () => {
  const withBlob = (version: number): Uint8Array => bytesOf(version, 0xff, 0x11, 0xff, 0x0d, 0x5c, 0x69, 0);
  const key = encodeKey(7);
  const recordKey = bytesOf(0, 1, 1, 1, key);
  const blobEntry = (blobNumber: number): Entry => [bytesOf(0, 1, 1, 3, key), bytesOf(0, blobNumber, text('a/b'), 3)];
  const folder = await indexedDbOf([[recordKey, withBlob(1)], blobEntry(5), [recordKey, withBlob(2)], [recordKey, withBlob(3)], blobEntry(6)]);
  await using reader = await IndexedDbReader.open(folder);
  const blobOf = async (version: number): Promise<number | undefined> => ((await reader.decodeEntry(recordKey, withBlob(version)))!.value as StoredBlob).blobNumber;
  expect([await blobOf(1), await blobOf(2), await blobOf(3)]).toEqual([5, undefined, 6]);
  // A version that the folder does not have.
  expect(await blobOf(4)).toBeUndefined();
});

test('a version of a record from before an upgrade of the folder has its file in the form of its time', async () => {
  const withFile = (version: number): Uint8Array => bytesOf(version, 0xff, 0x11, 0xff, 0x0d, 0x5c, 0x65, 0);
  const key = encodeKey(7);
  const recordKey = bytesOf(0, 1, 1, 1, key);
  // Before version 4 of the schema, a file had neither size nor date.
  const fileEntry = (number: number, ...size: readonly number[]): Entry => [bytesOf(0, 1, 1, 3, key), bytesOf(1, number, text('a/b'), ...size, text('name'), ...size)];
  const schema = (version: number): Entry => [bytesOf(0, 0, 0, 0, 0), bytesOf(version)];
  const folder = await indexedDbOf([schema(3), [recordKey, withFile(1)], fileEntry(5), schema(5), [recordKey, withFile(2)], fileEntry(6, 3)]);
  await using reader = await IndexedDbReader.open(folder);
  const fileOf = async (version: number): Promise<unknown[]> => {
    const { blobNumber, name, size } = (await reader.decodeEntry(recordKey, withFile(version)))!.value as StoredBlob;
    return [blobNumber, name, size];
  };
  expect([await fileOf(1), await fileOf(2)]).toEqual([[5, 'name', undefined], [6, 'name', 3]]);
});

test('a damaged entry about blobs hides no value: the blobs before the damage are described, and the others have the error', async () => {
  const blob = (index: number): readonly number[] => [0x5c, 0x69, index];
  // An array of two blobs, in Blink’s envelope.
  const value = bytesOf(1, 0xff, 0x11, 0xff, 0x0d, 0x41, 2, ...blob(0), ...blob(1), 0x24, 0, 2);
  const key = encodeKey(7);
  const blobEntry = (encodedKey: Uint8Array, contents: Uint8Array): Entry => [bytesOf(0, 1, 1, 3, encodedKey), contents];
  const folder = await indexedDbOf([
    [bytesOf(0, 1, 1, 1, key), value],
    blobEntry(key, bytesOf(0, 5, text('a/b'), 3, 0, 6, 200)),
    record(encodeKey(8), 'without blobs'),
    blobEntry(encodeKey(8), bytesOf(77)),
  ]);
  await using reader = await IndexedDbReader.open(folder, { blobs: { read: () => Promise.resolve(Uint8Array.of(1, 2, 3)) } });
  for (const walk of [reader.records({ id: 1 }, store), storedRecords(folder, { blobs: { read: () => Promise.resolve(Uint8Array.of(1, 2, 3)) } })]) {
    const [withBlobs, without] = await collected(walk);
    expect([without!.value, without!.error]).toEqual(['without blobs', undefined]);
    const [first, second] = withBlobs!.value as [StoredBlob, StoredBlob];
    expect([first.type, first.size, first.error, await first.bytes()]).toEqual(['a/b', 3, undefined, Uint8Array.of(1, 2, 3)]);
    expect([second.type, second.size, second.error?.code]).toEqual([undefined, undefined, 'BLOOM_BAD_METADATA']);
    await expect(second.bytes()).rejects.toMatchObject({ code: 'BLOOM_BAD_METADATA', structure: 'blob entry' });
  }
});

describe('a damaged key', () => {
  test('of Local Storage is an error wherever items are listed', async () => {
    const folder = await folderOf([[ascii('VERSION'), ascii('1')], [ascii('_https://a.example\0\x01a'), ascii('\x01x')], [ascii('_no end'), ascii('\x01y')]]);
    await using reader = await LocalStorageReader.open(folder);
    const expected = [['https://a.example', 'a', 'x', undefined], [undefined, undefined, undefined, 'BLOOM_BAD_KEY']];
    for (const walk of [reader.items(), storedItems(folder)]) {
      expect((await collected(walk)).map(({ storageKey, key, value, error }) => [storageKey, key, value, error?.code])).toEqual(expected);
    }
    await using decoder = await EntryDecoder.open(folder);
    expect(await decoder!.decode(ascii('_no end'), ascii('\x01y'))).toMatchObject({ place: {}, key: undefined, error: { code: 'BLOOM_BAD_KEY' } });
  });

  test('of Session Storage is an error wherever items are listed', async () => {
    const folder = await folderOf([[ascii('version'), ascii('1')], [ascii('map-0-a'), ascii('x\0')], [ascii('map-\xff-b'), ascii('y\0')]]);
    await using reader = await SessionStorageReader.open(folder);
    const expected = [['0', 'a', 'x', undefined], [undefined, undefined, undefined, 'BLOOM_BAD_KEY']];
    for (const walk of [reader.items(), storedSessionItems(folder)]) {
      expect((await collected(walk)).map(({ map, key, value, error }) => [map, key, value, error?.code])).toEqual(expected);
    }
    await using decoder = await EntryDecoder.open(folder);
    expect(await decoder!.decode(ascii('map-\xff-b'), ascii('y\0'))).toMatchObject({ place: {}, key: undefined, error: { code: 'BLOOM_BAD_KEY' } });
  });
});

describe('a blob', () => {
  const key = encodeKey(1);
  // The value is in the first blob of its record.
  const entries: readonly Entry[] = [[bytesOf(0, 1, 1, 1, key), bytesOf(1, 0xff, 0x11, 1, 3, 0)], [bytesOf(0, 1, 1, 3, key), bytesOf(0, 5, text('a/b'), 3)], record(encodeKey(2), 'two')];

  async function errorsWith(blobs: BlobFolder): Promise<unknown[]> {
    const folder = await indexedDbOf(entries);
    await using reader = await IndexedDbReader.open(folder, { blobs });
    const walks = [reader.records({ id: 1 }, store), storedRecords(folder, { blobs })];
    return await Promise.all(walks.map(async (walk) => (await collected(walk)).map(({ value, error }) => error?.code ?? value)));
  }

  const failing = (name: string): BlobDirectoryLike => {
    const fail = (): Promise<never> => Promise.reject(new DOMException('no', name));
    return { getDirectoryHandle: () => Promise.resolve(failing(name)), getFileHandle: fail };
  };

  test.each(['TypeMismatchError', 'NotReadableError', 'NotAllowedError', 'NotFoundError'])('that a browser refuses to read with %s is the error of its record', async (name) => {
    const read = ['BLOOM_MISSING_BLOB', 'two'];
    expect(await errorsWith(new DirectoryBlobFolder(failing(name)))).toEqual([read, read]);
  });

  test('whose reading the caller aborts ends the iteration', async () => {
    await expect(errorsWith(new DirectoryBlobFolder(failing('AbortError')))).rejects.toMatchObject({ name: 'AbortError' });
    await expect(errorsWith({ read: () => Promise.reject(new Error('stopped')) })).rejects.toThrow('stopped');
  });

  test('that the system cannot read is the error of its record', async () => {
    // A name that is too long stands for the errors of a broken disk.
    const read = ['BLOOM_MISSING_BLOB', 'two'];
    expect(await errorsWith(new NodeBlobFolder(`/${'x'.repeat(300)}`))).toEqual([read, read]);
  });
});

test('a version of a record has the blob that was written with it, and none of a later version', async () => {
  const key = encodeKey(1);
  // The value is the first blob of its record, and has 3 bytes.
  const recordEntry: Entry = [bytesOf(0, 1, 1, 1, key), bytesOf(1, 0xff, 0x11, 1, 3, 0)];
  const blobKey = bytesOf(0, 1, 1, 3, key);
  const blobEntry = (number: number): Entry => [blobKey, bytesOf(0, number, text('a/b'), 3)];
  const blobs: BlobFolder = { read: (path) => Promise.resolve(bytesOf(0xff, 15, ascii(path.endsWith('5') ? 'T' : 'F'))) };
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { comparator: idbComparator, filterPolicy: idbFilterPolicy });
  await database.put(...recordEntry);
  await database.put(...blobEntry(5));
  // The entry of this version's blob is lost.
  await database.put(...recordEntry);
  await database.put(...recordEntry);
  await database.put(...blobEntry(6));
  await database.put(...recordEntry);
  await database.delete(blobKey);
  await database.put(...blobEntry(5));
  await database.close();
  const versions = (await collected(storedRecords(folder, { blobs }))).sort((a, b) => Number(a.sequence - b.sequence));
  expect(versions.map(({ value, error }) => error?.code ?? value)).toEqual([true, 'BLOOM_MISSING_BLOB', false, 'BLOOM_MISSING_BLOB']);
});

test('damage is skipped where damage is undefined, and reported once', async () => {
  const sound = await indexedDbOf([record(encodeKey(1), 'one')]);
  const folder = new WritableMemoryFolder([...sound.files(), ['000099.ldb', new Uint8Array(10)]]);
  for (const list of [storedRecords, storedItems, storedSessionItems]) {
    const dropped: string[] = [];
    const found = await collected<unknown>(list(folder, { damage: undefined, onDropped: ({ file }) => void dropped.push(file) }));
    expect([found.length, dropped]).toEqual([list === storedRecords ? 1 : 0, ['000099.ldb']]);
    await expect(collected<unknown>(list(folder, { damage: 'strict' }))).rejects.toMatchObject({ name: 'CorruptionError' });
  }
});

test('inherited options of stored versions count', async () => {
  const sound = await indexedDbOf([record(encodeKey(1), 'one')]);
  const folder = new WritableMemoryFolder([...sound.files(), ['000099.ldb', new Uint8Array(10)]]);
  for (const list of [storedRecords, storedItems, storedSessionItems]) {
    const strict = Object.create({ damage: 'strict' }) as { damage: 'strict' };
    await expect(collected<unknown>(list(folder, strict))).rejects.toMatchObject({ name: 'CorruptionError' });
    const { name } = list;
    await expect(collected<unknown>(list(folder, { demage: 'strict' } as never))).rejects.toThrow(`${name} has no option "demage": did you mean damage?`);
  }
});

test('of two bounds at one end of a range of records, the stricter one counts', async () => {
  const entry = (i: number): Entry => [bytesOf(0, 1, 1, 30, encodeKey(i), 0, encodeKey(i)), bytesOf(1, encodeKey(i))];
  const numbers = [1, 2, 3, 4, 5];
  await using reader = await IndexedDbReader.open(await indexedDbOf([...numbers.map((i) => record(encodeKey(i), i)), ...numbers.map(entry)]));
  for (const index of [undefined, { id: 30 }]) {
    const valuesIn = async (range: object): Promise<unknown[]> => (await collected(reader.records({ id: 1 }, store, { index, ...range }))).map(({ value }) => value);
    expect(await valuesIn({ gt: 1, gte: 3 })).toEqual([3, 4, 5]);
    expect(await valuesIn({ gt: 3, gte: 3 })).toEqual([4, 5]);
    expect(await valuesIn({ gt: 3, gte: 1 })).toEqual([4, 5]);
    expect(await valuesIn({ lt: 5, lte: 2 })).toEqual([1, 2]);
    expect(await valuesIn({ lt: 2, lte: 2 })).toEqual([1]);
    expect(await valuesIn({ lt: 2, lte: 4, reverse: true })).toEqual([1]);
  }
});

let stopper: AbortController;

test.each([
  ['storedRecords', async () => storedRecords(await indexedDbOf([record(encodeKey(1), 'one'), record(encodeKey(2), 'two')]), { signal: stopper.signal })],
  ['storedItems', async () => storedItems(await folderOf([[ascii('_a\0\x01a'), ascii('\x01x')], [ascii('_a\0\x01b'), ascii('\x01x')]]), { signal: stopper.signal })],
  ['storedSessionItems', async () => storedSessionItems(await folderOf([[ascii('map-0-a'), ascii('x\0')], [ascii('map-0-b'), ascii('x\0')]]), { signal: stopper.signal })],
])('%s ends at the next version when its signal is aborted', async (_, open) => {
  stopper = new AbortController();
  const walk = await open();
  expect((await walk.next()).done).toBe(false);
  stopper.abort(new Error('stopped'));
  await expect(walk.next()).rejects.toThrow('stopped');
});



test('the folder of blobs refuses an empty path, because it would be the current folder', () => {
  const expected = new TypeError("path must be a path that is not empty, got ''");
  expect(() => new NodeBlobFolder('')).toThrow(expected);
  expect(() => NodeBlobFolder.beside('')).toThrow(expected);
});

test('IndexedDbReader refuses a folder in another order with a code that names the wrong reader, and wrong options as before', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  await database.put('a', '1');
  await database.flush();
  await database.close();
  await expect(IndexedDbReader.open(folder)).rejects.toMatchObject({ name: 'WebStorageError', code: 'BLOOM_BAD_KEY', message: expect.stringContaining('leveldb.BytewiseComparator') as string });
  await expect(IndexedDbReader.open(folder, { maxOpenFiles: -1 })).rejects.toThrow(/maxOpenFiles/);
});

test('an entry is decoded again after a failure of the folder', async () => {
  const entries = [...described(ofStore(1, 0, utf16('s')), ofStore(1, 1, NO_KEY_PATH)), record(encodeKey(1), 'one')];
  const stored = await indexedDbOf(entries);
  const database = await Database.open(stored, { comparator: idbComparator, filterPolicy: idbFilterPolicy });
  await database.compactRange();
  await database.close();
  let fails = false;
  const folder: Folder = {
    list: () => stored.list(),
    open: (name) => {
      const file = stored.open(name);
      return file && { byteLength: file.byteLength, read: (offset, length) => {
        if (fails) throw new Error('the disk fails');
        return file.read(offset, length);
      } };
    },
  };
  await using reader = await IndexedDbReader.open(folder, { cache: null });
  fails = true;
  await expect(reader.decodeEntry(...record(encodeKey(1), 'one'))).rejects.toThrow('the disk fails');
  fails = false;
  expect(await reader.decodeEntry(...record(encodeKey(1), 'one'))).toMatchObject({ database: { name: 'd' }, store: { name: 's' }, value: 'one' });
});
