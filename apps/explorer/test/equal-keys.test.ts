import { expect, test } from 'vitest';
import { refusal } from '../src/story/equal-keys.js';

test('a table in that order is not written with filters that tell such keys apart', () => {
  expect(refusal()).toMatch(/^filter policy leveldb\.BuiltinBloomFilter2 distinguishes all keys/);
});
