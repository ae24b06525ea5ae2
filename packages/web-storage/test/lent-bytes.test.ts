// A caller may change or use its buffers again as soon as a call has returned, also while the call's promise is pending.
import { describe, expect, test } from 'vitest';
import { decodeValue, encodeKey, EntryDecoder, type HostObject, type IndexedDbKey, IndexedDbReader } from '../src/index.js';
import { collected, indexedDbOf } from './written-folders.js';

/** Every value has the bytes of this text somewhere. */
const CONTENTS = 'sixteen bytes 16';
const LENGTH = CONTENTS.length;

/** The key of a record in store 1 of database 1. */
const entryKeyOf = (key: IndexedDbKey): Uint8Array => Uint8Array.of(0, 1, 1, 1, ...encodeKey(key));
const stored = (...parts: (number | string)[]): number[] => [0xff, 0x0f, ...parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part))];

/** Bytes of their own in a larger buffer, as Node's pool has them. */
function pooled(bytes: Iterable<number>): Buffer {
  const given = Uint8Array.from(bytes);
  const pool = Buffer.alloc(given.length + 100);
  pool.set(given, 50);
  return pool.subarray(50, 50 + given.length);
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('what is decoded of a Buffer that is used again', () => {
  test.each<[string, number[], (value: HostObject) => unknown]>([
    ['an image', stored('\\#', 2, 2, LENGTH, CONTENTS), ({ fields }) => fields.data],
    ['a key', stored('\\K', 1, 1, LENGTH, 7, LENGTH, CONTENTS), ({ fields }) => fields.keyData],
    ['an RSA key', stored('\\K', 4, 3, 1, 64, LENGTH, CONTENTS, 6, 7, 0), ({ fields }) => (fields.algorithm as { publicExponent: unknown }).publicExponent],
    ['an unknown object', stored('\\~', CONTENTS), ({ bytes }) => bytes],
    ['an ArrayBuffer', stored('B', LENGTH, CONTENTS), (value) => new Uint8Array(value as unknown as ArrayBuffer)],
  ])('keeps the bytes of %s, in memory of their own', (_, bytes, contentsOf) => {
    const given = pooled(bytes);
    const contents = contentsOf(decodeValue(given).value as HostObject) as Uint8Array;
    given.fill(0);
    expect(textOf(contents)).toBe(CONTENTS);
    expect(contents.buffer).not.toBe(given.buffer);
  });

  test('keeps a binary key, as an ArrayBuffer of its own', async () => {
    const key = new TextEncoder().encode(CONTENTS).buffer;
    await using decoder = (await EntryDecoder.open(await indexedDbOf([[entryKeyOf(key), Uint8Array.of(1, ...stored('0'))]])))!;
    const given = pooled(entryKeyOf([key]));
    const entry = (await decoder.decode(given, undefined))!;
    given.fill(0);
    const [decoded] = entry.key as [ArrayBuffer];
    expect([decoded.byteLength, textOf(new Uint8Array(decoded))]).toEqual([LENGTH, CONTENTS]);
  });
});

describe('a change that the caller makes after calling a reader', () => {
  const DATABASE = { id: 1 };
  const STORE = { id: 1, keyPath: undefined, autoIncrement: false };
  const keyOf = (letter: string): ArrayBuffer => new TextEncoder().encode(letter).buffer;
  const valueOf = (letter: string): Uint8Array => Uint8Array.of(1, ...stored('"', 1, letter));

  /** Opens the records a to g: binary keys, and the same letters as values. */
  async function opened(): Promise<IndexedDbReader> {
    return IndexedDbReader.open(await indexedDbOf(Array.from('abcdefg', (letter) => [entryKeyOf(keyOf(letter)), valueOf(letter)] as const)));
  }

  test.each([
    [{ gte: 'c', lt: 'f' }, 'cde'],
    [{ gt: 'c', lte: 'f', reverse: true }, 'fed'],
  ])('does not affect the range %j of records', async ({ reverse, ...letters }: { reverse?: boolean } & Record<string, string | boolean>, expected) => {
    await using reader = await opened();
    const bounds = Object.fromEntries(Object.entries(letters).map(([name, letter]) => [name, keyOf(letter as string)]));
    const records = reader.records(DATABASE, STORE, { ...bounds, reverse });
    for (const bound of Object.values(bounds)) new Uint8Array(bound).fill(0x61);
    expect((await collected(records)).map(({ value }) => value).join('')).toBe(expected);
  });

  test('does not affect the bound of records that are being read', async () => {
    await using reader = await opened();
    const lte = keyOf('c');
    const records = reader.records(DATABASE, STORE, { lte });
    const first = records.next();
    new Uint8Array(lte).fill(0x67);
    expect([(await first).value, ...(await collected(records))].map((record) => (record as { value: unknown }).value)).toEqual(['a', 'b', 'c']);
  });

  test('does not affect an entry that is being decoded', async () => {
    await using reader = await opened();
    const [key, value] = [entryKeyOf(keyOf('x')), valueOf('x')];
    const decoding = reader.decodeEntry(key, value);
    key.fill(0);
    value.fill(0);
    const { key: decoded, value: text, error } = (await decoding)!;
    expect([textOf(new Uint8Array(decoded as ArrayBuffer)), text, error]).toEqual(['x', 'x', undefined]);
  });

  test('does not affect the key of a value that is being read', async () => {
    await using reader = await opened();
    const key = keyOf('c');
    const reading = reader.get(DATABASE, STORE, key);
    new Uint8Array(key).fill(0x64);
    expect(await reading).toBe('c');
  });
});
