import { expect, test } from 'vitest';
import { sameBytes } from '../src/same-bytes.js';

test('arrays of the same bytes are the same, also as a list of numbers and in different places of their buffers', () => {
  expect(sameBytes(Uint8Array.of(), new Uint8Array(3).subarray(1, 1))).toBe(true);
  expect(sameBytes(Uint8Array.of(0, 1, 255).subarray(1), [1, 255])).toBe(true);
});

test.each([
  ['another first byte', [2, 2, 3]],
  ['another last byte', [1, 2, 4]],
  ['one byte less', [1, 2]],
  ['one byte more', [1, 2, 3, 4]],
])('arrays differ with %s', (_, other) => {
  expect(sameBytes(Uint8Array.of(1, 2, 3), other)).toBe(false);
});
