import type { VisibleCursor } from '../cursor/visible-cursor.js';
import type { FolderReading } from '../folder/folder-reading.js';
import { DatabaseCursorFace } from './cursor-face.js';
import type { OpenState } from './open-state.js';
import type { View } from './view.js';

/**
 * Moves over a database's entries without promises.
 *
 * On an entry after a move that returned true. Key and value are views that hold until the next move. Close it: it keeps
 * open what it sees.
 */
export class SyncDatabaseCursor extends DatabaseCursorFace {
  readonly #cursor: VisibleCursor;
  readonly #run: (reading: FolderReading<void>) => void;

  /** Made by `SyncDatabaseReader.cursor` and `Database.cursorSync`. */
  constructor(view: View, cursor: VisibleCursor, state: OpenState, run: (reading: FolderReading<void>) => void) {
    super(view, cursor, state);
    this.#cursor = cursor;
    this.#run = run;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): boolean {
    return this.#settle(this.open().seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): boolean {
    return this.#settle(this.open().seekToLast());
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array): boolean {
    return this.#settle(this.open().seek(key, 'at-or-after'));
  }

  /** Moves to the last entry at or before `key`. @returns whether there is one. */
  seekForPrev(key: Uint8Array): boolean {
    return this.#settle(this.open().seek(key, 'at-or-before'));
  }

  /** Moves to the next entry; a no-op unless on an entry. @returns whether there is one. */
  next(): boolean {
    return this.#settle(this.open().next());
  }

  /** Moves to the previous entry; a no-op unless on an entry. @returns whether there is one. */
  prev(): boolean {
    return this.#settle(this.open().prev());
  }

  #settle(settled: boolean): boolean {
    if (!settled) this.#run(this.#cursor.settle());
    return this.#cursor.valid;
  }
}
