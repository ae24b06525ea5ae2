import { bloomHash } from '@bloom/hash';
import { expect, test } from 'vitest';
import { KeySet } from '../src/index.js';

/** Two keys of one hash, found by trying. */
function collision(): readonly [Uint8Array, Uint8Array] {
  const byHash = new Map<number, Uint8Array>();
  for (let i = 0; i < 2 ** 20; i++) {
    const key = new TextEncoder().encode(`key ${i}`);
    const other = byHash.get(bloomHash(key));
    if (other !== undefined) return [other, key];
    byHash.set(bloomHash(key), key);
  }
  throw new RangeError('a million keys have a million hashes');
}

test('a set has a key once, and distinguishes keys with the same hash', () => {
  const [a, b] = collision();
  const keys = new KeySet();
  expect([a, b, a.slice(), b.slice(), new Uint8Array(0), new Uint8Array(0)].map((key) => keys.add(key))).toEqual([true, true, false, false, true, false]);
  expect(keys.size).toBe(3);
});
