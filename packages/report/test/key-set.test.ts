import { bloomHash } from '@bloom/hash';
import { expect, test } from 'vitest';
import { KeySet } from '../src/index.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a set has a key once, and distinguishes keys with the same hash', () => {
  const [a, b] = [utf8('key 6409'), utf8('key 298006')];
  expect(bloomHash(a)).toBe(bloomHash(b));
  const keys = new KeySet();
  expect([a, b, a.slice(), b.slice(), new Uint8Array(0), new Uint8Array(0)].map((key) => keys.add(key))).toEqual([true, true, false, false, true, false]);
  expect(keys.size).toBe(3);
});
