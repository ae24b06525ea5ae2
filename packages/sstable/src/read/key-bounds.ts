import { mustBeBoolean, mustBeWhole } from '@bloom/bytes/internal';
import type { CompareRange } from '../format/bytewise-order.js';
import { boundOf, mustHavePrefixes, withinPrefix } from './key-prefix.js';
import type { KeyRange } from './key-range.js';
import type { Side } from './table-cursor.js';

/** A lower or upper bound. */
export interface Bound {
  readonly key: Uint8Array;
  readonly inclusive: boolean;
}

/** A key to seek, and on which side of it to be. */
export interface Seek {
  readonly key: Uint8Array;
  readonly side: Side;
}

/**
 * Where a walk through a range starts and ends.
 *
 * The walks of tables and of databases have moves of their own, alike as they are: with one class for both, whose calls of a cursor and
 * a comparison lead to several functions, a scan took 6% more time.
 */
export class KeyBounds {
  readonly reverse: boolean;
  /** The bound at which the walk starts, and how its key is sought; undefined at an end of the table. */
  readonly from: Seek | undefined;
  readonly to: Bound | undefined;
  readonly limit: number;

  /**
   * @param given its bounds are copied.
   * @throws TypeError for bounds that are neither bytes nor text, RangeError when `limit` is neither a whole number nor infinite, and for a
   *   `prefix` of keys that are not in bytewise order.
   */
  constructor(given: KeyRange, compare: CompareRange) {
    if (given.prefix !== undefined) mustHavePrefixes(compare);
    const range = withinPrefix(given);
    // Null is refused, not taken for no limit: `clear({ limit: null })` would delete every entry.
    const { limit = Infinity } = range;
    this.limit = limit === Infinity ? limit : mustBeWhole('limit', limit, 0);
    const [gt, gte, lt, lte] = (['gt', 'gte', 'lt', 'lte'] as const).map((name) => boundOf(name, range[name]));
    if (range.reverse !== undefined) mustBeBoolean('reverse', range.reverse);
    this.reverse = range.reverse ?? false;
    const order = (a: Uint8Array, b: Uint8Array): number => compare(a, 0, a.length, b, 0, b.length);
    const lower = stricter(gt, gte, (after, from) => order(after, from) >= 0);
    const upper = stricter(lt, lte, (before, upTo) => order(before, upTo) <= 0);
    const from = this.reverse ? upper : lower;
    this.from = from && seekOf(from, this.reverse);
    this.to = this.reverse ? lower : upper;
  }
}

/** How the key of a bound is sought. @param reverse whether from the last entry to the first. */
export function seekOf({ key, inclusive }: Bound, reverse: boolean): Seek {
  if (reverse) return { key, side: inclusive ? 'at-or-before' : 'before' };
  return { key, side: inclusive ? 'at-or-after' : 'after' };
}

function stricter(
  exclusive: Uint8Array | undefined,
  inclusive: Uint8Array | undefined,
  exclusiveIsStricter: (exclusive: Uint8Array, inclusive: Uint8Array) => boolean,
): Bound | undefined {
  if (exclusive !== undefined && (inclusive === undefined || exclusiveIsStricter(exclusive, inclusive))) {
    return { key: new Uint8Array(exclusive), inclusive: false };
  }
  return inclusive === undefined ? undefined : { key: new Uint8Array(inclusive), inclusive: true };
}
