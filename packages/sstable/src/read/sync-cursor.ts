import type { Bytes } from '@bloom/bytes';
import { bytesOf } from '@bloom/bytes/internal';
import type { CompareRange } from '../format/bytewise-order.js';
import { BaseCursor } from './base-cursor.js';
import type { ByteCopier } from './byte-copier.js';
import type { DataBlocks } from './data-blocks.js';
import { ManyEntries, type NextManyOptions, type PrevManyOptions } from './many-entries.js';
import { SETTLED, type TableCursor } from './table-cursor.js';

/**
 * Moves over a table's entries synchronously.
 *
 * The cursor is on an entry after a move that returned true. Key and value are views that are valid until the next move.
 */
export class SyncCursor extends BaseCursor {
  readonly #cursor: TableCursor;
  readonly #blocks: DataBlocks;
  readonly #block: (i: number) => Uint8Array;
  readonly #compare: CompareRange;
  readonly #copier: ByteCopier;

  /** @internal Made by `SyncTable.cursor`. */
  constructor(cursor: TableCursor, blocks: DataBlocks, block: (i: number) => Uint8Array, compare: CompareRange, copier: ByteCopier) {
    super(cursor);
    this.#cursor = cursor;
    this.#blocks = blocks;
    this.#block = block;
    this.#compare = compare;
    this.#copier = copier;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): boolean {
    this.#blocks.mustBeOpen();
    this.failure = undefined;
    return this.#settle(this.#cursor.seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): boolean {
    this.#blocks.mustBeOpen();
    this.failure = undefined;
    return this.#settle(this.#cursor.seekToLast());
  }

  /** Moves to the first entry at or after `key`, which may be the cursor's own. @returns whether there is one. */
  seek(key: Uint8Array | string): boolean {
    this.#blocks.mustBeOpen();
    this.failure = undefined;
    return this.#settle(this.#cursor.seek(bytesOf('key', key), 'at-or-after'));
  }

  /** Moves to the next entry. A no-op unless on an entry. @returns whether there is one. */
  next(): boolean {
    this.#blocks.mustBeOpen();
    if (this.failure !== undefined) this.mustNotHaveFailed();
    const wanted = this.#cursor.next();
    return wanted === SETTLED ? this.#cursor.valid : this.#settle(wanted);
  }

  /** Moves to the previous entry. A no-op unless on an entry. @returns whether there is one. */
  prev(): boolean {
    this.#blocks.mustBeOpen();
    if (this.failure !== undefined) this.mustNotHaveFailed();
    return this.#settle(this.#cursor.prev());
  }

  /**
   * Copies up to `count` entries from the current one on, and moves to the one after them: for programs that cannot afford a call
   * for each entry. Empty where the cursor is on no entry, or on one beyond the bound.
   *
   * Where the block after the entries cannot be read, the entries are returned, and the next move other than a seek throws the error.
   */
  nextMany(count: number, options: NextManyOptions = {}): [Bytes, Bytes][] {
    return this.#many(new ManyEntries('SyncCursor.nextMany', false, count, options, this.#compare, this.#copier), () => this.next());
  }

  /** {@link nextMany} from the current entry backward. */
  prevMany(count: number, options: PrevManyOptions = {}): [Bytes, Bytes][] {
    return this.#many(new ManyEntries('SyncCursor.prevMany', true, count, options, this.#compare, this.#copier), () => this.prev());
  }

  #many(many: ManyEntries, move: () => boolean): [Bytes, Bytes][] {
    this.#blocks.mustBeOpen();
    this.mustNotHaveFailed();
    const { block } = this.#cursor;
    try {
      while (block.valid && many.take(block.keyBytes, 0, block.keyLength, block.bytes, block.valueStart, block.valueEnd)) move();
    } catch (error) {
      // The comparator may fail for the first entry.
      if (many.entries.length === 0) throw error;
      this.failure = { error };
    }
    return many.entries;
  }

  #settle(wanted: number): boolean {
    while (wanted !== SETTLED) wanted = this.#cursor.supply(this.#block(wanted));
    return this.#cursor.valid;
  }
}
