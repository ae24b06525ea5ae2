import { FilterBlockBuilder } from '@bloom/filter-block';
import type { FilterPolicy } from '@bloom/policy';
import { mustBeBytes, mustBeWhole } from '@bloom/bytes';
import { type BlockHandle, MAX_BLOCK_HANDLE_LENGTH, putBlockHandle } from '../format/block-handle.js';
import { BlockBuilder } from '../format/block.js';
import { type Codec, NO_COMPRESSION } from '../format/codec.js';
import { bytewiseComparator, type Comparator, compareBytes, type CompareRange, compareRangeOf } from '../format/comparator.js';
import { encodeFooter } from '../format/footer.js';
import { encodeMetaindex } from '../format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH, compressed, putStoredBlock } from '../format/stored-block.js';
import { codecFor, policyFor, type TableBuilderOptions } from '../read/table-options.js';
import { TableOutput, type TableSink } from './table-output.js';

/** What was built. */
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
  /** Filters in the filter block, those of no bytes included. */
  readonly filters: number;
  /** Bytes of the index block before compression. */
  readonly indexBytes: number;
}

/** A sink that keeps the file in memory. */
export class MemorySink implements TableSink {
  #parts: Uint8Array[] = [];
  #byteLength = 0;

  append(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#byteLength += bytes.length;
  }

  /** The whole file so far, in one piece. */
  toBytes(): Uint8Array {
    const file = new Uint8Array(this.#byteLength);
    let position = 0;
    for (const part of this.#parts) {
      file.set(part, position);
      position += part.length;
    }
    this.#parts = [file];
    return file;
  }
}

/**
 * Builds a table of ascending keys, byte for byte as LevelDB's `TableBuilder` does.
 *
 * It works at once and in bounded memory: the index, the filters, one block and 64 KiB of finished bytes, which then go
 * to the sink.
 *
 * Source: LevelDB, table/table_builder.cc.
 *
 * @example
 * ```ts
 * const sink = new MemorySink();
 * const builder = new TableBuilder(sink);
 * builder.add(utf8('hello'), utf8('world'));
 * builder.finish();
 * const file = sink.toBytes();
 * ```
 */
export class TableBuilder {
  readonly #output: TableOutput;
  readonly #comparator: Comparator;
  readonly #compare: CompareRange;
  readonly #policy: FilterPolicy | undefined;
  readonly #filter: FilterBlockBuilder | undefined;
  readonly #codec: Codec | undefined;
  readonly #blockSize: number;
  readonly #restartInterval: number;
  readonly #data: BlockBuilder;
  readonly #index = new BlockBuilder(1);
  readonly #handle = new Uint8Array(MAX_BLOCK_HANDLE_LENGTH);
  /** The data block whose index entry waits for the next key, to be made as short as can be. */
  #unindexed: BlockHandle | undefined;
  #entries = 0;
  #entryBytes = 0;
  #dataBlocks = 0;
  #rawDataBytes = 0;
  #storedDataBytes = 0;
  /** Why it takes no more calls. */
  #ended: string | undefined;

  /** @throws RangeError for an option that is wrong. */
  constructor(sink: TableSink, options: TableBuilderOptions = {}) {
    this.#output = new TableOutput(sink);
    this.#comparator = options.comparator ?? bytewiseComparator;
    this.#compare = compareRangeOf(this.#comparator);
    this.#policy = policyFor(options, this.#comparator);
    this.#codec = codecFor(options.compression);
    this.#blockSize = mustBeWhole('blockSize', options.blockSize ?? 4096, 1);
    this.#restartInterval = mustBeWhole('restartInterval', options.restartInterval ?? 16, 1);
    this.#data = new BlockBuilder(this.#restartInterval);
    this.#filter = this.#policy && new FilterBlockBuilder(this.#policy);
    this.#filter?.startBlock(0);
  }

  /** Entries added so far. */
  get entries(): number {
    return this.#entries;
  }

  /** Bytes of the file so far, those that the sink has not got yet included. */
  get byteLength(): number {
    return this.#output.byteLength;
  }

