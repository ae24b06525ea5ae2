import { expect, test } from 'vitest';
import { refusal } from '../src/story/equal-keys.js';

test('the table builder refuses filters that distinguish keys which the comparator calls equal', () => {
  expect(refusal()).toMatch(/^filter policy leveldb\.BuiltinBloomFilter2 distinguishes all keys/);
});
