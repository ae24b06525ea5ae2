import { mustBeBytes } from '@bloom/bytes/internal';
import { CursorBounds } from './cursor-bounds.js';
import { mayHavePrefix } from './key-prefix.js';
import type { KeyInterval } from './key-range.js';
import type { OpenTable } from './open.js';
import { SETTLED, type Side, TableCursor } from './table-cursor.js';

/** A place in a table for a cursor with these options. @throws the errors of {@link CursorBounds.of}. */
export function tableCursorWithin(table: OpenTable, options: KeyInterval): TableCursor {
  const bounds = CursorBounds.of(options, table.compare);
  if (bounds === undefined) return new TableCursor(table);
  return new BoundedTableCursor(table, bounds, options.prefix !== undefined && !mayHavePrefix(table, options.prefix));
}

/** A place among the entries of a table between two keys: a move that leads to others leads to no entry. */
class BoundedTableCursor extends TableCursor {
  readonly #bounds: CursorBounds;
  readonly #isEmpty: boolean;

  /** @param isEmpty whether it is known that there is no entry between the bounds. */
  constructor(table: OpenTable, bounds: CursorBounds, isEmpty: boolean) {
    super(table);
    this.#bounds = bounds;
    this.#isEmpty = isEmpty;
  }

  override seekToFirst(): number {
    const { first } = this.#bounds;
    return first === undefined ? this.#within(super.seekToFirst()) : this.seek(first.key, first.side);
  }

  override seekToLast(): number {
    const { last } = this.#bounds;
    return last === undefined ? this.#within(super.seekToLast()) : this.seek(last.key, last.side);
  }

  override seek(key: Uint8Array, side: Side): number {
    mustBeBytes('key', key);
    this.block.valid = false;
    if (this.#isEmpty) return SETTLED;
    const seek = this.#bounds.seek(key, side);
    return this.#within(super.seek(seek.key, seek.side));
  }

  override next(): number {
    return this.#within(super.next());
  }

  override prev(): number {
    return this.#within(super.prev());
  }

  override supply(contents: Uint8Array): number {
    return this.#within(super.supply(contents));
  }

  /** Leaves an entry that is not between the bounds. */
  #within(wanted: number): number {
    const { block } = this;
    if (wanted === SETTLED && block.valid && !this.#bounds.admits(block.keyBytes, 0, block.keyLength)) block.valid = false;
    return wanted;
  }
}
