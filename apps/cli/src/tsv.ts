/**
 * One entry per line: the key, a TAB, the value. The first TAB in the line is the separator.
 */
import { endsInCarriageReturn, LF } from '@bloom/report';
import type { ByteBuffer } from './byte-buffer.js';
import { type Entry, OutputError } from './entry.js';
import { keyText } from './key-text.js';
import { LineError } from './lines.js';

const TAB = 9;

export function decodeTsvLine(line: Uint8Array): Entry {
  const tab = line.indexOf(TAB);
  if (tab < 0) throw new LineError('no TAB between key and value');
  return [line.subarray(0, tab), line.subarray(tab + 1)];
}

export function encodeTsv(key: Uint8Array, value: Uint8Array, out: ByteBuffer): void {
  if (!out.bytesWithout(key, TAB, LF)) throw new OutputError(`key ${keyText(key)} has a TAB or a line break in it`);
  out.byte(TAB);
  if (!out.bytesWithout(value, LF, LF) || endsInCarriageReturn(value)) {
    throw new OutputError(`the value of key ${keyText(key)} has a line break in it`);
  }
  out.byte(LF);
}

/** The same with key and value in hexadecimal, which can represent any bytes. */
export function encodeHexTsv(key: Uint8Array, value: Uint8Array, out: ByteBuffer): void {
  out.hex(key);
  out.byte(TAB);
  out.hex(value);
  out.byte(LF);
}
