import { BloomFilterPolicy, type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { expect, test } from 'vitest';

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
