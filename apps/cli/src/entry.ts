/** A key and its value. Both are views that nobody writes to. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array];

/** The most bytes that key and value may have together: a block around them stays far below what readers accept. */
export const MAX_ENTRY_BYTES = 128 * 2 ** 20;

/** Finds the entries in the bytes of an input, which come in pieces of any size. */
export interface EntryDecoder {
  /** What {@link position} counts. */
  readonly unit: 'line' | 'offset';
  /** Where the entry given last stands: its line, from 1, or its offset in bytes. */
  readonly position: number;
  /**
   * The entries that end in the next piece.
   *
   * @param bytes must not change afterwards: entries are views of them.
   * @throws InputError where the bytes are not in the format.
   */
  decode(bytes: Uint8Array): Iterator<Entry>;
  /** The entries that the end of the input completes. @throws InputError where it ends too early. */
  end(): Iterator<Entry>;
}

/** The input is not what its format says. */
export class InputError extends Error {
  override readonly name = 'InputError';

  /** @param place in the input, as `line 7` or `offset 120`. */
  constructor(
    readonly place: string,
    readonly problem: string,
  ) {
    super(`${place}: ${problem}`);
  }
}

/** The entry has no form in the format of the output that could be read back. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}
