import { fromHex } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { isNamedByBytes, numberOfDigest } from '../src/format/published-name.js';

test('a number from 2^32 up to 62 bits is that of a file’s bytes, and lower ones are counted', () => {
  for (const number of [2n ** 32n, 2n ** 32n + 1n, 2n ** 61n, 2n ** 62n - 1n]) expect(isNamedByBytes(number)).toBe(true);
  for (const number of [0n, 5n, 2n ** 32n - 1n, 2n ** 62n, 2n ** 64n - 1n]) expect(isNamedByBytes(number)).toBe(false);
});

test.each([
  // Of eight bytes, the last two bits are left out.
  ['0123456789abcdef', 0x48d159e26af37bn],
  ['0000000400000000', 2n ** 32n],
  ['00000003ffffffff', 2n ** 32n - 1n],
  ['8000000000000000', 2n ** 61n],
  ['ffffffffffffffff', 2n ** 62n - 1n],
  ['0000000000000003', 0n],
])('the number of a SHA-256 that begins with %s is the first 62 bits', (start, number) => {
  for (const rest of ['00', 'ff']) expect(numberOfDigest(bufferOf(start + rest.repeat(24)))).toBe(number);
});

function bufferOf(hex: string): ArrayBuffer {
  return Uint8Array.from(fromHex(hex)).buffer;
}
