// What an attack on this package found: bytes that no browser writes, and values of browsers that were read wrongly.
import process from 'node:process';
import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { type Folder, MemoryFolder } from '@bloom/leveldb';
import { decodeValue, encodeKey, type HostObject, IndexedDbReader, LocalStorageReader, SessionStorageReader, StoredBlob, storedItems, storedRecords, storedSessionItems } from '../src/index.js';
import { collected, folderOf, indexedDbOf } from './written-folders.js';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replace(/\s/gu, ''), 'hex'));
const ascii = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const ENVELOPE = 'ff15fe000000000000000000000000ff10';

const store = { id: 1, keyPath: undefined, autoIncrement: false } as const;
const recordOf = (key: number, value: Uint8Array): [Uint8Array, Uint8Array] => [Uint8Array.from([0, 1, 1, 1, ...encodeKey(key)]), Uint8Array.from([1, ...value])];

describe('decodeValue', () => {
  test('reads sparse arrays of 33 million elements in the memory of their elements', () => {
    const before = process.memoryUsage().heapUsed;
    const { value } = decodeValue(hex(`ff10 4103 ${'61e0d9fc0f4000e0d9fc0f'.repeat(3)} 240003`));
    expect((value as unknown[][]).map(({ length }) => length)).toEqual([33_500_384, 33_500_384, 33_500_384]);
    // Each would take 268 MB, were room for its elements made at once.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6);
  });

  test.each(['ff1061012206 6c656e677468 5a02054001 01', 'ff1041002206 6c656e677468 6f 7b00 24 0100'])('refuses the length of an array among its properties: %s', (bytes) => {
    expect(() => decodeValue(hex(bytes))).toThrow(expect.objectContaining({ code: 'BLOOM_BAD_VALUE' }) as Error);
  });

  test('gives a view that tracks a buffer whose length is not a multiple of its elements only whole elements', () => {
    const { value } = decodeValue(hex(`${ENVELOPE}7e 0a28 01000000020000000304 56 44 00 00 03`));
    expect([...(value as Uint32Array)]).toEqual([1, 2]);
  });

  test('gives a view that tracks a buffer of over 256 MiB the length of the buffer', () => {
    const { value } = decodeValue(hex('ff10 7e 04 80808cc801 01020304 56 42 00 00 03'));
    expect([...(value as Uint8Array)]).toEqual([1, 2, 3, 4]);
  });

  test.each([
    ['09 14 03 07 02 aabb', 'ChaCha20-Poly1305', 'secret', ['encrypt', 'decrypt']],
    ['08 13 02 a102 02 aabb', 'X25519', 'private', ['deriveKey', 'deriveBits']],
    ['09 16 02 09 02 aabb', 'ML-DSA-65', 'private', ['sign']],
    ['09 18 02 8130 02 aabb', 'ML-KEM-768', 'private', ['decapsulateKey', 'decapsulateBits']],
    ['09 19 01 8108 02 aabb', 'ML-KEM-1024', 'public', ['encapsulateBits']],
  ])('reads a CryptoKey %s', (bytes, name, type, usages) => {
    const { value } = decodeValue(hex(`${ENVELOPE}5c4b${bytes}`));
    expect(value).toMatchObject({ interfaceName: 'CryptoKey', fields: { type, extractable: true, algorithm: { name }, usages } });
  });

  test('gives a CryptoKey of an unknown kind as an unknown object', () => {
    const { value, isComplete } = decodeValue(hex(`${ENVELOPE}5c4b 20 01 02`));
    expect({ isComplete, tag: (value as HostObject).tag }).toEqual({ isComplete: false, tag: 'K' });
  });

  test('reads a QuotaExceededError, with and without its numbers', () => {
    const quota = (bytes: string) => (decodeValue(hex(`${ENVELOPE}5c71${bytes}`)).value as HostObject).fields;
    expect(quota('036d736700 010000000000001440 010000000000001e40')).toEqual({ name: 'QuotaExceededError', message: 'msg', stack: '', quota: 5, requested: 7.5 });
    expect(quota('026d3200 000000000000000000 000000000000000000')).toMatchObject({ message: 'm2', quota: undefined, requested: undefined });
  });

  test('names the pixel format of an ImageData as browsers do', () => {
    const { value } = decodeValue(hex(`${ENVELOPE}5c23 0101 0301 00 01 01 08 003c00400038003c`));
    expect((value as HostObject).fields).toMatchObject({ colorSpace: 'srgb', pixelFormat: 'rgba-float16', width: 1, height: 1 });
  });

  test('refuses a value as too deep only if it is', () => {
    expect(() => decodeValue(hex('ff10' + '4101'.repeat(20_000)))).toThrow(expect.objectContaining({ code: 'BLOOM_TOO_DEEP' }) as Error);
  });
});

test('an empty blob has no file, and no bytes', async () => {
  const empty = { kind: 'blob', blobNumber: 5, type: '', size: 0, name: undefined, lastModified: undefined } as const;
  expect(await new StoredBlob('blob', 0, empty, () => Promise.reject(new Error('no file'))).bytes()).toEqual(new Uint8Array(0));
});

