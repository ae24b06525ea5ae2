/**
 * Opening a table: reads the tail of the file, and then footer, index, metaindex and filter.
 *
 * Source: LevelDB, table/table.cc, `Table::Open` and `ReadMeta`.
 */
import { CorruptionError, type Place, type Structure, UnsupportedError } from '@bloom/bytes';
import { joinedBytes, numberOf } from '@bloom/bytes/internal';
import { FilterBlockReader } from '@bloom/filter-block';
import type { FilterPolicy } from '@bloom/policy';
import type { BlockHandle } from '../format/block-handle.js';
import { type CompareRange, INTERNAL_KEY_TRAILER_LENGTH, isBytewiseOrder } from '../format/bytewise-order.js';
import { comparatorOf, compareRangeOf } from '../format/checked-comparator.js';
import type { Comparator } from '../format/comparator.js';
import { encryptedContentId, encryptedText, ENCRYPTION_HEADER_LENGTH } from '../format/encrypted-file.js';
import { decodeFooter, FOOTER_LENGTH } from '../format/footer.js';
import { IndexBlock } from '../format/index-block.js';
import { InternalKeyComparator, internalKeyComparator, InternalKeyPolicy } from '../format/internal-key.js';
import { isFormatError } from '../format/is-format-error.js';
import { decodeMetaindex, isForeignFilter, type MetaindexEntry, policyNameOf } from '../format/metaindex-block.js';
import { partitionedIndexError, propertiesHandle } from '../format/partitioned-index.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock, storedEnd } from '../format/stored-block.js';
import { findFilteredKeys, mayHaveInternalKeys, type SampledBlocks } from './filtered-keys.js';
import { UnreadFilter } from './unread-filter.js';
import type { FilterStatus } from './filter-status.js';
import { decodingFor, type FilterReading, policiesFor, tailBytesFor, type TableOptions } from './options.js';
import type { ByteRange, Reading } from './reading.js';
import type { Source } from './source.js';

/** The most memory that the decoded index may take, as a multiple of the largest block. */
const MAX_DECODED_INDEX = 2;

/** The most bytes between metaindex and index with which they are still read at once. */
const MAX_INDEX_GAP = 16 * 2 ** 10;

/** The tail is kept, as views, if it is at most this many times as large as the index and the filter. */
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
  /** Bytes that were read from the source to open the table. */
  readonly bytesRead: number;
}

/** The filter, or why there is none. It changes once, where the filter is read after the opening. */
interface OpenFilter {
  filter: FilterBlockReader | undefined;
  filterStatus: FilterStatus;
  /** The filter that has not been read yet. */
  unread: UnreadFilter | undefined;
}

/**
 * Reads what an open table needs.
 *
 * @throws TypeError or RangeError for an invalid option.
 * @throws CorruptionError when the footer or the index cannot be read. Damage to metaindex or filter costs the filter,
 *   not the table.
 * @throws UnsupportedError `BLOOM_UNSUPPORTED_FORMAT` for an index in partitions.
 */
export function* readOpenTable(source: Source, options: TableOptions): Reading<OpenTable> {
  const comparator = comparatorOf('comparator', options.comparator);
  const policies = policiesFor(options, comparator);
  const decoding = decodingFor(options);
  const tail = yield* Tail.read(source, tailBytesFor(options, decoding, source), decoding);
  const { footer, footerOffset } = tail;
  yield* tail.extendToIndex();
  const indexContents = yield* tail.readBlock(footer.index, 'index block');
  const indexPlace: Place = { structure: 'index block', offset: footer.index.offset, file: source.name };
  const blocksEnd = footerOffset - BLOCK_TRAILER_LENGTH;
  const index = IndexBlock.open(indexContents, indexPlace, blocksEnd, MAX_DECODED_INDEX * decoding.maxBlockBytes);
  if (comparator instanceof InternalKeyComparator) mustHaveInternalKeys(index, indexPlace);
  const reading = options.filters ?? (source.isRemote === true ? 'when-needed' : 'at-opening');
  const { filter, filterStatus, unread, isOfUserKeys, hasProperties } = yield* openFilter(tail, index, policies, reading);
  const compare = compareRangeOf(comparator);
  // All keys of RocksDB and Pebble are internal keys. Another comparator than the bytewise one may know that.
  const isForeign = hasProperties && isBytewiseOrder(compare) && mayHaveInternalKeys(index);
  const isMistaken = (isOfUserKeys || isForeign) && !(comparator instanceof InternalKeyComparator);
  return {
    byteLength: source.byteLength,
    file: source.name,
    comparator,
    compare,
    lookupCompare: isMistaken ? compareRangeOf(internalKeyComparator(comparator)) : compare,
    decoding,
    index,
    metaindexHandle: footer.metaindex,
    filter,
    filterStatus,
    unread,
    bytesRead: tail.bytesRead,
  };
}

