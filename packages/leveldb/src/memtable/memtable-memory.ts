/**
 * How much memory LevelDB's memtable would have taken: logs are switched by it, so the count must be the same to the byte.
 *
 * An arena of blocks, in which each entry takes its encoded form and then, aligned to 8 bytes, a node of the skip list:
 *
 *     entry:  key length + 8 (varint32) | user key | sequence and type (8) | value length (varint32) | value
 *     node:   pointer to the entry (8) | a link for each level (8 each)
 *
 * Source: LevelDB, util/arena.cc, db/memtable.cc and db/skiplist.h, on a machine with pointers of 64 bits.
 */
import { varintLength } from '@bloom/bytes';

const BLOCK_LENGTH = 4096;
/** An allocation that does not fit into the current block and is larger than this gets its own block, to waste less space. */
const MAX_SHARED_LENGTH = BLOCK_LENGTH / 4;
const POINTER_LENGTH = 8;

/** Counts the bytes that LevelDB's arena would allocate. */
export class MemtableMemory {
  /** Bytes of all blocks, and a pointer to each. */
  byteLength = 0;
  /** Bytes left in the current block. */
  #left = 0;

  /** @param height of the skip list's head node, which is the first to be allocated. */
  constructor(height: number) {
    this.#addNode(height);
  }

  /** Counts an entry whose node has `height` links. */
  add(internalKeyLength: number, valueLength: number, height: number): void {
    const length = varintLength(internalKeyLength) + internalKeyLength + varintLength(valueLength) + valueLength;
    if (length <= this.#left) this.#left -= length;
    else this.#fallBack(length);
    this.#addNode(height);
  }

  #addNode(height: number): void {
    const length = POINTER_LENGTH + POINTER_LENGTH * height;
    // Blocks are aligned and a multiple of 8 bytes long, so the padding follows from the remaining bytes.
    const needed = length + (this.#left % POINTER_LENGTH);
    if (needed <= this.#left) this.#left -= needed;
    else this.#fallBack(length);
  }

  #fallBack(length: number): void {
    if (length > MAX_SHARED_LENGTH) {
      this.byteLength += length + POINTER_LENGTH;
      return;
    }
    this.byteLength += BLOCK_LENGTH + POINTER_LENGTH;
    this.#left = BLOCK_LENGTH - length;
  }
}
