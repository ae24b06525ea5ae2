import { BloomFilterPolicy, buildFilter, type FilterPolicy } from '@bloom/policy';
import { expect, test } from 'vitest';
import { hex, utf8 } from './keys.js';

test('makes one filter of all keys', () => {
  const filter = buildFilter(new BloomFilterPolicy(10), [utf8('hello'), utf8('world')]);
  expect(filter).toHaveLength(9);
  expect(new BloomFilterPolicy().keyMayMatch(utf8('hello'), filter)).toBe(true);
});

test('accepts keys that can be iterated only once', () => {
  const keys = new Set(['hello', 'world'].map(utf8)).values();
  expect(hex(buildFilter(new BloomFilterPolicy(10), keys))).toBe('114000414410401006');
});

test('calls createFilter once, with the keys in their order', () => {
  const asked: string[][] = [];
  const policy: FilterPolicy = {
    name: 'test.Listing',
    createFilter(keys, dst) {
      asked.push(Array.from(keys, hex));
      dst.extend(1).set([1]);
      dst.extend(2).set([2, 3]);
    },
    keyMayMatch: () => true,
  };
  expect(buildFilter(policy, ['b', 'a', 'b'].map(utf8))).toEqual(Uint8Array.of(1, 2, 3));
  expect(asked).toEqual([['62', '61', '62']]);
});

test('returns no bytes for a policy that appends nothing', () => {
  const policy: FilterPolicy = { name: 'test.Nothing', createFilter: () => {}, keyMayMatch: () => true };
  expect(buildFilter(policy, [])).toEqual(new Uint8Array());
});

test('throws what the policy throws', () => {
  const policy: FilterPolicy = {
    name: 'test.Throws',
    createFilter: () => {
      throw new Error('no filter today');
    },
    keyMayMatch: () => true,
  };
  expect(() => buildFilter(policy, [])).toThrow('no filter today');
});

test.each<[string, unknown, string]>([
  ['a class', BloomFilterPolicy, 'policy must be a FilterPolicy, got a function: if BloomFilterPolicy is a class, give new BloomFilterPolicy()'],
  ['a name', 'leveldb.BuiltinBloomFilter2', 'policy must be a FilterPolicy, got string'],
  ['null', null, 'policy must be a FilterPolicy, got null'],
  ['an object without a name', { createFilter: () => {}, keyMayMatch: () => true }, 'policy must be a FilterPolicy, got an object without name'],
  ['an object with methods missing', { name: 'x', keyMayMatch: 1 }, 'policy must be a FilterPolicy, got an object without createFilter, keyMayMatch'],
])('refuses %s instead of a policy', (_, policy, message) => {
  expect(() => buildFilter(policy as FilterPolicy, [])).toThrow(new TypeError(message));
});
