import { FILTER_BASE, FilterBlockBuilder, mustBeFilterRange } from '@bloom/filter-block';
import type { FilterPolicy, KeyList } from '@bloom/policy';
import type { Bytes } from '@bloom/bytes';
import { bytesOf, mustBeBoolean, mustBeBytes, mustBeOptions, mustBeWhole, mustHaveAtMost, mustHaveMethods, numberOf } from '@bloom/bytes/internal';
import { type BlockHandle, MAX_BLOCK_HANDLE_LENGTH } from '../format/block-handle.js';
import { BlockBuilder, MAX_ENTRY_OVERHEAD } from '../format/block-builder.js';
import { type Codec, NO_COMPRESSION } from '../format/codec.js';
import { compareBytes, compareInternalBytes, type CompareRange, INTERNAL_KEY_TRAILER_LENGTH } from '../format/bytewise-order.js';
import { comparatorOf, compareRangeOf } from '../format/checked-comparator.js';
import type { Comparator } from '../format/comparator.js';
import { encodeFooter } from '../format/footer.js';
import { IndexBlockBuilder } from '../format/index-block.js';
import { InternalKeyPolicy } from '../format/internal-key.js';
import { filtersTooLarge, maxBlockBytesFor, metaindexTooLarge, tooLarge } from '../format/max-block-bytes.js';
import { encodeMetaindex } from '../format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH, compressed, putStoredBlock } from '../format/stored-block.js';
import { codecFor, policyFor, TABLE_BUILDER_OPTIONS, type TableBuilderOptions } from './options.js';
import type { TableSink } from './sink.js';
import { TableOutput } from './table-output.js';

/** Bytes of a filter's place in the filter block. */
const FILTER_OFFSET_LENGTH = 4;
/** Larger contents are compressed into memory of their own. */
const MAX_SCRATCH_BYTES = 2 ** 18;
const MAX_INDEX_ENTRY_OVERHEAD = MAX_ENTRY_OVERHEAD + MAX_BLOCK_HANDLE_LENGTH;

/** The sizes of a finished table. */
export interface TableInfo {
  /** Bytes of the file. */
  readonly byteLength: number;
  readonly entries: number;
  readonly dataBlocks: number;
  /** Bytes of all keys and values. */
  readonly entryBytes: number;
  /** Bytes of the data blocks before compression. */
  readonly rawDataBytes: number;
  /** Bytes of the data blocks as stored, with their trailers. */
  readonly storedDataBytes: number;
  /** Bytes of the filter block; 0 without one. */
  readonly filterBytes: number;
  /** Filters in the filter block, including empty ones. */
  readonly filters: number;
  /** Bytes of the index block before compression. */
  readonly indexBytes: number;
}

/** A data block that was built elsewhere, by the same rules: all that the table needs of it, in memory that is lent for the call. */
export interface BuiltBlock {
  readonly bytes: Uint8Array;
  /** The contents, before compression, are `bytes[start, end)`. */
  readonly start: number;
  readonly end: number;
  readonly entries: number;
  /** Bytes of all keys and values. */
  readonly entryBytes: number;
  readonly firstKeyStart: number;
  readonly firstKeyEnd: number;
  readonly lastKeyStart: number;
  readonly lastKeyEnd: number;
}

/**
 * Builds a table from entries in ascending key order, byte for byte as LevelDB's `TableBuilder` does.
 *
 * It is synchronous and holds the index, the filters, one block and up to 256 KiB of output, which go to the sink in one
 * chunk.
 *
 * Source: LevelDB, table/table_builder.cc.
 *
 * @example
 * ```ts
 * const sink = new MemorySink();
 * const builder = new TableBuilder(sink);
 * builder.add('hello', 'world');
 * builder.finish();
 * const file = sink.toBytes();
 * ```
 */
