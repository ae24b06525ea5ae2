/**
 * One key per line; its value is the number of the line, from 1, in decimal.
 */
import { endsInCarriageReturn, LF } from '@bloom/report';
import type { ByteBuffer } from './byte-buffer.js';
import { type Entry, OutputError } from './entry.js';
import { keyText } from './key-text.js';
import { LineError } from './lines.js';

export function decodeWordLine(line: Uint8Array, number: number): Entry {
  // An empty line is far more likely a mistake than an empty word.
  if (line.length === 0) throw new LineError('empty, but must be a word');
  return [line, Buffer.from(String(number), 'latin1')];
}

export function encodeWord(key: Uint8Array, _value: Uint8Array, out: ByteBuffer): void {
  if (key.length === 0) throw new OutputError('the empty key would be an empty line');
  if (!out.bytesWithout(key, LF, LF) || endsInCarriageReturn(key)) {
    throw new OutputError(`key ${keyText(key)} has a line break in it`);
  }
  out.byte(LF);
}

export function encodeHexWord(key: Uint8Array, _value: Uint8Array, out: ByteBuffer): void {
  out.hex(key);
  out.byte(LF);
}
