import { BYTE_ORDER_MARK, LF, startsWithMark } from '@bloom/report';
import { BegunEntry } from './begun-entry.js';
import type { ByteBuffer } from './byte-buffer.js';
import { type DecoderState, type EntryDecoder, InputError, LineError, MAX_ENTRY_BYTES } from './entry.js';
import type { EntryBatch } from './entry-batch.js';

const CR = 13;
/** The most bytes of a line: with escapes, an entry may take four times its own bytes. */
const MAX_LINE_BYTES = 4 * MAX_ENTRY_BYTES + 16;
/** In lines up to this length, a loop finds the end faster than a search. */
const SHORT_LINE = 96;

/**
 * Adds the entry of the line `bytes[start, end)`, without its line break. If it throws, the bytes that it has put into the batch are removed.
 *
 * @param number the number of the line, from 1.
 * @throws LineError when the line is not in the format.
 */
export type LineDecoder = (bytes: Uint8Array, start: number, end: number, batch: EntryBatch, number: number) => void;

/**
 * Decodes entries of one line each.
 *
 * Lines end in LF or CR LF, which the last line may lack. The format decides whether a line is decoded as text. A UTF-8 byte
 * order mark at the start is skipped.
 */
export class LinesDecoder implements EntryDecoder {
  readonly unit = 'line';
  readonly #decodeLine: LineDecoder;
  /** The number of the last complete line. */
  #number: number;
  /** The incomplete line. */
  readonly #begun: BegunEntry;

  constructor(decodeLine: LineDecoder, state?: DecoderState) {
    this.#decodeLine = decodeLine;
    this.#number = state?.position ?? 0;
    this.#begun = new BegunEntry(state);
  }

  decode(bytes: Uint8Array, batch: EntryBatch): void {
    let start = 0;
    if (this.#begun.byteLength > 0) {
      const end = bytes.indexOf(LF);
      if (end < 0) {
        this.#begin(bytes);
        return;
      }
      const line = this.#begun.take(bytes.subarray(0, end));
      this.#add(line, 0, line.length, batch);
      start = end + 1;
    }
    for (;;) {
      const end = lineEnd(bytes, start);
      if (end < 0) break;
      this.#add(bytes, start, end, batch);
      start = end + 1;
    }
    if (start < bytes.length) this.#begin(bytes.subarray(start));
  }

  end(batch: EntryBatch): void {
    if (this.#begun.byteLength === 0) return;
    const line = this.#begun.take(new Uint8Array(0));
    const isMarkAlone = this.#number === 0 && line.length === BYTE_ORDER_MARK.length && startsWithMark(line);
    if (!isMarkAlone) this.#add(line, 0, line.length, batch);
  }

  state(): DecoderState {
    return { position: this.#number, begun: this.#begun.bytes() };
  }

  #begin(piece: Uint8Array): void {
    this.#begun.add(piece);
    if (this.#begun.byteLength > MAX_LINE_BYTES) throw this.#tooLong(this.#number + 1);
  }

  #add(bytes: Uint8Array, start: number, end: number, batch: EntryBatch): void {
    const number = ++this.#number;
    const from = number === 1 && startsWithMark(bytes.subarray(start, end)) ? start + BYTE_ORDER_MARK.length : start;
    const before = batch.end;
    try {
      this.#decodeLine(bytes, from, end > from && bytes[end - 1] === CR ? end - 1 : end, batch, number);
    } catch (error) {
      batch.end = before;
      if (error instanceof LineError) throw new InputError(`line ${number}`, error.message);
      throw error;
    }
    if (batch.end - before > MAX_ENTRY_BYTES) throw this.#tooLong(number);
  }

  #tooLong(number: number): InputError {
    return new InputError(`line ${number}`, `longer than ${MAX_ENTRY_BYTES} bytes, the maximum for an entry`);
  }
}

/** The position of the LF of the line that starts at `start`; -1 if there is none. */
function lineEnd(bytes: Uint8Array, start: number): number {
  const near = Math.min(bytes.length, start + SHORT_LINE);
  for (let i = start; i < near; i++) if (bytes[i] === LF) return i;
  return near === bytes.length ? -1 : bytes.indexOf(LF, near);
}

/**
 * Returns a function that is called with the first bytes of each line. If the text starts with a byte order mark, it puts another
 * one before it, because readers skip the first one.
 */
export function markBeforeMark(): (bytes: Uint8Array, out: ByteBuffer) => void {
  let isFirst = true;
  return (bytes, out) => {
    if (isFirst && startsWithMark(bytes)) for (const byte of BYTE_ORDER_MARK) out.byte(byte);
    isFirst = false;
  };
}
