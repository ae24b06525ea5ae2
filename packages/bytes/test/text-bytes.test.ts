import { isMarkup, isTextual } from '@bloom/bytes/internal';
import { expect, test } from 'vitest';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test('text in any language, with line feeds and tabs, is textual', () => {
  for (const text of ['', 'a', 'Tab\tand\r\nlines\f\u001b[0m', 'Grüße, 猫, 🙂']) expect(isTextual(utf8(text)), text).toBe(true);
});

test('bytes with any other control character among the first 512 are not textual', () => {
  for (let byte = 0; byte < 0x20; byte++) {
    const isControlOfText = [9, 10, 12, 13, 27].includes(byte);
    expect(isTextual(Uint8Array.of(0x41, byte, 0x41)), `byte ${byte}`).toBe(isControlOfText);
  }
  const at = (offset: number): Uint8Array => Uint8Array.from({ length: 600 }, (_, i) => (i === offset ? 0 : 0x41));
  expect([isTextual(at(511)), isTextual(at(512))]).toEqual([false, true]);
});

test('markup begins with < after white space and a byte order mark', () => {
  for (const text of ['<!doctype html>', '\r\n <html>', '\ufeff\n<p>', '<?xml version="1.0"?>']) expect(isMarkup(utf8(text)), text).toBe(true);
  for (const text of ['', ' ', 'MANIFEST-000005\n', 'a <b>', '\ufeff', '<\0']) expect(isMarkup(utf8(text)), text).toBe(false);
});
