import { mustBeBoolean, mustBeBytes } from '@bloom/bytes';
import type { KeyRange } from './key-range.js';
import type { OpenTable } from './open.js';
import { SETTLED, type Side, TableCursor } from './table-cursor.js';

/** A walk whose moves return the block that they need, as in {@link TableCursor}. */
export interface Walk {
  /** Moves on. Once the move is settled, `accept` says whether it led to something. */
  next(): number;
  supply(contents: Uint8Array): number;
  accept(): boolean;
  /** Whether there is nothing more. */
  readonly isOver: boolean;
  /** Ends the walk. */
  end(): void;
}

/** Walks through a range of a table, entry by entry. */
export class RangeWalk implements Walk {
  readonly cursor: TableCursor;
  readonly #table: OpenTable;
  readonly #reverse: boolean;
  /** The bounds at which the walk starts and ends. */
  readonly #from: Bound | undefined;
  readonly #to: Bound | undefined;
  #left: number;
  #started = false;

  /**
   * @param range the bounds are copied.
   * @throws TypeError for bounds that are not bytes, RangeError when `limit` is neither a whole number nor infinite.
   */
  constructor(table: OpenTable, range: KeyRange) {
    const limit = range.limit ?? Infinity;
    if (!(limit === Infinity || (Number.isSafeInteger(limit) && limit >= 0))) {
      throw new RangeError(`limit must be a whole number, at least 0, got ${limit}`);
    }
    const { comparator } = table;
    for (const name of ['gt', 'gte', 'lt', 'lte'] as const) if (range[name] !== undefined) mustBeBytes(name, range[name]);
    if (range.reverse !== undefined) mustBeBoolean('reverse', range.reverse);
    this.cursor = new TableCursor(table);
    this.#table = table;
    this.#left = limit;
    this.#reverse = range.reverse ?? false;
    const lower = stricter(range.gt, range.gte, (gt, gte) => comparator.compare(gt, gte) >= 0);
    const upper = stricter(range.lt, range.lte, (lt, lte) => comparator.compare(lt, lte) <= 0);
    this.#from = this.#reverse ? upper : lower;
    this.#to = this.#reverse ? lower : upper;
  }

  /** Moves to the next entry. Once the move is settled, `accept` says whether the entry is in the range. */
  next(): number {
    if (this.#left <= 0) return SETTLED;
    if (this.#started) return this.#reverse ? this.cursor.prev() : this.cursor.next();
    this.#started = true;
    if (this.#from === undefined) return this.#reverse ? this.cursor.seekToLast() : this.cursor.seekToFirst();
    return this.cursor.seek(this.#from.key, sideOf(this.#from, this.#reverse));
  }

  supply(contents: Uint8Array): number {
    return this.cursor.supply(contents);
  }

  /** Whether the walk is on another entry of the range. Counts it towards the limit. */
  accept(): boolean {
    if (this.#left <= 0) return false;
    if (this.cursor.valid && this.#isBeforeEnd()) {
      this.#left--;
      return true;
    }
    this.end();
    return false;
  }

  /** Whether there are no more entries. */
  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** Ends the walk. */
  end(): void {
    this.#left = 0;
  }

  #isBeforeEnd(): boolean {
    const to = this.#to;
    if (to === undefined) return true;
    const { keyBytes, keyLength } = this.cursor.block;
    const order = this.#table.compare(keyBytes, 0, keyLength, to.key, 0, to.key.length);
    return order === 0 ? to.inclusive : order < 0 !== this.#reverse;
  }
}

/** A lower or upper bound. */
interface Bound {
  readonly key: Uint8Array;
  readonly inclusive: boolean;
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
    return { key: new Uint8Array(exclusive), inclusive: false };
  }
  return inclusive === undefined ? undefined : { key: new Uint8Array(inclusive), inclusive: true };
}
