import { expect, test } from 'vitest';
import { plainBytes } from '../src/plain-bytes.js';

test('a plain array is returned itself', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  expect(plainBytes(bytes)).toBe(bytes);
});

test('a Buffer becomes a view of the same memory, whose slice is a copy', () => {
  const buffer = Buffer.from([0, 1, 2, 3]).subarray(1, 3);
  const plain = plainBytes(buffer);
  expect(Object.getPrototypeOf(plain)).toBe(Uint8Array.prototype);
  expect([...plain]).toEqual([1, 2]);
  buffer[0] = 9;
  const copy = plain.slice();
  expect(plain[0]).toBe(9);
  copy.fill(0);
  expect([...plain]).toEqual([9, 2]);
});
