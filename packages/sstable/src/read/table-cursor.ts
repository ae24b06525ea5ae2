import { mustBeBytes } from '@bloom/bytes/internal';
import { BlockSearch } from '../format/block-search.js';
import type { OpenTable } from './open.js';

/** No block is needed: the move has ended. */
export const SETTLED = -1;

/** Where a move ends: on the first or last entry of a block, or on the entry next to a key on one side of it. */
type Landing = 'first' | 'last' | Side;

/** Which side of a key to seek, and whether the key itself qualifies. */
export type Side = 'at-or-after' | 'after' | 'at-or-before' | 'before';

/**
 * A place in a table that moves from entry to entry and from block to block, without reading.
 *
 * A move returns the number of the data block that it needs, or {@link SETTLED}. `supply` takes the contents of that block,
 * continues the move, and returns the same kind of number. So the same code serves asynchronous and synchronous tables.
 */
export class TableCursor {
  readonly block: BlockSearch;
  readonly #table: OpenTable;
  /** The number of the data block in `block`. */
  #loaded = -1;
  #wanted = -1;
  #landing: Landing = 'first';
  #target: Uint8Array = new Uint8Array(0);
  #isTargetLent = false;

  constructor(table: OpenTable) {
    this.#table = table;
    this.block = new BlockSearch(table.compare, 'data block', table.file);
  }

  /** Whether the cursor is on an entry. */
  get valid(): boolean {
    return this.block.valid;
  }

  /** @returns the number of the block that must be loaded, or `SETTLED`; so do the other moves */
  seekToFirst(): number {
    return this.#enter(0, 'first');
  }

  /** As {@link seekToFirst}, to the last entry. */
  seekToLast(): number {
    return this.#enter(this.#table.index.length - 1, 'last');
  }

  /** @param key must not change until the move has ended or {@link keepTarget} was called. */
  seek(key: Uint8Array, side: Side): number {
    mustBeBytes('key', key);
    this.#target = key;
    this.#isTargetLent = true;
    // The cursor's own key and value change during the move.
    if (this.block.lends(key)) this.keepTarget();
    // A comparator that throws leaves the cursor on no entry.
    this.block.valid = false;
    const i = this.#table.index.seek(key, this.#table.compare);
    if (i < this.#table.index.length) return this.#enter(i, side);
    // All keys are before this one.
    return side === 'before' || side === 'at-or-before' ? this.#enter(i - 1, 'last') : this.#enter(i, 'first');
  }

  /** Copies the sought key, so that the caller may change it. */
  keepTarget(): void {
    if (this.#isTargetLent) this.#target = new Uint8Array(this.#target);
    this.#isTargetLent = false;
  }

  /** As {@link seekToFirst}, to the entry after this one. */
  next(): number {
    return !this.block.valid || this.block.next() ? SETTLED : this.#enter(this.#loaded + 1, 'first');
  }

  /** As {@link seekToFirst}, to the first entry behind this block. REQUIRES: the cursor is on an entry. */
  nextBlock(): number {
    return this.#enter(this.#loaded + 1, 'first');
  }

  /** As {@link seekToFirst}, to the last entry before this block. REQUIRES: the cursor is on an entry. */
  prevBlock(): number {
    return this.#enter(this.#loaded - 1, 'last');
  }

  /** The number of the block that is loaded. */
  get loaded(): number {
    return this.#loaded;
  }

  /** Takes block `i` for the loaded one, as its entries were visited elsewhere: only `nextBlock`, `prevBlock`, `enterBlock` and seeks after `forgetBlock` may follow. */
  passTo(i: number): void {
    this.#loaded = i;
  }

  /** Moves to the first or last entry of block `i`, which has one, given its contents. */
  enterBlock(i: number, contents: Uint8Array, landing: 'first' | 'last'): void {
    this.#wanted = i;
    this.#landing = landing;
    this.supply(contents);
  }

  /** Makes the next move ask for its block even if that is loaded, because the contents are no longer there. */
  forgetBlock(): void {
    this.#loaded = -1;
  }

  /** As {@link seekToFirst}, to the entry before this one. */
  prev(): number {
    return !this.block.valid || this.block.prev() ? SETTLED : this.#enter(this.#loaded - 1, 'last');
  }

  /** Continues a move, given the contents of the block that it needs. */
  supply(contents: Uint8Array): number {
    this.#loaded = -1;
    this.block.reset(contents, this.#table.index.offsetOf(this.#wanted));
    this.#loaded = this.#wanted;
    return this.#land();
  }

  #enter(i: number, landing: Landing): number {
    this.#landing = landing;
    if (i === this.#loaded && i >= 0) return this.#land();
    this.block.valid = false;
    if (i < 0 || i >= this.#table.index.length) return SETTLED;
    // The loaded block's memory may be used for the wanted one, which may turn out to be unreadable.
    this.#loaded = -1;
    return (this.#wanted = i);
  }

  /** Ends the move in the loaded block; if the block has no such entry, continues in the next or previous block. */
  #land(): number {
    const { block } = this;
    switch (this.#landing) {
      case 'first':
        return block.seekToFirst() ? SETTLED : this.#enter(this.#loaded + 1, 'first');
      case 'last':
        return block.seekToLast() ? SETTLED : this.#enter(this.#loaded - 1, 'last');
      case 'at-or-after':
        return block.seek(this.#target) ? SETTLED : this.#enter(this.#loaded + 1, 'first');
      case 'after':
        if (!block.seek(this.#target)) return this.#enter(this.#loaded + 1, 'first');
        return this.#isOnTarget() ? this.next() : SETTLED;
      case 'at-or-before':
        if (!block.seek(this.#target)) return this.#enter(this.#loaded, 'last');
        return this.#isOnTarget() ? SETTLED : this.prev();
      case 'before':
        return block.seek(this.#target) ? this.prev() : this.#enter(this.#loaded, 'last');
    }
  }

  #isOnTarget(): boolean {
    const { keyBytes, keyLength } = this.block;
    return this.#table.compare(keyBytes, 0, keyLength, this.#target, 0, this.#target.length) === 0;
  }
}
