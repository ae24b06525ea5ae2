import { expect, test } from 'vitest';
import { bytesOf } from '../src/internal.js';

test('encodes text as UTF-8', () => {
  expect(bytesOf('key', 'pear')).toEqual(Uint8Array.of(0x70, 0x65, 0x61, 0x72));
  expect(bytesOf('key', 'ü€😀')).toEqual(Uint8Array.of(0xc3, 0xbc, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80));
  expect(bytesOf('key', '')).toEqual(new Uint8Array(0));
});

test('returns bytes unchanged, and refuses everything else by what is accepted', () => {
  const bytes = Uint8Array.of(1, 2);
  expect(bytesOf('key', bytes)).toBe(bytes);
  for (const [value, kind] of [[7, 'number'], [undefined, 'undefined'], [[1], 'an Array']] as const) {
    expect(() => bytesOf('key', value as unknown as string)).toThrow(new TypeError(`key must be a Uint8Array or a string, got ${kind}`));
  }
});

test.each(['\ud800', 'a\udc00', '\ud83d\ud83d\ude00'])('rejects text with half of a surrogate pair', (text) => {
  expect(() => bytesOf('keys[3]', text)).toThrow(new RangeError('keys[3] must be well-formed text, got a string with half of a surrogate pair'));
});
