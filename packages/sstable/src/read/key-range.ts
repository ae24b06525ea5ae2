import type { Signal } from '@bloom/bytes';
import { bytesOf, mustBeBoolean, mustBeOptions, mustBeSignal } from '@bloom/bytes/internal';

/** Between which keys to stay. Of two lower or two upper bounds, the stricter one applies. Text stands for its UTF-8 bytes. */
export interface KeyInterval {
  /** Only keys after this one. */
  readonly gt?: Uint8Array | string | undefined;
  /** Only this key and keys after it. */
  readonly gte?: Uint8Array | string | undefined;
  /** Only keys before this one. */
  readonly lt?: Uint8Array | string | undefined;
  /** Only this key and keys before it. */
  readonly lte?: Uint8Array | string | undefined;
  /**
   * Only keys that begin with these bytes, for keys in bytewise order. Tables whose filters know prefixes and say that there are no
   * such keys are not read: see `PrefixFilterPolicy` of `@bloom/policy`.
   */
  readonly prefix?: Uint8Array | string | undefined;
}

/** Which entries to go through. */
export interface KeyRange extends KeyInterval {
  /** Whether to go from the last entry to the first. Default: false. */
  readonly reverse?: boolean | undefined;
  /** The most entries to return. Default: no limit. */
  readonly limit?: number | undefined;
  /** Whether blocks that are read are put into the cache, in which long scans displace what lookups need. Default: true. */
  readonly fillCache?: boolean | undefined;
}

/** A range, and a signal that ends the walk through it. */
export interface AsyncKeyRange extends KeyRange {
  readonly signal?: Signal | undefined;
}

/** How a cursor reads, and between which keys it moves. */
export interface CursorOptions extends KeyInterval {
  /** Whether blocks that are read are put into the cache, in which long scans displace what lookups need. Default: true. */
  readonly fillCache?: boolean | undefined;
}

/** The names of {@link CursorOptions}. */
export const CURSOR_OPTIONS: Record<keyof CursorOptions, true> = { gt: true, gte: true, lt: true, lte: true, prefix: true, fillCache: true };

/**
 * @param owner the call that takes them: "Table.cursor".
 * @param names those that they may have.
 * @returns whether the cursor fills the cache.
 * @throws TypeError unless `options` are those of a cursor. Its bounds are checked when it is made.
 */
export function fillsCache(owner: string, options: CursorOptions, names: Readonly<Record<string, true>> = CURSOR_OPTIONS): boolean {
  mustBeOptions(owner, options, names);
  const { fillCache = true } = options;
  mustBeBoolean('fillCache', fillCache);
  return fillCache;
}

/** Whether a cursor stays between keys at all. */
export function hasBounds({ gt, gte, lt, lte, prefix }: KeyInterval): boolean {
  return gt !== undefined || gte !== undefined || lt !== undefined || lte !== undefined || prefix !== undefined;
}

/** The names for both `Table` and `SyncTable`, so that one range can be used for both. `SyncTable` ignores the signal. */
export const KEY_RANGE: Record<keyof AsyncKeyRange, true> = {
  gt: true,
  gte: true,
  lt: true,
  lte: true,
  prefix: true,
  reverse: true,
  limit: true,
  fillCache: true,
  signal: true,
};

/**
 * @param owner the call that takes the range: "Table.entries".
 * @param names those that a range may have.
 * @throws TypeError unless `range` is a range. Its bounds are checked when the walk starts.
 */
export function mustBeKeyRange(owner: string, range: AsyncKeyRange, names: Readonly<Record<string, true>> = KEY_RANGE): void {
  mustBeOptions(owner, range, names);
  if (range.prefix !== undefined) bytesOf('prefix', range.prefix);
  if (range.fillCache !== undefined) mustBeBoolean('fillCache', range.fillCache);
  if (range.signal !== undefined) mustBeSignal('signal', range.signal);
}
