import { describe, expect, test } from 'vitest';

function bufferOf(...bytes: number[]): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function sharedOf(...bytes: number[]): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

describe.each<[string, (...bytes: number[]) => object]>([
  ['Uint8Array', (...bytes) => Uint8Array.from(bytes)],
  ['Buffer', (...bytes) => Buffer.from(bytes)],
  ['BigUint64Array', (...bytes) => new BigUint64Array(bytes.map(BigInt))],
  ['ArrayBuffer', bufferOf],
  ['SharedArrayBuffer', sharedOf],
  ['DataView', (...bytes) => new DataView(bufferOf(...bytes))],
])('%s', (_name, make) => {
  test('equals one with the same bytes, and no other', () => {
    for (const wrap of [(value: object) => value, (value: object) => ({ list: [value] })]) {
      expect(wrap(make(1, 2, 3))).toEqual(wrap(make(1, 2, 3)));
      expect(wrap(make(1, 2, 3))).toStrictEqual(wrap(make(1, 2, 3)));
      for (const other of [make(1, 2, 4), make(1, 2), make(), make(1, 2, 3, 4)]) {
        expect(wrap(make(1, 2, 3))).not.toEqual(wrap(other));
        expect(wrap(make(1, 2, 3))).not.toStrictEqual(wrap(other));
      }
    }
  });
});

test('views are compared by their own part of a buffer', () => {
  expect(new DataView(bufferOf(1, 2, 3), 1, 1)).toEqual(new DataView(bufferOf(2)));
  expect(new Uint8Array(bufferOf(1, 2, 3), 1, 1)).toEqual(Uint8Array.of(2));
});

test('a buffer that was transferred, and its views, are compared as if they had no bytes', () => {
  const buffer = bufferOf(1, 2, 3);
  const [array, view] = [new Uint8Array(buffer), new DataView(buffer)];
  structuredClone(buffer, { transfer: [buffer] });
  expect(buffer).not.toEqual(bufferOf(1, 2, 3));
  expect(view).not.toEqual(new DataView(bufferOf(1, 2, 3)));
  expect([buffer, array]).toEqual([bufferOf(), new Uint8Array(0)]);
});
