import { FilterBlockReader } from '@bloom/filter-block';
import { mustBeBytes, mustBeWhole } from '@bloom/bytes';
import { BlockCache } from './block-cache.js';
import type { BlockHandle } from '../format/block-handle.js';
import { BlockSearch } from '../format/block-search.js';
import { ByteCopier } from './byte-copier.js';
import { bytewiseComparator, type Comparator, type CompareRange, compareRangeOf } from '../format/comparator.js';
import { CorruptionError, type Place, type Structure, UnsupportedError } from '@bloom/bytes';
import type { FilterStatus } from './filter-status.js';
import { decodeFooter, FOOTER_LENGTH } from '../format/footer.js';
import { IndexBlock } from '../format/index-block.js';
import { decodeMetaindex, isForeignFilter, policyNameOf } from '../format/metaindex-block.js';
import type { ByteRange, Reading } from './reading.js';
import type { Source } from './source.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock } from '../format/stored-block.js';
import {
  decodingFor,
  DEFAULT_CACHE_BYTES,
  DEFAULT_TAIL_BYTES,
  policiesFor,
  type TableOptions,
} from './table-options.js';

/** What lookups did so far. All counts start at 0 when the table is opened. */
export interface TableStats {
  /** Lookups that a filter ended without a read: the key is certainly absent. */
  readonly filterNegatives: number;
  /** Lookups that a filter let pass and whose key was there. */
  readonly filterTruePositives: number;
  /** Lookups that a filter let pass and whose key was not there. */
  readonly filterFalsePositives: number;
  /** Data blocks read from the source. */
  readonly blockReads: number;
  /** Data blocks found in the cache. */
  readonly cacheHits: number;
  /** Bytes read from the source, those of opening included. */
  readonly bytesRead: number;
}

/** No data block can hold the key. */
export const ABSENT = -1;

/**
 * A table whose index and filter are in memory: all that a lookup does but the reading.
 *
 * Where a block is to be read, it says which one; `Table` and `SyncTable` differ in how they wait for it.
 */
export class OpenTable {
  readonly byteLength: number;
  readonly comparator: Comparator;
  readonly compare: CompareRange;
  readonly index: IndexBlock;
  readonly metaindexHandle: BlockHandle;
  readonly filter: FilterBlockReader | undefined;
  readonly filterStatus: FilterStatus;
  readonly stats: { -readonly [Name in keyof TableStats]: TableStats[Name] } = {
    filterNegatives: 0,
    filterTruePositives: 0,
    filterFalsePositives: 0,
    blockReads: 0,
    cacheHits: 0,
    bytesRead: 0,
  };
  readonly file: string | undefined;
  readonly #decoding: BlockDecoding;
  readonly #cache: BlockCache | undefined;
  /** The cache's id of data block 0. */
  readonly #firstCacheId: number;
  #closed = false;
  /** Searches one block at a time. */
  readonly #searcher: BlockSearch;
  readonly #copier = new ByteCopier();

  private constructor(parts: Parts, source: Source, decoding: BlockDecoding, options: TableOptions) {
    this.byteLength = source.byteLength;
    this.file = source.name;
    this.comparator = parts.comparator;
    this.compare = compareRangeOf(parts.comparator);
    this.index = parts.index;
    this.metaindexHandle = parts.metaindexHandle;
    this.filter = parts.filter;
    this.filterStatus = parts.filterStatus;
    this.#decoding = decoding;
    this.#cache = options.cache === null ? undefined : (options.cache ?? new BlockCache(DEFAULT_CACHE_BYTES));
    this.#firstCacheId = this.#cache?.reserve(parts.index.length) ?? 0;
    this.#searcher = this.newBlockSearch();
  }

