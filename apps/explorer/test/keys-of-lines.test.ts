import { expect, test } from 'vitest';
import { keysOfLines } from '../src/trial/keys-of-lines.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keysOf = (text: Uint8Array): string[] => keysOfLines(text).map((key) => Buffer.from(key).toString('latin1'));

test('the keys of a text are its lines, each once, without line ends and without the mark of UTF-8', () => {
  expect(keysOf(utf8('\ufeffa\nb\r\n\na\nc'))).toEqual(['a', 'b', 'c']);
  expect(keysOf(utf8('one\n'))).toEqual(['one']);
  expect(keysOf(new Uint8Array(0))).toEqual([]);
  // Any bytes, and a mark that is not at the start.
  expect(keysOf(Uint8Array.of(0xff, 0, 10, 0xfe, 13, 13, 10, 0xef, 0xbb, 0xbf))).toEqual(['\xff\0', '\xfe\r', '\xef\xbb\xbf']);
});
