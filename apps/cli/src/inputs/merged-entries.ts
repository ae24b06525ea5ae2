import type { SyncCursor } from '@bloom/sstable';
import type { CompareRange } from '@bloom/sstable/database';
import type { EntryBatch } from '../formats/entry-batch.js';
import type { KeyBounds } from './merge-order.js';

/** A cursor failed: that of the table of this age. */
export class CursorError extends Error {
  override readonly name = 'CursorError';

  constructor(
    readonly age: number,
    override readonly cause: unknown,
  ) {
    super('a cursor failed');
  }
}

/**
 * The entries of several tables as one sequence. Of entries with equal keys, the one of the newest table is given, and the
 * others are left out.
 */
export class MergedEntries {
  /** The cursors that are on an entry, as a heap: each comes before those at twice its place plus one and two. */
  readonly #heap: SyncCursor[] = [];
  readonly #compare: CompareRange;
  /** The age of each cursor's table: 0 is the newest. */
  readonly #ages = new Map<SyncCursor, number>();
  /** The last key that was given. */
  #last = new Uint8Array(64);
  #lastLength = -1;

  readonly #lt: Uint8Array | undefined;

  /** @param cursors of the newest table first. */
  constructor(cursors: readonly SyncCursor[], compare: CompareRange, { gte, lt }: KeyBounds = {}) {
    this.#compare = compare;
    this.#lt = lt;
    for (const [age, cursor] of cursors.entries()) {
      this.#ages.set(cursor, age);
      if (this.#moved(cursor, () => (gte === undefined ? cursor.seekToFirst() : cursor.seek(gte)))) this.#heap.push(cursor);
    }
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  /** Adds the next entries to `batch`, until it has `maxBytes`. @returns whether there may be more. */
  fill(batch: EntryBatch, maxBytes: number): boolean {
    const heap = this.#heap;
    while (heap.length > 0) {
      if (batch.end >= maxBytes) return true;
      const cursor = heap[0]!;
      const { keyBytes, keyLength } = cursor;
      if (!this.#isLast(keyBytes, keyLength)) {
        batch.put(keyBytes, 0, keyLength);
        const keyEnd = batch.end;
        const { valueStart } = cursor;
        batch.put(cursor.valueBytes, valueStart, valueStart + cursor.valueLength);
        batch.push(keyEnd, batch.end, 0);
        this.#keepLast(keyBytes, keyLength);
      }
      if (!this.#moved(cursor)) {
        const end = heap.pop()!;
        if (heap.length === 0) return false;
        heap[0] = end;
      }
      this.#sink(0);
    }
    return false;
  }

  /** Moves a cursor. @returns whether it is on an entry of the range. */
  #moved(cursor: SyncCursor, move?: () => boolean): boolean {
    try {
      if (!(move === undefined ? cursor.next() : move())) return false;
      const lt = this.#lt;
      return lt === undefined || this.#compare(cursor.keyBytes, 0, cursor.keyLength, lt, 0, lt.length) < 0;
    } catch (error) {
      throw new CursorError(this.#ages.get(cursor)!, error);
    }
  }

  #isLast(keyBytes: Uint8Array, keyLength: number): boolean {
    return this.#lastLength >= 0 && this.#compare(this.#last, 0, this.#lastLength, keyBytes, 0, keyLength) === 0;
  }

  #keepLast(keyBytes: Uint8Array, keyLength: number): void {
    if (keyLength > this.#last.length) this.#last = new Uint8Array(2 * keyLength);
    const last = this.#last;
    if (keyLength > 32) last.set(keyBytes.subarray(0, keyLength));
    else for (let i = 0; i < keyLength; i++) last[i] = keyBytes[i]!;
    this.#lastLength = keyLength;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const cursor = heap[from]!;
    let i = from;
    for (;;) {
      let next = 2 * i + 1;
      if (next >= heap.length) break;
      if (next + 1 < heap.length && this.#isBefore(heap[next + 1]!, heap[next]!)) next++;
      if (!this.#isBefore(heap[next]!, cursor)) break;
      heap[i] = heap[next]!;
      i = next;
    }
    heap[i] = cursor;
  }

  #isBefore(a: SyncCursor, b: SyncCursor): boolean {
    const order = this.#compare(a.keyBytes, 0, a.keyLength, b.keyBytes, 0, b.keyLength);
    return order === 0 ? this.#ages.get(a)! < this.#ages.get(b)! : order < 0;
  }
}
