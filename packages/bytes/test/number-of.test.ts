import { expect, test } from 'vitest';
import { numberOf } from '../src/number-of.js';

test('one has a singular, any other number a plural', () => {
  expect([0, 1, 2].map((count) => numberOf(count, 'key path'))).toEqual(['0 key paths', '1 key path', '2 key paths']);
});
