import { BYTE_ORDER_MARK, endsInCarriageReturn, LF, startsWithMark, textAfterMark, textOfLine } from '@bloom/report';
import type { ByteBuffer } from './byte-buffer.js';
import { type Entry, type EntryDecoder, InputError, MAX_ENTRY_BYTES } from './entry.js';

/** Reads one entry from a line. Throws an error that says what is wrong with the line. */
export type LineDecoder = (line: Uint8Array, number: number) => Entry;

/** What is wrong with a line. */
export class LineError extends Error {
  override readonly name = 'LineError';
}

/**
 * Decodes entries of one line each.
 *
 * Lines end in LF or CR LF; the last one need not. They are not decoded as text: that is up to the format. A UTF-8 byte
 * order mark at the start is skipped.
 */
export class LinesDecoder implements EntryDecoder {
  readonly unit = 'line';
  position = 0;
  readonly #decodeLine: LineDecoder;
  /** The pieces of an incomplete line. */
  #begun: Uint8Array[] = [];
  #begunLength = 0;

  constructor(decodeLine: LineDecoder) {
    this.#decodeLine = decodeLine;
  }

  *decode(bytes: Uint8Array): Generator<Entry, undefined> {
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(LF, start);
      if (end < 0) break;
      const line = bytes.subarray(start, end);
      yield this.#entry(this.#begunLength === 0 ? line : this.#complete(line));
      start = end + 1;
    }
    if (start < bytes.length) this.#begin(bytes.subarray(start));
    return undefined;
  }

  *end(): Generator<Entry, undefined> {
    if (this.#begunLength === 0) return undefined;
    const line = this.#complete(new Uint8Array(0));
    const isMarkAlone = this.position === 0 && line.length === BYTE_ORDER_MARK.length && startsWithMark(line);
    if (!isMarkAlone) yield this.#entry(line);
    return undefined;
  }

  #begin(piece: Uint8Array): void {
    this.#begun.push(piece);
    this.#begunLength += piece.length;
    if (this.#begunLength > MAX_ENTRY_BYTES) throw this.#tooLong(this.position + 1);
  }

  #complete(lastPiece: Uint8Array): Uint8Array {
    this.#begun.push(lastPiece);
    const line = Buffer.concat(this.#begun);
    this.#begun = [];
    this.#begunLength = 0;
    return line;
  }

  #entry(bytes: Uint8Array): Entry {
    this.position++;
    const line = this.position === 1 ? textAfterMark(bytes) : bytes;
    if (line.length > MAX_ENTRY_BYTES) throw this.#tooLong(this.position);
    try {
      return this.#decodeLine(textOfLine(line), this.position);
    } catch (error) {
      if (error instanceof LineError) throw new InputError(`line ${this.position}`, error.message);
      throw error;
    }
  }

  #tooLong(number: number): InputError {
    return new InputError(`line ${number}`, `longer than ${MAX_ENTRY_BYTES} bytes, the most that an entry may have`);
  }
}

/** Appends a byte order mark. A reader skips only the first one, so that a second one is kept. */
export function putMark(out: ByteBuffer): void {
  for (const byte of BYTE_ORDER_MARK) out.byte(byte);
}

/** Whether a line of these bytes would be read back as the same bytes. */
export function fitsOnLine(bytes: Uint8Array): boolean {
  return !endsInCarriageReturn(bytes) && !bytes.includes(LF);
}
