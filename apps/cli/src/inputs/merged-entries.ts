import { RangeCopier } from '@bloom/bytes/internal';
import type { SyncCursor } from '@bloom/sstable';
import type { CompareRange } from '@bloom/sstable/internal';
import type { EntryBatch } from '../formats/entry-batch.js';
import type { KeyBounds } from './merge-order.js';
import { BytewiseKeys, ComparedKeys, type MergedKeys } from './merged-keys.js';

/** The cursor of the table with this age failed. */
export class CursorError extends Error {
  override readonly name = 'CursorError';

  constructor(
    readonly age: number,
    override readonly cause: unknown,
  ) {
    super('a cursor failed');
  }
}

/** The keys of a table are in another order than they are merged by. */
export class KeyOrderError extends Error {
  override readonly name = 'KeyOrderError';
}

/** How the keys of merged tables are ordered. */
export interface MergedOrder {
  readonly compare: CompareRange;
  /** Whether that is the order of their bytes. */
  readonly isBytewise: boolean;
}

/**
 * The entries of several tables as one sequence. Of entries with equal keys, only the one of the newest table is returned.
 *
 * A tournament of cursors: the one with the first key wins, and each node on its way keeps the cursor that lost to it there. After it
 * has moved on, it is compared with the losers on its way again: 4 comparisons for 10 tables, where a heap needs 7.
 *
 * Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1.
 */
export class MergedEntries {
  /** The cursor of the newest table is the first. The path of cursor `i` goes from node `(i + cursors.length) >> 1` to its half, and so on to node 1. */
  readonly #cursors: readonly SyncCursor[];
  readonly #keyCopiers: readonly RangeCopier[];
  readonly #valueCopiers: readonly RangeCopier[];
  readonly #keys: MergedKeys;
  readonly #compare: CompareRange;
  readonly #lt: Uint8Array | undefined;
  /** The cursor that lost at each node. */
  readonly #losers: Uint32Array;
  #winner = 0;

  /** @param cursors of the newest table first. */
  constructor(cursors: readonly SyncCursor[], { compare, isBytewise }: MergedOrder, { gte, lt }: KeyBounds = {}) {
    this.#cursors = cursors;
    this.#keyCopiers = cursors.map(() => new RangeCopier());
    this.#valueCopiers = cursors.map(() => new RangeCopier());
    this.#compare = compare;
    this.#keys = isBytewise ? new BytewiseKeys(cursors) : new ComparedKeys(cursors, compare);
    this.#lt = lt;
    this.#losers = new Uint32Array(cursors.length);
    for (const [i, cursor] of cursors.entries()) {
      if (this.#isInRange(i, () => (gte === undefined ? cursor.seekToFirst() : cursor.seek(gte)))) this.#keys.begin(i);
      else this.#keys.end(i);
    }
    if (cursors.length > 0) this.#winner = this.#winnerBelow(1);
  }

  /** Adds the next entries to `batch`, until it has `maxBytes`. @returns whether there may be more. */
  fill(batch: EntryBatch, maxBytes: number): boolean {
    const keys = this.#keys;
    while (batch.end < maxBytes) {
      const cursor = this.#cursors[this.#winner];
      if (cursor === undefined || keys.isOver(this.#winner)) return false;
      const keyStart = batch.end;
      batch.put(cursor.keyBytes, 0, cursor.keyLength, this.#keyCopiers[this.#winner]);
      const keyEnd = batch.end;
      const { valueStart } = cursor;
      batch.put(cursor.valueBytes, valueStart, valueStart + cursor.valueLength, this.#valueCopiers[this.#winner]);
      batch.push(keyEnd, batch.end, 0);
      do {
        this.#advance(batch.bytes, keyStart, keyEnd);
        this.#play();
      } while (keys.isRepeated(this.#winner));
    }
    return true;
  }

  /** Advances the winner, whose key is `bytes[start, end)`. */
  #advance(bytes: Uint8Array, start: number, end: number): void {
    const i = this.#winner;
    if (!this.#isInRange(i)) this.#keys.end(i);
    else if (!this.#keys.advance(i, bytes, start, end)) throw new CursorError(i, new KeyOrderError('a key is not after the one before it'));
  }

  /** Whether a cursor is on an entry of the range after a move. */
  #isInRange(i: number, move?: () => boolean): boolean {
    const cursor = this.#cursors[i]!;
    try {
      if (!(move === undefined ? cursor.next() : move())) return false;
      const lt = this.#lt;
      return lt === undefined || this.#compare(cursor.keyBytes, 0, cursor.keyLength, lt, 0, lt.length) < 0;
    } catch (error) {
      throw new CursorError(i, error);
    }
  }

  /** Compares the cursors below a node for the first time. @returns the winner. */
  #winnerBelow(node: number): number {
    const count = this.#cursors.length;
    if (node >= count) return node - count;
    const left = this.#winnerBelow(2 * node);
    const right = this.#winnerBelow(2 * node + 1);
    const isLeft = this.#keys.isBefore(left, right);
    this.#losers[node] = isLeft ? right : left;
    return isLeft ? left : right;
  }

  /** Finds the next winner after the last one has moved. All cursors that it is compared with have lost to it. */
  #play(): void {
    const losers = this.#losers;
    const keys = this.#keys;
    let winner = this.#winner;
    for (let node = (winner + losers.length) >> 1; node > 0; node >>= 1) {
      const loser = losers[node]!;
      if (keys.isBefore(winner, loser)) continue;
      losers[node] = winner;
      winner = loser;
    }
    this.#winner = winner;
  }
}
