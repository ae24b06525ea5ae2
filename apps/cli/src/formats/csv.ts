/**
 * Comma-separated values (RFC 4180). The first line names the columns, `key,value`, and each further record is an entry. Cells with
 * a quotation mark, a comma, CR, LF or a space at either end are in quotation marks, which are doubled in them; bytes are as they
 * are. In the columns `keyHex` and `valueHex`, they are in hexadecimal. Other columns are ignored, but a deletion is no entry:
 * among versions of keys, the column `type` says what is one.
 */
import { BYTE_ORDER_MARK, LF, startsWithMark } from '@bloom/report';
import { BegunEntry } from './begun-entry.js';
import type { ByteBuffer } from './byte-buffer.js';
import { type DecoderState, type EntryDecoder, InputError, LineError, MAX_ENTRY_BYTES, mustBeNoDeletion } from './entry.js';
import type { EntryBatch } from './entry-batch.js';
import type { Columns, Format, Printer } from './format-contract.js';
import { hexField } from './hex.js';
import { plainField } from './tab-columns.js';
import { putVersion } from './version-input.js';

const COMMA = 0x2c;
const QUOTE = 0x22;
const CR = 13;

/** Quotation marks are doubled, and there may be other columns. */
const MAX_RECORD_BYTES = 3 * MAX_ENTRY_BYTES;

export const csv = {
  help: 'the line key,value, then one entry per record, quoted where needed; any bytes',
  printer,
} satisfies Format;

function printer({ key: hasKey, value: hasValue, facts: names, hex }: Columns): Printer {
  const columns = [...(hasKey ? [hex ? 'keyHex' : 'key'] : []), ...names, ...(hasValue ? [hex ? 'valueHex' : 'value'] : [])];
  // A record of one empty cell would be an empty line.
  const isAlone = columns.length === 1;
  const cell = (bytes: Uint8Array, out: ByteBuffer): void => {
    if (hex) out.hex(bytes);
    else if (mustBeQuoted(bytes) || (isAlone && bytes.length === 0)) putQuoted(bytes, out);
    else out.bytes(bytes);
  };
  return {
    head: `${columns.join(',')}\n`,
    print(key, value, out, facts) {
      if (hasKey) cell(key, out);
      for (const [i, fact] of facts.entries()) {
        if (hasKey || i > 0) out.byte(COMMA);
        if (/[\s",]/.test(fact)) putQuoted(Buffer.from(fact, 'utf8'), out);
        else out.utf8(fact);
      }
      if (hasValue) {
        if (!isAlone) out.byte(COMMA);
        cell(value, out);
      }
      out.byte(LF);
    },
  };
}

function mustBeQuoted(bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length === 0) return false;
  // Some programs trim spaces and skip a byte order mark.
  if (bytes[0] === 0x20 || bytes[length - 1] === 0x20 || bytes[0] === 0xef) return true;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]!;
    if (byte <= COMMA && (byte === COMMA || byte === QUOTE || byte === 10 || byte === 13)) return true;
  }
  return false;
}

function putQuoted(bytes: Uint8Array, out: ByteBuffer): void {
  out.byte(QUOTE);
  let start = 0;
  for (let quote = bytes.indexOf(QUOTE); quote >= 0; quote = bytes.indexOf(QUOTE, start)) {
    out.bytes(bytes.subarray(start, quote + 1));
    out.byte(QUOTE);
    start = quote + 1;
  }
  out.bytes(bytes.subarray(start));
  out.byte(QUOTE);
}

/** What a decoder needs to know about earlier pieces, in addition to the state of every decoder. */
interface CsvStart {
  readonly isQuoted: boolean;
  readonly columns: CsvColumns | undefined;
}

/** Which cells of a record are the key and the value, and whether they are in hexadecimal. */
interface CsvColumns {
  readonly key: number;
  readonly isKeyHex: boolean;
  readonly value: number;
  readonly isValueHex: boolean;
  /** Of versions, as scan prints them. */
  readonly type: number;
  readonly sequence: number;
}

export class CsvDecoder implements EntryDecoder {
  readonly unit = 'line';
  /** The columns according to the first record; undefined until it has been read. */
  #columns: CsvColumns | undefined;
  /** The number of line breaks before the incomplete record. */
  #lines: number;
  /** The incomplete record, and whether its end is in quotes. */
  readonly #begun: BegunEntry;
  #isQuoted: boolean;
  readonly #hasVersions: boolean;

  /** @param hasVersions whether there is a column for the type of each entry. */
  constructor(state?: DecoderState, hasVersions = false) {
    this.#hasVersions = hasVersions;
    const start = state?.start as CsvStart | undefined;
    this.#columns = start?.columns;
    this.#begun = new BegunEntry(state);
    this.#isQuoted = start?.isQuoted ?? false;
    this.#lines = state?.position ?? 0;
  }

