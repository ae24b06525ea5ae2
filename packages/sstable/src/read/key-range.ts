import { mustBeOptions, mustBeSignal, type Signal } from '@bloom/bytes';

/** Which entries to go through. Of two lower or two upper bounds, the stricter one applies. */
export interface KeyRange {
  /** Only keys after this one. */
  readonly gt?: Uint8Array | undefined;
  /** Only this key and keys after it. */
  readonly gte?: Uint8Array | undefined;
  /** Only keys before this one. */
  readonly lt?: Uint8Array | undefined;
  /** Only this key and keys before it. */
  readonly lte?: Uint8Array | undefined;
  /** Whether to go from the last entry to the first. Default: false. */
  readonly reverse?: boolean | undefined;
  /** The most entries to return. Default: no limit. */
  readonly limit?: number | undefined;
}

/** A range, and a signal that ends the walk through it. */
export interface AsyncKeyRange extends KeyRange {
  readonly signal?: Signal | undefined;
}

/** The names for both `Table` and `SyncTable`, so that one range can be used for both. `SyncTable` ignores the signal. */
export const KEY_RANGE: Record<keyof AsyncKeyRange, true> = {
  gt: true,
  gte: true,
  lt: true,
  lte: true,
  reverse: true,
  limit: true,
  signal: true,
};

/**
 * @param owner the call that takes the range: "Table.entries".
 * @param names those that a range may have.
 * @throws TypeError unless `range` is a range. Its bounds are checked when the walk starts.
 */
export function mustBeKeyRange(owner: string, range: AsyncKeyRange, names: Readonly<Record<string, true>> = KEY_RANGE): void {
  mustBeOptions(owner, range, names);
  if (range.signal !== undefined) mustBeSignal('signal', range.signal);
}
