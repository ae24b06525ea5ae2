import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { BloomFilterPolicy, buildFilter, FilterBuffer, type FilterPolicy, FittedBloomFilterPolicy, GoleveldbBloomFilterPolicy, KeyBuffer, type KeyList, PrefixFilterPolicy, prefixOfLength } from '../src/index.js';

const KEYS = ['apple', 'beet'].map((text) => new TextEncoder().encode(text));

const POLICIES: FilterPolicy[] = [
  new BloomFilterPolicy(),
  new FittedBloomFilterPolicy(),
  new GoleveldbBloomFilterPolicy(),
  new PrefixFilterPolicy(prefixOfLength(2)),
];

/** Keys in another form than a list. */
const OTHERS: [string, unknown, string][] = [
  ['an array', KEYS, 'an Array'],
  ['an empty array', [], 'an Array'],
  ['a Set', new Set(KEYS), 'a Set'],
  ['an iterator', KEYS.values(), ''],
  ['one key', KEYS[0], 'a Uint8Array'],
  ['a list without offsets', { bytes: KEYS[0], length: 1 }, 'object'],
  ['undefined', undefined, 'undefined'],
];

describe.each(POLICIES.map((policy) => [policy.constructor.name, policy] as const))('%s', (_, policy) => {
  test.each(OTHERS)('refuses %s as keys, which would otherwise be lost', (_, keys) => {
    const problem = /^keys must be a KeyList, got [^:]+: KeyBuffer\.from\(keys\) makes one$/;
    const sink = new FilterBuffer();
    expect(() => {
      policy.createFilter(keys as KeyList, sink);
    }).toThrow(problem);
    expect(sink.byteLength).toBe(0);
    if (policy.keysMayMatch === undefined) return;
    const filter = buildFilter(policy, KEYS);
    expect(() => policy.keysMayMatch!(keys as KeyList, filter)).toThrow(problem);
    expect(() => policy.keysMayMatch!(keys as KeyList, filter, new Uint8Array(2))).toThrow(problem);
  });

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
  // The name of an iterator's class depends on the version of Node.
  for (const [, keys, given] of OTHERS.filter(([, , name]) => name !== '')) expect(() => new BloomFilterPolicy().keysMayMatch(keys as KeyList, new Uint8Array(9))).toThrow(`got ${given}:`);
});
