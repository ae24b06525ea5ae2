/**
 * Opening a table: reads the tail of the file, and then footer, index, metaindex and filter.
 *
 * Source: LevelDB, table/table.cc, `Table::Open` and `ReadMeta`.
 */
import { CorruptionError, type Place, type Structure, UnsupportedError } from '@bloom/bytes';
import { FilterBlockReader } from '@bloom/filter-block';
import type { FilterPolicy } from '@bloom/policy';
import type { BlockHandle } from '../format/block-handle.js';
import { type CompareRange } from '../format/bytewise-order.js';
import { type Comparator, compareRangeOf } from '../format/comparator.js';
import { decodeFooter, FOOTER_LENGTH } from '../format/footer.js';
import { IndexBlock } from '../format/index-block.js';
import { INTERNAL_KEY_TRAILER_LENGTH } from '../format/bytewise-order.js';
import { InternalKeyComparator, internalKeyComparator } from '../format/internal-key.js';
import { decodeMetaindex, isForeignFilter, policyNameOf } from '../format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock } from '../format/stored-block.js';
import { findFilteredKeys } from './filtered-keys.js';
import type { FilterStatus } from './filter-status.js';
import { comparatorFor, decodingFor, policiesFor, tailBytesFor, type TableOptions } from './options.js';
import type { Reading } from './reading.js';
import type { Source } from './source.js';

/** The most memory that the decoded index may take, as a multiple of the largest block. */
const MAX_DECODED_INDEX = 2;

/** An open table keeps at most so many times the memory of its index and filter, as views of the tail. */
const MOST_UNUSED = 4;

/** What opening a table reads: everything except the data blocks. */
export interface OpenTable extends OpenFilter {
  /** Bytes of the file. */
  readonly byteLength: number;
  /** The file's name, if the source has one. */
  readonly file: string | undefined;
  readonly comparator: Comparator;
  /** The comparator's order, without views. */
  readonly compare: CompareRange;
  /** How to decode blocks. */
  readonly decoding: BlockDecoding;
  readonly index: IndexBlock;
  readonly metaindexHandle: BlockHandle;
  /** The order for lookups: `compare`, unless the table turned out to be a database's. */
  readonly lookupCompare: CompareRange;
  /** Bytes that were read from the source. */
  readonly bytesRead: number;
}

/** The filter, or why there is none. */
interface OpenFilter {
  readonly filter: FilterBlockReader | undefined;
  readonly filterStatus: FilterStatus;
}

/**
 * Reads what an open table needs.
 *
 * @throws TypeError or RangeError for an invalid option.
 * @throws CorruptionError when the footer or the index cannot be read. Damage to metaindex or filter costs the filter,
 *   not the table.
 */
export function* readOpenTable(source: Source, options: TableOptions): Reading<OpenTable> {
  const comparator = comparatorFor(options);
  const policies = policiesFor(options, comparator);
  const decoding = decodingFor(options);
  const tail = yield* Tail.read(source, tailBytesFor(options, decoding, source.byteLength), decoding);
  const { footer, footerOffset } = tail;
  const indexContents = yield* tail.readBlock(footer.index, 'index block');
  const indexPlace: Place = { structure: 'index block', offset: footer.index.offset, file: source.name };
  const blocksEnd = footerOffset - BLOCK_TRAILER_LENGTH;
  const index = IndexBlock.open(indexContents, indexPlace, blocksEnd, MAX_DECODED_INDEX * decoding.maxBlockBytes);
  if (comparator instanceof InternalKeyComparator) mustHaveInternalKeys(index, indexPlace);
  const { filter, filterStatus, isOfUserKeys } = yield* openFilter(tail, index, policies);
  const isMistaken = isOfUserKeys && !(comparator instanceof InternalKeyComparator);
  return {
    byteLength: source.byteLength,
    file: source.name,
    comparator,
    compare: compareRangeOf(comparator),
    lookupCompare: compareRangeOf(isMistaken ? internalKeyComparator(comparator) : comparator),
    decoding,
    index,
    metaindexHandle: footer.metaindex,
    filter,
    filterStatus,
    bytesRead: tail.bytesRead,
  };
}

/** Index keys are internal keys exactly if the table's keys are. @throws CorruptionError `BLOOM_BAD_INTERNAL_KEY`. */
function mustHaveInternalKeys(index: IndexBlock, place: Place): void {
  const length = index.shortestSeparatorLength;
  if (length >= INTERNAL_KEY_TRAILER_LENGTH) return;
  const problem = `a key of ${length} bytes is too short for a database's: this is a plain table, open it with Table`;
  throw new CorruptionError('BLOOM_BAD_INTERNAL_KEY', place, problem);
}

/** The end of the file, read at once because it usually contains everything that opening needs. */
class Tail {
  readonly file: string | undefined;
  readonly footer: { readonly metaindex: BlockHandle; readonly index: BlockHandle };
  readonly footerOffset: number;
  /** Bytes read so far. */
  bytesRead: number;
  readonly #bytes: Uint8Array;
  readonly #offset: number;
  readonly #decoding: BlockDecoding;

