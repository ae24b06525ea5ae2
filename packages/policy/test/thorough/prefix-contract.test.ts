import { triedOf } from '@bloom/fixtures/hash-filter-suite';
import { BloomFilterPolicy, type FilterPolicy, type FilterSink, KeyBuffer, type KeyList, type PrefixExtractor, PrefixFilterPolicy, prefixOfLength, prefixThrough } from '@bloom/policy';
import { policyLaws, type PolicyLawsOptions } from '@bloom/policy/contract';
import { describe, expect, test } from 'vitest';

const PREFIX_LAW = '11.';

// Other prefixes change which keys are in the filters and what prefixes match, which these laws are about.
const LAWS_ABOUT_PREFIXES = /^(1|7|8|11)[.]/;

describe.each<[string, () => FilterPolicy, RegExp, PolicyLawsOptions]>([
  ['the first two bytes', () => new PrefixFilterPolicy(prefixOfLength(2)), /^/, {}],
  ['up to a slash', () => new PrefixFilterPolicy(prefixThrough(0x2f), new BloomFilterPolicy(14)), LAWS_ABOUT_PREFIXES, { tunedOtherwise: [() => new PrefixFilterPolicy(prefixThrough(0x2f))] }],
  ['the empty prefix', () => new PrefixFilterPolicy({ name: 'empty', prefixLength: () => 0 }), LAWS_ABOUT_PREFIXES, {}],
  ['no prefix at all', () => new PrefixFilterPolicy({ name: 'none', prefixLength: () => undefined }), LAWS_ABOUT_PREFIXES, {}],
])('filters with prefixes, %s,', (_, make, laws, options) => {
  for (const law of policyLaws(make, { lendBuffers: true, budgetMs: 60_000, ...options }).filter(({ name }) => laws.test(name))) test(law.name, law.run, 600_000);
});

/** A right one, of which some is replaced. */
class Variant extends PrefixFilterPolicy {
  constructor(prefixes: PrefixExtractor = prefixOfLength(2), policy?: FilterPolicy) {
    super(prefixes, policy);
  }
  override createFilter(keys: KeyList, dst: FilterSink): void {
    super.createFilter(keys, dst);
  }
  override prefixMayMatch(prefix: Uint8Array, filter: Uint8Array): boolean {
    return super.prefixMayMatch(prefix, filter);
  }
}

const extractor = (prefixLength: (key: Uint8Array) => unknown, name = 'variant'): (() => FilterPolicy) => {
  return () => {
    const prefixes = { name, prefixLength: prefixLength as PrefixExtractor['prefixLength'] };
    // The filters are made with right prefixes, so that only what the extractor says is wrong.
    return new (class extends Variant {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const list = new KeyBuffer();
        for (const key of keys) list.push(key);
        new BloomFilterPolicy(10).createFilter(list, dst);
      }
      override prefixMayMatch(): boolean {
        return true;
      }
    })(prefixes);
  };
};

const with_ = (members: (policy: Variant) => object): (() => FilterPolicy) => () => Object.defineProperties(new Variant(), Object.getOwnPropertyDescriptors(members(new Variant())));

/** A policy that makes its filters, and asks them for prefixes, by itself. */
const made = (members: (policy: Variant) => Partial<FilterPolicy>): (() => FilterPolicy) =>
  with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => policy.prefixMayMatch(prefix, filter), ...members(policy) }));

/** A right policy that adds the prefixes of other keys than it should. */
const adding = (prefixes: PrefixExtractor, hasPrefix: (key: Uint8Array, i: number, keys: readonly Uint8Array[], prefixOf: (key: Uint8Array) => Uint8Array | undefined) => boolean): (() => FilterPolicy) => () => {
  const policy = new PrefixFilterPolicy(prefixes);
  const bloom = new BloomFilterPolicy();
  const prefixOf = (key: Uint8Array): Uint8Array | undefined => {
    const length = prefixes.prefixLength(key);
    return length === undefined ? undefined : key.subarray(0, length);
  };
  return {
    name: policy.name,
    prefixes,
    createFilter(keys, dst) {
      const all = [...keys];
      const list = new KeyBuffer();
      for (const [i, key] of all.entries()) {
        list.push(key);
        const prefix = prefixOf(key);
        if (prefix !== undefined && hasPrefix(key, i, all, prefixOf)) list.push(Uint8Array.of(...prefix, 0, 0xff, 0x70));
      }
      bloom.createFilter(list, dst);
    },
    keyMayMatch: (key, filter) => policy.keyMayMatch(key, filter),
    prefixMayMatch: (prefix, filter) => policy.prefixMayMatch(prefix, filter),
  };
};

