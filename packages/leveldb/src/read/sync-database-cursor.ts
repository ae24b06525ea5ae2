import { bytesOf } from '@bloom/bytes/internal';
import type { Bytes } from '@bloom/bytes';
import type { NextManyOptions, PrevManyOptions } from '@bloom/sstable';
import type { ManyEntries } from '@bloom/sstable/internal';
import type { VisibleCursor } from '../cursor/visible-cursor.js';
import type { FolderReading } from '../folder/folder-reading.js';
import { type CursorEntry, BaseDatabaseCursor } from './base-database-cursor.js';
import type { CursorState } from './cursor-state.js';

/**
 * Moves over a database's entries without promises.
 *
 * The cursor is on an entry after a move that returned true. Key and value are views that are valid until the next move. Close the cursor:
 * it keeps files open.
 */
export class SyncDatabaseCursor extends BaseDatabaseCursor {
  readonly #state: CursorState;
  readonly #cursor: VisibleCursor;
  readonly #run: (reading: FolderReading<void>) => void;

  /** @internal Made by `SyncDatabaseReader.cursor` and `Database.cursorSync`. */
  constructor(state: CursorState, run: (reading: FolderReading<void>) => void) {
    super(state);
    this.#state = state;
    this.#cursor = state.cursor;
    this.#run = run;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): boolean {
    return this.#settle(this.#state.anew().seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): boolean {
    return this.#settle(this.#state.anew().seekToLast());
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array | string): boolean {
    return this.#settle(this.#state.anew().seek(bytesOf('key', key), 'at-or-after'));
  }

  /** Moves to the last entry at or before `key`. @returns whether there is one. */
  seekForPrev(key: Uint8Array | string): boolean {
    return this.#settle(this.#state.anew().seek(bytesOf('key', key), 'at-or-before'));
  }

  /** Moves to the next entry; a no-op unless on an entry. @returns whether there is one. */
  next(): boolean {
    return this.#settle(this.#state.sound().next());
  }

  /** Moves to the previous entry; a no-op unless on an entry. @returns whether there is one. */
  prev(): boolean {
    return this.#settle(this.#state.sound().prev());
  }

  /**
   * Copies of up to `count` entries from the current one on. Moves to the entry after them: for programs in which a call for each entry costs
   * too much. Empty if the cursor is not on an entry, or is on one beyond the bound.
   *
   * If the entry after them cannot be read, they are returned, and the next move that is not a seek throws the error.
   */
  nextMany(count: number, options: NextManyOptions = {}): [Bytes, Bytes][] {
    return this.#many(this.#state.manyEntries('SyncDatabaseCursor.nextMany', false, count, options), (cursor) => cursor.next());
  }

  /** {@link nextMany} from the current entry backward. */
  prevMany(count: number, options: PrevManyOptions = {}): [Bytes, Bytes][] {
    return this.#many(this.#state.manyEntries('SyncDatabaseCursor.prevMany', true, count, options), (cursor) => cursor.prev());
  }

  /**
   * Calls `take` on each entry from the next one on, and moves on as long as it returns true: for programs that make something other than
   * copies of many entries.
   *
   * @param take must not move the cursor.
   * @returns whether the cursor is on the entry at which `take` returned false; false if there is no entry after the last.
   */
  nextWhile(take: (entry: CursorEntry) => boolean): boolean {
    while (this.next()) if (!take(this)) return true;
    return false;
  }

  /** {@link nextWhile} backward, from the previous entry. */
  prevWhile(take: (entry: CursorEntry) => boolean): boolean {
    while (this.prev()) if (!take(this)) return true;
    return false;
  }

  #many(many: ManyEntries, move: (cursor: VisibleCursor) => boolean): [Bytes, Bytes][] {
    try {
      while (this.valid && this.#cursor.passTo(many)) this.#settle(move(this.#state.open()));
    } catch (error) {
      // The comparator may fail for the first entry.
      if (many.entries.length === 0) throw error;
      this.#state.fail(error);
    }
    return many.entries;
  }

  #settle(settled: boolean): boolean {
    if (!settled) this.#run(this.#cursor.settle());
    return this.#cursor.valid;
  }
}