  /**
   * Opens a table: reads its tail, and from there footer, index, metaindex and filter.
   *
   * @throws RangeError for an option that is wrong.
   * @throws CorruptionError when the footer or the index cannot be read. Damage to metaindex or filter costs the
   *   filter, not the table.
   */
  static *open(source: Source, options: TableOptions): Reading<OpenTable> {
    const comparator = options.comparator ?? bytewiseComparator;
    const policies = policiesFor(options, comparator);
    const decoding = decodingFor(options);
    const tailBytes = mustBeWhole('tailBytes', options.tailBytes ?? DEFAULT_TAIL_BYTES, FOOTER_LENGTH);
    const { byteLength, name: file } = source;
    if (byteLength < FOOTER_LENGTH) {
      const problem = `not a LevelDB table: ${byteLength} bytes are fewer than the ${FOOTER_LENGTH} of a footer`;
      throw new CorruptionError('BLOOM_NOT_A_TABLE', { structure: 'file', offset: 0, file }, problem);
    }
    let bytesRead = 0;
    const tailOffset = Math.max(0, byteLength - tailBytes);
    const footerOffset = byteLength - FOOTER_LENGTH;
    const tail = yield { offset: tailOffset, length: byteLength - tailOffset };
    bytesRead += tail.length;
    const footerPlace: Place = { structure: 'footer', offset: footerOffset, file };
    const footer = decodeFooter(tail.subarray(footerOffset - tailOffset), footerPlace);

    function* readBlock(handle: BlockHandle, structure: Structure): Reading<Uint8Array> {
      const { offset, size } = handle;
      const length = size + BLOCK_TRAILER_LENGTH;
      if (offset + length > footerOffset) {
        const problem = `the handle of the ${structure} (offset ${offset}, size ${size}) points outside the file`;
        throw new CorruptionError('BLOOM_BAD_HANDLE', footerPlace, problem);
      }
      let stored: Uint8Array;
      if (offset >= tailOffset) {
        stored = tail.subarray(offset - tailOffset, offset - tailOffset + length);
      } else {
        stored = yield { offset, length };
        bytesRead += length;
      }
      return decodeStoredBlock(stored, { structure, offset, file }, decoding);
    }

    const indexContents = yield* readBlock(footer.index, 'index block');
    const indexPlace: Place = { structure: 'index block', offset: footer.index.offset, file };
    const blocksEnd = footerOffset - BLOCK_TRAILER_LENGTH;
    const index = IndexBlock.decode(indexContents, indexPlace, blocksEnd);

    function* readFilter(): Reading<Pick<Parts, 'filter' | 'filterStatus'>> {
      let policyName: string | undefined;
      try {
        const contents = yield* readBlock(footer.metaindex, 'metaindex block');
        const place: Place = { structure: 'metaindex block', offset: footer.metaindex.offset, file };
        const policyNames: string[] = [];
        const names: string[] = [];
        for (const entry of decodeMetaindex(contents, place)) {
          policyName = policyNameOf(entry);
          if (isForeignFilter(entry)) names.push(entry.name);
          if (policyName === undefined) continue;
          policyNames.push(policyName);
          const policy = policies.find(({ name }) => name === policyName);
          if (policy === undefined) continue;
          if (entry.handle === undefined) {
            throw new CorruptionError('BLOOM_BAD_HANDLE', place, `the handle of ${entry.name} cannot be read`);
          }
          const filter = new FilterBlockReader(policy, yield* readBlock(entry.handle, 'filter block'));
          return { filter, filterStatus: { state: 'used', policyName } };
        }
        if (policyNames.length > 0) return { filter: undefined, filterStatus: { state: 'unknown-policy', policyNames } };
        return { filter: undefined, filterStatus: names.length > 0 ? { state: 'unsupported', names } : { state: 'absent' } };
      } catch (error) {
        if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
        const filterStatus: FilterStatus = { state: 'corrupt', ...(policyName !== undefined && { policyName }), error };
        return { filter: undefined, filterStatus };
      }
    }

    const { filter, filterStatus } = yield* readFilter();
    const parts: Parts = { comparator, index, metaindexHandle: footer.metaindex, filter, filterStatus };
    const table = new OpenTable(parts, source, decoding, options);
    table.stats.bytesRead = bytesRead;
    return table;
  }

  /** The data block to search for `key`, or {@link ABSENT} when index or filter say that it is in none. */
  locate(key: Uint8Array): number {
    mustBeBytes('key', key);
    const i = this.index.seek(key, this.compare);
    if (i === this.index.length) return ABSENT;
    if (this.filter !== undefined && !this.filter.keyMayMatch(this.index.offsetOf(i), key)) {
      this.stats.filterNegatives++;
      return ABSENT;
    }
    return i;
  }

  /** Whether `key` may be in the table, as far as index and filter know. */
  mayContain(key: Uint8Array): boolean {
    mustBeBytes('key', key);
    const i = this.index.seek(key, this.compare);
    return i < this.index.length && (this.filter?.keyMayMatch(this.index.offsetOf(i), key) ?? true);
  }