/** Index keys are internal keys exactly if the table's keys are. @throws CorruptionError `BLOOM_BAD_INTERNAL_KEY`. */
function mustHaveInternalKeys(index: IndexBlock, place: Place): void {
  const length = index.shortestSeparatorLength;
  if (length >= INTERNAL_KEY_TRAILER_LENGTH) return;
  const problem = `a key of ${numberOf(length, 'byte')} is too short for an internal key: this is a plain table, open it with Table`;
  throw new CorruptionError('BLOOM_BAD_INTERNAL_KEY', place, problem);
}

/** What opening threw, or instead, where the file is encrypted, that it is. */
export function* withEncryption(source: Pick<Source, 'byteLength' | 'name'>, error: unknown): Reading<unknown> {
  if (!(error instanceof CorruptionError && error.code === 'BLOOM_NOT_A_TABLE') || source.byteLength < ENCRYPTION_HEADER_LENGTH) return error;
  const id = encryptedContentId(yield { offset: 0, length: ENCRYPTION_HEADER_LENGTH });
  if (id === undefined) return error;
  return new UnsupportedError('BLOOM_UNSUPPORTED_FORMAT', { structure: 'file', offset: 0, file: source.name }, `it is ${encryptedText(id)}`);
}

/** The end of the file, read at once because it usually contains everything that opening needs. */
class Tail {
  readonly file: string | undefined;
  readonly footer: { readonly metaindex: BlockHandle; readonly index: BlockHandle };
  readonly footerOffset: number;
  /** Bytes read so far. */
  bytesRead: number;
  #bytes: Uint8Array;
  #offset: number;
  readonly #isRemote: boolean;
  readonly #decoding: BlockDecoding;

