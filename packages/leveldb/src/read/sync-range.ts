import type { VisibleCursor } from '../cursor/visible-cursor.js';
import type { FolderReading } from '../folder/folder-reading.js';
import type { DatabaseRange } from './database-range.js';
import type { OpenState } from './open-state.js';
import type { View } from './view.js';

/** Iterates over a range without promises. */
export class SyncRangeIterator<T> implements IterableIterator<T> {
  readonly #range: DatabaseRange;
  readonly #view: View;
  readonly #pick: (cursor: VisibleCursor) => T;
  readonly #state: OpenState;
  readonly #run: (reading: FolderReading<void>) => void;
  #over = false;

  constructor(range: DatabaseRange, view: View, pick: (cursor: VisibleCursor) => T, state: OpenState, run: (reading: FolderReading<void>) => void) {
    this.#range = range;
    this.#view = view;
    this.#pick = pick;
    this.#state = state;
    this.#run = run;
    view.pin();
  }

  next(): IteratorResult<T, undefined> {
    if (this.#over) return { value: undefined, done: true };
    try {
      this.#state.mustBeOpen();
      if (!this.#range.next()) this.#run(this.#range.cursor.settle());
      if (this.#range.accept()) return { value: this.#pick(this.#range.cursor), done: false };
    } catch (error) {
      this.#end();
      throw error;
    }
    return this.return();
  }

  return(): IteratorResult<T, undefined> {
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.iterator](): this {
    return this;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#range.cursor.close();
    this.#view.unpin();
  }
}
