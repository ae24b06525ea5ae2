import { askablePrefixes, BloomFilterPolicy, buildFilter, type FilterPolicy, mustBeFilterPolicy, PrefixFilterPolicy, prefixOfLength, prefixThrough } from '@bloom/policy';
import { describe, expect, test } from 'vitest';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keys = Array.from({ length: 500 }, (_, i) => utf8(`user${i % 40}/${i}`)).sort(Buffer.compare);

describe('filters with prefixes', () => {
  const policy = new PrefixFilterPolicy(prefixThrough(0x2f));

  test('answer for keys and for prefixes', () => {
    const filter = buildFilter(policy, keys);
    for (const key of keys) expect(policy.keyMayMatch(key, filter)).toBe(true);
    for (let i = 0; i < 40; i++) expect(policy.prefixMayMatch(utf8(`user${i}/`), filter)).toBe(true);
    let passed = 0;
    for (let i = 40; i < 2040; i++) if (policy.prefixMayMatch(utf8(`user${i}/`), filter)) passed++;
    expect(passed).toBeLessThan(60);
    // A prefix is not taken for a key, nor a key for a prefix.
    expect([...Array(40).keys()].filter((i) => policy.keyMayMatch(utf8(`user${i}/`), filter)).length).toBeLessThan(5);
    expect(keys.filter((key) => policy.prefixMayMatch(key, filter)).length).toBeLessThan(25);
  });

  test('hold each prefix once for each run of keys', () => {
    const bits = (buildFilter(policy, keys).length - 1) * 8;
    expect(bits).toBe((500 + 40) * 10);
  });

  test('answer for ranges of bytes, whether their policy can or not', () => {
    const bloom = new BloomFilterPolicy();
    const plain: FilterPolicy = { name: 'plain', createFilter: (list, dst) => bloom.createFilter(list, dst), keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter) };
    let ranges = 0;
    const inRanges: FilterPolicy = {
      ...plain,
      keyMayMatchRange(...range) {
        ranges++;
        return bloom.keyMayMatchRange(...range);
      },
    };
    for (const inner of [plain, inRanges]) {
      const own = new PrefixFilterPolicy(prefixThrough(0x2f), inner);
      const filter = buildFilter(own, keys);
      const filterBytes = Uint8Array.of(255, ...filter, 255);
      for (const key of [...keys, ...keys.map((stored) => utf8(`absent${stored.length}/${stored.at(-1)!}`))]) {
        expect(own.keyMayMatchRange(Uint8Array.of(0, ...key, 0), 1, 1 + key.length, filterBytes, 1, 1 + filter.length)).toBe(own.keyMayMatch(key, filter));
      }
    }
    expect(ranges).toBe(2 * keys.length);
  });

  test('have a name that says which prefixes, and whose filters', () => {
    expect(policy.name).toBe('bloom.Prefix.through.2f.leveldb.BuiltinBloomFilter2');
    expect(new PrefixFilterPolicy(prefixOfLength(8)).name).toBe('bloom.Prefix.length.8.leveldb.BuiltinBloomFilter2');
  });

  test('prefixes of a length are those of keys that are long enough', () => {
    const { prefixLength } = prefixOfLength(3);
    expect([utf8(''), utf8('ab'), utf8('abc'), utf8('abcd')].map(prefixLength)).toEqual([undefined, undefined, 3, 3]);
  });

  test('prefixes through a delimiter end with the first', () => {
    const { prefixLength } = prefixThrough(0x3a);
    expect([utf8(''), utf8('ab'), utf8(':'), utf8('a:b:c')].map((key) => prefixLength(key))).toEqual([undefined, undefined, 1, 2]);
  });

  test('the names of prefixes are those in files: they never change', () => {
    expect([0, 0x0a, 0x2f, 0xff].map((byte) => prefixThrough(byte).name)).toEqual(['through.00', 'through.0a', 'through.2f', 'through.ff']);
    expect(prefixOfLength(12).name).toBe('length.12');
  });

  test('wrong arguments are refused', () => {
    for (const length of [0, 1.5]) expect(() => prefixOfLength(length)).toThrow(new RangeError(`length must be a whole number, at least 1, got ${length}`));
    for (const byte of [-1, 256, 0.5]) expect(() => prefixThrough(byte)).toThrow(new RangeError(`delimiter must be a byte, got ${byte}`));
    expect(() => new PrefixFilterPolicy({} as never)).toThrow(/^prefixes must be a PrefixExtractor/);
    expect(() => new PrefixFilterPolicy({ name: '', prefixLength: () => 0 })).toThrow('prefixes must have a name');
    expect(() => new PrefixFilterPolicy(prefixOfLength(1), policy)).toThrow(/must have no prefixes of its own/);
    expect(() => new PrefixFilterPolicy(prefixOfLength(1), {} as never)).toThrow(TypeError);
    expect(() => policy.prefixMayMatch('user' as never, new Uint8Array(9))).toThrow(/^prefix must be a Uint8Array/);
  });

  test('a policy whose prefixes cannot be queried is not a policy, or is queried for keys only', () => {
    const { name } = policy;
    const createFilter = (): undefined => undefined;
    const keyMayMatch = (): boolean => true;
    for (const prefixes of [null, 7, {}]) {
      expect(() => mustBeFilterPolicy('policy', { name, createFilter, keyMayMatch, prefixes })).toThrow(/prefixes/);
    }
    expect(() => mustBeFilterPolicy('policy', { name, createFilter, keyMayMatch, prefixes: prefixOfLength(1) })).toThrow(/prefixMayMatch/);
    class Other extends PrefixFilterPolicy {
      override createFilter: FilterPolicy['createFilter'] = (list, dst) => new BloomFilterPolicy().createFilter(list, dst);
    }
    expect(askablePrefixes(policy)).toBe(policy.prefixes);
    expect(askablePrefixes(new BloomFilterPolicy())).toBeUndefined();
    expect(askablePrefixes(new Other(prefixOfLength(1)))).toBeUndefined();
  });
});
