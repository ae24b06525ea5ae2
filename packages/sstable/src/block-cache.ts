import { LRUCache } from 'lru-cache';

/** What an entry costs beside its bytes: two objects, and their place in map and list. */
const ENTRY_OVERHEAD = 128;

/**
 * Verified and decompressed blocks, bounded in bytes, shared by as many tables as are opened with it.
 *
 * lru-cache: the JavaScript world's own, bounded by size, without a dependency.
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
  readonly #blocks: LRUCache<number, Uint8Array>;
  #reserved = 0;

  /** @throws RangeError when `maxBytes` is not a positive whole number. */
  constructor(maxBytes: number) {
    if (!(Number.isSafeInteger(maxBytes) && maxBytes > 0)) {
      throw new RangeError(`maxBytes must be a positive whole number, got ${maxBytes}`);
    }
    this.maxBytes = maxBytes;
    this.#blocks = new LRUCache({ maxSize: maxBytes, sizeCalculation: (block) => block.length + ENTRY_OVERHEAD });
  }

  /** The bytes of blocks that it keeps now. */
  get byteLength(): number {
    return this.#blocks.calculatedSize;
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

  set(id: number, block: Uint8Array): void {
    this.#blocks.set(id, block);
  }

  /** Drops `count` blocks, of the ids from `first` on. */
  drop(first: number, count: number): void {
    // Ask the shorter of the two lists.
    if (count <= this.#blocks.size) for (let id = first; id < first + count; id++) this.#blocks.delete(id);
    else for (const id of this.#blocks.keys()) if (id >= first && id < first + count) this.#blocks.delete(id);
  }
}