  decode(bytes: Uint8Array, batch: EntryBatch): void {
    let start = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i];
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LF && !this.#isQuoted) {
        this.#add(this.#begun.take(bytes.subarray(start, i)), batch);
        start = i + 1;
      }
    }
    if (start === bytes.length) return;
    this.#begun.add(bytes.subarray(start));
    if (this.#begun.byteLength > MAX_RECORD_BYTES) throw this.#error('a record is too long: is a quoted cell not closed?');
  }

  end(batch: EntryBatch): void {
    if (this.#begun.byteLength === 0) return;
    if (this.#isQuoted) throw this.#error('a quoted cell is not closed');
    const record = this.#begun.take(new Uint8Array(0));
    const isMarkAlone = this.#lines === 0 && record.length === BYTE_ORDER_MARK.length && startsWithMark(record);
    if (!isMarkAlone) this.#add(record, batch);
  }

  state(): DecoderState {
    const start: CsvStart = { isQuoted: this.#isQuoted, columns: this.#columns };
    return { position: this.#lines, begun: this.#begun.bytes(), start };
  }

  #add(record: Uint8Array, batch: EntryBatch): void {
    const from = this.#lines === 0 && startsWithMark(record) ? BYTE_ORDER_MARK.length : 0;
    const before = batch.end;
    try {
      const cells = cellsOf(record, from);
      if (this.#columns === undefined) this.#columns = columnsOf(cells, this.#hasVersions);
      else putEntry(cells, this.#columns, this.#hasVersions, batch, this.#lines + 1);
      if (batch.end - before > MAX_ENTRY_BYTES) throw new LineError(`longer than ${MAX_ENTRY_BYTES} bytes, the maximum for an entry`);
    } catch (error) {
      batch.end = before;
      if (error instanceof LineError) throw this.#error(error.message);
      throw error;
    }
    this.#lines++;
    for (let at = record.indexOf(LF); at >= 0; at = record.indexOf(LF, at + 1)) this.#lines++;
  }

  #error(problem: string): InputError {
    return new InputError(`line ${this.#lines + 1}`, problem);
  }
}

/** The cells of the record that begins at `start`. */
function cellsOf(record: Uint8Array, start: number): Uint8Array[] {
  const end = record.length > start && record[record.length - 1] === CR ? record.length - 1 : record.length;
  if (start === end) throw new LineError('empty, but must be a record');
  const cells: Uint8Array[] = [];
  for (let at = start; ; ) {
    const isQuoted = at < end && record[at] === QUOTE;
    const cell = isQuoted ? quotedCell(record, at, end) : plainCell(record, at, end);
    cells.push(cell.bytes);
    if (cell.end >= end) return cells;
    at = cell.end + 1;
  }
}

/** A cell, and the position of the comma after it or of the end of the record. */
interface Cell {
  readonly bytes: Uint8Array;
  readonly end: number;
}

function plainCell(record: Uint8Array, start: number, recordEnd: number): Cell {
  let end = start;
  for (; end < recordEnd && record[end] !== COMMA; end++) {
    if (record[end] === QUOTE) throw new LineError('a quotation mark in a cell that does not begin with one');
  }
  return { bytes: record.subarray(start, end), end };
}

function quotedCell(record: Uint8Array, start: number, recordEnd: number): Cell {
  const bytes = new Uint8Array(recordEnd - start);
  let length = 0;
  let i = start + 1;
  for (; ; i++) {
    if (i >= recordEnd) throw new LineError('a quoted cell is not closed');
    const byte = record[i]!;
    if (byte === QUOTE && record[++i] !== QUOTE) break;
    bytes[length++] = byte;
  }
  if (i < recordEnd && record[i] !== COMMA) throw new LineError('bytes between the closing quotation mark and the comma');
  return { bytes: bytes.subarray(0, length), end: i };
}

/** @param cells of the first record. */
function columnsOf(cells: readonly Uint8Array[], hasVersions: boolean): CsvColumns {
  const names = cells.map((cell) => Buffer.from(cell).toString('latin1'));
  const column = (name: string): { at: number; isHex: boolean } => {
    const [at, other] = names.flatMap((found, i) => (found === name || found === `${name}Hex` ? [i] : []));
    if (at === undefined) throw new LineError(`the first line must name the columns, such as key,value: there is none named ${name} or ${name}Hex`);
    if (other !== undefined) throw new LineError(`two columns are named ${name} or ${name}Hex`);
    return { at, isHex: names[at] !== name };
  };
  const [key, value] = [column('key'), column('value')];
  const [type, sequence] = [names.indexOf('type'), names.indexOf('sequence')];
  if (hasVersions && type < 0) throw new LineError('there is no column named type, which says what is a value and what a deletion');
  return { key: key.at, isKeyHex: key.isHex, value: value.at, isValueHex: value.isHex, type, sequence };
}

function putEntry(cells: readonly Uint8Array[], { key, isKeyHex, value, isValueHex, type, sequence }: CsvColumns, hasVersions: boolean, batch: EntryBatch, number: number): void {
  const [keyCell, valueCell] = [cells[key], cells[value]];
  if (keyCell === undefined || valueCell === undefined) throw new LineError(`only ${cells.length === 1 ? 'one cell' : `${cells.length} cells`}, so the key or the value is missing`);
  if (!hasVersions && type >= 0) mustBeNoDeletion(textOf(cells[type]), sequence < 0 ? undefined : textOf(cells[sequence]), valueCell.length > 0);
  (isKeyHex ? hexField : plainField)(keyCell, 0, keyCell.length, batch);
  if (hasVersions) putVersion(textOf(cells[type]), sequence < 0 ? undefined : (textOf(cells[sequence]) ?? ''), batch);
  const keyEnd = batch.end;
  (isValueHex ? hexField : plainField)(valueCell, 0, valueCell.length, batch);
  batch.push(keyEnd, batch.end, number);
}

function textOf(cell: Uint8Array | undefined): string | undefined {
  return cell && Buffer.from(cell).toString('latin1');
}
