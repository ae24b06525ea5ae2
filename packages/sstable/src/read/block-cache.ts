import { mustBeWhole } from '@bloom/bytes';
import { createLRU } from 'lru.min';

/** What a block costs besides its bytes: two objects, and their entries in map and list. */
const BLOCK_OVERHEAD = 128;
/** Initial room, in blocks. */
const INITIAL_BLOCKS = 256;

/**
 * Keeps verified and decompressed blocks, up to a number of bytes. Any number of tables can share a cache.
 *
 * lru.min: fast, without dependencies, and a tenth of the size of lru-cache, which would be a fifth of what a page loads
 * to read a table. It counts entries; this class counts bytes.
 *
 * @example
 * ```ts
 * const cache = new BlockCache(64 * 2 ** 20);
 * const tables = await Promise.all(sources.map((source) => Table.open(source, { cache })));
 * ```
 */
export class BlockCache {
  /** The most bytes of blocks to keep. */
  readonly maxBytes: number;
  readonly #blocks = createLRU<number, Uint8Array>({
    max: INITIAL_BLOCKS,
    onEviction: (_, block) => (this.#byteLength -= costOf(block)),
  });
  #byteLength = 0;
  #reserved = 0;

  /** @throws RangeError when `maxBytes` is not a whole number, at least 1. */
  constructor(maxBytes: number) {
    this.maxBytes = mustBeWhole('maxBytes', maxBytes, 1);
  }

  /** The bytes of blocks that it keeps now, including the overhead of each block. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /**
   * Reserves ids for the `count` blocks of a table.
   *
   * @returns the first id; the others follow it. Numbers are cheaper keys than strings made from table and offset.
   */
  reserve(count: number): number {
    const first = this.#reserved;
    this.#reserved += count;
    return first;
  }

  get(id: number): Uint8Array | undefined {
    return this.#blocks.get(id);
  }

  /** Keeps `block`, and evicts the least recently used ones. A block larger than the whole cache is not kept. */
  set(id: number, block: Uint8Array): void {
    const blocks = this.#blocks;
    blocks.delete(id);
    const cost = costOf(block);
    if (cost > this.maxBytes) return;
    if (blocks.available === 0) blocks.resize(blocks.max * 2);
    blocks.set(id, block);
    this.#byteLength += cost;
    while (this.#byteLength > this.maxBytes) blocks.evict(1);
  }

  /** Drops the blocks with the `count` ids from `first`. */
  drop(first: number, count: number): void {
    // Goes through the ids or the cached blocks, whichever are fewer.
    if (count <= this.#blocks.size) for (let id = first; id < first + count; id++) this.#blocks.delete(id);
    else for (const id of [...this.#blocks.keys()]) if (id >= first && id < first + count) this.#blocks.delete(id);
  }
}

function costOf(block: Uint8Array): number {
  return block.length + BLOCK_OVERHEAD;
}
