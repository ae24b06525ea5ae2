import { seeded } from '@bloom/fixtures';
import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, buildFilter, fillBloomFilter, filterByteLength, GoleveldbBloomFilterPolicy } from '@bloom/policy';
import { expect, test } from 'vitest';
import { utf8 } from './keys.js';
import { signedTailHash } from './thorough/right-policy.js';

const policy = new GoleveldbBloomFilterPolicy();

/** Both ways to ask. */
function matches(key: Uint8Array, filter: Uint8Array): boolean {
  const answer = policy.keyMayMatch(key, filter);
  const keyBytes = Buffer.concat([Uint8Array.of(7), key, Uint8Array.of(7)]);
  const filterBytes = Buffer.concat([Uint8Array.of(7, 7), filter]);
  const inRange = policy.keyMayMatchRange(keyBytes, 1, 1 + key.length, filterBytes, 2, 2 + filter.length);
  // Some tests ask 40,000 times.
  if (inRange !== answer) expect(inRange).toBe(answer);
  return answer;
}

test("the name is LevelDB's before 1.18, and the bits per key are those of its filters", () => {
  expect([policy.name, policy.bitsPerKey, new GoleveldbBloomFilterPolicy(3).bitsPerKey]).toEqual(['leveldb.BuiltinBloomFilter', 10, 3]);
  expect(() => new GoleveldbBloomFilterPolicy(0.5)).toThrow(RangeError);
});

test("its filters are those of LevelDB's policy, byte for byte (seed 1)", () => {
  const random = seeded(1);
  for (const bitsPerKey of [0, 1, 10, 44]) {
    const keys = Array.from({ length: 300 }, () => random.bytes(random.below(30)));
    expect(buildFilter(new GoleveldbBloomFilterPolicy(bitsPerKey), keys)).toEqual(buildFilter(new BloomFilterPolicy(bitsPerKey), keys));
  }
});

test('no key is denied that LevelDB before 1.18 stored, on a processor with signed or with unsigned characters (seed 2)', () => {
  const random = seeded(2);
  const leveldb = new BloomFilterPolicy();
  let missedByOneHash = 0;
  for (const hash of [signedTailHash, bloomHash]) {
    for (let set = 0; set < 50; set++) {
      const keys = Array.from({ length: 1 + random.below(200) }, () => random.bytes(random.below(13)));
      const filter = new Uint8Array(filterByteLength(keys.length, 10));
      fillBloomFilter(filter, Uint32Array.from(keys, hash), 6);
      expect(keys.filter((key) => !matches(key, filter))).toEqual([]);
      missedByOneHash += keys.filter((key) => !leveldb.keyMayMatch(key, filter)).length;
    }
  }
  expect(missedByOneHash).toBeGreaterThan(1000);
});

test('absent keys match as rarely as with LevelDB, and twice as often if the two hashes differ', () => {
  const filter = buildFilter(policy, Array.from({ length: 1000 }, (_, i) => utf8(`key${i}`)));
  const rateOf = (keyAt: (i: number) => Uint8Array): number => Array.from({ length: 20_000 }, (_, i) => keyAt(i)).filter((key) => matches(key, filter)).length / 20_000;
  const [ascii, other] = [rateOf((i) => utf8(`absent key ${i * 7919}`)), rateOf((i) => utf8(`absent key ${i * 7919}é`))];
  expect(ascii).toBeLessThan(0.014);
  expect(other).toBeGreaterThan(0.01);
  expect(other).toBeLessThan(0.03);
});

test('a value that is neither a key nor a filter is refused', () => {
  expect(() => policy.keyMayMatch('a' as never, new Uint8Array(9))).toThrow(TypeError);
  expect(() => policy.keyMayMatch(utf8('a'), [1, 2] as never)).toThrow(/^filter must be a Uint8Array/);
  expect(() => policy.keyMayMatchRange(utf8('a'), 0, 1, [1, 2] as never, 0, 2)).toThrow(/^filterBytes must be a Uint8Array/);
  const detached = Uint8Array.of(1, 2);
  structuredClone(detached, { transfer: [detached.buffer] });
  expect(() => policy.keyMayMatch(utf8('a'), detached)).toThrow(/^filter .*detached/);
  expect(() => policy.keyMayMatchRange(utf8('a'), 0, 1, detached, 0, 0)).toThrow(/^filterBytes .*detached/);
  expect(() => policy.keyMayMatchRange(utf8('a'), 0, 2, new Uint8Array(9), 0, 9)).toThrow(RangeError);
  expect(matches(utf8('a'), new Uint8Array(0))).toBe(false);
});