  /**
   * Adds an entry. Key and value are copied.
   *
   * @throws RangeError when `key` is not after the key before it; the builder goes on without it.
   * @throws TypeError when key or value is not a Uint8Array, after `finish`, or after a call that failed half way.
   */
  add(key: Uint8Array, value: Uint8Array): void {
    if (this.#ended !== undefined) throw new TypeError(this.#ended);
    mustBeBytes('key', key);
    mustBeBytes('value', value);
    const common = this.#data.commonWithLast(key);
    if (this.#entries > 0) this.#mustBeAfterLast(key, common);
    if (this.#unindexed !== undefined) {
      this.#addToIndex(this.#unindexed, this.#comparator.findShortestSeparator(this.#data.lastKey, key));
      this.#unindexed = undefined;
    }
    this.#filter?.addKey(key);
    this.#data.add(key, value, common);
    this.#entries++;
    this.#entryBytes += key.length + value.length;
    if (this.#data.byteLength >= this.#blockSize) this.#flush();
  }

  /**
   * Ends the table: filter, metaindex, index and footer.
   *
   * @throws TypeError after `finish`, or after a call that failed half way.
   */
  finish(): TableInfo {
    if (this.#ended !== undefined) throw new TypeError(this.#ended);
    if (!this.#data.isEmpty) this.#flush();
    this.#ended = 'the table failed while it was finished';
    const filterContents = this.#filter?.finish();
    const filter = filterContents && {
      policyName: this.#policy!.name,
      handle: this.#append(filterContents, undefined),
    };
    const metaindex = this.#append(encodeMetaindex(filter, this.#restartInterval), this.#codec);
    if (this.#unindexed !== undefined) {
      this.#addToIndex(this.#unindexed, this.#comparator.findShortSuccessor(this.#data.lastKey));
    }
    const indexBytes = this.#index.byteLength;
    const index = this.#append(this.#index.finish(), this.#codec);
    const footer = encodeFooter({ metaindex, index });
    const position = this.#output.extend(footer.length);
    this.#output.bytes.set(footer, position);
    this.#output.flush();
    this.#ended = 'the table is finished';
    return {
      byteLength: this.byteLength,
      entries: this.#entries,
      dataBlocks: this.#dataBlocks,
      entryBytes: this.#entryBytes,
      rawDataBytes: this.#rawDataBytes,
      storedDataBytes: this.#storedDataBytes,
      filterBytes: filterContents?.length ?? 0,
      filters: this.#filter?.filterCount ?? 0,
      indexBytes,
    };
  }

  #mustBeAfterLast(key: Uint8Array, common: number): void {
    const compare = this.#compare;
    // By bytes, those in common have said it already.
    if (compare === compareBytes && this.#data.isAfterLast(key, common)) return;
    const order = this.#data.compareLast(compare, key);
    if (order < 0) return;
    const { lastKey } = this.#data;
    const problem = order === 0 ? 'is the same key as' : 'comes before';
    throw new RangeError(
      `key must be after the key before it: entry ${this.#entries} (${show(key)}) ${problem} ${show(lastKey)} ` +
        `by ${this.#comparator.name}`,
    );
  }

  #flush(): void {
    // Whatever fails from here on has lost entries: nothing but a new table will do.
    this.#ended = 'the table failed while a block was written';
    const contents = this.#data.finish();
    this.#rawDataBytes += contents.length;
    const start = this.byteLength;
    this.#unindexed = this.#append(contents, this.#codec);
    this.#storedDataBytes += this.byteLength - start;
    this.#dataBlocks++;
    this.#filter?.startBlock(this.byteLength);
    this.#ended = undefined;
  }

  #append(contents: Uint8Array, codec: Codec | undefined): BlockHandle {
    const output = this.#output;
    const offset = output.byteLength;
    const smaller = compressed(contents, codec);
    const stored = smaller ?? contents;
    const position = output.extend(stored.length + BLOCK_TRAILER_LENGTH);
    putStoredBlock(output.bytes, position, stored, smaller === undefined ? NO_COMPRESSION : codec!.type);
    return { offset, size: stored.length };
  }

  #addToIndex(handle: BlockHandle, separator: Uint8Array): void {
    const length = putBlockHandle(this.#handle, 0, handle);
    this.#index.add(separator, this.#handle.subarray(0, length));
  }
}

/** The start of a key, in hexadecimal. */
function show(key: Uint8Array): string {
  const shown = Array.from(key.subarray(0, 32), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return key.length === 0 ? 'the empty key' : `0x${shown}${key.length > 32 ? '…' : ''}`;
}
