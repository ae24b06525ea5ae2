import type { EntryBatch } from './entry-batch.js';

/** A key and its value, both views that must not be written to. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array];

/** The most bytes of key and value together, so that their block stays far below the limit of readers. */
export const MAX_ENTRY_BYTES = 128 * 2 ** 20;

/** The state of a decoder between two pieces, in a form that can be sent to another thread. */
export interface DecoderState {
  /** The {@link EntryDecoder.position} of the last entry. */
  readonly position: number;
  /** The bytes of the incomplete entry. */
  readonly begun: Uint8Array<ArrayBuffer>;
  /** What a format needs from the start of its input, such as the order of columns. */
  readonly start?: unknown;
}

/** Finds the entries in the bytes of an input, which come in pieces of any size. */
export interface EntryDecoder {
  /** The unit of positions. */
  readonly unit: 'line' | 'offset';
  /** Adds copies of the entries that end in the next piece, whose memory can be used again afterwards. @throws InputError when the bytes are not in the format: the entries before it have been added. */
  decode(bytes: Uint8Array, batch: EntryBatch): void;
  /** Adds the entry that the end of the input completes. @throws InputError when it ends too early. */
  end(batch: EntryBatch): void;
  /** The state with which another decoder continues. */
  state(): DecoderState;
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

/** The output format cannot represent the entry so that it can be read back. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/** A line is not in its format. */
export class LineError extends Error {
  override readonly name = 'LineError';
}

/** @throws LineError for a deletion among versions, which has a sequence or no value, and would become an empty value. */
export function mustBeNoDeletion(type: unknown, sequence: unknown, hasValue: boolean): void {
  if (type !== 'deletion') return;
  const hasSequence = typeof sequence === 'number' || (typeof sequence === 'string' && /^\d+$/.test(sequence));
  if (hasValue && !hasSequence) return;
  throw new LineError('a deletion among versions of keys, which would become an empty value: scan a folder without --all-versions, or convert a table with --keys plain, for the newest values; build and load keep it as a deletion with --versions');
}
