import { runInNewContext } from 'node:vm';
import { OTHER_KEYS, otherKeysTests } from '@bloom/fixtures/key-list-suite';
import { describe, expect, test } from 'vitest';
import { BloomFilterPolicy, buildFilter, FilterBuffer, type FilterPolicy, FittedBloomFilterPolicy, GoleveldbBloomFilterPolicy, KeyBuffer, type KeyList, PrefixFilterPolicy, prefixOfLength } from '../src/index.js';

const KEYS = ['apple', 'beet'].map((text) => new TextEncoder().encode(text));

const POLICIES: FilterPolicy[] = [
  new BloomFilterPolicy(),
  new FittedBloomFilterPolicy(),
  new GoleveldbBloomFilterPolicy(),
  new PrefixFilterPolicy(prefixOfLength(2)),
];

describe.each(POLICIES.map((policy) => [policy.constructor.name, policy] as const))('%s', (_, policy) => {
  otherKeysTests(policy, buildFilter(policy, KEYS));

  test('takes a list whose arrays are of another realm', () => {
    const { bytes, offsets, length } = KeyBuffer.from(KEYS);
    const list = {
      bytes: runInNewContext('Uint8Array.from(values)', { values: bytes }) as Uint8Array,
      offsets: runInNewContext('Uint32Array.from(values)', { values: offsets }) as Uint32Array,
      length,
      at: (i: number) => KEYS[i]!,
      [Symbol.iterator]: () => KEYS.values(),
    };
    expect(list.offsets instanceof Uint32Array).toBe(false);
    const sink = new FilterBuffer();
    policy.createFilter(list, sink);
    expect(sink.toBytes()).toEqual(buildFilter(policy, KEYS));
  });
});

test('the message says what was given', () => {
  for (const [, keys, given] of OTHER_KEYS.filter(([, , name]) => name !== '')) expect(() => new BloomFilterPolicy().keysMayMatch(keys as KeyList, new Uint8Array(9))).toThrow(`got ${given}:`);
});
