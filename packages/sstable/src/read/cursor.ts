import { BaseCursor } from './base-cursor.js';
import { SETTLED, type TableCursor } from './table-cursor.js';

/**
 * Moves over a table's entries.
 *
 * On an entry after a move that gave true. Key and value are views that hold until the next move; a move must be
 * over before the next is asked for.
 */
export class Cursor extends BaseCursor {
  readonly #cursor: TableCursor;
  readonly #block: (i: number) => Promise<Uint8Array>;
  #moving = false;

  /** Made by `Table.cursor`. */
  constructor(cursor: TableCursor, block: (i: number) => Promise<Uint8Array>) {
    super(cursor);
    this.#cursor = cursor;
    this.#block = block;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): Promise<boolean> {
    return this.#move((cursor) => cursor.seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): Promise<boolean> {
    return this.#move((cursor) => cursor.seekToLast());
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array): Promise<boolean> {
    return this.#move((cursor) => cursor.seek(key, 'at-or-after'));
  }

  /** Moves to the next entry. On none, it stays there. @returns whether there is one. */
  next(): Promise<boolean> {
    return this.#move((cursor) => cursor.next());
  }

  /** Moves to the entry before. On none, it stays there. @returns whether there is one. */
  prev(): Promise<boolean> {
    return this.#move((cursor) => cursor.prev());
  }

  #move(move: (cursor: TableCursor) => number): Promise<boolean> {
    try {
      if (this.#moving) throw new TypeError('the cursor is still moving: await a move before the next');
      const wanted = move(this.#cursor);
      if (wanted !== SETTLED) return this.#settle(wanted);
      // Inside a block, a promise that is there already costs nothing.
      return this.#cursor.valid ? TRUE : Promise.resolve(false);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #settle(wanted: number): Promise<boolean> {
    this.#moving = true;
    try {
      while (wanted !== SETTLED) wanted = this.#cursor.supply(await this.#block(wanted));
      return this.#cursor.valid;
    } finally {
      this.#moving = false;
    }
  }
}

/** A promise that is there already costs a move inside a block nothing. */
const TRUE = Promise.resolve(true);
