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

  abstract seekToFirst(): boolean;
  abstract seekToLast(): boolean;
  /** @param key an internal key, lent until the move has ended. */
  abstract seek(key: Uint8Array, side: Side): boolean;
  /** REQUIRES: the cursor is on an entry. */
  abstract next(): boolean;
  /** REQUIRES: the cursor is on an entry. */
  abstract prev(): boolean;

  /** The block that the entry is in; undefined where entries are not in blocks. REQUIRES: the cursor is on an entry. */
  get block(): EntryBlock | undefined {
    return undefined;
  }

  /**
   * Moves to the first entry behind the block, whose contents are then lent only until anything else is read: after it, only `block`,
   * `nextBlock`, seeks, and `skip` may be called.
   *
   * REQUIRES: the cursor is on an entry of a block, and its last move went forward.
   */
  nextBlock(): boolean {
    return this.next();
  }

  /**
   * Reads stored blocks behind the block, whose checksums are right, if that is done at once: then they are entered elsewhere, or `nextBlock`
   * reads the first of them again.
   *
   * @param into receives what is read.
   * @param take gets each block, as in `readStored` of `DataBlocks`.
   * @param most how many blocks are taken at most.
   * @param readBytes how many bytes of blocks the walk has read one by one.
   * @returns how many were taken.
   */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- there are none
  nextStored(into: Uint8Array, take: (start: number, length: number) => void, most: number, readBytes: number): number {
    return 0;
  }

  /** Notes that a number of stored blocks were entered. After it, as after `nextBlock`. */
  passStored(entered: number): void {
    throw new Error(`it has given no stored blocks, of which ${entered} could have been entered`);
  }

  /** Moves on by entries of the block, if any. After it, all may be called. @param contents of the block: a copy, if that is needed. */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- those whose blocks are lent need them
  skip(entries: number, contents: () => Uint8Array): void {
    for (let left = entries; left > 0; left--) this.next();
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
