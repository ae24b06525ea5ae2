import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, bloomFilterMayMatch, filterByteLength, KeyBuffer } from '@bloom/policy';
import { expect, test } from 'vitest';
import { encodeBloomFilter } from '../src/bloom-filter.js';
import { modelBits, modelFilter, modelMayMatch } from './bloom-model.js';
import { utf8 } from './keys.js';

const absent = Array.from({ length: 200 }, (_, i) => utf8(`absent ${i}`));

const keys = ['hello', 'world', 'foo', 'bar'].map(utf8);

function encode(bitsPerKey: number): Uint8Array {
  const parts: Uint8Array[] = [];
  encodeBloomFilter(KeyBuffer.from(keys), bitsPerKey, {
    extend(byteLength) {
      const part = new Uint8Array(byteLength);
      parts.push(part);
      return part;
    },
  });
  expect(parts).toHaveLength(1);
  return parts[0]!;
}

test('the keys have hashes on both sides of 2^31', () => {
  expect(new Set(keys.map((key) => bloomHash(key) >= 2 ** 31))).toEqual(new Set([false, true]));
});

// On both sides of 2^30 bits. From there on, a bit number is no longer a 31-bit integer, and V8 represents it differently.
test.each([
  { bits: '2^30', bitsPerKey: 2 ** 28, byteLength: 134_217_729 },
  { bits: '2^30 + 8', bitsPerKey: 2 ** 28 + 2, byteLength: 134_217_730 },
])('a filter of $bits bits has the bytes that plain integer arithmetic gives', ({ bitsPerKey, byteLength }) => {
  const filter = encode(bitsPerKey);
  expect(filter).toHaveLength(byteLength);
  expect(filterByteLength(keys.length, bitsPerKey)).toBe(byteLength);
  expect(Buffer.compare(filter, modelFilter(keys, bitsPerKey))).toBe(0);
  const policy = new BloomFilterPolicy();
  expect(keys.map((key) => policy.keyMayMatch(key, filter))).toEqual([true, true, true, true]);
  expect(absent.filter((key) => bloomFilterMayMatch(bloomHash(key), filter) !== modelMayMatch(key, filter))).toEqual([]);
});

// The filters have hundreds of MiB, but only pages with a set bit take memory. Comparing every byte would touch all pages.
test.each([
  { bits: '3 * 2^30', bitsPerKey: 3 * 2 ** 28, byteLength: 402_653_185 },
  { bits: '2^32', bitsPerKey: 2 ** 30, byteLength: 536_870_913 },
  { bits: 'more than 2^32', bitsPerKey: 2 ** 30 + 2, byteLength: 536_870_914 },
])('a filter of $bits bits has the bits that plain integer arithmetic gives', ({ bitsPerKey, byteLength }) => {
  const filter = encode(bitsPerKey);
  expect(filter).toHaveLength(byteLength);
  const set = keys.flatMap((key) => modelBits(key, filter.length, 30));
  expect(set.some((bit) => bit > 2n ** 31n)).toBe(true);
  expect(set.filter((bit) => (filter[Number(bit / 8n)]! & (2 ** Number(bit % 8n))) === 0)).toEqual([]);
  expect(keys.map((key) => bloomFilterMayMatch(bloomHash(key), filter))).toEqual([true, true, true, true]);
  expect(absent.filter((key) => bloomFilterMayMatch(bloomHash(key), filter))).toEqual([]);
});
