import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';
import { isBytewiseOrder } from '../format/bytewise-order.js';
import type { IndexBlock } from '../format/index-block.js';
import { isOwnSnappy, lendingSnappyDecoder, SNAPPY_TYPE } from '../compression/snappy.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock, hasRightChecksum, isPlain } from '../format/stored-block.js';
import { BlockCache } from './block-cache.js';
import type { BlockScratch } from './block-scratch.js';
import { type OpenTable, readUnreadFilter } from './open.js';
import { DEFAULT_CACHE_BYTES, type TableOptions } from './options.js';
import { type ByteRange, type Reading, readRangeInto, readRangeSync, runSync } from './reading.js';
import type { SyncSource } from './source.js';
import type { MutableTableStats } from './stats.js';
import type { StoredScratch } from './stored-scratch.js';
import type { UnreadFilter } from './unread-filter.js';

/**
 * The data blocks of an open table, by their number in the index: where each is in the file, how it is decoded, and
 * whether the cache has it. `Table` and `SyncTable` do the reading.
 */
export class DataBlocks {
  readonly index: IndexBlock;
  /** The most bytes of a block, both as stored and decompressed. */
  readonly maxBytes: number;
  readonly #table: OpenTable;
  readonly #stats: MutableTableStats;
  readonly #cache: BlockCache | undefined;
  /** The cache's id of data block 0. */
  readonly #firstCacheId: number;
  /** Whether the table is closed. */
  isClosed = false;
  /**
   * Makes sure that blocks which were read are those of the table, before the cache gives one of them; undefined where that is known.
   *
   * @throws the error of a table whose file was changed.
   */
  mustBeSure: (() => void) | undefined;
  /** How blocks of {@link decodeBorrowed} are decoded. */
  #lending: BlockDecoding | undefined;
  /** Whether lookups may search memory that another lookup uses again: not where they call a comparator, which may look up a key. */
  readonly #canBorrow: boolean;

  constructor(table: OpenTable, cache: TableOptions['cache'], stats: MutableTableStats) {
    this.index = table.index;
    this.maxBytes = table.decoding.maxBlockBytes;
    this.#table = table;
    this.#canBorrow = isBytewiseOrder(table.lookupCompare);
    this.#stats = stats;
    this.#cache = cache === null ? undefined : (cache ?? new BlockCache(DEFAULT_CACHE_BYTES));
    this.#firstCacheId = this.#cache?.reserve(table.index.length) ?? 0;
  }

  /** Whether blocks are kept after they were read. */
  get hasCache(): boolean {
    return this.#cache !== undefined;
  }

  /** The most bytes of blocks that are kept. */
  get cacheBytes(): number {
    return this.#cache?.maxBytes ?? 0;
  }

  /** The table's filter, as long as it has not been read. */
  get unread(): UnreadFilter | undefined {
    return this.#table.unread;
  }

  /** Reads the filter that has not been read. */
  *readFilter(unread: UnreadFilter): Reading<void> {
    this.#stats.bytesRead += yield* readUnreadFilter(this.#table, unread, this);
  }

  /** Reads the filter synchronously. If the source fails to read it, lookups go on without it. */
  readFilterSync(unread: UnreadFilter, source: SyncSource): void {
    try {
      runSync(source, this.readFilter(unread));
    } catch (error) {
      this.filterFailed(unread, error as Error);
    }
  }

  /** Notes that the source has failed to read the filter: lookups do without it, and it is read when it pays again. */
  filterFailed(unread: UnreadFilter, error: Error): void {
    unread.restart();
    this.#table.filterStatus = { state: 'unread', policyName: unread.policy.name, error };
  }

  /** As `cached`, and is not counted. -1 is no block. */
  inMemory(i: number): Uint8Array | undefined {
    const contents = i < 0 ? undefined : this.#cache?.get(this.#firstCacheId + i);
    if (contents !== undefined) this.mustBeSure?.();
    return contents;
  }

  /** The contents of data block `i`, if the cache has them. */
  cached(i: number): Uint8Array | undefined {
    const contents = this.#cache?.get(this.#firstCacheId + i);
    if (contents !== undefined) this.#hit();
    return contents;
  }

  /** As {@link cached}, for a caller that is done with the contents before it, or any function of others, reads another block. */
  borrowed(i: number): Uint8Array | undefined {
    if (!this.#canBorrow) return this.cached(i);
    const contents = this.#cache?.borrow(this.#firstCacheId + i);
    if (contents !== undefined) this.#hit();
    return contents;
  }

  #hit(): void {
    this.mustBeSure?.();
    this.#stats.cacheHits++;
  }

