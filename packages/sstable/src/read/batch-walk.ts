import { EntryBatch } from './entry-batch.js';
import type { RangeWalk, Walk } from './range-walk.js';
import { SETTLED } from './table-cursor.js';

/** Walks through a range batch by batch: a move leads to the first entry of the next batch, and `accept` fills the batch. */
export class BatchWalk implements Walk {
  readonly batch = new EntryBatch();
  readonly #walk: RangeWalk;
  /** Whether the walk is on an accepted entry that the last batch had no room for. */
  #isOnEntry = false;
  /** The block that the next entry is in. */
  #wanted = SETTLED;
  /** Why the move after the last entry of the batch failed. */
  #failure: { readonly error: unknown } | undefined;

  constructor(walk: RangeWalk) {
    this.#walk = walk;
  }

  next(): number {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isOnEntry) return SETTLED;
    const wanted = this.#wanted;
    this.#wanted = SETTLED;
    return wanted === SETTLED ? this.#walk.next() : wanted;
  }

  supply(contents: Uint8Array): number {
    return this.#walk.supply(contents);
  }

  accept(): boolean {
    const walk = this.#walk;
    if (!this.#isOnEntry && !walk.accept()) return false;
    const { block } = walk.cursor;
    const { batch } = this;
    batch.start(block);
    for (;;) {
      const isRoomy = batch.push(block);
      this.#isOnEntry = false;
      try {
        this.#wanted = walk.next();
      } catch (error) {
        // The batch is given first.
        this.#failure = { error };
        return true;
      }
      if (this.#wanted !== SETTLED || !walk.accept()) return true;
      this.#isOnEntry = true;
      if (!isRoomy) return true;
    }
  }

  get isOver(): boolean {
    return this.#walk.isOver && !this.#isOnEntry;
  }

  end(): void {
    this.#isOnEntry = false;
    this.#failure = undefined;
    this.#walk.end();
  }
}
