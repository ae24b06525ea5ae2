import { mustBeOptions, mustBeSignal, type Signal } from '@bloom/bytes';

/** Which entries to go through. Of two lower or two upper bounds, the stricter one holds. */
export interface KeyRange {
  /** Keys after this one. */
  readonly gt?: Uint8Array | undefined;
  /** This key and those after it. */
  readonly gte?: Uint8Array | undefined;
  /** Keys before this one. */
  readonly lt?: Uint8Array | undefined;
  /** This key and those before it. */
  readonly lte?: Uint8Array | undefined;
  /** From the last entry to the first. */
  readonly reverse?: boolean | undefined;
  /** The most entries to give. */
  readonly limit?: number | undefined;
}

/** A range, and a signal that ends the walk through it. */
export interface AsyncKeyRange extends KeyRange {
  readonly signal?: Signal | undefined;
}

/** Of `Table` and `SyncTable` alike, so that one range serves both: a walk without promises has no use for a signal. */
const KEY_RANGE: Record<keyof AsyncKeyRange, true> = {
  gt: true,
  gte: true,
  lt: true,
  lte: true,
  reverse: true,
  limit: true,
  signal: true,
};

/** @throws TypeError for what is no range. Its bounds are checked by the walk through it. */
export function mustBeKeyRange(range: AsyncKeyRange): void {
  mustBeOptions('a range', range, KEY_RANGE);
  if (range.signal !== undefined) mustBeSignal('signal', range.signal);
}
