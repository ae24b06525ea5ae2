import { type Bound, KeyBounds } from './key-bounds.js';
import { mayHavePrefix } from './key-prefix.js';
import type { KeyRange } from './key-range.js';
import type { OpenTable } from './open.js';
import { SETTLED, TableCursor } from './table-cursor.js';

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
  readonly #from: KeyBounds['from'];
  readonly #to: Bound | undefined;
  #left: number;
  #started = false;

  /** @throws the errors of {@link KeyBounds}. */
  constructor(table: OpenTable, range: KeyRange) {
    const { limit, reverse, from, to } = new KeyBounds(range, table.compare);
    this.cursor = new TableCursor(table);
    this.#table = table;
    this.#left = range.prefix === undefined || mayHavePrefix(table, range.prefix) ? limit : 0;
    this.#reverse = reverse;
    this.#from = from;
    this.#to = to;
  }

  /** Moves to the next entry. Once the move is settled, `accept` says whether the entry is in the range. */
  next(): number {
    if (this.#left <= 0) return SETTLED;
    if (this.#started) return this.#reverse ? this.cursor.prev() : this.cursor.next();
    this.#started = true;
    if (this.#from === undefined) return this.#reverse ? this.cursor.seekToLast() : this.cursor.seekToFirst();
    return this.cursor.seek(this.#from.key, this.#from.side);
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
