/**
 * The cursor over a memtable.
 *
 * Source: LevelDB, db/memtable.cc, `MemTableIterator`.
 */
import type { Side } from '@bloom/sstable/internal';
import { type EntryBlock, EntryCursor } from '../cursor/entry-cursor.js';
import { HEAD, type Memtable } from './memtable.js';
import { MemtableBlock } from './memtable-block.js';

export class MemtableCursor extends EntryCursor {
  readonly #memtable: Memtable;
  #node = HEAD;
  #block: MemtableBlock | undefined;

  constructor(memtable: Memtable) {
    super();
    this.#memtable = memtable;
    memtable.isLent = true;
  }

  /** Whether the previous entry has the same internal key. */
  get isCopy(): boolean {
    return this.#memtable.isCopy(this.#node);
  }

  override seekToFirst(): boolean {
    this.reverse = false;
    return this.#land(this.#memtable.first);
  }

  override seekToLast(): boolean {
    this.reverse = true;
    return this.#land(this.#memtable.last);
  }

  override seek(key: Uint8Array, side: Side): boolean {
    this.reverse = side === 'before' || side === 'at-or-before';
    switch (side) {
      case 'at-or-after':
        return this.#land(this.#memtable.seek(key));
      case 'after':
        return this.#land(this.#memtable.seekAfter(key));
      case 'at-or-before':
        return this.#land(this.#memtable.seekBefore(key, true));
      case 'before':
        return this.#land(this.#memtable.seekBefore(key, false));
    }
  }

  override next(): boolean {
    return this.#land(this.#memtable.after(this.#node));
  }

  override prev(): boolean {
    return this.#land(this.#memtable.before(this.#node));
  }

  /** The entries from this one on, or backward up to this one, put together as a block. */
  override get block(): EntryBlock {
    const block = (this.#block ??= new MemtableBlock());
    if (this.#node !== (this.reverse ? block.nodes.at(-1) : block.nodes[0])) block.fill(this.#memtable, this.#node, this.reverse);
    return { contents: block.contents, position: this.reverse ? block.lastStart : 0 };
  }

  override nextBlock(): boolean {
    const { nodes } = this.#block!;
    return this.#land(this.reverse ? this.#memtable.before(nodes[0]!) : this.#memtable.after(nodes.at(-1)!));
  }

  override skip(entries: number): void {
    if (entries > 0) this.#land(this.#block!.nodes.at(this.reverse ? -1 - entries : entries)!);
  }

  #land(node: number): true {
    this.#node = node;
    this.valid = node !== HEAD;
    if (!this.valid) return true;
    const { entry } = this;
    const memtable = this.#memtable;
    entry.keyBytes = entry.valueBytes = memtable.arena;
    entry.keyStart = memtable.keyStart(node);
    entry.keyEnd = entry.valueStart = entry.keyStart + memtable.keyLength(node);
    entry.valueEnd = entry.valueStart + memtable.valueLength(node);
    // Unknown, and a merge may have set it.
    entry.shared = 0;
    return true;
  }
}

/** Walks forward over a memtable's entries. Of several with the same internal key, it visits only the one added last. */
export class MemtableEntries extends MemtableCursor {
  override next(): boolean {
    do super.next();
    while (this.valid && this.isCopy);
    return true;
  }
}
