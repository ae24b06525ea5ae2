/** What a block costs beside its bytes: two objects, and a place in the map. */
const BLOCK_OVERHEAD = 128;

/** A block, in a ring by time of use: `newer` than the newest is the head, and `newer` than the head the oldest. */
interface Kept {
  readonly id: number;
  readonly block: Uint8Array;
  newer: Kept;
  older: Kept;
}

/**
 * Verified and decompressed blocks, bounded in bytes, shared by as many tables as are opened with it.
 *
 * Not lru-cache: with its many options it is a fifth of what a page loads to read a table, and takes as long for a hit
 * and a third longer for a miss. Not a map alone, deleted from and set again at each use: twice as long for a hit.
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
  readonly #blocks = new Map<number, Kept>();
  readonly #head: Kept;
  #byteLength = 0;
  #reserved = 0;

  /** @throws RangeError when `maxBytes` is not a positive whole number. */
  constructor(maxBytes: number) {
    if (!(Number.isSafeInteger(maxBytes) && maxBytes > 0)) {
      throw new RangeError(`maxBytes must be a positive whole number, got ${maxBytes}`);
    }
    this.maxBytes = maxBytes;
    const head = { id: -1, block: new Uint8Array(0) } as Kept;
    head.newer = head;
    head.older = head;
    this.#head = head;
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
    const kept = this.#blocks.get(id);
    if (kept === undefined) return undefined;
    unlink(kept);
    this.#linkAsNewest(kept);
    return kept.block;
  }

  /** Keeps `block`, in place of those that were used longest ago; one larger than the whole cache is not kept. */
  set(id: number, block: Uint8Array): void {
    this.#delete(id);
    const byteLength = block.length + BLOCK_OVERHEAD;
    if (byteLength > this.maxBytes) return;
    const kept = { id, block, newer: this.#head, older: this.#head };
    this.#linkAsNewest(kept);
    this.#blocks.set(id, kept);
    this.#byteLength += byteLength;
    while (this.#byteLength > this.maxBytes) this.#delete(this.#head.newer.id);
  }

  /** Drops `count` blocks, of the ids from `first` on. */
  drop(first: number, count: number): void {
    // Ask the shorter of the two lists.
    if (count <= this.#blocks.size) for (let id = first; id < first + count; id++) this.#delete(id);
    else for (const id of this.#blocks.keys()) if (id >= first && id < first + count) this.#delete(id);
  }

  #linkAsNewest(kept: Kept): void {
    const head = this.#head;
    kept.newer = head;
    kept.older = head.older;
    head.older.newer = kept;
    head.older = kept;
  }

  #delete(id: number): void {
    const kept = this.#blocks.get(id);
    if (kept === undefined) return;
    unlink(kept);
    this.#blocks.delete(id);
    this.#byteLength -= kept.block.length + BLOCK_OVERHEAD;
  }
}

function unlink({ newer, older }: Kept): void {
  newer.older = older;
  older.newer = newer;
}
