import { expect, test } from 'vitest';
import { count, counted } from '../src/index.js';

test('numbers have separators, and nouns their plural', () => {
  expect(count(1_234_567)).toBe('1,234,567');
  expect(count(2n ** 56n)).toBe('72,057,594,037,927,936');
  expect([0, 1, 2, 1000].map((number) => counted(number, 'block'))).toEqual(['0 blocks', '1 block', '2 blocks', '1,000 blocks']);
  expect(counted(3, 'entry')).toBe('3 entries');
  expect(counted(3, 'key')).toBe('3 keys');
  expect(counted(3, 'key is', 'keys are')).toBe('3 keys are');
});
