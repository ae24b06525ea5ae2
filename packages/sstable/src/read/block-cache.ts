import { mustBeWhole } from '@bloom/bytes/internal';
import { RecentBlocks } from './recent-blocks.js';

/** What a block costs besides its bytes: objects, and their entries in maps and list. */
const BLOCK_OVERHEAD = 128;
/** Memory of longer blocks is not used again: allocating it takes little of the time that reading them takes. */
const MAX_REUSED_BYTES = 64 * 2 ** 10;
/** The most evicted blocks whose memory waits to be used again. */
const MAX_SPARES = 8;
/** How many missed blocks a full cache remembers for each block that it keeps, rounded up to a power of two in total. */
const MISSED_PER_BLOCK = 2;

/**
 * Keeps verified and decompressed blocks, up to a number of bytes. Any number of tables can share a cache. When it is full, a
 * block that a lookup has read is kept only if it is asked for again soon, or was read after its neighbour.
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
  // Such a lookup creates no object that lives as long as its block: V8 moves such objects to its old generation, which grows until it is
  // collected.

  readonly #blocks = new RecentBlocks<KeptBlock>();
  #byteLength = 0;
  #reserved = 0;
  /** Evicted blocks whose memory can be used again. */
  readonly #spares: KeptBlock[] = [];
  /** The block that a lookup missed last, and those before it by the low bits of their ids: see {@link setCopy}. */
  #lastMissed = -1;
  #missed: Float64Array | undefined;
  /** A copy of the last block, where the cache did not keep it. */
  #aside: KeptBlock | undefined;
  #asideId = -1;

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
    const block = this.#blocks.use(id) ?? this.#takeAside(id);
    if (block === undefined) return undefined;
    block.isReusable = false;
    return block.contents;
  }

  /** As {@link get}, for callers that use the block only until anything else is called: its memory may be another block's then. */
  borrow(id: number): Uint8Array | undefined {
    return (this.#blocks.use(id) ?? this.#takeAside(id))?.borrowed;
  }

  /** Keeps `block`, and evicts the least recently used ones. A block larger than the whole cache is not kept. */
  set(id: number, block: Uint8Array): void {
    this.#remove(id);
    if (block.length + BLOCK_OVERHEAD <= this.maxBytes) this.#keep(id, new KeptBlock(block, block.length, false));
  }

  /**
   * Keeps a copy of `block` as {@link set} keeps a block.
   *
   * Once the cache is full, it keeps a block only when it is asked for next, missed again soon, or missed after its neighbour: evicting
   * others for blocks that nobody asks for again took an eighth of the processor time of random lookups.
   */
  setCopy(id: number, block: Uint8Array): void {
    this.#remove(id);
    const { length } = block;
    if (length + BLOCK_OVERHEAD > this.maxBytes) return;
    if (this.#admits(id, length)) this.#keepCopy(id, block);
    else if (length <= MAX_REUSED_BYTES) this.#putAside(id, block);
  }

  #putAside(id: number, block: Uint8Array): void {
    const { length } = block;
    if (this.#aside === undefined || this.#aside.memory.length < length || isMuchLarger(this.#aside.memory, length)) this.#aside = this.#newCopy(length);
    this.#aside.copy(block);
    this.#asideId = id;
  }

  /** Keeps the block that was put aside, if it is that of `id`. */
  #takeAside(id: number): KeptBlock | undefined {
    if (id !== this.#asideId) return undefined;
    const block = this.#aside!;
    this.#aside = undefined;
    this.#asideId = -1;
    this.#keep(id, block);
    return block;
  }

  #keepCopy(id: number, block: Uint8Array): void {
    const { length } = block;
    while (this.#byteLength + length + BLOCK_OVERHEAD > this.maxBytes) this.#evict();
    const kept = this.#takeSpare(length) ?? this.#newCopy(length);
    kept.copy(block);
    this.#keep(id, kept);
  }

  /** Memory for a copy of a block of `length` bytes. */
  #newCopy(length: number): KeptBlock {
    return new KeptBlock(new Uint8Array(Math.min(roomFor(length), this.maxBytes - BLOCK_OVERHEAD)), length, true);
  }

  /** Whether a block that was read because the cache does not have it is kept. */
  #admits(id: number, length: number): boolean {
    const isNeighbour = Math.abs(id - this.#lastMissed) <= 1;
    this.#lastMissed = id;
    if (isNeighbour || this.#byteLength + length + BLOCK_OVERHEAD <= this.maxBytes) return true;
    const missed = (this.#missed ??= new Float64Array(2 ** Math.ceil(Math.log2(this.#blocks.size * MISSED_PER_BLOCK))).fill(-1));
    const slot = (id >>> 0) & (missed.length - 1);
    if (missed[slot] === id) return true;
    missed[slot] = id;
    return false;
  }

  /** Drops the blocks with the `count` ids from `first`. */
  drop(first: number, count: number): void {
    if (this.#asideId >= first && this.#asideId < first + count) this.#asideId = -1;
    // Goes through the ids or the cached blocks, whichever are fewer.
    if (count <= this.#blocks.size) for (let id = first; id < first + count; id++) this.#remove(id);
    else for (const id of this.#blocks.ids()) if (id >= first && id < first + count) this.#remove(id);
  }

  #keep(id: number, block: KeptBlock): void {
    this.#blocks.add(id, block);
    this.#byteLength += block.memory.length + BLOCK_OVERHEAD;
    while (this.#byteLength > this.maxBytes) this.#evict();
  }

  #remove(id: number): void {
    if (id === this.#asideId) this.#asideId = -1;
    const block = this.#blocks.remove(id);
    if (block !== undefined) this.#release(block);
  }

  #evict(): void {
    this.#release(this.#blocks.removeOldest()!);
  }

  /** A block leaves the cache. */
  #release(block: KeptBlock): void {
    this.#byteLength -= block.memory.length + BLOCK_OVERHEAD;
    if (!block.isReusable || block.memory.length > MAX_REUSED_BYTES) return;
    if (this.#spares.length === MAX_SPARES) this.#spares.shift();
    this.#spares.push(block);
  }

  /** An evicted block with memory for one of `length` bytes. */
  #takeSpare(length: number): KeptBlock | undefined {
    const spares = this.#spares;
    for (let i = spares.length - 1; i >= 0; i--) {
      const spare = spares[i]!;
      if (spare.memory.length < length || isMuchLarger(spare.memory, length)) continue;
      spares[i] = spares.at(-1)!;
      spares.pop();
      return spare;
    }
    return undefined;
  }
}

/** A block in the cache, or one that was in it and whose memory is to be used again. */
class KeptBlock {
  readonly memory: Uint8Array;
  /** Whether the memory is the cache's own, and nobody outside may refer to it. */
  isReusable: boolean;
  #length: number;
  /** The first `#length` bytes of the memory; undefined until somebody asks for them, as nobody does for most blocks of random lookups. */
  #contents: Uint8Array | undefined;

  /** Whether a lookup has found the block in the cache. */
  #isAskedFor = false;

  constructor(memory: Uint8Array, length: number, isReusable: boolean) {
    this.memory = memory;
    this.isReusable = isReusable;
    this.#length = length;
    this.#contents = memory.length === length ? memory : undefined;
  }

  get contents(): Uint8Array {
    return (this.#contents ??= this.memory.subarray(0, this.#length));
  }

  /** The same, of which nothing is kept yet when they are asked for the first time. */
  get borrowed(): Uint8Array {
    if (this.#contents !== undefined) return this.#contents;
    if (this.#isAskedFor) return this.contents;
    this.#isAskedFor = true;
    return this.memory.subarray(0, this.#length);
  }

  /** Becomes a copy of `block`, which has room. */
  copy(block: Uint8Array): void {
    this.memory.set(block);
    this.#isAskedFor = false;
    if (block.length === this.#length) return;
    this.#length = block.length;
    this.#contents = undefined;
  }
}

/** Whether memory is so large for a block of `length` that it would cost the cache other blocks. */
function isMuchLarger(memory: Uint8Array, length: number): boolean {
  return memory.length > length + (length >>> 3);
}

/** Bytes to allocate for a block of `length`, up to a 32nd more, so that blocks of about the same length fit into each other's memory. */
function roomFor(length: number): number {
  const step = Math.max(1, 2 ** (26 - Math.clz32(length)));
  return Math.ceil(length / step) * step;
}
