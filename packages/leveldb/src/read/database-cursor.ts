import type { Signal } from '@bloom/bytes';
import type { SignalOptions } from '@bloom/sstable';
import { signalOf } from '@bloom/sstable/database';
import { DatabaseCursorFace } from './cursor-face.js';
import type { FolderReading } from '../folder/folder-reading.js';
import { MOVES_PER_LOOK, Pacer } from '../folder/pacer.js';
import type { OpenState } from './open-state.js';
import type { View } from './view.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

const TRUE = Promise.resolve(true);

/**
 * Moves over a database's entries.
 *
 * On an entry after a move that gave true. Key and value are views that hold until the next move; a move must be over
 * before the next is asked for. Close it: it keeps open what it sees.
 */
export class DatabaseCursor extends DatabaseCursorFace {
  readonly #cursor: VisibleCursor;
  readonly #run: (reading: FolderReading<void>, signal: Signal | undefined) => void | Promise<void>;
  readonly #pacer = new Pacer(MOVES_PER_LOOK);
  #moving = false;

  /** Made by `cursor` of a `DatabaseReader` or a `Database`. */
  constructor(view: View, cursor: VisibleCursor, state: OpenState, run: (reading: FolderReading<void>, signal: Signal | undefined) => void | Promise<void>) {
    super(view, cursor, state);
    this.#cursor = cursor;
    this.#run = run;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seekToFirst', (cursor) => cursor.seekToFirst(), options);
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seekToLast', (cursor) => cursor.seekToLast(), options);
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array, options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seek', (cursor) => cursor.seek(key, 'at-or-after'), options);
  }

  /** Moves to the last entry at or before `key`. @returns whether there is one. */
  seekForPrev(key: Uint8Array, options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seekForPrev', (cursor) => cursor.seek(key, 'at-or-before'), options);
  }

  /** Moves to the next entry; a no-op unless on an entry. @returns whether there is one. */
  next(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.next', (cursor) => cursor.next(), options);
  }

  /** Moves to the previous entry; a no-op unless on an entry. @returns whether there is one. */
  prev(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.prev', (cursor) => cursor.prev(), options);
  }

  #move(call: string, move: (cursor: VisibleCursor) => boolean, options: SignalOptions | undefined): Promise<boolean> {
    try {
      if (this.#moving) throw new TypeError('the cursor is still moving: await a move before the next');
      const signal = signalOf(call, options);
      const settling = move(this.open()) ? undefined : this.#settle(signal);
      if (this.#pacer.isDue()) return this.#settled(this.#pause(settling, signal));
      if (settling !== undefined) return this.#settled(settling);
      // Within a block, a promise made in advance costs nothing.
      return this.#cursor.valid ? TRUE : Promise.resolve(false);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Ends the move. @returns undefined if it is over. */
  #settle(signal: Signal | undefined): void | Promise<void> {
    try {
      return this.#run(this.#cursor.settle(), signal);
    } catch (error) {
      this.#cursor.valid = false;
      throw error;
    }
  }

  /** Ends a move, and lets others have their turn. */
  async #pause(settling: void | Promise<void>, signal: Signal | undefined): Promise<void> {
    await settling;
    await this.#pacer.pause();
    // As after a read: the reader may have been closed meanwhile.
    this.open();
    signal?.throwIfAborted();
  }

  async #settled(settling: Promise<void>): Promise<boolean> {
    this.#moving = true;
    try {
      await settling;
      return this.#cursor.valid && !this.isClosed;
    } catch (error) {
      this.#cursor.valid = false;
      // The read failed because closing the cursor ended it.
      if (this.isClosed) return false;
      throw error;
    } finally {
      this.#moving = false;
      // The move may have pinned a table after the cursor was closed.
      if (this.isClosed) this.#cursor.close();
    }
  }
}
