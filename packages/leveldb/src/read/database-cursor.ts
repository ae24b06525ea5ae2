import { bytesOf, throwIfAborted } from '@bloom/bytes/internal';
import type { Bytes, Signal } from '@bloom/bytes';
import type { AsyncNextManyOptions, AsyncPrevManyOptions, SignalOptions } from '@bloom/sstable';
import { type Side, signalOf, untilAborted } from '@bloom/sstable/internal';
import { type CursorEntry, BaseDatabaseCursor } from './base-database-cursor.js';
import type { CursorState } from './cursor-state.js';
import { ownKey } from './database-range.js';
import type { FolderReading } from '../folder/folder-reading.js';
import type { Pacer } from '../folder/pacer.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';
import type { View } from './view.js';

const TRUE = Promise.resolve(true);

type Run = (reading: FolderReading<void>, signal: Signal | undefined) => void | Promise<void>;

/** @internal The entries over which a cursor moves, and how it reads them. */
export interface CursorParts {
  readonly view: View;
  readonly cursor: VisibleCursor;
  readonly run: Run;
}

/**
 * Moves over a database's entries.
 *
 * The cursor is on an entry after a move that resolved to true. Key and value are views that are valid until the next move; await each move
 * before the next. Close the cursor: it keeps files open.
 */
export class DatabaseCursor extends BaseDatabaseCursor {
  readonly #state: CursorState;
  #cursor: VisibleCursor;
  #run: Run;
  /** The state to move over, with a pinned view, until it exists. */
  #later: Promise<CursorParts> | undefined;
  readonly #pacer: Pacer;
  #moving = false;
  /** Whether many entries are being collected. */
  #isTaking = false;

  /**
   * @internal Made by `cursor` of a `DatabaseReader` or a `Database`.
   *
   * @param pacer of all reads of the database.
   * @param later the state to move over in place of `state`, with a pinned view.
   */
  constructor(state: CursorState, run: Run, pacer: Pacer, later?: Promise<CursorParts>) {
    super(state);
    this.#state = state;
    this.#cursor = state.cursor;
    this.#run = run;
    this.#pacer = pacer;
    this.#later = later;
    // The first move reports a failure.
    later?.catch(() => undefined);
  }

  override close(): void {
    super.close();
    const later = this.#later;
    this.#later = undefined;
    void later?.then(drop, () => undefined);
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seekToFirst', () => this.#state.anew().seekToFirst(), options);
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seekToLast', () => this.#state.anew().seekToLast(), options);
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array | string, options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seek', this.#seekTo(key, 'at-or-after'), options);
  }

  /** Moves to the last entry at or before `key`. @returns whether there is one. */
  seekForPrev(key: Uint8Array | string, options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.seekForPrev', this.#seekTo(key, 'at-or-before'), options);
  }

  /** Moves to the next entry; a no-op unless on an entry. @returns whether there is one. */
  next(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.next', () => this.#state.sound().next(), options);
  }

  /** Moves to the previous entry; a no-op unless on an entry. @returns whether there is one. */
  prev(options?: SignalOptions): Promise<boolean> {
    return this.#move('DatabaseCursor.prev', () => this.#state.sound().prev(), options);
  }

  /**
   * Copies of up to `count` entries from the current one on. Moves to the entry after them: for programs in which a call for each entry costs
   * too much. Empty if the cursor is not on an entry, or is on one beyond the bound.
   *
   * If the entry after them cannot be read, they are returned, and the next move that is not a seek is rejected with the error.
   */
  nextMany(count: number, options: AsyncNextManyOptions = {}): Promise<[Bytes, Bytes][]> {
    return this.#many('DatabaseCursor.nextMany', false, count, options, (cursor) => cursor.next());
  }

  /** {@link nextMany} from the current entry backward. */
  prevMany(count: number, options: AsyncPrevManyOptions = {}): Promise<[Bytes, Bytes][]> {
    return this.#many('DatabaseCursor.prevMany', true, count, options, (cursor) => cursor.prev());
  }

  /**
   * Calls `take` on each entry from the next one on, and moves on as long as it returns true: for programs that make something other than
   * copies of many entries. A promise is awaited only when something is read, and when other work is to run.
   *
   * @param take must not move the cursor.
   * @returns whether the cursor is on the entry at which `take` returned false; false if there is no entry after the last.
   *
   * @example
   * ```ts
   * let bytes = 0;
   * if (await cursor.seekToFirst()) {
   *   bytes += cursor.valueLength;
   *   await cursor.nextWhile(({ valueLength }) => (bytes += valueLength) < 1e6);
   * }
   * ```
   */
  nextWhile(take: (entry: CursorEntry) => boolean, options?: SignalOptions): Promise<boolean> {
    return this.#while('DatabaseCursor.nextWhile', take, options, (cursor) => cursor.next());
  }

  /** {@link nextWhile} backward, from the previous entry. */
  prevWhile(take: (entry: CursorEntry) => boolean, options?: SignalOptions): Promise<boolean> {
    return this.#while('DatabaseCursor.prevWhile', take, options, (cursor) => cursor.prev());
  }

