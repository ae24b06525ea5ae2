/**
 * One entry per line: the key, a TAB, the value, both with the escapes of `escapes.ts`, so that any bytes are text in one line.
 */
import type { EntryBatch } from './entry-batch.js';
import { BACKSLASH, escapedField } from './escapes.js';
import type { Columns, Format, Printer } from './format-contract.js';
import { putHex } from './hex.js';
import { columnDecoder, tabPrinter } from './tab-columns.js';

const TAB = 9;

export const tsv = {
  help: 'key TAB value, one entry per line, with \\t, \\n, \\r, \\\\ and \\xHH; any bytes',
  printer,
} satisfies Format;

function printer(columns: Columns): Printer {
  if (columns.hex) return tabPrinter(columns, putHex);
  const escaped = tabPrinter(columns, (bytes, out) => {
    out.escaped(bytes);
  });
  if (!(columns.key && columns.value && columns.facts.length === 0)) return escaped;
  return { ...escaped, printRange: (key, keyEnd, value, valueStart, valueEnd, out) => out.escapedLine(key, keyEnd, value, valueStart, valueEnd) };
}

/** Up to this many bytes, a loop is faster than a copy of a view. */
const MAX_LOOPED_BYTES = 48;

/** Reads a line without escapes. Lines with escapes are read by `decodeEscapedLine`. */
export function decodeTsvLine(line: Uint8Array, start: number, end: number, batch: EntryBatch, number: number): void {
  batch.reserve(end - start);
  const { bytes } = batch;
  let at = batch.end;
  let tab = start;
  for (; tab < end; tab++) {
    const byte = line[tab]!;
    if (byte === TAB || byte === BACKSLASH) break;
    bytes[at++] = byte;
  }
  const valueStart = tab + 1;
  const valueLength = end - valueStart;
  if (line[tab] !== TAB || tab === end) {
    decodeEscapedLine(line, start, end, batch, number);
  } else if (valueLength > MAX_LOOPED_BYTES) {
    const value = line.subarray(valueStart, end);
    if (value.includes(BACKSLASH)) {
      decodeEscapedLine(line, start, end, batch, number);
      return;
    }
    bytes.set(value, at);
    batch.push(at, at + valueLength, number);
  } else {
    let to = at;
    for (let i = valueStart; i < end; i++) {
      const byte = line[i]!;
      if (byte === BACKSLASH) {
        decodeEscapedLine(line, start, end, batch, number);
        return;
      }
      bytes[to++] = byte;
    }
    batch.push(at, to, number);
  }
}

const decodeEscapedLine = columnDecoder(escapedField);
