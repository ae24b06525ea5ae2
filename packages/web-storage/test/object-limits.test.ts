// A few bytes can describe an object, so a value can describe more objects than the heap can hold.
import { expect, test } from 'vitest';
import { decodeValue, IndexedDbReader, storedRecords } from '../src/index.js';
import { encodeKey, type IndexedDbKey, readKey } from '../src/indexed-db/key.js';
import { ByteReader } from '../src/value/byte-reader.js';
import { collected, indexedDbOf } from './written-folders.js';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replace(/\s/gu, ''), 'hex'));
const varint = (value: number): string => (value > 127 ? ((value & 127) | 128).toString(16) + varint(value >>> 7) : value.toString(16).padStart(2, '0'));
const tooLarge = (offset: unknown = expect.any(Number)) => expect.objectContaining({ code: 'BLOOM_TOO_LARGE', offset }) as Error;

/** A dense array that contains an element `count` times. */
const arrayOf = (count: number, element: string, version = '10'): Uint8Array => hex(`ff${version} 41${varint(count)} ${element.repeat(count)} 2400${varint(count)}`);
const ENVELOPE = 'ff15fe000000000000000000000000ff10';

/** With 1,600 bytes, a value may have 100 objects. The array around them is one. */
const context = { maxValueBytes: 1600 };

test.each([
  ['object', '6f7b00', 1],
  ['dense array', '4100240000', 1],
  ['sparse array', '6100400000', 1],
  ['date', '440000000000000000', 1],
  ['boxed boolean', '79', 1],
  ['boxed string', '732200', 1],
  ['map', '3b3a00', 2],
  ['set', '272c00', 2],
  ['RegExp', '52220161 00', 2],
  ['ArrayBuffer', '4200', 3],
  ['ArrayBuffer with a view', '4200 5642000000', 4],
  ['error', '722e', 16],
])('a value may have as many objects as its limit of bytes allows: %s', (_, element, weight) => {
  const most = Math.floor(99 / weight);
  expect(decodeValue(arrayOf(most, element), context).value).toHaveLength(most);
  expect(() => decodeValue(arrayOf(most + 1, element), context)).toThrow(tooLarge());
  expect(decodeValue(arrayOf(most + 1, element)).value).toHaveLength(most + 1);
});

test('objects of the browser count as four, those in lists too', () => {
  const points = (count: number) => hex(`${ENVELOPE} 41${varint(count)} ${`5c51${'00'.repeat(32)}`.repeat(count)} 2400${varint(count)}`);
  expect(decodeValue(points(24), context).value).toHaveLength(24);
  expect(() => decodeValue(points(25), context)).toThrow(tooLarge());
  for (const [tag, file] of [['4c', '00'], ['6c', '0000000000 00 01']] as const) {
    const files = (count: number) => hex(`${ENVELOPE} 5c${tag} ${varint(count)} ${file.repeat(count)}`);
    expect(decodeValue(files(24), context).value).toMatchObject({ interfaceName: 'FileList' });
    expect(() => decodeValue(files(25), context)).toThrow(tooLarge());
  }
});

test('counts again where a value of version 13 is read again, with flags of views', () => {
  const objects = 60;
  const value = decodeValue(hex(`ff0d 41${varint(objects + 1)} ${'6f7b00'.repeat(objects)} 4201aa 5642000101 2400${varint(objects + 1)}`), context).value as unknown[];
  expect(value.at(-1)).toEqual(Uint8Array.of(0xaa));
});

test('refuses more elements than an array can grow to, before it makes one', () => {
  const bytes = new Uint8Array(2 ** 26 + 100);
  bytes.set(hex(`ff10 41${varint(2 ** 26 + 1)}`));
  expect(() => decodeValue(bytes)).toThrow(tooLarge(3));
});

test.each<[string, IndexedDbKey, number]>([
  ['dates', new Date(0), 1],
  ['arrays', [], 1],
  ['buffers', new ArrayBuffer(0), 3],
])('a key may have as many objects: %s', (_, element, weight) => {
  const read = (count: number) => readKey(new ByteReader(encodeKey(Array<IndexedDbKey>(count).fill(element)), 'key', 0, 100));
  const most = Math.floor(99 / weight);
  expect(read(most)).toHaveLength(most);
  expect(() => read(most + 1)).toThrow(tooLarge());
});

test('a record with too many objects is an error of its own, in readers and walks', async () => {
  const record = (key: number, objects: number) => [Uint8Array.from([0, 1, 1, 1, ...encodeKey(key)]), Uint8Array.from([1, ...arrayOf(objects, '6f7b00')])] as const;
  const folder = await indexedDbOf([record(1, 200), record(2, 2)]);
  const reader = await IndexedDbReader.open(folder, context);
  const expected = [[1, tooLarge()], [2, undefined]];
  const records = await collected(reader.records({ id: 1 }, { id: 1, keyPath: undefined, autoIncrement: false }));
  await reader.close();
  expect(records.map(({ key, error }) => [key, error])).toEqual(expected);
  const stored = await collected(storedRecords(folder, context));
  expect(stored.map(({ key, error }) => [key, error])).toEqual(expected);
});
