import type { Bytes, Signal } from '@bloom/bytes';
import { isPromise, mustBeBoolean, mustBeOptions, sameBytes } from '@bloom/bytes/internal';
import { FILTER_BASE, FilterBlockBuilder, mustBeFilterRange } from '@bloom/filter-block';
import type { FilterPolicy } from '@bloom/policy';
import { isOwnSnappy, snappyCodec } from '../compression/snappy.js';
import type { BlockHandle } from '../format/block-handle.js';
import { type Codec, NO_COMPRESSION } from '../format/codec.js';
import { decodeFooter, encodeFooter, FOOTER_LENGTH } from '../format/footer.js';
import { filtersTooLarge, metaindexTooLarge } from '../format/max-block-bytes.js';
import { encodeMetaindex, mustHaveShortName } from '../format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, compressed, decodeStoredBlock, putStoredBlock, storedEnd } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { readOpenTable } from '../read/open.js';
import { runAsync } from '../read/reading.js';
import type { Source } from '../read/source.js';
import { soundHandles } from './sound-handles.js';
import { ENTRIES_PER_PAUSE, INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';

/** How to make the other filters. */
export interface RefilterOptions extends InspectionOptions {
  /**
   * Makes the filters, from keys as they are stored: for a table of a database, the `internalKeyPolicy` of the policy for user
   * keys. Null for none.
   */
  readonly filterPolicy: FilterPolicy | null;
  /** How many bytes of the file one filter covers, as in `TableBuilderOptions`. Default: 2048. */
  readonly filterRange?: number | undefined;
  /** Whether to write no filters if their block would exceed `maxBlockBytes`, as in `TableBuilderOptions`. Default: false, which refuses such a table. */
  readonly omitLargeFilters?: boolean | undefined;
}

/** A table with other filters. */
export interface RefilteredTable {
  /**
   * Reads as a table with these filters. Data blocks and index are those of the given source, where they are; filter block,
   * metaindex and footer follow its last byte, so it is longer than a table that was written with these filters. It reads without
   * promises where the given source does: then it is a `SyncSource` too.
   */
  readonly source: Source;
  /** Bytes of the filter block; 0 without one. */
  readonly filterBytes: number;
  /** How many filters it has, including empty ones. */
  readonly filters: number;
  /** How many keys were added: all entries of the table. */
  readonly entries: number;
  /** Whether {@link RefilteredTable.file} differs from the given table, whose filters are others, missing, or elsewhere in the file. */
  readonly isChanged: boolean;
  /** The length of the table as a file of its own: {@link RefilteredTable.file}. */
  readonly fileBytes: number;
  /**
   * Yields the table as a file of its own, in pieces of up to 1 MiB: the data blocks byte for byte as they were, then the new filter
   * block, the metaindex, the index as it was, and the footer. It is the file that a `TableBuilder` with these filters would have
   * written, except that the metaindex is not compressed if no block of the given table is. A piece is valid until the next one.
   *
   * @throws the error of the given source.
   */
  file(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** The most bytes of a piece of a table's file. */
const PIECE_BYTES = 2 ** 20;
/** Bytes of a filter's place in the filter block. */
const FILTER_OFFSET_LENGTH = 4;

/**
 * Makes the filters that a table would have with another policy or another filter range, by reading all its data blocks, so that
 * its size and its lookups can be compared. The filters are those that a `TableBuilder` makes of the same blocks.
 *
 * Takes memory for one block, the index, the new filters with the keys of one range, and 2 MiB of the file; time in proportion to
 * the bytes of the file and of its decompressed blocks. The given source must stay open as long as the returned one is used.
 *
 * @throws CorruptionError or UnsupportedError when the table cannot be opened, when a block cannot be read, and
 *   `BLOOM_BAD_HANDLE` when two data blocks share bytes of the file.
 * @throws RangeError for a wrong `filterRange`, or, without `omitLargeFilters`, when the filter block would have more than `maxBlockBytes`.
 *
 * @example
 * ```ts
 * const { source: other, filterBytes } = await refilterTable(source, { filterPolicy: new BloomFilterPolicy(14) });
 * const table = await Table.open(other);
 * ```
 */
export async function refilterTable(source: Source, options: RefilterOptions): Promise<RefilteredTable> {
  mustBeOptions('refilterTable', options, { ...INSPECTION_OPTIONS, filterPolicy: true, filterRange: true, omitLargeFilters: true });
  const { filterPolicy, filterRange = FILTER_BASE, codecs, maxBlockBytes, signal, omitLargeFilters = false } = options;
  mustBeFilterRange(filterRange);
  mustBeBoolean('omitLargeFilters', omitLargeFilters);
  const stored = new StoredBlocks(source, options);
  const { decoding } = stored;
  let builder = filterPolicy === null ? undefined : new FilterBlockBuilder(filterPolicy, filterRange, decoding.maxBlockBytes);
  if (filterPolicy !== null) mustHaveShortName(filterPolicy);
  const { byteLength, name: file } = source;
  const { index } = await runAsync(source, readOpenTable(source, { filterPolicies: [], codecs, maxBlockBytes }), signal);
  // Keys go into the filter of the range in which their block starts, whatever the order of the index is.
  const handles = soundHandles(index, file).sort((a, b) => a.offset - b.offset);
  const footerOffset = byteLength - FOOTER_LENGTH;
  const { index: indexHandle, metaindex } = decodeFooter(await stored.bytes(footerOffset, FOOTER_LENGTH), { structure: 'footer', offset: footerOffset, file });
  // A damaged handle of the metaindex may lead anywhere.
  const [metaindexType = NO_COMPRESSION] = metaindex.offset + metaindex.size < footerOffset ? await stored.bytes(metaindex.offset + metaindex.size, 1) : [];
  const fits = (byteLength: number, error: (byteLength: number, maxBlockBytes: number) => RangeError): boolean => {
    if (byteLength <= decoding.maxBlockBytes) return true;
    if (omitLargeFilters) return false;
    throw error(byteLength, decoding.maxBlockBytes);
  };
  /** Lets the policy make filters. @returns undefined where they are left out. */
  const filtered = <T>(make: (filters: FilterBlockBuilder) => T): T | undefined => {
    if (builder === undefined) return undefined;
    try {
      return make(builder);
    } catch (error) {
      if (builder.refusedLength === undefined || fits(builder.refusedLength, filtersTooLarge)) throw error;
      builder = undefined;
      return undefined;
    }
  };
  const startBlock = (offset: number): void => {
    if (builder === undefined) return;
    const more = Math.max(0, Math.floor(offset / filterRange) - builder.filterCount);
    if (fits(builder.byteLength + more * FILTER_OFFSET_LENGTH, filtersTooLarge)) filtered((filters) => filters.startBlock(offset));
    else builder = undefined;
  };
  const walk = new WholeBlockWalk('data block', file);
  let entries = 0;
  /** That of the first block that is compressed: a builder compresses the metaindex with the codec of all other blocks. */
  let codec: Codec | undefined;
  startBlock(0);
  for (const handle of handles) {
    const block = await stored.stored(handle, { structure: 'data block', file });
    const contents = decodeStoredBlock(block, { structure: 'data block', offset: handle.offset, file }, decoding);
    codec ??= codecOf(block[handle.size]!, decoding);
    startBlock(handle.offset);
    walk.reset(contents, handle.offset);
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      if (++entries % ENTRIES_PER_PAUSE === 0) await stored.pause();
      builder?.addKey(walk.key);
    }
    // A builder begins the next block before it knows whether there is one.
    startBlock(storedEnd(handle));
  }
  let filterBlock = filtered((filters) => filters.finish());
  if (filterBlock !== undefined && !(fits(filterBlock.length, filtersTooLarge) && fits(metaindexOf(byteLength, filterBlock, filterPolicy?.name).length, metaindexTooLarge))) {
    builder = filterBlock = undefined;
  }
  const last = handles.at(-1);
  const dataEnd = last === undefined ? 0 : storedEnd(last);
  const storedIndex = await stored.bytes(indexHandle.offset, indexHandle.size + BLOCK_TRAILER_LENGTH);
  codec ??= codecOf(storedIndex[indexHandle.size]!, decoding) ?? codecOf(metaindexType, decoding);
  const appended = endOf(byteLength, filterBlock, filterPolicy?.name, codec, indexHandle);
  const own = endOf(dataEnd, filterBlock, filterPolicy?.name, codec, storedIndex);
  const fileBytes = dataEnd + own.length;
  return {
    source: new ExtendedSource(source, appended),
    filterBytes: filterBlock?.length ?? 0,
    filters: builder?.filterCount ?? 0,
    entries,
    isChanged: fileBytes !== byteLength || !sameBytes(own, await stored.bytes(dataEnd, own.length)),
    fileBytes,
    async *file() {
      // The signal only aborts making the filters.
      const unbound = new StoredBlocks(source, { codecs, maxBlockBytes });
      for (let offset = 0; offset < dataEnd; offset += PIECE_BYTES) yield unbound.bytes(offset, Math.min(PIECE_BYTES, dataEnd - offset));
      for (let at = 0; at < own.length; at += PIECE_BYTES) yield own.subarray(at, at + PIECE_BYTES);
    },
  };
}

/** The metaindex of a table whose filter block, if there is one, is at `start`. */
function metaindexOf(start: number, filterBlock: Bytes | undefined, policyName: string | undefined): Uint8Array {
  return encodeMetaindex(filterBlock && { policyName: policyName!, handle: { offset: start, size: filterBlock.length } }, 1);
}

/**
 * The end of a table: the filter block, if there is one, the metaindex, the index and the footer.
 *
 * @param start where the end begins, in bytes of the file.
 * @param codec of the metaindex.
 * @param index as it is stored, or where it is already.
 */
function endOf(start: number, filterBlock: Bytes | undefined, policyName: string | undefined, codec: Codec | undefined, index: BlockHandle | Uint8Array): Bytes {
  const plain = metaindexOf(start, filterBlock, policyName);
  const smaller = compressed(plain, codec);
  const metaindexContents = smaller ?? plain;
  const metaindexAt = filterBlock === undefined ? 0 : filterBlock.length + BLOCK_TRAILER_LENGTH;
  const metaindex = { offset: start + metaindexAt, size: metaindexContents.length };
  const indexAt = metaindexAt + metaindex.size + BLOCK_TRAILER_LENGTH;
  const isMoved = index instanceof Uint8Array;
  const end = new Uint8Array(indexAt + (isMoved ? index.length : 0) + FOOTER_LENGTH);
  if (filterBlock !== undefined) putStoredBlock(end, 0, filterBlock, NO_COMPRESSION);
  putStoredBlock(end, metaindexAt, metaindexContents, smaller === undefined ? NO_COMPRESSION : codec!.type);
  if (isMoved) end.set(index, indexAt);
  const indexHandle = isMoved ? { offset: start + indexAt, size: index.length - BLOCK_TRAILER_LENGTH } : index;
  end.set(encodeFooter({ metaindex, index: indexHandle }), end.length - FOOTER_LENGTH);
  return end;
}

/** The codec of a compression type, which may compress; undefined for blocks without compression. */
function codecOf(type: number, { codecs }: BlockDecoding): Codec | undefined {
  const codec = codecs.get(type);
  return codec !== undefined && isOwnSnappy(codec) ? snappyCodec : codec;
}

/** A source followed by further bytes. */
class ExtendedSource implements Source {
  readonly byteLength: number;
  readonly name: string | undefined;
  readonly isRemote: boolean | undefined;
  readonly heldTailBytes: number;
  readonly #source: Source;
  readonly #tail: Uint8Array;

  constructor(source: Source, tail: Uint8Array) {
    this.byteLength = source.byteLength + tail.length;
    this.name = source.name;
    this.isRemote = source.isRemote;
    this.heldTailBytes = tail.length;
    this.#source = source;
    this.#tail = tail;
  }

  read(offset: number, length: number, signal?: Signal): Uint8Array | Promise<Uint8Array> {
    const own = this.#source.byteLength;
    if (offset >= own) return this.#tail.subarray(offset - own, offset - own + length);
    if (offset + length <= own) return this.#source.read(offset, length, signal);
    return this.#across(offset, length, signal);
  }

  #across(offset: number, length: number, signal: Signal | undefined): Uint8Array | Promise<Uint8Array> {
    const own = this.#source.byteLength;
    const before = this.#source.read(offset, own - offset, signal);
    return isPromise(before) ? Promise.resolve(before).then((read) => this.#joined(read, offset, length)) : this.#joined(before, offset, length);
  }

  #joined(before: Uint8Array, offset: number, length: number): Uint8Array {
    const own = this.#source.byteLength;
    // What is short of bytes is so at its end, where the table notices it.
    if (before.length < own - offset) return before;
    const bytes = new Uint8Array(length);
    bytes.set(before);
    bytes.set(this.#tail.subarray(0, offset + length - own), before.length);
    return bytes;
  }
}
