import type { Bytes, Signal } from '@bloom/bytes';
import { bytesOf, throwIfAborted } from '@bloom/bytes/internal';
import type { CompareRange } from '../format/bytewise-order.js';
import { BaseCursor } from './base-cursor.js';
import type { BlockReader } from './block-reader.js';
import type { ByteCopier } from './byte-copier.js';
import type { DataBlocks } from './data-blocks.js';
import { type AsyncNextManyOptions, type AsyncPrevManyOptions, ManyEntries } from './many-entries.js';
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
  readonly #compare: CompareRange;
  readonly #copier: ByteCopier;
  #moving = false;
  /** Whether many entries are being taken. */
  #isTaking = false;
  /** Reads for the moves in one direction since the last seek. */
  #ahead: ReadAhead | undefined;
  #isReverse = false;

  /** @internal Made by `Table.cursor`. */
  constructor(cursor: TableCursor, blocks: DataBlocks, reader: BlockReader, fillsCache: boolean, compare: CompareRange, copier: ByteCopier) {
    super(cursor);
    this.#cursor = cursor;
    this.#blocks = blocks;
    this.#reader = reader;
    this.#fillsCache = fillsCache;
    this.#compare = compare;
    this.#copier = copier;
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
  seek(key: Uint8Array | string, options?: SignalOptions): Promise<boolean> {
    return this.#seek('Cursor.seek', (cursor) => cursor.seek(bytesOf('key', key), 'at-or-after'), false, options);
  }

  /** Moves to the next entry. A no-op unless on an entry. @returns whether there is one. */
  next(options?: SignalOptions): Promise<boolean> {
    return this.#move('Cursor.next', (cursor) => cursor.next(), false, options);
  }

  /** Moves to the previous entry. A no-op unless on an entry. @returns whether there is one. */
  prev(options?: SignalOptions): Promise<boolean> {
    return this.#move('Cursor.prev', (cursor) => cursor.prev(), true, options);
  }

  /**
   * Copies up to `count` entries from the current one on, and moves to the one after them: for programs that cannot afford a call
   * for each entry. Empty where the cursor is on no entry, or on one beyond the bound.
   *
   * Where the block after the entries cannot be read, the entries are returned, and the next move other than a seek is rejected with the error.
   */
  nextMany(count: number, options: AsyncNextManyOptions = {}): Promise<[Bytes, Bytes][]> {
    return this.#many('Cursor.nextMany', false, count, options, (cursor) => cursor.next());
  }

  /** {@link nextMany} from the current entry backward. */
  prevMany(count: number, options: AsyncPrevManyOptions = {}): Promise<[Bytes, Bytes][]> {
    return this.#many('Cursor.prevMany', true, count, options, (cursor) => cursor.prev());
  }

  async #many(
    call: string,
    reverse: boolean,
    count: number,
    options: AsyncNextManyOptions & AsyncPrevManyOptions,
    move: (cursor: TableCursor) => number,
  ): Promise<[Bytes, Bytes][]> {
    this.#mustNotBeMoving();
    this.#blocks.mustBeOpen();
    const many = new ManyEntries(call, reverse, count, options, this.#compare, this.#copier);
    throwIfAborted(many.signal);
    this.mustNotHaveFailed();
    this.#isTaking = true;
    const { block } = this.#cursor;
    try {
      while (block.valid && many.take(block.keyBytes, 0, block.keyLength, block.bytes, block.valueStart, block.valueEnd)) {
        const moved = this.#step(move, reverse, many.signal);
        // Not awaited within a block.
        if (moved !== TRUE) await moved;
      }
    } catch (error) {
      throwIfAborted(many.signal);
      this.#blocks.mustBeOpen();
      // The comparator may fail for the first entry.
      if (many.entries.length === 0) throw error;
      this.failure = { error };
    } finally {
      this.#isTaking = false;
    }
    return many.entries;
  }

  #mustNotBeMoving(): void {
    if (this.#moving || this.#isTaking) throw new TypeError('the cursor is still moving: await a move before the next');
  }

  #seek(call: string, move: (cursor: TableCursor) => number, isReverse: boolean, options: SignalOptions | undefined): Promise<boolean> {
    if (!this.#moving && !this.#isTaking) {
      this.#endReadAhead();
      this.failure = undefined;
    }
    return this.#move(call, move, isReverse, options);
  }

  #move(call: string, move: (cursor: TableCursor) => number, isReverse: boolean, options: SignalOptions | undefined): Promise<boolean> {
    try {
      this.#mustNotBeMoving();
      this.#blocks.mustBeOpen();
      const signal = signalOf(call, options);
      if (this.failure !== undefined) this.mustNotHaveFailed();
      return this.#step(move, isReverse, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #step(move: (cursor: TableCursor) => number, isReverse: boolean, signal: Signal | undefined): Promise<boolean> {
    try {
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
        throwIfAborted(signal);
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
