import type { AsyncReadOptions, CursorEntry, DatabaseCursor } from '@bloom/leveldb';
import { LevelError } from './level-error.js';

/** A range of keys in abstract-level's form, in bytes. */
export interface ByteRange {
  readonly gt: Uint8Array | undefined;
  readonly gte: Uint8Array | undefined;
  readonly lt: Uint8Array | undefined;
  readonly lte: Uint8Array | undefined;
  readonly reverse: boolean;
}

type Signal = NonNullable<AsyncReadOptions['signal']>;

type Compare = (a: Uint8Array, b: Uint8Array) => number;

interface Bound {
  readonly key: Uint8Array;
  readonly inclusive: boolean;
}

/** Of two bounds at one end, the inclusive one counts, as in classic-level. */
function boundOf(inclusive: Uint8Array | undefined, exclusive: Uint8Array | undefined): Bound | undefined {
  if (inclusive !== undefined) return { key: inclusive, inclusive: true };
  return exclusive && { key: exclusive, inclusive: false };
}

/**
 * Walks through the entries of a range, in which `seek` can move it to any place. It shows the database as it was when the walk began.
 */
export class RangeWalk {
  readonly cursor: DatabaseCursor;
  readonly #compare: Compare;
  readonly #reverse: boolean;
  readonly #first: Bound | undefined;
  readonly #last: Bound | undefined;
  readonly #signal: Signal | undefined;
  readonly #options: { readonly signal: Signal } | undefined;
  /** The target of the next move: the range's first entry, the entry of a key, or the one after the current entry. */
  #start: Bound | 'first' | undefined = 'first';
  #isOver = false;

  constructor(cursor: DatabaseCursor, compare: Compare, range: ByteRange, signal?: Signal) {
    const low = boundOf(range.gte, range.gt);
    const high = boundOf(range.lte, range.lt);
    this.cursor = cursor;
    this.#compare = compare;
    this.#reverse = range.reverse;
    [this.#first, this.#last] = range.reverse ? [high, low] : [low, high];
    this.#signal = signal;
    this.#options = signal === undefined ? undefined : { signal };
  }

  /** Makes the entry of `key`, or the next one after it in the walk's direction, the next entry. Outside of the range there is none. */
  seek(key: Uint8Array): void {
    this.#isOver = this.#isBefore(key, this.#first) || this.#isBehind(key, this.#last);
    this.#start = { key, inclusive: true };
  }

  /** The key of the last entry that `run` passed on, valid until the next call; undefined when there are no more entries. */
  get position(): Uint8Array | undefined {
    return this.#isOver ? undefined : this.cursor.key;
  }

  /** Makes the entry after a `position` the next one. */
  goOn(position: Uint8Array | undefined): void {
    this.#isOver = position === undefined;
    this.#start = position && { key: position, inclusive: false };
  }

  /** Whether there are no more entries, unless `seek` is called. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Passes on the next entries, until there are none or `take` returns false.
   *
   * @throws LevelError `LEVEL_ABORTED` when the signal was aborted in the meantime, even if nothing had to be read.
   */
  async run(take: (entry: CursorEntry) => boolean): Promise<void> {
    const { cursor } = this;
    const last = this.#last;
    const takeInRange =
      last === undefined
        ? take
        : (entry: CursorEntry): boolean => {
            this.#isOver = this.#isBehind(entry.key, last);
            return !this.#isOver && take(entry);
          };
    try {
      if (this.#start !== undefined && !this.#isOver) {
        this.#isOver = !(await this.#begin(this.#start));
        if (!this.#isOver && this.#signal?.aborted !== true && !takeInRange(cursor)) return;
      }
      if (!this.#isOver && !(await (this.#reverse ? cursor.prevWhile(takeInRange, this.#options) : cursor.nextWhile(takeInRange, this.#options)))) this.#isOver = true;
    } catch (error) {
      if (this.#signal?.aborted !== true) throw error;
    }
    if (this.#signal?.aborted === true) throw new LevelError('LEVEL_ABORTED', 'Operation has been aborted', { cause: this.#signal.reason });
  }

  /** Moves on from the entry that the cursor is on. */
  #step(): Promise<boolean> {
    return this.#reverse ? this.cursor.prev(this.#options) : this.cursor.next(this.#options);
  }

  /** Moves to the first entry of the range, or to the one that `seek` set. */
  #begin(start: Bound | 'first'): Promise<boolean> {
    const { cursor } = this;
    this.#start = undefined;
    const bound = start === 'first' ? this.#first : start;
    if (bound === undefined) return this.#reverse ? cursor.seekToLast(this.#options) : cursor.seekToFirst(this.#options);
    const seeking = this.#reverse ? cursor.seekForPrev(bound.key, this.#options) : cursor.seek(bound.key, this.#options);
    return bound.inclusive ? seeking : this.#pass(seeking, bound.key);
  }

  /** Skips the entry of `key`, if that is where `seeking` ends. */
  async #pass(seeking: Promise<boolean>, key: Uint8Array): Promise<boolean> {
    const isThere = await seeking;
    return isThere && this.#compare(this.cursor.key, key) === 0 ? this.#step() : isThere;
  }

  #isBefore(key: Uint8Array, first: Bound | undefined): boolean {
    return first !== undefined && this.#isOutside(this.#compare(key, first.key), first);
  }

  #isBehind(key: Uint8Array, last: Bound | undefined): boolean {
    return last !== undefined && this.#isOutside(this.#compare(last.key, key), last);
  }

  /** @param order of a key and a bound, in the order of the walk if it went forward. */
  #isOutside(order: number, { inclusive }: Bound): boolean {
    return order === 0 ? !inclusive : order < 0 !== this.#reverse;
  }
}