  /** Whether data block `i` exists, with a valid handle and an allowed size. */
  isReadable(i: number): boolean {
    if (i < 0 || i >= this.index.length) return false;
    const size = this.index.sizeOf(i);
    return size >= 0 && size <= this.maxBytes;
  }

  /**
   * Where the stored data block `i` is, including its trailer.
   *
   * @throws CorruptionError `BLOOM_BAD_HANDLE` when its handle is damaged, `BLOOM_TOO_LARGE` when the block is larger
   *   than the limit.
   */
  rangeOf(i: number): ByteRange {
    const size = this.index.sizeOf(i);
    if (size < 0) this.mustHaveHandle(i);
    const offset = this.index.offsetOf(i);
    if (size > this.maxBytes) {
      const problem = `it has ${size} bytes as stored, the limit is ${this.maxBytes}: see maxBlockBytes`;
      throw new CorruptionError('BLOOM_TOO_LARGE', this.#placeOf(i), problem);
    }
    return { offset, length: size + BLOCK_TRAILER_LENGTH };
  }

  /** @throws CorruptionError `BLOOM_BAD_HANDLE` when the handle of data block `i` is damaged. */
  mustHaveHandle(i: number): void {
    if (this.index.sizeOf(i) >= 0) return;
    throw new CorruptionError('BLOOM_BAD_HANDLE', this.#placeOf(i), `its handle, entry ${i} of the index, is damaged`);
  }

  /**
   * The data blocks from `i` on in the direction of `step` that are adjacent in the file and have at most `maxBytes` in
   * total, but at least block `i`.
   */
  adjacent(i: number, step: 1 | -1, maxBytes: number): { readonly last: number; readonly range: ByteRange } {
    let range = this.rangeOf(i);
    let last = i;
    for (let j = i + step; this.isReadable(j); j += step) {
      const other = this.rangeOf(j);
      const [before, behind] = step > 0 ? [range, other] : [other, range];
      const length = range.length + other.length;
      if (before.offset + before.length !== behind.offset || length > maxBytes) break;
      range = { offset: before.offset, length };
      last = j;
    }
    return { last, range };
  }

  /**
   * Verifies and decompresses data block `i`, and keeps it in the cache.
   *
   * @param isLent whether the memory of `stored` is used again: then the contents have memory of their own.
   * @param fillsCache whether the cache keeps it.
   */
  decode(i: number, stored: Uint8Array, isLent = false, fillsCache = true): Uint8Array {
    this.#count(stored);
    const decoded = decodeStoredBlock(stored, this.#placeOf(i), this.#table.decoding);
    const contents = isLent ? owned(decoded, stored) : decoded;
    if (fillsCache && !this.isClosed) this.#cache?.set(this.#firstCacheId + i, contents);
    return contents;
  }

  /**
   * Does {@link decode} for a caller like those of {@link borrowed}.
   *
   * @param stored read with the memory of `scratch` taken.
   * @param isLent whether it is in that memory.
   * @param isUsedAtOnce whether nothing of the caller's is called before the contents are used, such as a signal.
   */
  decodeBorrowed(i: number, stored: Uint8Array, isLent: boolean, scratch: StoredScratch, isUsedAtOnce: boolean): Uint8Array {
    // Bytes that the source has in memory are kept as they are.
    if (!this.#canBorrow || (!isLent && isPlain(stored))) return this.decode(i, stored, isLent);
    const storedContents = isLent && stored === scratch.first(stored.length) ? scratch.first(stored.length - BLOCK_TRAILER_LENGTH) : undefined;
    const decoding = isUsedAtOnce ? (this.#lending ??= lendingBy(this.#table.decoding)) : this.#table.decoding;
    return this.#decodeIntoCache(i, stored, scratch.contents, decoding, storedContents);
  }

  /** Decodes a block into memory of the caller's, and keeps a copy in the cache, whose memory may be used again. */
  #decodeIntoCache(i: number, stored: Uint8Array, scratch: BlockScratch, decoding: BlockDecoding, storedContents?: Uint8Array): Uint8Array {
    this.#count(stored);
    const contents = scratch.decode(stored, this.#placeOf(i), decoding, storedContents);
    // A codec may have closed the table.
    if (!this.isClosed) this.#cache?.setCopy(this.#firstCacheId + i, contents);
    return contents;
  }

  /**
   * Reads and decodes data block `i`, which is not in the cache, synchronously.
   *
   * @param scratch may receive the stored bytes.
   * @param isBorrowed whether the caller is like those of {@link borrowed}.
   */
  readSync(i: number, source: SyncSource, scratch: StoredScratch, isBorrowed = false): Uint8Array {
    const range = this.rangeOf(i);
    const into = source.readInto === undefined ? undefined : scratch.take(range.length);
    if (into === undefined) return this.decode(i, readRangeSync(source, range));
    try {
      const stored = readRangeInto(source, range, into);
      return isBorrowed ? this.decodeBorrowed(i, stored, true, scratch, true) : this.decode(i, stored, true);
    } finally {
      scratch.giveBack();
    }
  }

  /**
   * Does {@link decode} for a walk that needs the contents only until it asks for the next block.
   *
   * @param isWindow whether `stored` is part of a larger array, which may be overwritten: then the cache keeps a copy.
   * @param fillsCache whether the cache keeps it.
   * @param isBorrowed whether the caller is like those of {@link borrowed}.
   */
  decodeLent(i: number, stored: Uint8Array, scratch: BlockScratch, isWindow: boolean, fillsCache: boolean, isBorrowed = false): Uint8Array {
    if (fillsCache && this.#cache !== undefined && !this.isClosed) {
      return isBorrowed && isWindow && this.#canBorrow ? this.#decodeIntoCache(i, stored, scratch, this.#table.decoding) : this.decode(i, stored, isWindow);
    }
    this.#count(stored);
    return scratch.decode(stored, this.#placeOf(i), this.#table.decoding);
  }

  /**
   * Reads stored blocks from `i` on in the direction of `step`, which are adjacent in the file, and verifies their checksums: for a caller that decodes blocks without
   * compression and those of Snappy itself, and leaves the others to `decode`. The cache does not keep them.
   *
   * @param into receives what is read.
   * @param read reads a range; false where the bytes are not at hand.
   * @param take gets each block: where it starts in `into`, and the length of its contents as stored, which the type and the checksum follow.
   * @param most how many blocks are taken at most.
   * @returns how many were taken: 0 also where a block is in the cache, damaged, or larger than the limit.
   */
  readStored(
    i: number,
    step: 1 | -1,
    into: Uint8Array,
    read: (range: ByteRange, into: Uint8Array) => boolean,
    take: (start: number, length: number) => void,
    most: number,
  ): number {
    const snappy = this.#table.decoding.codecs.get(SNAPPY_TYPE);
    if (!this.isReadable(i) || this.inMemory(i) !== undefined || snappy === undefined || !isOwnSnappy(snappy)) return 0;
    const { last, range } = this.adjacent(i, step, into.length);
    if (range.length > into.length || !read(range, into.subarray(0, range.length))) return 0;
    const found = Math.min(most, Math.abs(last - i) + 1);
    let taken = 0;
    for (; taken < found; taken++) {
      const { offset, length } = this.rangeOf(i + taken * step);
      const start = offset - range.offset;
      const stored = into.subarray(start, start + length);
      if (!hasRightChecksum(stored) || this.#isTooLong(stored)) break;
      this.#count(stored);
      take(start, length - BLOCK_TRAILER_LENGTH);
    }
    return taken;
  }

  /** Whether the header of a Snappy block says that it decompresses to more than the limit. */
  #isTooLong(stored: Uint8Array): boolean {
    return stored[stored.length - BLOCK_TRAILER_LENGTH] === SNAPPY_TYPE && new VarintReader(stored).varint32() > this.maxBytes;
  }

  #count(stored: Uint8Array): void {
    this.#stats.blockReads++;
    this.#stats.bytesRead += stored.length;
  }

  /** @throws TypeError when the table is closed. */
  mustBeOpen(): void {
    if (this.isClosed) throw new TypeError('the table is closed');
  }

  /** Drops the table's blocks from the cache, for good. */
  close(): void {
    if (this.isClosed) return;
    // So that a block whose read ends later does not stay in the cache.
    this.isClosed = true;
    this.forget();
  }

  /** Drops the table's blocks from the cache. */
  forget(): void {
    this.#cache?.drop(this.#firstCacheId, this.index.length);
  }

  #placeOf(i: number): Place {
    return { structure: 'data block', offset: this.index.offsetOf(i), file: this.#table.file };
  }
}

/** The same decoding, but what Snappy decompresses is valid only until it decompresses another block. */
function lendingBy(decoding: BlockDecoding): BlockDecoding {
  const snappy = decoding.codecs.get(SNAPPY_TYPE);
  if (snappy === undefined || !isOwnSnappy(snappy)) return decoding;
  return { ...decoding, codecs: new Map([...decoding.codecs, [SNAPPY_TYPE, lendingSnappyDecoder]]) };
}

/** Decoded contents in memory that is not that of the stored block. */
function owned(decoded: Uint8Array, stored: Uint8Array): Uint8Array {
  // A codec may return a view too, but asking for the buffer takes as long as copying a kilobyte.
  return isPlain(stored) || decoded.buffer === stored.buffer ? decoded.slice() : decoded;
}
