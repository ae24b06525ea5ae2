import { expect, test } from 'vitest';
import { hexBytes, hexDigits, hexNumber } from '../src/index.js';

test('bytes become two digits each, and digits of both cases bytes again', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  expect(hexDigits(bytes)).toBe(Buffer.from(bytes).toString('hex'));
  expect(hexDigits(Uint8Array.of(0, 10, 255), ' ')).toBe('00 0a ff');
  expect(hexBytes(hexDigits(bytes))).toEqual(bytes);
  expect(hexBytes(hexDigits(bytes).toUpperCase())).toEqual(bytes);
  expect(hexBytes('')).toEqual(new Uint8Array(0));
  expect(hexNumber(0xabc, 8)).toBe('00000abc');
});

test.each(['0', 'abc', '0g', ' 0', '0x', '00 ', '+1', '00\n'])('%j is not hexadecimal', (text) => {
  expect(hexBytes(text)).toBeUndefined();
});
