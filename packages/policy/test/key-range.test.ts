import { mustBeKeyRange } from '@bloom/policy/kit';
import { expect, test } from 'vitest';

test.each([
  [0, 0],
  [0, 3],
  [3, 3],
  [1, 2],
])('a key from %i to %i of three bytes is in range', (start, end) => {
  expect(() => mustBeKeyRange(new Uint8Array(3), start, end)).not.toThrow();
});

test.each([
  [-1, 2],
  [2, 1],
  [0, 4],
  [4, 4],
  [Number.NaN, 2],
  [1, Number.NaN],
])('a key from %i to %i of three bytes is not', (start, end) => {
  expect(() => mustBeKeyRange(new Uint8Array(3), start, end)).toThrow(new RangeError(`keyStart and keyEnd must be in order and within the 3 bytes, got ${start} and ${end}`));
});
