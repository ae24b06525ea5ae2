import { BloomFilterPolicy, type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { describe, expect, test } from 'vitest';
import { mayAskForMany, mayAskInRanges } from '../src/policy.js';

const whole: FilterPolicy = { name: 'test.Whole', createFilter: () => undefined, keyMayMatch: () => true };

test('mustBeFilterPolicy accepts instances of a policy, and objects with a name and both methods', () => {
  for (const policy of [new BloomFilterPolicy(), whole, { ...whole, keyEquivalence: 'folded' }]) {
    expect(() => mustBeFilterPolicy('policy', policy)).not.toThrow();
  }
});

test.each<[string, unknown, string]>([
  ['undefined', undefined, 'got undefined'],
  ['null', null, 'got null'],
  ['a string', 'leveldb.BuiltinBloomFilter2', 'got string'],
  ['a number', 10, 'got number'],
  ['a class', BloomFilterPolicy, 'got a function: if BloomFilterPolicy is a class, give new BloomFilterPolicy()'],
  ['a function without a name', (() => () => whole)(), 'got a function: if Policy is a class, give new Policy()'],
  ['an empty object', {}, 'got an object without name, createFilter, keyMayMatch'],
  ['an object with an empty name', { ...whole, name: '' }, 'got an object without name'],
  ['an object whose name is a number', { ...whole, name: 7 }, 'got an object without name'],
  ['an object without createFilter', { name: 'p', keyMayMatch: () => true }, 'got an object without createFilter'],
  ['an object whose prefixes are text', { ...whole, prefixes: 'text', prefixMayMatch: () => true }, 'got an object without prefixes that are an object'],
  ['an object whose prefixes are null', { ...whole, prefixes: null }, 'got an object without prefixes that are an object'],
  ['an object whose prefixes have no methods', { ...whole, prefixes: {} }, 'got an object without prefixes.prefixLength, prefixMayMatch'],
  ['an object whose keyMayMatch is no function', { ...whole, keyMayMatch: true }, 'got an object without keyMayMatch'],
])('mustBeFilterPolicy refuses %s and names the argument', (_, value, problem) => {
  expect(() => mustBeFilterPolicy('filterPolicies[3]', value)).toThrow(new TypeError(`filterPolicies[3] must be a FilterPolicy, ${problem}`));
});

test('policyLaws refuses an option that it does not have, which would leave a law unchecked', () => {
  const options = { maxFalsePositivesRate: 0.01 };
  expect(() => policyLaws(() => new BloomFilterPolicy(), options as never)).toThrow('policyLaws has no option "maxFalsePositivesRate": did you mean maxFalsePositiveRate?');
});

test('mustBeFilterPolicy refuses a name that UTF-8 cannot encode', () => {
  const policy = new BloomFilterPolicy();
  const named = (name: string): object => ({ name, createFilter: policy.createFilter.bind(policy), keyMayMatch: policy.keyMayMatch.bind(policy) });
  expect(() => mustBeFilterPolicy('policy', named('a\ud800'))).toThrow(new TypeError('the name of policy must be well-formed text, got one with half of a surrogate pair'));
  expect(() => mustBeFilterPolicy('policy', named('a\ud83d\ude00'))).not.toThrow();
});

test('policyLaws takes a function that makes policies, and names the argument that is a policy', () => {
  const laws = policyLaws as (...given: unknown[]) => unknown;
  expect(() => laws(new BloomFilterPolicy())).toThrow(new TypeError('makePolicy must be a function, got a BloomFilterPolicy'));
  expect(() => laws(undefined)).toThrow(new TypeError('makePolicy must be a function, got undefined'));
});

describe('a policy is asked for many keys, or for a range of bytes,', () => {
  const manyAndRanges = (policy: object): boolean[] => [mayAskForMany(policy as FilterPolicy), mayAskInRanges(policy as FilterPolicy)];
  const never = (): boolean => false;

  test('if it has the method, beside its keyMayMatch or below it', () => {
    expect(manyAndRanges(new BloomFilterPolicy())).toEqual([true, true]);
    expect(manyAndRanges({ ...whole, keysMayMatch: never })).toEqual([true, false]);
    expect(manyAndRanges({ ...whole, keyMayMatchRange: never })).toEqual([false, true]);
    class Both extends BloomFilterPolicy {
      override keyMayMatch = never;
      override keysMayMatch = (): Uint8Array => new Uint8Array(0);
      override keyMayMatchRange = never;
    }
    expect(manyAndRanges(new Both())).toEqual([true, true]);
  });

  test('but not if it has none, or one that was written without its keyMayMatch', () => {
    expect(manyAndRanges(whole)).toEqual([false, false]);
    class Stricter extends BloomFilterPolicy {
      override keyMayMatch(): boolean {
        return false;
      }
    }
    expect(manyAndRanges(new Stricter())).toEqual([false, false]);
    expect(manyAndRanges(Object.assign(new BloomFilterPolicy(), { keyMayMatch: never }))).toEqual([false, false]);
  });

  test('nor if what it has is no method, or is another one each time it is asked for', () => {
    expect(manyAndRanges({ ...whole, keysMayMatch: true, keyMayMatchRange: {} })).toEqual([false, false]);
    const computed = { ...whole, keysMayMatch: never, keyMayMatchRange: never };
    Object.defineProperty(computed, 'keyMayMatch', { get: () => never });
    expect(manyAndRanges(computed)).toEqual([false, false]);
    const proxy = new Proxy(new BloomFilterPolicy(), { get: (policy, name) => (name === 'keyMayMatch' ? never : (Reflect.get(policy, name) as unknown)) });
    expect(manyAndRanges(proxy)).toEqual([false, false]);
  });
});