export class TableBuilder {
  private readonly output: TableOutput;
  private readonly comparator: Comparator;
  private readonly compare: CompareRange;
  /** The number of bytes at the end of each key that are not in bytewise order; undefined if keys have another order altogether. */
  private readonly trailerLength: number | undefined;
  private readonly policy: FilterPolicy | undefined;
  private filter: FilterBlockBuilder | undefined;
  private readonly filterRange: number;
  private readonly omitsLargeFilters: boolean;
  /** The number of bytes at the end of each key that its filter is made without. */
  private unfilteredLength = 0;
  private readonly codec: Codec | undefined;
  private readonly blockSize: number;
  private readonly restartInterval: number;
  private readonly data: BlockBuilder;
  private readonly index = new IndexBlockBuilder();
  private readonly maxBlockBytes: number;
  /** The last data block, until the next key is known: its index key is then as short as possible. */
  private unindexed: BlockHandle | undefined;
  private entryCount = 0;
  private entryBytes = 0;
  private dataBlocks = 0;
  /** For compressed contents, before they are copied to the output. */
  private scratch = new Uint8Array(0);
  private rawDataBytes = 0;
  private storedDataBytes = 0;
  /** Why no more calls are accepted. */
  private ended: string | undefined;

  /** @throws RangeError or TypeError for a wrong option. */
  constructor(sink: TableSink, options: TableBuilderOptions = {}) {
    mustHaveAtMost('TableBuilder', 'a sink and options', 2, arguments.length);
    mustHaveMethods('sink', sink, 'a sink', ['append']);
    mustBeOptions('TableBuilder', options, TABLE_BUILDER_OPTIONS);
    this.output = new TableOutput(sink);
    this.comparator = comparatorOf('comparator', options.comparator);
    this.compare = compareRangeOf(this.comparator);
    if (this.compare === compareBytes) this.trailerLength = 0;
    else if (this.compare === compareInternalBytes) this.trailerLength = INTERNAL_KEY_TRAILER_LENGTH;
    this.policy = policyFor(options, this.comparator);
    this.codec = codecFor(options.compression);
    this.maxBlockBytes = maxBlockBytesFor(options);
    this.blockSize = mustBeWhole('blockSize', options.blockSize ?? Math.min(4096, this.maxBlockBytes), 1, this.maxBlockBytes);
    this.restartInterval = mustBeWhole('blockRestartInterval', options.blockRestartInterval ?? 16, 1);
    this.data = new BlockBuilder(this.restartInterval);
    const { filterRange = FILTER_BASE, omitLargeFilters = false } = options;
    mustBeFilterRange(filterRange);
    this.filterRange = filterRange;
    mustBeBoolean('omitLargeFilters', omitLargeFilters);
    this.omitsLargeFilters = omitLargeFilters;
    const userPolicy = this.policy && InternalKeyPolicy.userPolicyOf(this.policy);
    // Shortened here, keys are copied once for their filter instead of twice.
    if (userPolicy !== undefined) this.unfilteredLength = INTERNAL_KEY_TRAILER_LENGTH;
    const policy = userPolicy ?? this.policy;
    this.filter = policy && new FilterBlockBuilder(policy, this.filterRange, this.maxBlockBytes);
    this.filter?.startBlock(0);
  }

  /** Entries added so far. */
  get entries(): number {
    return this.entryCount;
  }

  /** The last key added: a view that is valid until the next entry is added. */
  get lastKey(): Bytes {
    return this.data.lastKey;
  }

  /** Bytes of the index so far, before compression. */
  get indexByteLength(): number {
    return this.index.byteLength;
  }

  /** Bytes of the file so far, including those not handed to the sink yet. */
  get byteLength(): number {
    return this.output.byteLength;
  }

  /**
   * Adds an entry, completely or not at all. Key and value are copied; text stands for its UTF-8 bytes.
   *
   * @throws RangeError when `key` is not after the previous key, when the entry or the index would need a block larger
   *   than `maxBlockBytes`, or when the comparator returns a wrong separator. The builder can continue without the entry.
   * @throws while a full block is written: RangeError when the filter block would be larger than `maxBlockBytes`, and what policy,
   *   codec or sink throw. The builder accepts no more calls then.
   * @throws TypeError when key or value is neither a Uint8Array nor a string, after `finish`, or after a call that failed midway.
   */
  add(key: Uint8Array | string, value: Uint8Array | string): void {
    if (arguments.length > 2) mustHaveAtMost('TableBuilder.add', 'a key and a value', 2, arguments.length);
    const keyBytes = bytesOf('key', key);
    const valueBytes = bytesOf('value', value);
    this.#add(keyBytes, 0, keyBytes.length, valueBytes, 0, valueBytes.length);
  }