  private constructor({ name, byteLength, isRemote = false }: Source, bytes: Uint8Array, decoding: BlockDecoding) {
    this.file = name;
    this.#isRemote = isRemote;
    this.footerOffset = byteLength - FOOTER_LENGTH;
    this.bytesRead = bytes.length;
    this.#bytes = bytes;
    this.#offset = byteLength - bytes.length;
    this.#decoding = decoding;
    this.footer = decodeFooter(bytes.subarray(-FOOTER_LENGTH), this.#footerPlace);
  }

  static *read(source: Source, tailBytes: number, decoding: BlockDecoding): Reading<Tail> {
    mustHaveFooter(source);
    const { byteLength } = source;
    const offset = Math.max(0, byteLength - tailBytes);
    const bytes = yield { offset, length: byteLength - offset };
    try {
      return new Tail(source, bytes, decoding);
    } catch (error) {
      throw yield* withEncryption(source, error);
    }
  }

  /**
   * Reads what the tail lacks of the index, and with it the metaindex, which LevelDB writes right before the index, in one read. Of a
   * remote file, no byte of the tail is read again; of others the whole is, since memory for a copy takes longer to get than to fill,
   * unless that read would be larger than the limit.
   */
  *extendToIndex(): Reading<void> {
    const { index, metaindex } = this.footer;
    const indexEnd = storedEnd(index);
    const metaindexEnd = storedEnd(metaindex);
    // Handles that point elsewhere, and too large blocks, are judged when the blocks are read.
    if (this.holds(index.offset) || indexEnd > this.footerOffset || indexEnd < this.#offset) return;
    const isBefore = metaindexEnd <= index.offset && index.offset - metaindexEnd <= MAX_INDEX_GAP;
    const offset = isBefore ? metaindex.offset : index.offset;
    const length = this.#offset - offset;
    if (Math.max(index.size, length) > this.#decoding.maxBlockBytes) return;
    const isJoined = this.#isRemote || length + this.#bytes.length > this.#decoding.maxBlockBytes;
    const read = yield { offset, length: isJoined ? length : length + this.#bytes.length };
    this.bytesRead += read.length;
    this.#bytes = isJoined ? joinedBytes([read, this.#bytes]) : read;
    this.#offset = offset;
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
  *readBlock(handle: BlockHandle, structure: Structure): Reading<Uint8Array> {
    const { offset, size } = handle;
    const length = size + BLOCK_TRAILER_LENGTH;
    const place = this.mustBeReadable(handle, structure);
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

  /**
   * Where the block that `handle` points to is.
   *
   * @throws CorruptionError `BLOOM_BAD_HANDLE` for one outside the file, `BLOOM_TOO_LARGE` for one that is larger than the limit.
   */
  mustBeReadable(handle: BlockHandle, structure: Structure): Place {
    const { offset, size } = handle;
    const { maxBlockBytes } = this.#decoding;
    const place: Place = { structure, offset, file: this.file };
    if (storedEnd(handle) > this.footerOffset) {
      const problem = `the handle of the ${structure} (offset ${offset}, size ${size}) points outside the file`;
      throw new CorruptionError('BLOOM_BAD_HANDLE', this.#footerPlace, problem);
    }
    if (size > maxBlockBytes) {
      throw new CorruptionError('BLOOM_TOO_LARGE', place, `it has ${size} bytes as stored, the limit is ${maxBlockBytes}: see maxBlockBytes`);
    }
    return place;
  }

  get #footerPlace(): Place {
    return { structure: 'footer', offset: this.footerOffset, file: this.file };
  }
}

/** @throws CorruptionError `BLOOM_NOT_A_TABLE` for a file that is too short for a footer. */
export function mustHaveFooter({ byteLength, name: file }: Source): void {
  if (byteLength >= FOOTER_LENGTH) return;
  const problem = `not a LevelDB table: it has ${numberOf(byteLength, 'byte')}, but a footer alone has ${FOOTER_LENGTH}`;
  throw new CorruptionError('BLOOM_NOT_A_TABLE', { structure: 'file', offset: 0, file }, problem);
}

/** Reads the filter, and checks that it was made from the keys that the table stores. */
function* openFilter(
  tail: Tail,
  index: IndexBlock,
  policies: readonly FilterPolicy[],
  reading: FilterReading,
): Reading<OpenFilter & { readonly isOfUserKeys: boolean; readonly hasProperties: boolean }> {
  const { found, hasProperties } = yield* findFilter(tail, policies);
  const without = { filter: undefined, unread: undefined, isOfUserKeys: false, hasProperties };
  if ('state' in found) return { ...without, filterStatus: found };
  const { policy, handle } = found;
  const policyName = policy.name;
  if (reading === 'never') return { ...without, filterStatus: { state: 'unread', policyName } };
  // Only its filters tell a table of a database from a plain one, and the order of their keys is another one.
  const isSuspect = !(policy instanceof InternalKeyPolicy) && mayHaveInternalKeys(index);
  if (reading === 'when-needed' && !tail.holds(handle.offset) && !isSuspect) {
    return { ...without, filterStatus: { state: 'unread', policyName }, unread: new UnreadFilter(policy, handle) };
  }
  const sample = {
    *numbers() {
      for (let i = index.length - 1; i >= 0 && index.sizeOf(i) >= 0 && tail.holds(index.offsetOf(i)); i--) yield i;
    },
    read: (i: number) => tail.readBlock({ offset: index.offsetOf(i), size: index.sizeOf(i) }, 'data block'),
  };
  const { filter, filterStatus } = yield* decodeFilter(policy, tail.readBlock(handle, 'filter block'), index, sample);
  const isOfUserKeys = filterStatus.state === 'contradicted' && filterStatus.filteredKeys === 'user-keys';
  return { filter, filterStatus, unread: undefined, isOfUserKeys, hasProperties };
}

/** The data blocks of an open table. */
interface KnownBlocks {
  /** The contents of data block `i`, if they are in memory. */
  inMemory(i: number): Uint8Array | undefined;
  rangeOf(i: number): ByteRange;
}

/**
 * Reads the filter of an open table that has not been read yet, and uses it, unless it is damaged or was made from other keys.
 *
 * @returns how many bytes were read.
 */
export function* readUnreadFilter(table: OpenTable, { policy, handle, recentBlock }: UnreadFilter, blocks: KnownBlocks): Reading<number> {
  const { index, decoding, file } = table;
  let bytesRead = 0;
  function* read(range: ByteRange, structure: Structure): Reading<Uint8Array> {
    const stored = yield range;
    bytesRead += range.length;
    return decodeStoredBlock(stored, { structure, offset: range.offset, file }, decoding);
  }
  const filterRange = { offset: handle.offset, length: handle.size + BLOCK_TRAILER_LENGTH };
  const sample = {
    numbers: () => (blocks.inMemory(recentBlock) === undefined ? [] : [recentBlock]),
    *read(i: number): Reading<Uint8Array> {
      return blocks.inMemory(i) ?? (yield* read(blocks.rangeOf(i), 'data block'));
    },
  };
  const { filter, filterStatus } = yield* decodeFilter(policy, read(filterRange, 'filter block'), index, sample);
  table.filter = filter;
  table.filterStatus = filterStatus;
  table.unread = undefined;
  return bytesRead;
}

/** A filter to be used, or why it is not. @param sample where stored keys are taken from that it must match. */
function* decodeFilter(
  policy: FilterPolicy,
  reading: Reading<Uint8Array>,
  index: IndexBlock,
  sample: SampledBlocks,
): Reading<Pick<OpenFilter, 'filter' | 'filterStatus'>> {
  const policyName = policy.name;
  let filter: FilterBlockReader;
  try {
    filter = new FilterBlockReader(policy, yield* reading);
  } catch (error) {
    return { filter: undefined, filterStatus: corrupt(error, policyName) };
  }
  const filteredKeys = yield* findFilteredKeys(filter, policy, index, sample);
  if (filteredKeys === undefined) return { filter, filterStatus: { state: 'used', policyName } };
  return { filter: undefined, filterStatus: { state: 'contradicted', policyName, filteredKeys } };
}

/** A filter block and its policy, or why there is none to read. */
type FoundFilter = FilterStatus | { readonly policy: FilterPolicy; readonly handle: BlockHandle };

/** Reads the metaindex, and finds the filter block in it, and whether it lists the properties that RocksDB and Pebble write. */
function* findFilter(tail: Tail, policies: readonly FilterPolicy[]): Reading<{ readonly found: FoundFilter; readonly hasProperties: boolean }> {
  const { footer, file } = tail;
  const place: Place = { structure: 'metaindex block', offset: footer.metaindex.offset, file };
  let metaindex: readonly MetaindexEntry[];
  try {
    metaindex = decodeMetaindex(yield* tail.readBlock(footer.metaindex, 'metaindex block'), place);
  } catch (error) {
    return { found: corrupt(error, undefined), hasProperties: false };
  }
  const unsupported = yield* readPartitionedIndexError(tail, metaindex);
  if (unsupported !== undefined) throw unsupported;
  return { found: filterIn(metaindex, tail, policies, place), hasProperties: propertiesHandle(metaindex) !== undefined };
}

/** The first filter block in the metaindex whose policy is one of `policies`, or why there is none. */
function filterIn(metaindex: readonly MetaindexEntry[], tail: Tail, policies: readonly FilterPolicy[], place: Place): FoundFilter {
  const policyNames: string[] = [];
  const names: string[] = [];
  for (const entry of metaindex) {
    const policyName = policyNameOf(entry);
    if (isForeignFilter(entry)) names.push(entry.name);
    if (policyName === undefined) continue;
    policyNames.push(policyName);
    const policy = policies.find(({ name }) => name === policyName);
    if (policy === undefined) continue;
    try {
      if (entry.handle === undefined) {
        throw new CorruptionError('BLOOM_BAD_HANDLE', place, `the handle of ${entry.name} cannot be read`);
      }
      tail.mustBeReadable(entry.handle, 'filter block');
    } catch (error) {
      return corrupt(error, policyName);
    }
    return { policy, handle: entry.handle };
  }
  if (policyNames.length > 0) return { state: 'unknown-policy', policyNames };
  return names.length > 0 ? { state: 'unsupported', names } : { state: 'absent' };
}

/** {@link partitionedIndexError} for an open table. Properties that cannot be read do not count. */
function* readPartitionedIndexError(tail: Tail, metaindex: readonly MetaindexEntry[]): Reading<UnsupportedError | undefined> {
  const handle = propertiesHandle(metaindex);
  if (handle === undefined) return undefined;
  try {
    return partitionedIndexError(yield* tail.readBlock(handle, 'meta block'), { structure: 'meta block', offset: handle.offset, file: tail.file });
  } catch (error) {
    corrupt(error, undefined);
    return undefined;
  }
}

/** The status for filters that cannot be read. @throws the error if it is not about the bytes of the file. */
function corrupt(error: unknown, policyName: string | undefined): FilterStatus {
  if (!isFormatError(error)) throw error;
  return { state: 'corrupt', ...(policyName !== undefined && { policyName }), error };
}
