import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { LentKeys } from '../src/lent-keys.js';
import { webFormats } from '../src/web-formats.js';

test('a key has the bytes that Node makes of it, whatever was lent before', () => {
  const random = seeded(1);
  const keys = new LentKeys(webFormats);
  const alphabets = ['aZ0 \0\x7f', 'a\x80é', '€a', '😀a', '\ud800a', '\ufeffb'].map((alphabet) => Array.from(alphabet));
  for (let i = 0; i < 3000; i++) {
    const alphabet = i % 2 === 0 ? alphabets[0]! : random.pick(alphabets);
    const key = Array.from({ length: random.below(80) }, () => random.pick(alphabet)).join('');
    expect(Buffer.from(keys.bytesOf(key)).equals(Buffer.from(key)), JSON.stringify(key)).toBe(true);
  }
});

test('keys around the longest length that is lent, and keys that are bytes already, have their bytes', () => {
  const keys = new LentKeys(webFormats);
  for (const length of [0, 1, 63, 64, 65]) expect(Buffer.from(keys.bytesOf('x'.repeat(length))).toString()).toBe('x'.repeat(length));
  const bytes = Uint8Array.of(1, 2);
  expect(keys.bytesOf(bytes)).toBe(bytes);
});

test('each yields the bytes of one key after another', () => {
  const keys = new LentKeys(webFormats);
  const copies: string[] = [];
  for (const bytes of keys.each(['a', 'b', 'ccc', 'é', Uint8Array.of(100)])) copies.push(Buffer.from(bytes).toString());
  expect(copies).toEqual(['a', 'b', 'ccc', 'é', 'd']);
});
