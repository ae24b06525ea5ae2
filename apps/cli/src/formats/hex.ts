/** One entry per line: the key in hexadecimal digits, a TAB, the value. Any bytes. */
import { LineError } from './entry.js';
import type { FieldDecoder } from './entry-batch.js';
import { HEX_DIGITS } from './hex-digits.js';
import type { ByteBuffer } from './byte-buffer.js';
import type { Format } from './format-contract.js';
import { tabPrinter } from './tab-columns.js';

export const hex = {
  help: 'key TAB value in hexadecimal, one entry per line; any bytes',
  printer: (columns) => tabPrinter(columns, putHex),
} satisfies Format;

export function putHex(bytes: Uint8Array, out: ByteBuffer): void {
  out.hex(bytes);
}

/** Reads a column of hexadecimal digits. */
export const hexField: FieldDecoder = (line, start, end, batch) => {
  if ((end - start) % 2 !== 0) throw new LineError('not hexadecimal: an odd number of digits');
  batch.reserve((end - start) / 2);
  const { bytes } = batch;
  let to = batch.end;
  for (let i = start; i < end; i += 2) {
    const high = HEX_DIGITS[line[i]!]!;
    const low = HEX_DIGITS[line[i + 1]!]!;
    if (high > 15 || low > 15) throw new LineError(`not hexadecimal in byte ${i - start + 1} of a column`);
    bytes[to++] = high * 16 + low;
  }
  batch.end = to;
};
