import { mustBeWhole } from '@bloom/bytes';
import { createLRU } from 'lru.min';

/** What a block costs beside its bytes: two objects, and their place in map and list. */
const BLOCK_OVERHEAD = 128;
/** Room for so many blocks at first. */
const INITIAL_BLOCKS = 256;

/**
 * Verified and decompressed blocks, bounded in bytes, shared by as many tables as are opened with it.
 *
 * lru.min: fast, without a dependency, and a tenth of lru-cache, which with its many options is a fifth of what a page
 * loads to read a table. It counts entries; bytes are counted here.
 *
 * @example
 * ```ts
 * const cache = new BlockCache(64 * 2 ** 20);
 * const tables = await Promise.all(sources.map((source) => Table.open(source, { cache })));
 * ```
 */
export class BlockCache {
  /** The most bytes of blocks that it keeps. */
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

  /** The bytes of blocks that it keeps now. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /**
   * Takes ids for the `count` blocks of a table, which no other table has.
   *
   * @returns the first of them. Numbers in a row make a cheaper key than a string of table and offset.
   */
  reserve(count: number): number {
    const first = this.#reserved;
    this.#reserved += count;
    return first;
  }

  get(id: number): Uint8Array | undefined {
    return this.#blocks.get(id);
  }

  /** Keeps `block`, in place of those that were used longest ago; one larger than the whole cache is not kept. */
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

  /** Drops `count` blocks, of the ids from `first` on. */
  drop(first: number, count: number): void {
    // Ask the shorter of the two lists.
    if (count <= this.#blocks.size) for (let id = first; id < first + count; id++) this.#blocks.delete(id);
    else for (const id of [...this.#blocks.keys()]) if (id >= first && id < first + count) this.#blocks.delete(id);
  }
}

function costOf(block: Uint8Array): number {
  return block.length + BLOCK_OVERHEAD;
}
