/** The interface of output formats. Each format has its own file, and `format.ts` lists them. */
import type { ByteBuffer } from './byte-buffer.js';

/**
 * One way to write entries to a file. `decoderOf` reads the keys and values that {@link Format.printer} prints back as the same
 * entries. For bytes where that is impossible, the printer throws an OutputError.
 */
export interface Format {
  /** A description of a line or an entry, for the help. */
  readonly help: string;
  /** Whether it must not be printed to a terminal. */
  readonly isBinary?: true;
  /** Creates the printer of a stream of entries, at its start. */
  readonly printer: (columns: Columns) => Printer;
}

/** What to print of each entry. */
export interface Columns {
  readonly key: boolean;
  readonly value: boolean;
  /** Facts about an entry other than key and value, such as its sequence. They are printed between key and value. */
  readonly facts: readonly FactName[];
  /** Whether keys and values are in hexadecimal, if the format supports that. */
  readonly hex: boolean;
}

/** A fact about a version of a key. */
export type FactName = 'sequence' | 'type' | 'file' | 'level';

export interface Printer {
  /** The text before the first entry. */
  readonly head?: string;
  /**
   * Appends an entry.
   *
   * @param facts the values of {@link Columns.facts}, in this order.
   * @throws OutputError when the entry could not be read back.
   */
  readonly print: (key: Uint8Array, value: Uint8Array, out: ByteBuffer, facts: readonly string[]) => void;
  /**
   * `print` of the key `key[0, keyEnd)` and the value `value[valueStart, valueEnd)` without facts. A scan that creates no views
   * takes two thirds of the time.
   */
  readonly printRange?: (key: Uint8Array, keyEnd: number, value: Uint8Array, valueStart: number, valueEnd: number, out: ByteBuffer) => void;
}

/** Keys and values unchanged, without facts. */
export const PLAIN_COLUMNS: Columns = { key: true, value: true, facts: [], hex: false };
