import type { Side } from '@bloom/sstable/internal';
import type { FolderReading } from '../folder/folder-reading.js';

const NO_BYTES = new Uint8Array(0);

/** The entry that a cursor is on. */
export class Entry {
  /** Its internal key is `keyBytes[keyStart, keyEnd)`. */
  keyBytes: Uint8Array = NO_BYTES;
  keyStart = 0;
  keyEnd = 0;
  /**
   * After `next`: how many bytes at the start of the internal key are known to be those of the key before. They may reach into the
   * trailers. After other moves it means nothing.
   */
  shared = 0;
  /** Its value is `valueBytes[valueStart, valueEnd)`. */
  valueBytes: Uint8Array = NO_BYTES;
  valueStart = 0;
  valueEnd = 0;
}

/** The block that an entry is in. */
export interface EntryBlock {
  /** Lent until the next move. */
  readonly contents: Uint8Array;
  /** Where in the contents the entry starts. */
  readonly position: number;
}

/**
 * A place among entries sorted by internal key: those of a memtable, of a table, of a level, or of many of them.
 *
 * A move returns true when it has ended, and false when something must be read first: `settle` then reads it and completes the move.
 * So a move within a block costs neither a promise nor a generator.
 *
 * Key and value are lent until the next move. A move that throws leaves the cursor on no entry.
 */
export abstract class EntryCursor {
  /** Whether the cursor is on an entry. */
  valid = false;
  /**
   * That entry, while the cursor is valid. A cursor over several sources refers to the entry of its current source, so that
   * levels and merges copy nothing.
   */
  entry = new Entry();
  /** Whether the last seek went backward: then entries and blocks come in the reverse order. */
  protected reverse = false;

  abstract seekToFirst(): boolean;
  abstract seekToLast(): boolean;
  /** @param key an internal key, lent until the move has ended. */
  abstract seek(key: Uint8Array, side: Side): boolean;
  /** REQUIRES: the cursor is on an entry. */
  abstract next(): boolean;
  /** REQUIRES: the cursor is on an entry. */
  abstract prev(): boolean;

  /** The name of the table that the entry is in; undefined if it is in none. REQUIRES: the cursor is on an entry. */
  get file(): string | undefined {
    return undefined;
  }

  /** The block that the entry is in; undefined if entries are not in blocks. REQUIRES: the cursor is on an entry. */
  get block(): EntryBlock | undefined {
    return undefined;
  }

  /**
   * Moves to the first entry of the next block; backward to the last entry of the previous one. The contents of that block are valid only until
   * anything else is read, so only `block`, `nextBlock`, `skip` and seeks may be called then.
   *
   * REQUIRES: the cursor is on an entry of a block, and its last move went in the direction of the last seek.
   */
  nextBlock(): boolean {
    return this.#step();
  }

  /**
   * Reads the stored blocks that come next in the direction of the last seek, and verifies their checksums, if that needs no waiting. The caller either decodes them itself and
   * calls `passStored`, or calls `nextBlock`, which reads the first of them again.
   *
   * @param into receives the stored bytes.
   * @param take is called for each block, as by `readStored` of `DataBlocks`.
   * @param most the most blocks to take.
   * @param readBytes the bytes of the blocks that the walk has read one by one so far.
   * @returns the number of blocks taken.
   */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- entries in memory have no stored blocks
  nextStored(into: Uint8Array, take: (start: number, length: number) => void, most: number, readBytes: number): number {
    return 0;
  }

  /** Moves past stored blocks that the caller has decoded itself. The same methods may be called then as after `nextBlock`. */
  passStored(entered: number): void {
    throw new Error(`the cursor has no stored blocks, so it cannot move past ${entered}`);
  }

  /** Moves on by entries of the block. Then all methods may be called again. @param contents returns a copy of the block's contents. */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- only cursors whose contents are not valid for long need the copy
  skip(entries: number, contents: () => Uint8Array): void {
    for (let left = entries; left > 0; left--) this.#step();
  }

  #step(): boolean {
    return this.reverse ? this.prev() : this.next();
  }

  /** Completes a move that returned false. */
  // eslint-disable-next-line require-yield -- entries in memory need no reads
  *settle(): FolderReading<void> {
    return;
  }

  /** Releases what the cursor reads from. */
  close(): void {
    this.valid = false;
  }
}
