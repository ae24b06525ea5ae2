import type { Bytes } from '@bloom/bytes';
import { mustBeWhole } from '@bloom/bytes/internal';
import { createLRU } from 'lru.min';

/** What a block costs besides its bytes: objects, and their entries in maps and list. */
const BLOCK_OVERHEAD = 128;
/** Initial room, in blocks: a program may have hundreds of databases open, each with a cache. */
const INITIAL_BLOCKS = 8;
/** Memory of longer blocks is not used again: allocating it takes little of the time that reading them takes. */
const MAX_REUSED_BYTES = 64 * 2 ** 10;
/** The most arrays of evicted blocks that wait to be used again. */
const MAX_SPARES = 8;

/**
 * Keeps verified and decompressed blocks, up to a number of bytes. Any number of tables can share a cache.
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
  // Lookups that miss evict one block for each that they add. The new one gets the memory of the old one: a new array of 4 KiB,
  // which the garbage collector must also free, takes longer than reading a block of the system's memory into it. Blocks that
  // were given to callers who may hold on to them are exempt: `get` marks them.
  //
  // lru.min: fast, without dependencies, and a tenth of the size of lru-cache, which would be a fifth of what a page loads to read
  // a table. It counts entries; this class counts bytes.

  /** The contents themselves: an object around each would be one more piece of memory to wait for in each lookup. */
  readonly #blocks = createLRU<number, Uint8Array>({ max: INITIAL_BLOCKS, onEviction: (id, block) => this.#release(id, block) });
  /** Memory of blocks that the cache has allocated, by their ids. */
  readonly #owned = new Map<number, OwnedMemory>();
  #byteLength = 0;
  #reserved = 0;
  /** Memory of evicted blocks. */
  readonly #spares: Bytes[] = [];

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

  /** @returns the block, which counts as used last; undefined where it is not in the cache */
  get(id: number): Uint8Array | undefined {
    const block = this.#blocks.get(id);
    if (block === undefined) return undefined;
    const owned = this.#owned.get(id);
    if (owned !== undefined) owned.isReusable = false;
    return block;
  }

  /** As {@link get}, for callers that use the block only until anything else is called: its memory may be another block's then. */
  borrow(id: number): Uint8Array | undefined {
    return this.#blocks.get(id);
  }

  /** Keeps `block`, and evicts the least recently used ones. A block larger than the whole cache is not kept. */
  set(id: number, block: Uint8Array): void {
    this.#blocks.delete(id);
    if (block.length + BLOCK_OVERHEAD <= this.maxBytes) this.#keep(id, block, block.length);
  }

  /** Keeps a copy of `block`, as {@link set} keeps a block. */
  setCopy(id: number, block: Uint8Array): void {
    this.#blocks.delete(id);
    const memory = this.lend(block.length);
    if (memory === undefined) return;
    memory.set(block);
    this.#own(id, memory.subarray(0, block.length), memory);
  }

  /**
   * Makes room for a block.
   *
   * @returns memory of at least `length` bytes to make it in, for {@link setLent} or {@link giveBack}; undefined where the block is larger
   *   than the whole cache.
   */
  lend(length: number): Bytes | undefined {
    if (length + BLOCK_OVERHEAD > this.maxBytes) return undefined;
    while (this.#byteLength + length + BLOCK_OVERHEAD > this.maxBytes) this.#blocks.evict(1);
    return this.#takeSpare(length) ?? new Uint8Array(Math.min(roomFor(length), this.maxBytes - BLOCK_OVERHEAD));
  }

  /** Keeps `block` without copying it, if it fills most of `memory`, which was lent. Otherwise keeps a copy, and takes the memory back. */
  setLent(id: number, block: Uint8Array, memory: Bytes): void {
    if (block.buffer === memory.buffer && !isMuchLarger(memory, block.length)) {
      this.#blocks.delete(id);
      this.#own(id, block, memory);
    } else {
      // First, so that the copy can go there. It is never chosen for a block that is in it now: it is too large for that block.
      this.giveBack(memory);
      this.setCopy(id, block);
    }
  }

  /** Takes back memory in which no block was made. */
  giveBack(memory: Bytes): void {
    if (memory.length > MAX_REUSED_BYTES) return;
    if (this.#spares.length === MAX_SPARES) this.#spares.shift();
    this.#spares.push(memory);
  }

  /** Drops the blocks with the `count` ids from `first`. */
  drop(first: number, count: number): void {
    // Goes through the ids or the cached blocks, whichever are fewer.
    if (count <= this.#blocks.size) for (let id = first; id < first + count; id++) this.#blocks.delete(id);
    else for (const id of [...this.#blocks.keys()]) if (id >= first && id < first + count) this.#blocks.delete(id);
  }

  #own(id: number, block: Uint8Array, memory: Bytes): void {
    this.#owned.set(id, { memory, isReusable: true });
    this.#keep(id, block, memory.length);
  }

  #keep(id: number, block: Uint8Array, byteLength: number): void {
    const blocks = this.#blocks;
    if (blocks.available === 0) blocks.resize(blocks.max * 2);
    blocks.set(id, block);
    this.#byteLength += byteLength + BLOCK_OVERHEAD;
    while (this.#byteLength > this.maxBytes) blocks.evict(1);
  }

  /** A block leaves the cache. */
  #release(id: number, block: Uint8Array): void {
    const owned = this.#owned.get(id);
    this.#byteLength -= (owned?.memory ?? block).length + BLOCK_OVERHEAD;
    if (owned === undefined) return;
    this.#owned.delete(id);
    if (owned.isReusable) this.giveBack(owned.memory);
  }

  /** Memory of an evicted block for one of `length` bytes. */
  #takeSpare(length: number): Bytes | undefined {
    const spares = this.#spares;
    for (let i = spares.length - 1; i >= 0; i--) {
      const spare = spares[i]!;
      if (spare.length < length || isMuchLarger(spare, length)) continue;
      spares[i] = spares.at(-1)!;
      spares.pop();
      return spare;
    }
    return undefined;
  }
}

/** What the cache has allocated for a block. */
interface OwnedMemory {
  readonly memory: Bytes;
  /** Whether nobody outside may refer to it. */
  isReusable: boolean;
}

/** Whether memory is so large for a block of `length` that it would cost the cache other blocks. */
function isMuchLarger(memory: Bytes, length: number): boolean {
  return memory.length > length + (length >>> 3);
}

/** Bytes to allocate for a block of `length`, up to a 32nd more, so that blocks of about the same length fit into each other's memory. */
function roomFor(length: number): number {
  const step = Math.max(1, 2 ** (26 - Math.clz32(length)));
  return Math.ceil(length / step) * step;
}