  private constructor({ name, byteLength }: Source, bytes: Uint8Array, decoding: BlockDecoding) {
    this.file = name;
    this.footerOffset = byteLength - FOOTER_LENGTH;
    this.bytesRead = bytes.length;
    this.#bytes = bytes;
    this.#offset = byteLength - bytes.length;
    this.#decoding = decoding;
    this.footer = decodeFooter(bytes.subarray(-FOOTER_LENGTH), this.#footerPlace);
  }

  static *read(source: Source, tailBytes: number, decoding: BlockDecoding): Reading<Tail> {
    const { byteLength, name: file } = source;
    if (byteLength < FOOTER_LENGTH) {
      const problem = `not a LevelDB table: ${byteLength} bytes are fewer than the ${FOOTER_LENGTH} of a footer`;
      throw new CorruptionError('BLOOM_NOT_A_TABLE', { structure: 'file', offset: 0, file }, problem);
    }
    const offset = Math.max(0, byteLength - tailBytes);
    return new Tail(source, yield { offset, length: byteLength - offset }, decoding);
  }

  /** Whether the tail includes the file from `offset` to its end. */
  holds(offset: number): boolean {
    return offset >= this.#offset;
  }

  /**
   * The contents of the block that `handle` points to, from the tail if it includes them.
   *
   * @throws CorruptionError `BLOOM_TOO_LARGE`, without reading, for a stored block that is larger than the limit.
   */
  *readBlock({ offset, size }: BlockHandle, structure: Structure): Reading<Uint8Array> {
    const length = size + BLOCK_TRAILER_LENGTH;
    const { maxBlockBytes } = this.#decoding;
    const place: Place = { structure, offset, file: this.file };
    if (offset + length > this.footerOffset) {
      const problem = `the handle of the ${structure} (offset ${offset}, size ${size}) points outside the file`;
      throw new CorruptionError('BLOOM_BAD_HANDLE', this.#footerPlace, problem);
    }
    if (size > maxBlockBytes) {
      throw new CorruptionError('BLOOM_TOO_LARGE', place, `it has ${size} bytes as stored, the limit is ${maxBlockBytes}`);
    }
    let stored: Uint8Array;
    if (this.holds(offset)) {
      stored = this.#bytes.subarray(offset - this.#offset, offset - this.#offset + length);
      // A view of a small part would keep the whole tail in memory.
      if (length * MOST_UNUSED < this.#bytes.length) stored = stored.slice();
    } else {
      stored = yield { offset, length };
      this.bytesRead += length;
    }
    return decodeStoredBlock(stored, place, this.#decoding);
  }

  get #footerPlace(): Place {
    return { structure: 'footer', offset: this.footerOffset, file: this.file };
  }
}

/** Reads the filter, and checks that it was made from the keys that the table stores. */
function* openFilter(
  tail: Tail,
  index: IndexBlock,
  policies: readonly FilterPolicy[],
): Reading<OpenFilter & { readonly isOfUserKeys: boolean }> {
  const { filter, filterStatus, policy } = yield* readFilter(tail, policies);
  if (filter === undefined || policy === undefined) return { filter, filterStatus, isOfUserKeys: false };
  const filteredKeys = yield* findFilteredKeys(filter, policy, index, {
    isAtHand: (i) => index.sizeOf(i) >= 0 && tail.holds(index.offsetOf(i)),
    read: (i) => tail.readBlock({ offset: index.offsetOf(i), size: index.sizeOf(i) }, 'data block'),
  });
  if (filteredKeys === undefined) return { filter, filterStatus, isOfUserKeys: false };
  return {
    filter: undefined,
    filterStatus: { state: 'contradicted', policyName: policy.name, filteredKeys },
    isOfUserKeys: filteredKeys === 'user-keys',
  };
}

/** Reads the metaindex, and the first filter block in it whose policy is one of `policies`. */
function* readFilter(
  tail: Tail,
  policies: readonly FilterPolicy[],
): Reading<OpenFilter & { readonly policy?: FilterPolicy }> {
  const { footer, file } = tail;
  let policyName: string | undefined;
  try {
    const contents = yield* tail.readBlock(footer.metaindex, 'metaindex block');
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
      const filter = new FilterBlockReader(policy, yield* tail.readBlock(entry.handle, 'filter block'));
      return { filter, filterStatus: { state: 'used', policyName }, policy };
    }
    if (policyNames.length > 0) return { filter: undefined, filterStatus: { state: 'unknown-policy', policyNames } };
    return { filter: undefined, filterStatus: names.length > 0 ? { state: 'unsupported', names } : { state: 'absent' } };
  } catch (error) {
    if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
    const filterStatus: FilterStatus = { state: 'corrupt', ...(policyName !== undefined && { policyName }), error };
    return { filter: undefined, filterStatus };
  }
}
