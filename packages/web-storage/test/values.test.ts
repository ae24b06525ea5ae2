import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { seeded } from '@bloom/bytes/internal';
import { describeClone, randomClone } from '@bloom/fixtures/random-clone';
import { decodeValue, encodeKey, HostObject, type IndexedDbKey, indexedDbKey } from '../src/index.js';

// The long run has more.
const values = Number(process.env.BLOOM_RANDOM_VALUES ?? 400);

/** Bytes from hexadecimal digits, with text within apostrophes. */
function bytes(text: string): Uint8Array {
  return Uint8Array.from(
    text.match(/'[^']*'|[0-9a-f]{2}/gu)!.flatMap((part) => (part.startsWith("'") ? [...Buffer.from(part.slice(1, -1), 'latin1')] : [Number.parseInt(part, 16)])),
  );
}

describe('decodeValue', () => {
  test(`gives ${values} random values back as v8.serialize wrote them`, () => {
    const random = seeded(1);
    for (let i = 0; i < values; i++) {
      const value = randomClone(random);
      // Node writes views of buffers as objects of its host; V8's own form of them is in the Chromium tests.
      if (/(Array|DataView) \d+ \d+ of/u.test(describeClone(value))) continue;
      expect(describeClone(decodeValue(serialize(value)).value)).toBe(describeClone(value));
    }
  });

  test('reads views of one buffer in V8’s own form', () => {
    const { value } = decodeValue(bytes("ff 0f 'A' 02 'B' 04 01 02 03 04 'V' 'B' 01 02 00 '^' 01 24 00 02"));
    const [view, buffer] = value as [Uint8Array, ArrayBuffer];
    expect([...view]).toEqual([2, 3]);
    expect(view.buffer).toBe(buffer);
  });

  test('reads lengths of 64 bits from version 16 on', () => {
    const { value } = decodeValue(bytes("ff 15 fe 00 00 00 00 00 00 00 00 00 00 00 00 ff 10 'B' 84 80 00 01 02 03 04 'V' 'W' 82 00 02 00"));
    expect(value).toBeInstanceOf(Uint16Array);
    expect([...(value as Uint16Array)]).toEqual([0x0403]);
  });

  test('reads version 13 with flags of views, as Chromium once wrote it, and without', () => {
    for (const flags of ['', '00']) {
      const { value } = decodeValue(bytes(`ff 11 ff 0d 'o' 22 01 'v' 'B' 02 07 08 'V' 'B' 00 02 ${flags} 22 01 'n' 'I' 06 '{' 02`));
      expect(value).toEqual({ v: Uint8Array.of(7, 8), n: 3 });
    }
  });

  test('reads resizable buffers and views that track their length', () => {
    const { value } = decodeValue(bytes("ff 10 '~' 02 08 05 06 'V' 'B' 00 02 03"));
    const view = value as Uint8Array<ArrayBuffer> & { buffer: { resizable: boolean; maxByteLength: number; resize(length: number): void } };
    expect([view.buffer.resizable, view.buffer.maxByteLength]).toEqual([true, 8]);
    view.buffer.resize(4);
    expect([...view]).toEqual([5, 6, 0, 0]);
  });

  // Written by v8.Serializer of Node.js 26 with --js-immutable-arraybuffer.
  test('reads immutable buffers as ordinary ones', () => {
    const { value, isComplete } = decodeValue(bytes("ff 10 ff 0f 'A' 02 'C' 04 01 02 03 04 'V' 'W' 02 02 00 '^' 01 'V' '?' 00 04 00 24 00 02"));
    const [words, view] = value as [Uint16Array, DataView];
    expect([isComplete, [...words], view.getUint32(0)]).toEqual([true, [0x0403], 0x01020304]);
    expect(view.buffer).toBe(words.buffer);
  });

  test('reads strings without tags before version 12, and undefined as a hole before version 11', () => {
    const { value } = decodeValue(bytes("ff 0a 'A' 03 '_' 'R' 01 'a' 01 's' 02 c3a9 24 00 03"));
    const array = value as unknown[];
    expect(0 in array).toBe(false);
    expect(array[1]).toEqual(/a/g);
    expect((array[2] as object).valueOf()).toBe('é');
  });

  // Chromium, third_party/blink/renderer/bindings/core/v8/serialization/serialized_script_value.cc, IsByteSwappedWiredData.
  test('reads values from before April 2017, whose pairs of bytes are swapped', () => {
    const value = bytes("ff 10 ff 0b 'o' 'S' 01 'a' 'I' 02 '{' 01");
    expect(decodeValue(value).value).toEqual({ a: 1 });
    expect(decodeValue(Buffer.from(value).swap16())).toEqual({ value: { a: 1 }, isComplete: true });
    // Zeros fill up the last pair.
    expect(decodeValue(Buffer.from(bytes("ff 10 ff 0b 'I' 02 00 00")).swap16())).toEqual({ value: 1, isComplete: true });
    expect(() => decodeValue(Buffer.from(bytes("ff 08 'o' '{' 00 00")).swap16())).toThrow("has version 8 of V8's format");
  });

  test('keeps a property named __proto__ as a property', () => {
    const value = decodeValue(serialize(JSON.parse('{"__proto__": {"x": 1}}'))).value as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect((value as { x?: unknown }).x).toBeUndefined();
  });

  test('gives an unknown object of the browser with all bytes that follow, and marks the value as incomplete', () => {
    const { value, isComplete } = decodeValue(bytes("ff 15 fe 00 00 00 00 00 00 00 00 00 00 00 00 ff 10 'A' 03 'I' 02 5c 01 02 03 24 00 03"));
    expect(isComplete).toBe(false);
    const [one, unknown] = value as [number, HostObject];
    expect(one).toBe(1);
    expect(unknown).toBeInstanceOf(HostObject);
    expect(unknown.interfaceName).toBeUndefined();
    expect([...unknown.bytes!]).toEqual([2, 3, 0x24, 0, 3]);
  });

  test.each([
    ['no header', "'o' '{' 00", 'BLOOM_UNSUPPORTED_VALUE'],
    ['a version from before Chromium 57', "ff 08 'o' '{' 00", 'BLOOM_UNSUPPORTED_VALUE'],
    ['a version of V8’s format after 16', "ff 15 fe 00 00 00 00 00 00 00 00 00 00 00 00 ff 11 'o'", 'BLOOM_UNSUPPORTED_VALUE'],
    ['nothing', 'ff 10', 'BLOOM_BAD_VALUE'],
    ['an unknown tag', "ff 10 '!'", 'BLOOM_BAD_VALUE'],
    ['an object that ends early', "ff 10 'o' 22 01 'a'", 'BLOOM_BAD_VALUE'],
    ['a wrong number of properties', "ff 10 'o' '{' 01", 'BLOOM_BAD_VALUE'],
    ['a reference to no object', "ff 10 '^' 00", 'BLOOM_BAD_VALUE'],
    ['an array with more elements than bytes', "ff 10 'A' ff ff ff ff 0f", 'BLOOM_BAD_VALUE'],
    ['a buffer with more bytes than there are', "ff 10 'B' ff ff ff ff ff ff ff 0f", 'BLOOM_BAD_VALUE'],
    ['a view that is not aligned', "ff 10 'B' 04 00 00 00 00 'V' 'W' 01 02 00", 'BLOOM_BAD_VALUE'],
    ['a BigInt with more digits than bytes', "ff 10 'Z' fe ff ff ff 0f", 'BLOOM_BAD_VALUE'],
  ])('refuses %s', (_, text, code) => {
    expect(() => decodeValue(bytes(text))).toThrow(expect.objectContaining({ name: 'WebStorageError', code }) as Error);
  });

  test('refuses objects that are nested more deeply than its stack lasts', () => {
    const deep = bytes(`ff 10 ${"'A' 01 ".repeat(100_000)}`);
    expect(() => decodeValue(deep)).toThrow(expect.objectContaining({ code: 'BLOOM_TOO_DEEP' }) as Error);
  });

  test('follows 3000 nested objects', () => {
    let value: unknown = 1;
    for (let i = 0; i < 3000; i++) value = { next: value };
    let { value: read } = decodeValue(serialize(value)) as { value: unknown };
    for (let i = 0; i < 3000; i++) read = (read as { next: unknown }).next;
    expect(read).toBe(1);
  });
});

describe('encodeKey', () => {
  test('gives keys the bytes that readKey reads', () => {
    const folderKey = (key: IndexedDbKey): string | undefined => indexedDbKey(Uint8Array.from([0, 1, 1, 1, ...encodeKey(key)]));
    expect(folderKey([1.5, 'é😀', new Date(0), Uint8Array.of(1, 255).buffer, []])).toBe('database 1, store 1, record [1.5, "é😀", 1970-01-01T00:00:00.000Z, bytes 01ff, []]');
    expect(folderKey('x'.repeat(300))).toBe(`database 1, store 1, record "${'x'.repeat(300)}"`);
  });

  test.each([
    ['NaN', Number.NaN],
    ['an invalid Date', new Date(Number.NaN)],
    // eslint-disable-next-line no-sparse-arrays -- the hole is the point.
    ['a hole', [1, , 2]],
    ['an object', {}],
  ])('refuses %s', (_, key) => {
    expect(() => encodeKey(key as IndexedDbKey)).toThrow(TypeError);
  });
});