  /**
   * Adds the entry of the key `keyBytes[keyStart, keyEnd)` and the value `valueBytes[valueStart, valueEnd)`, as `add` does,
   * without making views of them.
   *
   * @throws RangeError when those are not ranges, and what `add` throws.
   */
  addRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): void {
    mustBeBytes('keyBytes', keyBytes);
    mustBeBytes('valueBytes', valueBytes);
    mustBeRange('key', keyBytes, keyStart, keyEnd);
    mustBeRange('value', valueBytes, valueStart, valueEnd);
    this.#add(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd);
  }

  #add(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): void {
    if (this.ended !== undefined) throw new TypeError(this.ended);
    const common = this.data.commonWithLast(keyBytes, keyStart, keyEnd);
    if (this.entryCount > 0) this.#mustBeAfterLast(keyBytes, keyStart, keyEnd, common);
    const separator = this.unindexed && this.#separatorBefore(keyBytes.subarray(keyStart, keyEnd));
    this.#mustFit(keyEnd - keyStart, valueEnd - valueStart, common, separator);
    this.ended = 'the table failed while an entry was added';
    if (separator !== undefined) this.#indexLast(separator);
    this.filter?.addKeyRange(keyBytes, keyStart, Math.max(keyStart, keyEnd - this.unfilteredLength));
    this.data.addRange(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd, common);
    this.ended = undefined;
    this.entryCount++;
    this.entryBytes += keyEnd - keyStart + valueEnd - valueStart;
    if (this.data.byteLength >= this.blockSize) this.#flush(this.data.finish());
  }

  /**
   * Adds a data block that was built elsewhere. Its entries come after the last one, and `addFilterKeys` has been called with their keys.
   * Calls of `add` cannot be between.
   *
   * @throws RangeError when the index would need a block larger than `maxBlockBytes`.
   * @internal
   */
  addBlock({ bytes, start, end, entries, entryBytes, firstKeyStart, firstKeyEnd, lastKeyStart, lastKeyEnd }: BuiltBlock): void {
    if (this.ended !== undefined) throw new TypeError(this.ended);
    const separator = this.unindexed && this.#separatorBefore(bytes.subarray(firstKeyStart, firstKeyEnd));
    this.#indexMustFit(lastKeyEnd - lastKeyStart, separator);
    this.ended = 'the table failed while a block was added';
    if (separator !== undefined) this.#indexLast(separator);
    this.data.setLastKey(bytes, lastKeyStart, lastKeyEnd);
    this.entryCount += entries;
    this.entryBytes += entryBytes;
    this.#flush(bytes.subarray(start, end));
  }

  /**
   * Adds keys of the next block to its filter, if there is one, without the bytes at their ends that filters leave out.
   *
   * @internal
   */
  addFilterKeys(keys: Pick<KeyList, 'bytes' | 'offsets' | 'length'>): void {
    this.filter?.addKeys(keys);
  }

  /**
   * Ends the table: writes filter block, metaindex, index and footer.
   *
   * @throws TypeError after `finish`, or after a call that failed midway.
   * @throws RangeError when the filter block or the metaindex would be larger than `maxBlockBytes`.
   */
  finish(): TableInfo {
    if (this.ended !== undefined) throw new TypeError(this.ended);
    if (!this.data.isEmpty) this.#flush(this.data.finish());
    this.ended = 'the table failed while it was finished';
    this.#filtersMustFit(this.filter?.filterCount ?? 0);
    let filterContents = this.#filtered((filter) => filter.finish());
    this.#filtersMustFit(this.filter?.filterCount ?? 0);
    if (this.filter === undefined) filterContents = undefined;
    const filter = filterContents && { policyName: this.policy!.name, handle: { offset: this.byteLength, size: filterContents.length } };
    let metaindexContents = encodeMetaindex(filter, this.restartInterval);
    if (filter !== undefined && metaindexContents.length > this.maxBlockBytes) {
      if (!this.omitsLargeFilters) throw metaindexTooLarge(metaindexContents.length, this.maxBlockBytes);
      this.filter = filterContents = undefined;
      metaindexContents = encodeMetaindex(undefined, this.restartInterval);
    }
    if (filterContents !== undefined) this.#append(filterContents, undefined);
    const metaindex = this.#append(metaindexContents, this.codec);
    if (this.unindexed !== undefined) this.#indexLast(this.#successor());
    const indexBytes = this.index.byteLength;
    const index = this.#append(this.index.finish(), this.codec);
    const footer = encodeFooter({ metaindex, index });
    const position = this.output.extend(footer.length);
    this.output.bytes.set(footer, position);
    this.output.flush();
    this.ended = 'the table is finished';
    return {
      byteLength: this.byteLength,
      entries: this.entryCount,
      dataBlocks: this.dataBlocks,
      entryBytes: this.entryBytes,
      rawDataBytes: this.rawDataBytes,
      storedDataBytes: this.storedDataBytes,
      filterBytes: filterContents?.length ?? 0,
      filters: this.filter?.filterCount ?? 0,
      indexBytes,
    };
  }

  /**
   * Accepts no more calls.
   *
   * @internal
   */
  abandon(): void {
    this.ended ??= 'the table is abandoned';
  }

  #mustBeAfterLast(bytes: Uint8Array, start: number, end: number, common: number): void {
    const trailerLength = this.trailerLength;
    // The common prefix nearly always answers this.
    if (trailerLength !== undefined && this.data.isAfterLast(bytes, start, end, common, trailerLength)) return;
    const order = this.data.compareLast(this.compare, bytes, start, end);
    if (order < 0) return;
    const { lastKey } = this.data;
    const problem = order === 0 ? 'is equal to' : 'is before';
    throw new RangeError(
      `key must be after the previous key: the key of entry ${this.entryCount} (${show(bytes.subarray(start, end))}) ${problem} ${show(lastKey)} ` +
        `by ${this.comparator.name}`,
    );
  }

  /** Refuses what a reader with the same limit would refuse. */
  #mustFit(keyLength: number, valueLength: number, common: number, separator: Uint8Array | undefined): void {
    const maxBytes = this.maxBlockBytes;
    const data = this.data;
    // An upper bound, which is nearly always enough to accept the entry.
    if (data.byteLength + MAX_ENTRY_OVERHEAD + keyLength + valueLength > maxBytes) {
      const byteLength = data.byteLengthWith(keyLength, valueLength, common);
      if (byteLength > maxBytes) throw tooLarge(`the data block with entry ${this.entryCount}`, byteLength, maxBytes);
    }
    this.#indexMustFit(keyLength, separator);
  }

  #indexMustFit(keyLength: number, separator: Uint8Array | undefined): void {
    const maxBytes = this.maxBlockBytes;
    // The index gets an entry for the last block now, and one for the current block later, whose key is like this one.
    const indexBytes = this.index.byteLength + (separator?.length ?? 0) + keyLength + 2 * MAX_INDEX_ENTRY_OVERHEAD;
    if (indexBytes > maxBytes) throw tooLarge(`the index block with entry ${this.entryCount}`, indexBytes, maxBytes);
  }

  /** Adds the last data block to the index. @param separator an index key for it. */
  #indexLast(separator: Uint8Array): void {
    this.index.add(separator, this.unindexed!);
    this.unindexed = undefined;
  }

  /** An index key between the last key and `key`. */
  #separatorBefore(key: Uint8Array): Uint8Array {
    const separator = this.comparator.findShortestSeparator(this.data.lastKey, key);
    mustBeBytes('the separator', separator);
    const compare = this.compare;
    if (
      this.data.compareLast(compare, separator, 0, separator.length) <= 0 &&
      compare(separator, 0, separator.length, key, 0, key.length) < 0
    ) {
      return separator;
    }
    throw new RangeError(
      `findShortestSeparator of ${this.comparator.name} must return a key that is not before ` +
        `${show(this.data.lastKey)} and is before ${show(key)}, got ${show(separator)}`,
    );
  }

  /** Writes a data block. @param contents lent. */
  #flush(contents: Uint8Array): void {
    // From here, a failure loses entries, so the builder accepts no more calls.
    this.ended = 'the table failed while a block was written';
    this.rawDataBytes += contents.length;
    const start = this.byteLength;
    this.unindexed = this.#append(contents, this.codec);
    this.storedDataBytes += this.byteLength - start;
    this.dataBlocks++;
    // Before there is an offset for each of the ranges: with small ones and large values they are many.
    const filters = Math.floor(this.byteLength / this.filterRange);
    this.#filtersMustFit(filters);
    this.#filtered((filter) => filter.startBlock(this.byteLength));
    this.#filtersMustFit(filters);
    this.ended = undefined;
  }

  /** @param count how many filters there are, or will be at least. */
  #filtersMustFit(count: number): void {
    const filter = this.filter;
    if (filter === undefined) return;
    const byteLength = filter.byteLength + Math.max(0, count - filter.filterCount) * FILTER_OFFSET_LENGTH;
    if (byteLength > this.maxBlockBytes) this.#omitFilters(byteLength);
  }

  /** Lets the policy make filters. */
  #filtered<T>(make: (filter: FilterBlockBuilder) => T): T | undefined {
    const filter = this.filter;
    if (filter === undefined) return undefined;
    try {
      return make(filter);
    } catch (error) {
      if (filter.refusedLength === undefined) throw error;
      this.#omitFilters(filter.refusedLength);
      return undefined;
    }
  }

  /** @throws RangeError unless filters that are too large are omitted. */
  #omitFilters(byteLength: number): void {
    if (!this.omitsLargeFilters) throw filtersTooLarge(byteLength, this.maxBlockBytes);
    this.filter = undefined;
  }

  /** An index key for the last block. */
  #successor(): Uint8Array {
    const { lastKey } = this.data;
    const successor = this.comparator.findShortSuccessor(lastKey);
    mustBeBytes('the successor', successor);
    if (this.data.compareLast(this.compare, successor, 0, successor.length) <= 0) {
      // `add` has made sure that the last key fits, which is an index key too. A comparator may return a longer successor.
      const isFitting = this.index.byteLength + successor.length + MAX_INDEX_ENTRY_OVERHEAD <= this.maxBlockBytes;
      return isFitting ? successor : lastKey;
    }
    throw new RangeError(
      `findShortSuccessor of ${this.comparator.name} must return a key that is not before ${show(lastKey)}, ` +
        `got ${show(successor)}`,
    );
  }

  #append(contents: Uint8Array, codec: Codec | undefined): BlockHandle {
    const output = this.output;
    const offset = output.byteLength;
    if (codec !== undefined && contents.length > this.scratch.length && contents.length <= MAX_SCRATCH_BYTES) this.scratch = new Uint8Array(contents.length * 2);
    const smaller = compressed(contents, codec, this.scratch);
    const stored = smaller ?? contents;
    const position = output.extend(stored.length + BLOCK_TRAILER_LENGTH);
    putStoredBlock(output.bytes, position, stored, smaller === undefined ? NO_COMPRESSION : codec!.type);
    return { offset, size: stored.length };
  }
}

function mustBeRange(name: string, bytes: Uint8Array, start: number, end: number): void {
  if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= bytes.length) return;
  throw new RangeError(`${name} must be a range of the ${numberOf(bytes.length, 'byte')}, got ${start} and ${end}`);
}

/** The start of a key, in hexadecimal. */
function show(key: Uint8Array): string {
  const shown = Array.from(key.subarray(0, 32), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return key.length === 0 ? 'the empty key' : `0x${shown}${key.length > 32 ? '…' : ''}`;
}
