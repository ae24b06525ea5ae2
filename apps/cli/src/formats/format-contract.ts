/** What a format is: each is in a file of its own, and `format.ts` lists them. */
import type { ByteBuffer } from './byte-buffer.js';

/**
 * One way to write entries to a file. What {@link Format.printer} prints of keys and values, `decoderOf` reads back as
 * the same entries, for any bytes; or the printer throws an OutputError.
 */
export interface Format {
  /** What a line or an entry is, for the help. */
  readonly help: string;
  /** Whether it would do harm on a terminal. */
  readonly isBinary?: true;
  /** Makes what prints a stream of entries, from its start. */
  readonly printer: (columns: Columns) => Printer;
}

/** What to print of each entry. */
export interface Columns {
  readonly key: boolean;
  readonly value: boolean;
  /** What is known of an entry beside key and value, such as its sequence; printed between them. */
  readonly facts: readonly FactName[];
  /** Whether keys and values are in hexadecimal, where the format has a place for that. */
  readonly hex: boolean;
}

/** What a database knows of a version. */
export type FactName = 'sequence' | 'type' | 'file' | 'level';

export interface Printer {
  /** What precedes the first entry. */
  readonly head?: string;
  /**
   * Appends an entry.
   *
   * @param facts those of {@link Columns.facts}, in this order.
   * @throws OutputError when the entry could not be read back.
   */
  readonly print: (key: Uint8Array, value: Uint8Array, out: ByteBuffer, facts: readonly string[]) => void;
  /**
   * `print` of the key `key[0, keyEnd)` and the value `value[valueStart, valueEnd)` without facts, for speed: a scan that makes no
   * views takes two thirds of the time.
   */
  readonly printRange?: (key: Uint8Array, keyEnd: number, value: Uint8Array, valueStart: number, valueEnd: number, out: ByteBuffer) => void;
}

/** Keys and values as they are, without facts. */
export const PLAIN_COLUMNS: Columns = { key: true, value: true, facts: [], hex: false };
