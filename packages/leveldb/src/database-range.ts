import { mustBeBoolean, mustBeBytes } from '@bloom/bytes';
import type { AsyncKeyRange, KeyRange } from '@bloom/sstable';
import { KEY_RANGE, mustBeKeyRange, type Side } from '@bloom/sstable/database';
import type { SequenceOptions } from './reader-face.js';
import type { KeyOrder } from './version.js';
import type { VisibleCursor } from './visible-cursor.js';

/** A range, and the state of the database to look at. */
export interface DatabaseKeyRange extends KeyRange, SequenceOptions {}

const DATABASE_KEY_RANGE: Record<keyof (AsyncKeyRange & SequenceOptions), true> = { ...KEY_RANGE, sequence: true };

/** @throws TypeError unless `range` is a range. */
export function mustBeDatabaseRange(range: DatabaseKeyRange): void {
  mustBeKeyRange(range, DATABASE_KEY_RANGE);
}

interface Bound {
  readonly key: Uint8Array;
  readonly inclusive: boolean;
}

/** Goes through a range of visible entries. Its moves are like those of {@link VisibleCursor}. */
export class DatabaseRange {
  readonly cursor: VisibleCursor;
  readonly #order: KeyOrder;
  readonly #reverse: boolean;
  /** Where it starts, and where it ends. */
  readonly #from: Bound | undefined;
  readonly #to: Bound | undefined;
  #left: number;
  #started = false;

  /**
   * @param range its bounds are copied.
   * @throws RangeError when `limit` is neither a whole number nor infinite.
   */
  constructor(cursor: VisibleCursor, order: KeyOrder, range: KeyRange) {
    const limit = range.limit ?? Infinity;
    if (!(limit === Infinity || (Number.isSafeInteger(limit) && limit >= 0))) {
      throw new RangeError(`limit must be a whole number, at least 0, got ${limit}`);
    }
    for (const name of ['gt', 'gte', 'lt', 'lte'] as const) if (range[name] !== undefined) mustBeBytes(name, range[name]);
    if (range.reverse !== undefined) mustBeBoolean('reverse', range.reverse);
    const compare = (a: Uint8Array, b: Uint8Array): number => order.compareUserKeys(a, 0, a.length, b, 0, b.length);
    this.cursor = cursor;
    this.#order = order;
    this.#left = limit;
    this.#reverse = range.reverse ?? false;
    const lower = stricter(range.gt, range.gte, (gt, gte) => compare(gt, gte) >= 0);
    const upper = stricter(range.lt, range.lte, (lt, lte) => compare(lt, lte) <= 0);
    this.#from = copied(this.#reverse ? upper : lower);
    this.#to = copied(this.#reverse ? lower : upper);
  }

  /** Moves on by an entry. Once the move is over, `accept` says whether the entry is in the range. */
  next(): boolean {
    if (this.#left <= 0) return true;
    if (this.#started) return this.#reverse ? this.cursor.prev() : this.cursor.next();
    this.#started = true;
    if (this.#from === undefined) return this.#reverse ? this.cursor.seekToLast() : this.cursor.seekToFirst();
    return this.cursor.seek(this.#from.key, sideOf(this.#from, this.#reverse));
  }

  /** Whether the range came to another entry. */
  accept(): boolean {
    if (this.#left <= 0) return false;
    if (this.cursor.valid && this.#isBeforeEnd()) {
      this.#left--;
      return true;
    }
    this.#left = 0;
    return false;
  }

  /** Whether it gives no more entries. */
  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** Gives no more entries. */
  end(): void {
    this.#left = 0;
  }

  #isBeforeEnd(): boolean {
    const to = this.#to;
    if (to === undefined) return true;
    const { keyBytes, keyLength } = this.cursor;
    const order = this.#order.compareUserKeys(keyBytes, 0, keyLength, to.key, 0, to.key.length);
    return order === 0 ? to.inclusive : order < 0 !== this.#reverse;
  }
}

function copied(bound: Bound | undefined): Bound | undefined {
  return bound && { key: new Uint8Array(bound.key), inclusive: bound.inclusive };
}

function sideOf({ inclusive }: Bound, reverse: boolean): Side {
  if (reverse) return inclusive ? 'at-or-before' : 'before';
  return inclusive ? 'at-or-after' : 'after';
}

function stricter(
  exclusive: Uint8Array | undefined,
  inclusive: Uint8Array | undefined,
  exclusiveIsStricter: (exclusive: Uint8Array, inclusive: Uint8Array) => boolean,
): Bound | undefined {
  if (exclusive !== undefined && (inclusive === undefined || exclusiveIsStricter(exclusive, inclusive))) {
    return { key: exclusive, inclusive: false };
  }
  return inclusive === undefined ? undefined : { key: inclusive, inclusive: true };
}
