/** One entry per line: the key in base64 (RFC 4648, with padding), a TAB, the value. Any bytes. */
import { LineError } from './entry.js';
import type { FieldDecoder } from './entry-batch.js';
import type { Format } from './format-contract.js';
import { tabPrinter } from './tab-columns.js';

export const base64 = {
  help: 'key TAB value in base64, one entry per line; any bytes',
  printer: (columns) => tabPrinter(columns, (bytes, out) => out.base64(bytes)),
} satisfies Format;

/** Reads a column in base64. */
export const base64Field: FieldDecoder = (line, start, end, batch) => {
  const bytes = base64Bytes(Buffer.from(line.buffer, line.byteOffset + start, end - start).toString('latin1'));
  if (bytes === undefined) throw new LineError('not base64');
  batch.put(bytes);
};

/** The bytes of a text in base64, with padding; undefined when it is anything else. */
export function base64Bytes(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  // Node ignores what is not base64.
  return bytes.toString('base64') === text ? bytes : undefined;
}