  async #while(call: string, take: (entry: CursorEntry) => boolean, options: SignalOptions | undefined, move: (cursor: VisibleCursor) => boolean): Promise<boolean> {
    this.#mustNotBeMoving();
    const signal = signalOf(call, options);
    throwIfAborted(signal);
    this.#state.sound();
    return this.#moveWhile(take, signal, move);
  }

  async #many(
    call: string,
    reverse: boolean,
    count: number,
    options: AsyncNextManyOptions & AsyncPrevManyOptions,
    move: (cursor: VisibleCursor) => boolean,
  ): Promise<[Bytes, Bytes][]> {
    this.#mustNotBeMoving();
    const many = this.#state.manyEntries(call, reverse, count, options);
    const { signal } = many;
    throwIfAborted(signal);
    try {
      const take = (): boolean => this.#cursor.passTo(many);
      if (this.valid && take()) await this.#moveWhile(take, signal, move);
    } catch (error) {
      throwIfAborted(signal);
      // If the reader was closed in the meantime, that is the error of the call.
      this.#state.open();
      // The comparator may fail for the first entry.
      if (many.entries.length === 0) throw error;
      this.#state.fail(error);
    }
    return many.entries;
  }

  /** Moves to each entry at which `take` returns true, and to the one after them. @returns whether there is one. */
  async #moveWhile(take: (entry: CursorEntry) => boolean, signal: Signal | undefined, move: (cursor: VisibleCursor) => boolean): Promise<boolean> {
    this.#isTaking = true;
    try {
      let moving = this.#moveAtHand(take, signal, move);
      while (typeof moving !== 'boolean') {
        if (!(await moving)) return false;
        if (!take(this)) return true;
        moving = this.#moveAtHand(take, signal, move);
      }
      return moving;
    } finally {
      this.#isTaking = false;
    }
  }

  /** Does the work of {@link #moveWhile}. @returns a promise of the first move that does not end synchronously. */
  #moveAtHand(take: (entry: CursorEntry) => boolean, signal: Signal | undefined, move: (cursor: VisibleCursor) => boolean): boolean | Promise<boolean> {
    for (;;) {
      const cursor = this.#state.open();
      const settling = move(cursor) ? undefined : this.#settle(signal);
      if (this.#pacer.isDue()) return this.#settled(this.#pause(settling, signal));
      if (settling !== undefined) return this.#settled(settling);
      if (!cursor.valid) return false;
      if (!take(this)) return true;
    }
  }

  /** The move to a key, which is copied if the move has to wait for writes. */
  #seekTo(key: Uint8Array | string, side: Side): () => boolean {
    if (this.#later === undefined) return () => this.#state.anew().seek(bytesOf('key', key), side);
    try {
      const own = ownKey(key);
      return () => this.#state.anew().seek(own, side);
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  #mustNotBeMoving(): void {
    if (this.#moving || this.#isTaking) throw new TypeError('the cursor is still moving: await a move before the next');
  }

  #move(call: string, move: () => boolean, options: SignalOptions | undefined): Promise<boolean> {
    try {
      this.#mustNotBeMoving();
      const signal = signalOf(call, options);
      this.#state.open();
      if (this.#later !== undefined) return this.#settled(this.#moveLater(this.#later, move, signal));
      const settling = move() ? undefined : this.#settle(signal);
      if (this.#pacer.isDue()) return this.#settled(this.#pause(settling, signal));
      if (settling !== undefined) return this.#settled(settling);
      // Within a block, a promise made in advance costs nothing.
      return this.#cursor.valid ? TRUE : Promise.resolve(false);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Makes the first move of a cursor that has to wait for writes. */
  async #moveLater(later: Promise<CursorParts>, move: () => boolean, signal: Signal | undefined): Promise<void> {
    const { view, cursor, run } = await (signal === undefined ? later : untilAborted(later, signal));
    // It was closed in the meantime.
    if (this.#later === undefined) return;
    this.#later = undefined;
    this.#state.lookAt(view, cursor);
    this.lookAnew();
    this.#cursor = cursor;
    this.#run = run;
    if (!move()) await this.#settle(signal);
  }

  /** Ends the move. @returns undefined if it has ended. */
  #settle(signal: Signal | undefined): void | Promise<void> {
    try {
      return this.#run(this.#cursor.settle(), signal);
    } catch (error) {
      this.#cursor.valid = false;
      throw error;
    }
  }

  /** Ends a move, and lets other work run. */
  async #pause(settling: void | Promise<void>, signal: Signal | undefined): Promise<void> {
    await settling;
    await this.#pacer.pause();
    // As after a read: the reader may have been closed in the meantime.
    this.#state.open();
    throwIfAborted(signal);
  }

  async #settled(settling: Promise<void>): Promise<boolean> {
    this.#moving = true;
    try {
      await settling;
      return this.#cursor.valid && !this.#state.isClosed;
    } catch (error) {
      this.#cursor.valid = false;
      // The read failed because closing the cursor ended it.
      if (this.#state.isClosed) return false;
      throw error;
    } finally {
      this.#moving = false;
      // The move may have pinned a table after the cursor was closed.
      if (this.#state.isClosed) this.#cursor.close();
    }
  }
}

function drop({ view, cursor }: CursorParts): void {
  cursor.close();
  view.unpin();
}
