// A large filter is made in memory that may still hold what another large filter left there.
import { buildFilter, KeyBuffer } from '@bloom/policy';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { expect, test } from 'vitest';
import { encodeRibbonFilter } from '../../src/build-ribbon.js';

function keysFrom(first: number, count: number): KeyBuffer {
  const keys = new KeyBuffer(count * 4, count);
  const word = new Uint32Array(1);
  const key = new Uint8Array(word.buffer);
  for (word[0] = first; word[0] < first + count; word[0]++) keys.push(key);
  return keys;
}

test('a policy makes the same filters as ones that made no other before', () => {
  const policy = new RibbonFilterPolicy();
  const lists = [keysFrom(0, 200_000), keysFrom(500_000, 140_000), keysFrom(9, 5000), keysFrom(0, 160_000)];
  for (const keys of lists) {
    const filter = buildFilter(policy, keys);
    expect(Buffer.compare(filter, buildFilter(new RibbonFilterPolicy(), keys)), `${keys.length} keys`).toBe(0);
    expect(policy.keysMayMatch(keys, filter)).not.toContain(0);
  }
}, 60_000);

test('a filter for which the memory has to grow is that of the plain loops', () => {
  const keys = keysFrom(7, 2_400_000);
  let plain = new Uint8Array(0);
  encodeRibbonFilter(keys, { rate: 0.01, width: undefined }, { extend: (length) => (plain = new Uint8Array(length)) });
  const policy = new RibbonFilterPolicy();
  expect(Buffer.compare(buildFilter(policy, keys), plain)).toBe(0);
  // And so is one for which it has grown before.
  expect(Buffer.compare(buildFilter(policy, keys), plain)).toBe(0);
}, 60_000);