  /** A copy of the value of `key`, which `locate` said to look for in block `i`, with these contents. */
  search(i: number, contents: Uint8Array, key: Uint8Array): Uint8Array | undefined {
    const cursor = this.#searcher;
    cursor.reset(contents, this.index.offsetOf(i));
    const found = cursor.seek(key) && this.compare(cursor.keyBytes, 0, cursor.keyLength, key, 0, key.length) === 0;
    this.#count(found);
    return found ? this.copyValue(cursor) : undefined;
  }

  /** As `search`, for the first entry at or after `key`, if `matches` takes its key for the one that is looked up. */
  searchFrom(
    i: number,
    contents: Uint8Array,
    key: Uint8Array,
    matches: (key: Uint8Array) => boolean,
  ): [Uint8Array, Uint8Array] | undefined {
    const cursor = this.#searcher;
    cursor.reset(contents, this.index.offsetOf(i));
    const found = cursor.seek(key) && matches(cursor.key);
    this.#count(found);
    return found ? [this.copyKey(cursor), this.copyValue(cursor)] : undefined;
  }

  /** A copy of the key that `cursor` is on. */
  copyKey(cursor: BlockSearch): Uint8Array {
    return this.#copier.copyStart(cursor.keyBytes, cursor.keyLength);
  }

  /** A copy of the value that `cursor` is on. */
  copyValue(cursor: BlockSearch): Uint8Array {
    return this.#copier.copy(cursor.value);
  }

  /** Counts what came of a lookup that the filter let pass. */
  #count(found: boolean): void {
    if (this.filter === undefined) return;
    if (found) this.stats.filterTruePositives++;
    else this.stats.filterFalsePositives++;
  }

  /** Whether blocks are kept once they were read. */
  get hasCache(): boolean {
    return this.#cache !== undefined;
  }

  /** The contents of data block `i`, if the cache has them. */
  cached(i: number): Uint8Array | undefined {
    const contents = this.#cache?.get(this.#firstCacheId + i);
    if (contents !== undefined) this.stats.cacheHits++;
    return contents;
  }

  /**
   * Where the stored data block `i` is, its trailer included.
   *
   * @throws CorruptionError `BLOOM_BAD_HANDLE` when the index does not say it.
   */
  rangeOf(i: number): ByteRange {
    const offset = this.index.offsetOf(i);
    const size = this.index.sizeOf(i);
    if (size < 0) {
      const place: Place = { structure: 'data block', offset, file: this.file };
      throw new CorruptionError('BLOOM_BAD_HANDLE', place, `its handle, entry ${i} of the index, is damaged`);
    }
    return { offset, length: size + BLOCK_TRAILER_LENGTH };
  }

  /** Verifies and decompresses data block `i`, and keeps it in the cache. */
  decode(i: number, stored: Uint8Array): Uint8Array {
    this.stats.blockReads++;
    this.stats.bytesRead += stored.length;
    const place: Place = { structure: 'data block', offset: this.index.offsetOf(i), file: this.file };
    const contents = decodeStoredBlock(stored, place, this.#decoding);
    if (!this.#closed) this.#cache?.set(this.#firstCacheId + i, contents);
    return contents;
  }

  /**
   * Where `key` is in the file, or would be: the start of its data block, or the metaindex past the last.
   *
   * Source: LevelDB, table/table.cc, `ApproximateOffsetOf`.
   */
  approximateOffset(key: Uint8Array): number {
    mustBeBytes('key', key);
    const i = this.index.seek(key, this.compare);
    return i < this.index.length ? this.index.offsetOf(i) : this.metaindexHandle.offset;
  }

  newBlockSearch(): BlockSearch {
    return new BlockSearch(this.compare, 'data block', this.file);
  }

  /** Drops the table's blocks from the cache. */
  close(): void {
    // A block whose read ends later must not stay behind.
    this.#closed = true;
    this.#cache?.drop(this.#firstCacheId, this.index.length);
  }
}

/** What is read when a table is opened. */
interface Parts {
  readonly comparator: Comparator;
  readonly index: IndexBlock;
  readonly metaindexHandle: BlockHandle;
  readonly filter: FilterBlockReader | undefined;
  readonly filterStatus: FilterStatus;
}
