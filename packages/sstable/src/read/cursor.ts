import type { Signal } from '@bloom/bytes';
import { BaseCursor } from './base-cursor.js';
import type { BlockReader } from './block-reader.js';
import type { DataBlocks } from './data-blocks.js';
import { signalOf, type SignalOptions } from './options.js';
import type { ReadAhead } from './read-ahead.js';
import { SETTLED, type TableCursor } from './table-cursor.js';

/**
 * Moves over a table's entries.
 *
 * The cursor is on an entry after a move that resolved to true. Key and value are views that are valid until the next
 * move. Await each move before the next. While it moves in one direction, the cursor reads ahead as a scan does.
 */
export class Cursor extends BaseCursor {
  readonly #cursor: TableCursor;
  readonly #blocks: DataBlocks;
  readonly #reader: BlockReader;
  readonly #fillsCache: boolean;
  #moving = false;
  /** Reads for the moves in one direction since the last seek. */
  #ahead: ReadAhead | undefined;
  #isReverse = false;

  /** Made by `Table.cursor`. */
  constructor(cursor: TableCursor, blocks: DataBlocks, reader: BlockReader, fillsCache: boolean) {
    super(cursor);
    this.#cursor = cursor;
    this.#blocks = blocks;
    this.#reader = reader;
    this.#fillsCache = fillsCache;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(options?: SignalOptions): Promise<boolean> {
    return this.#seek('Cursor.seekToFirst', (cursor) => cursor.seekToFirst(), false, options);
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(options?: SignalOptions): Promise<boolean> {
    return this.#seek('Cursor.seekToLast', (cursor) => cursor.seekToLast(), true, options);
  }

  /** Moves to the first entry at or after `key`, which may be the cursor's own. @returns whether there is one. */
  seek(key: Uint8Array, options?: SignalOptions): Promise<boolean> {
    return this.#seek('Cursor.seek', (cursor) => cursor.seek(key, 'at-or-after'), false, options);
  }

  /** Moves to the next entry. A no-op unless on an entry. @returns whether there is one. */
  next(options?: SignalOptions): Promise<boolean> {
    return this.#move('Cursor.next', (cursor) => cursor.next(), false, options);
  }

  /** Moves to the previous entry. A no-op unless on an entry. @returns whether there is one. */
  prev(options?: SignalOptions): Promise<boolean> {
    return this.#move('Cursor.prev', (cursor) => cursor.prev(), true, options);
  }

  #seek(call: string, move: (cursor: TableCursor) => number, isReverse: boolean, options: SignalOptions | undefined): Promise<boolean> {
    if (!this.#moving) this.#endReadAhead();
    return this.#move(call, move, isReverse, options);
  }

  #move(call: string, move: (cursor: TableCursor) => number, isReverse: boolean, options: SignalOptions | undefined): Promise<boolean> {
    try {
      if (this.#moving) throw new TypeError('the cursor is still moving: await a move before the next');
      this.#blocks.mustBeOpen();
      const signal = signalOf(call, options);
      const wanted = move(this.#cursor);
      if (wanted !== SETTLED) {
        const waiting = this.#proceed(wanted, this.#aheadOf(isReverse), signal);
        if (waiting !== undefined) return this.#settle(waiting, signal);
      }
      // A move within a block costs nothing if the promise exists already.
      return this.#cursor.valid ? TRUE : Promise.resolve(false);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #aheadOf(isReverse: boolean): ReadAhead {
    if (isReverse !== this.#isReverse) this.#endReadAhead();
    this.#isReverse = isReverse;
    return (this.#ahead ??= this.#reader.ahead(isReverse, true, this.#fillsCache));
  }

  /** Supplies the move with blocks that are at hand. @returns the block that it must wait for; undefined if there is none. */
  #proceed(wanted: number, ahead: ReadAhead, signal: Signal | undefined): Promise<Uint8Array> | undefined {
    while (wanted !== SETTLED) {
      const contents = ahead.block(wanted, signal);
      if (contents instanceof Promise) return contents;
      wanted = this.#cursor.supply(contents);
    }
    return undefined;
  }

  async #settle(waiting: Promise<Uint8Array> | undefined, signal: Signal | undefined): Promise<boolean> {
    this.#moving = true;
    const ahead = this.#ahead!;
    this.#cursor.keepTarget();
    try {
      while (waiting !== undefined) {
        const contents = await waiting;
        // A block that was read ahead is returned even if the call was aborted, or the table closed, in the meantime.
        this.#blocks.mustBeOpen();
        signal?.throwIfAborted();
        waiting = this.#proceed(this.#cursor.supply(contents), ahead, signal);
      }
      return this.#cursor.valid;
    } finally {
      this.#moving = false;
    }
  }

  /** Ends the reads ahead of the cursor, whose next move goes elsewhere. */
  #endReadAhead(): void {
    this.#ahead?.end();
    this.#ahead = undefined;
  }
}

/** The result of every move within a block, made once. */
const TRUE = Promise.resolve(true);
