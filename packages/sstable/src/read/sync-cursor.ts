import { BaseCursor } from './base-cursor.js';
import type { DataBlocks } from './data-blocks.js';
import { SETTLED, type TableCursor } from './table-cursor.js';

/**
 * Moves over a table's entries without promises.
 *
 * The cursor is on an entry after a move that returned true. Key and value are views that are valid until the next move.
 */
export class SyncCursor extends BaseCursor {
  readonly #cursor: TableCursor;
  readonly #blocks: DataBlocks;
  readonly #block: (i: number) => Uint8Array;

  /** Made by `SyncTable.cursor`. */
  constructor(cursor: TableCursor, blocks: DataBlocks, block: (i: number) => Uint8Array) {
    super(cursor);
    this.#cursor = cursor;
    this.#blocks = blocks;
    this.#block = block;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): boolean {
    this.#blocks.mustBeOpen();
    return this.#settle(this.#cursor.seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): boolean {
    this.#blocks.mustBeOpen();
    return this.#settle(this.#cursor.seekToLast());
  }

  /** Moves to the first entry at or after `key`, which may be the cursor's own. @returns whether there is one. */
  seek(key: Uint8Array): boolean {
    this.#blocks.mustBeOpen();
    return this.#settle(this.#cursor.seek(key, 'at-or-after'));
  }

  /** Moves to the next entry. A no-op unless on an entry. @returns whether there is one. */
  next(): boolean {
    this.#blocks.mustBeOpen();
    const wanted = this.#cursor.next();
    return wanted === SETTLED ? this.#cursor.valid : this.#settle(wanted);
  }

  /** Moves to the previous entry. A no-op unless on an entry. @returns whether there is one. */
  prev(): boolean {
    this.#blocks.mustBeOpen();
    return this.#settle(this.#cursor.prev());
  }

  #settle(wanted: number): boolean {
    while (wanted !== SETTLED) wanted = this.#cursor.supply(this.#block(wanted));
    return this.#cursor.valid;
  }
}