let calls = 0;

const broken: [string, () => FilterPolicy, PolicyLawsOptions?][] = [
  ['forgets the prefix of one of many keys', adding(prefixOfLength(2), (_, i) => i !== 3000)],
  ['forgets the prefix of one of many keys, each of which has its own', adding(prefixOfLength(4), (_, i) => i !== 3000)],
  ['forgets the prefix of the last of many keys', adding(prefixOfLength(4), (_, i, all) => all.length < 3000 || i < all.length - 1)],
  ['has no prefixes in filters of more than 65,535 keys', adding(prefixOfLength(2), (_, __, all) => all.length < 65_536)],
  ['adds no prefix that is a whole key', adding(prefixOfLength(2), (key) => key.length > 2)],
  ['adds no empty prefix', adding({ name: 'empty', prefixLength: () => 0 }, () => false)],
  ['adds no prefix of more than 255 bytes', adding(prefixOfLength(270), () => false)],
  ['passes over a prefix as long as that of the key before', adding(prefixThrough(0x2f), (key, i, all, prefixOf) => i === 0 || prefixOf(all[i - 1]!)?.length !== prefixOf(key)?.length)],
  ['passes over a prefix that ends as that of the key before', adding(prefixOfLength(2), (key, i, all, prefixOf) => i === 0 || prefixOf(all[i - 1]!)?.at(-1) !== prefixOf(key)?.at(-1))],
  ['passes over a prefix for as long as the first byte is the same', adding(prefixThrough(0x3a), (key, i, all) => i === 0 || all[i - 1]![0] !== key[0])],
  ['finds prefixes of large filters only in the instance that made them', () => {
    const policy = new Variant();
    let hasMade = false;
    return made(() => ({
      createFilter(keys, dst) { hasMade ||= keys.length > 2000; policy.createFilter(keys, dst); },
      prefixMayMatch: (prefix, filter) => (filter.length < 5000 || hasMade) && policy.prefixMayMatch(prefix, filter),
    }))();
  }],
  ['repeats its answer for the same two arrays', with_((policy) => {
    const last: { prefix?: Uint8Array; filter?: Uint8Array; answer?: boolean } = {};
    return {
      prefixMayMatch(prefix: Uint8Array, filter: Uint8Array) {
        if (last.prefix !== prefix || last.filter !== filter) Object.assign(last, { prefix, filter, answer: policy.prefixMayMatch(prefix, filter) });
        return last.answer;
      },
    };
  })],
  ['changes the byte before the prefix in its buffer', with_((policy) => ({ prefixMayMatch(prefix: Uint8Array, filter: Uint8Array) { if (prefix.byteOffset > 0) new Uint8Array(prefix.buffer)[prefix.byteOffset - 1]! ^= 1; return policy.prefixMayMatch(prefix, filter); } }))],
  ['has the name of a rule in that of another', with_(() => ({ prefixes: prefixOfLength(1), name: 'example.Prefix.length.12' }))],
  ['takes one more byte where a comma follows', extractor((key) => (key.length < 2 ? undefined : key[2] === 0x2c ? 3 : 2))],
  ['takes one more byte where a 7 follows', extractor((key) => (key.length < 2 ? undefined : key[2] === 7 ? 3 : 2))],
  ['takes one more byte of keys of 255', extractor((key) => (key.length === 255 ? 256 : key.length < 2 ? undefined : 2))],
  ['takes all digits, of which more may follow', extractor((key) => { const i = key.findIndex((byte) => byte < 0x30 || byte > 0x39); return i === 0 ? undefined : i < 0 ? key.length : i; })],
  ['goes up to the second slash, or to the first of one', extractor((key) => { const first = key.indexOf(0x2f); const second = key.indexOf(0x2f, first + 1); return first < 0 ? undefined : (second < 0 ? first : second) + 1; })],
  ['throws at a filter of one byte', with_((policy) => ({ prefixMayMatch(prefix: Uint8Array, filter: Uint8Array) { if (filter.length === 1) throw new RangeError('byte'); return policy.prefixMayMatch(prefix, filter); } }))],
  ['says that a prefix is longer than the key', extractor((key) => Math.max(2, key.length + 1))],
  ['takes a fixed length of keys that are shorter', extractor(() => 4)],
  ['says a negative length', extractor(() => -1)],
  ['says half a byte', extractor((key) => (key.length > 0 ? 0.5 : 0))],
  ['says NaN', extractor(() => Number.NaN)],
  ['says null where there is none', extractor((key) => (key.length < 2 ? null : 2))],
  ['takes half of the key, so that longer keys have another prefix', extractor((key) => key.length >> 1)],
  ['takes the whole key', extractor((key) => key.length)],
  ['goes up to the last delimiter', extractor((key) => (key.lastIndexOf(0x2f) < 0 ? undefined : key.lastIndexOf(0x2f) + 1))],
  ['leaves the delimiter out', extractor((key) => (!key.includes(0x2f) ? undefined : key.indexOf(0x2f)))],
  ['takes all of a key without a delimiter', extractor((key) => (!key.includes(0x2f) ? key.length : key.indexOf(0x2f) + 1))],
  ['takes a length that depends on what follows', extractor((key) => (key.length < 3 ? undefined : 1 + (key[2]! & 1)))],
  ['has no prefix for keys whose length does not fit into 16 bits', extractor((key) => (key.length < 2 || key.length > 65_535 ? undefined : 2))],
  ['takes another length of very long keys', extractor((key) => (key.length < 2 ? undefined : key.length > 5000 ? 1 : 2))],
  ['has no prefix for the prefix itself', extractor((key) => (key.length > 2 ? 2 : undefined))],
  ['has none for keys that end in 0xff', extractor((key) => (key.length < 2 || key.at(-1) === 0xff ? undefined : 2))],
  ['answers from a counter', extractor((key) => (key.length < 4 ? undefined : 1 + (calls++ % 3)))],
  ['trims spaces first', extractor((key) => { let end = key.length; while (end > 0 && key[end - 1] === 0x20) end--; return end < 2 ? undefined : 2; })],
  ['reads the buffer of the key, not the key', extractor((key) => (!new Uint8Array(key.buffer).includes(0x2f) ? undefined : Math.min(key.length, 1)))],
  ['changes the key', extractor((key) => { if (key.length > 1) key[1] = 0; return key.length < 2 ? undefined : 2; })],
  ['throws at the empty key', extractor((key) => { if (key.length === 0) throw new Error('empty'); return key.length < 2 ? undefined : 2; })],
  ['has prefixes without a name', with_(() => ({ prefixes: { name: '', prefixLength: () => undefined } }))],
  ['has prefixes whose name is not in its own', with_(() => ({ name: 'example.Prefix' }))],
  ['has another extractor than its filters', made((policy) => ({ prefixes: prefixOfLength(3), name: 'example.length.3', createFilter: (keys, dst) => policy.createFilter(keys, dst) }))],
  ['has prefixMayMatch without prefixes', with_(() => ({ prefixes: undefined }))],
  ['has prefixes without prefixMayMatch', with_(() => ({ prefixMayMatch: undefined }))],
  ['replaces createFilter and inherits prefixMayMatch', () => new (class extends PrefixFilterPolicy { override createFilter(keys: KeyList, dst: FilterSink): void { new BloomFilterPolicy().createFilter(keys, dst); } })(prefixOfLength(2))],
  ['adds no prefixes', made(() => ({ createFilter: (keys, dst) => new BloomFilterPolicy().createFilter(keys, dst) }))],
  ['adds only the first prefix', made(() => ({ createFilter(keys, dst) {
    const list = KeyBuffer.from(keys);
    const first = [...keys].find((key) => key.length >= 2);
    if (first !== undefined) list.push(Uint8Array.of(first[0]!, first[1]!, 0, 0xff, 0x70));
    new BloomFilterPolicy().createFilter(list, dst);
  } }))],
  ['forgets the last prefix', made((policy) => ({ createFilter(keys, dst) {
    const list = new KeyBuffer();
    for (const [i, key] of [...keys].entries()) list.push(i === keys.length - 1 ? Uint8Array.of(0, 0, ...key) : key);
    policy.createFilter(list, dst);
  } }))],
  ['forgets the prefixes of the keys in the middle of a long list', made((policy) => ({ createFilter(keys, dst) {
    const list = new KeyBuffer();
    for (const [i, key] of [...keys].entries()) list.push(i > 70 && i < keys.length - 70 ? Uint8Array.of(0, 0, ...key) : key);
    policy.createFilter(list, dst);
  } }))],
  ['remembers the last prefix of an earlier filter, and does not add it again', () => {
    let last = '';
    return made((policy) => ({ createFilter(keys, dst) {
      const list = new KeyBuffer();
      for (const key of keys) {
        const prefix = key.subarray(0, 2).join();
        list.push(key.length >= 2 && prefix === last ? key.subarray(0, 1) : key);
        last = prefix;
      }
      policy.createFilter(list, dst);
    } }))();
  }],
  ['adds prefixes in the other order of their bytes', made((policy) => ({ createFilter(keys, dst) {
    policy.createFilter(KeyBuffer.from(Array.from(keys, (key) => (key.length < 2 ? key : Uint8Array.of(key[1]!, key[0]!)))), dst);
  } }))],
  ['asks for a prefix with another mark', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => policy.prefixMayMatch(Uint8Array.of(...prefix, 0), filter) }))],
  ['reads the prefix from the start of its buffer', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => policy.prefixMayMatch(new Uint8Array(prefix.buffer, 0, prefix.length), filter) }))],
  ['denies every prefix in a filter of less than a hundred bytes', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => filter.length > 100 && policy.prefixMayMatch(prefix, filter) }))],
  ['says no to keys that are shorter than its prefix, and claims that they have one', () => Object.assign(new Variant({ name: 'short', prefixLength: (key) => Math.min(2, key.length) }), {})],
  ['denies prefixes that end in 0xff', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => prefix[1] !== 0xff && policy.prefixMayMatch(prefix, filter) }))],
  ['asks for the prefix as a key', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => policy.keyMayMatch(prefix, filter) }))],
  ['says undefined for no', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => policy.prefixMayMatch(prefix, filter) || undefined }))],
  ['throws at a damaged filter', with_((policy) => ({ prefixMayMatch(prefix: Uint8Array, filter: Uint8Array) { if (filter.length < 9) throw new RangeError('short'); return policy.prefixMayMatch(prefix, filter); } }))],
  ['changes the prefix', with_((policy) => ({ prefixMayMatch(prefix: Uint8Array, filter: Uint8Array) { const answer = policy.prefixMayMatch(prefix, filter); prefix.fill(0x55); return answer; } }))],
  ['changes the filter', with_((policy) => ({ prefixMayMatch(prefix: Uint8Array, filter: Uint8Array) { const answer = policy.prefixMayMatch(prefix, filter); if (filter.length > 1) filter[0]! ^= 1; return answer; } }))],
  ['denies prefixes in filters of more than 60,000 bytes', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => filter.length < 60_000 && policy.prefixMayMatch(prefix, filter) }))],
  ['keeps its answers by the array of the prefix', with_((policy) => {
    const kept = new WeakMap<Uint8Array, boolean>();
    return {
      prefixMayMatch(prefix: Uint8Array, filter: Uint8Array) {
        const answer = kept.get(prefix) ?? policy.prefixMayMatch(prefix, filter);
        kept.set(prefix, answer);
        return answer;
      },
    };
  })],
  ['answers by turns', with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => policy.prefixMayMatch(prefix, filter) || calls++ % 5 === 0 }))],
  ['is for keys in an order in which keys with a prefix are not neighbours', () => new PrefixFilterPolicy(prefixOfLength(2)), {
    comparator: { name: 'example.LengthFirst', compare: (a, b) => a.length - b.length || Buffer.compare(a, b) },
  }],
];

test('there are twenty broken variants and more', () => {
  expect(broken.length).toBeGreaterThanOrEqual(20);
});

test.each(triedOf(broken, 12))('a policy that %s breaks the law of prefixes', (_, make, options) => {
  const [law] = policyLaws(make, { budgetMs: 60_000, ...options }).filter(({ name }) => name.startsWith(PREFIX_LAW));
  expect(law!.run).toThrow(PREFIX_LAW);
}, 600_000);

test.each<[string, (policy: Variant, prefix: Uint8Array, filter: Uint8Array) => boolean]>([
  ['always', () => true],
  ['ten times as often', (policy, prefix, filter) => policy.prefixMayMatch(prefix, filter) || (prefix.at(-1) ?? 1) % 10 === 0],
])('a policy whose absent prefixes match %s breaks the law of the rate', (_, ask) => {
  const make = with_((policy) => ({ prefixMayMatch: (prefix: Uint8Array, filter: Uint8Array) => ask(policy, prefix, filter) }));
  expect(policyLaws(make, { maxFalsePositiveRate: 0.03, budgetMs: 60_000 }).at(-1)!.run).toThrow('of absent prefixes match');
}, 600_000);