describe('a key of a generator', () => {
  test.each<[string, unknown, unknown]>([
    ['length', [1, 2], [1, 2]],
    ['b.length', { b: [1] }, { b: [1] }],
    ['a.id', { a: new Date(0) }, expect.anything()],
    ['id', { n: 1 }, { n: 1, id: 7 }],
    ['a.b', { a: 1 }, { a: 1 }],
  ])('at %s leaves what cannot be set', async (keyPath, stored, expected) => {
    const reader = await IndexedDbReader.open(await indexedDbOf([recordOf(7, serialize(stored))]));
    const [record] = await collected(reader.records({ id: 1 }, { ...store, keyPath, autoIncrement: true }));
    expect(record!.error).toBeUndefined();
    expect(record!.value).toEqual(expected);
    await reader.close();
  });

  test('does not write to the objects that represent those of the browser', async () => {
    const point = hex(`${ENVELOPE}5c51${'0000000000000000'.repeat(4)}`);
    const reader = await IndexedDbReader.open(await indexedDbOf([recordOf(7, point)]));
    const [record] = await collected(reader.records({ id: 1 }, { ...store, keyPath: 'interfaceName', autoIncrement: true }));
    expect(record!.value).toMatchObject({ interfaceName: 'DOMPoint' });
    await reader.close();
  });

  test('does not reach a prototype', async () => {
    for (const keyPath of ['__proto__.polluted', 'constructor.prototype.polluted']) {
      const reader = await IndexedDbReader.open(await indexedDbOf([recordOf(7, serialize({}))]));
      await collected(reader.records({ id: 1 }, { ...store, keyPath, autoIncrement: true }));
      await reader.close();
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

test('a damaged entry of an index is the error of its record, and the iteration continues', async () => {
  const entry = (key: number, value: readonly number[]): [Uint8Array, Uint8Array] => [Uint8Array.from([0, 1, 1, 30, ...encodeKey(key), 0, ...encodeKey(7)]), Uint8Array.from(value)];
  const folder = await indexedDbOf([recordOf(7, serialize('seven')), entry(1, [0x80]), entry(2, [1, ...encodeKey(7)])]);
  const reader = await IndexedDbReader.open(folder);
  const records = await collected(reader.records({ id: 1 }, store, { index: { id: 30 } }));
  expect(records.map(({ key, primaryKey, value, error }) => [key, primaryKey, value, error?.code])).toEqual([
    [1, 7, undefined, 'BLOOM_BAD_VALUE'],
    [2, 7, 'seven', undefined],
  ]);
  await reader.close();
});

test('a database whose first upgrade was aborted is not listed', async () => {
  const databaseKey = (id: number): [Uint8Array, Uint8Array] => [Uint8Array.from([0, 0, 0, 0, 201, 0, 1, 0, 0x60 + id]), Uint8Array.from([id, 0, 0, 0, 0, 0, 0, 0])];
  const folder = await indexedDbOf([databaseKey(1), databaseKey(2), [Uint8Array.from([0, 2, 0, 0, 4]), Uint8Array.of(3)]]);
  const reader = await IndexedDbReader.open(folder);
  expect((await reader.databases()).map(({ id, name: text, version }) => [id, text, version])).toEqual([[2, 'b', 3]]);
  await reader.close();
});

describe('a damaged item', () => {
  test('of Local Storage has an error, and hides no other', async () => {
    const entries: [Uint8Array, Uint8Array][] = [
      [ascii('VERSION'), ascii('1')],
      [ascii('META:https://a.example'), hex('08ff')],
      [ascii('META:https://b.example'), hex('0801 1005')],
      [ascii('_https://a.example\0\x01a'), ascii('\x07x')],
      [ascii('_https://a.example\0\x01b'), ascii('\x01y')],
      [ascii('_https://a.example\0\x09c'), ascii('\x01z')],
    ];
    const folder = await folderOf(entries);
    const reader = await LocalStorageReader.open(folder);
    expect((await reader.origins()).map(({ storageKey, bytes }) => [storageKey, bytes])).toEqual([['https://a.example', undefined], ['https://b.example', 5]]);
    const expected = [['a', undefined, 'BLOOM_BAD_VALUE'], ['b', 'y', undefined], [undefined, undefined, 'BLOOM_BAD_KEY']];
    expect((await collected(reader.items('https://a.example'))).map(({ key, value, error }) => [key, value, error?.code])).toEqual(expected);
    expect((await collected(storedItems(folder))).map(({ key, value, error }) => [key, value, error?.code])).toEqual(expected);
    await reader.close();
  });

  test('of Session Storage has an error, and hides no other', async () => {
    const folder = await folderOf([[ascii('map-0-a'), ascii('odd')], [ascii('map-0-b'), ascii('y\0')], [ascii('map-0-\xff'), ascii('z\0')]]);
    const reader = await SessionStorageReader.open(folder);
    const expected = [['a', undefined, 'BLOOM_BAD_VALUE'], ['b', 'y', undefined], [undefined, undefined, 'BLOOM_BAD_KEY']];
    expect((await collected(reader.items('0'))).map(({ key, value, error }) => [key, value, error?.code])).toEqual(expected);
    expect((await collected(storedSessionItems(folder))).map(({ key, value, error }) => [key, value, error?.code])).toEqual(expected);
    await reader.close();
  });
});

test('storedRecords skips a truncated table that a browser left, and reports it', async () => {
  const written = await indexedDbOf([recordOf(7, serialize('seven'))]);
  const files = new Map<string, Uint8Array>([['000099.ldb', ascii('cut off')]]);
  for (const name of written.list()) {
    const file = written.open(name)!;
    files.set(name, (await Promise.resolve(file.read(0, file.byteLength))).slice());
  }
  const folder: Folder = new MemoryFolder(files);
  const dropped: string[] = [];
  const records = await collected(storedRecords(folder, { onDropped: ({ file }) => void dropped.push(file) }));
  expect(records.map(({ value }) => value)).toEqual(['seven']);
  expect(dropped).toContain('000099.ldb');
  await expect(collected(storedRecords(folder, { damage: 'strict' }))).rejects.toMatchObject({ code: 'BLOOM_NOT_A_TABLE' });
});
