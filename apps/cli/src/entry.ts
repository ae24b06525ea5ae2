/** A key and its value, both views that must not be written to. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array];

/** The most bytes of key and value together, so that their block stays far below the limit of readers. */
export const MAX_ENTRY_BYTES = 128 * 2 ** 20;

/** Finds the entries in the bytes of an input, which come in pieces of any size. */
export interface EntryDecoder {
  /** What {@link position} counts. */
  readonly unit: 'line' | 'offset';
  /** Where the last returned entry is: its line, from 1, or its offset in bytes. */
  readonly position: number;
  /**
   * The entries that end in the next piece.
   *
   * @param bytes must not change afterwards: entries are views of them.
   * @throws InputError when the bytes are not in the format.
   */
  decode(bytes: Uint8Array): Iterator<Entry>;
  /** The entries that the end of the input completes. @throws InputError when it ends too early. */
  end(): Iterator<Entry>;
}

/** The input is not in its format. */
export class InputError extends Error {
  override readonly name = 'InputError';

  /** @param place a place in the input, such as `line 7` or `offset 120`. */
  constructor(
    readonly place: string,
    readonly problem: string,
  ) {
    super(`${place}: ${problem}`);
  }
}

/** The output format cannot represent the entry such that it could be read back. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}
