/**
 * The filter block of a table: one filter for every 2 KiB of the file, or for every other power of two.
 *
 *     filter 0 | filter 1 | … | offset of filter 0 (u32) | offset of filter 1 (u32) | … | offset of the offsets (u32) | baseLg (u8)
 *
 * Filter i covers the data blocks that start at file offsets in [i << baseLg, (i + 1) << baseLg). It ends where the
 * next one starts, the last one where the offsets start. A range in which no block starts has an empty filter.
 * All integers are little-endian.
 *
 * Source: LevelDB, table/filter_block.cc and doc/table_format.md.
 */
import type { Bytes, LabelledRange } from '@bloom/bytes';
import { plainBytes, shownValue } from '@bloom/bytes/internal';
import { askablePrefixes, bloomFilterLayout, FilterBuffer, type FilterPolicy, KeyBuffer, type KeyList, mayAskInRanges, mustBeBytes, mustBeFilterPolicy, type PrefixExtractor } from '@bloom/policy';

/** log2 of {@link FILTER_BASE}. */
export const FILTER_BASE_LG = 11;
/** The range of the file that one filter covers in the tables that LevelDB writes, in bytes: 2 KiB. */
export const FILTER_BASE = 2 ** FILTER_BASE_LG;

/** With this many filters, their offsets alone take 4 GiB. At 2 KiB each, it is enough for a file of 2 TiB. */
const MAX_FILTERS = 2 ** 30;

/** The most by which LevelDB can shift. A larger baseLg is damage. */
const MAX_BASE_LG = 63;

/** log2 of {@link MAX_FILTER_RANGE}. */
const MAX_FILTER_RANGE_LG = 40;
/**
 * The widest range that can be set: 1 TiB, which is one filter for the whole of any smaller table. For such filters, use a
 * policy with a wide hash: see the constructor of {@link FilterBlockBuilder}.
 */
export const MAX_FILTER_RANGE = 2 ** MAX_FILTER_RANGE_LG;

/** The offset of the offsets, and baseLg. */
const TRAILER_LENGTH = 5;

/**
 * Builds the filter block of a table. The order of calls is `(startBlock addKey*)* finish`.
 *
 * When the policy throws, or the filters reach 4 GiB, the builder ends, because a filter that is made in a second
 * attempt could miss keys. Every later call throws a TypeError whose `cause` is the first error.
 *
 * @example
 * ```ts
 * const builder = new FilterBlockBuilder(new BloomFilterPolicy(10));
 * builder.startBlock(0);
 * builder.addKey(utf8('hello'));
 * const contents = builder.finish();
 * ```
 */
export class FilterBlockBuilder {
  readonly #policy: FilterPolicy;
  readonly #range: number;
  /** The keys of the next filter. */
  readonly #keys = new KeyBuffer();
  readonly #filters: FilterBuffer;
  #filterOffsets = new Uint32Array(64);
  #filterCount = 0;
  /** Why the builder accepts no more calls. */
  #ended: { readonly reason: string; readonly cause?: unknown } | undefined;

  /**
   * @param filterRange how many bytes of the file one filter covers: a power of two up to {@link MAX_FILTER_RANGE}. LevelDB
   *   reads it from the block, and writes 2,048 itself. A wide range suits large values, of which few fit into 2 KiB: every
   *   filter has at least 64 bits. The keys of a range are kept in memory until its filter is made. In filters of tens
   *   of thousands of keys or more, absent keys can have the same 32-bit hash as stored ones, most often numbers between
   *   stored numbers: `BlockedBloomFilterPolicy` of `@bloom/policy-blocked` has a wider hash.
   * @param maxBytes the most bytes of all filters. The policy's request for more is refused before memory is allocated.
   * @throws TypeError when `policy` is not a policy.
   * @throws RangeError when `filterRange` is not a power of two from 1 to 2^40, or `maxBytes` is not a number from 0 up.
   */
  constructor(policy: FilterPolicy, filterRange = FILTER_BASE, maxBytes = Infinity) {
    mustBeFilterPolicy('policy', policy);
    mustBeFilterRange(filterRange);
    this.#policy = policy;
    this.#range = filterRange;
    this.#filters = new FilterBuffer(maxBytes);
  }

  /** How many bytes the filters would have, if that is more than `maxBytes`. The builder has then ended. */
  get refusedLength(): number | undefined {
    return this.#filters.refusedLength;
  }

  /** How many bytes `finish` would return now, without the filter of the keys that were added last. */
  get byteLength(): number {
    return this.#filters.byteLength + this.#filterCount * 4 + TRAILER_LENGTH;
  }

  /** How many filters there are so far, including empty ones. */
  get filterCount(): number {
    return this.#filterCount;
  }

  /**
   * Begins the data block at `blockOffset`, which contains the keys that are added next.
   *
   * @param blockOffset bytes from the start of the file, in the previous block's range or a later one.
   * @throws RangeError when `blockOffset` is not an offset, is in a range whose filter has already been made, or is past 2^30
   *   ranges.
   * @throws whatever the policy throws.
   */
  startBlock(blockOffset: number): void {
    this.#mustNotHaveEnded();
    if (!(Number.isSafeInteger(blockOffset) && blockOffset >= 0)) {
      throw new RangeError(`blockOffset must be a whole number of bytes, got ${shownValue(blockOffset)}`);
    }
    const range = Math.floor(blockOffset / this.#range);
    if (range < this.#filterCount) {
      throw new RangeError(`blockOffset must not decrease: the filter of the range that contains ${blockOffset} has already been made`);
    }
    if (range >= MAX_FILTERS) throw new RangeError(`blockOffset must be below ${MAX_FILTERS * this.#range}, got ${blockOffset}`);
    while (range > this.#filterCount) this.#generateFilter();
  }

  /**
   * Adds a copy of `key` to the filter of the current block's range.
   *
   * @throws TypeError when `key` is not a `Uint8Array`.
   */
  addKey(key: Uint8Array): void {
    this.#mustNotHaveEnded();
    this.#keys.push(key);
  }

  /**
   * Adds a copy of the key `from[start, end)`, without making a view of it.
   *
   * @throws TypeError when `from` is not a `Uint8Array`.
   * @throws RangeError when that is not a range of `from`.
   */
  addKeyRange(from: Uint8Array, start: number, end: number): void {
    this.#mustNotHaveEnded();
    this.#keys.pushRange(from, start, end);
  }

  /**
   * Adds copies of many keys to the filter of the current block's range.
   *
   * @throws TypeError when their bytes are not a `Uint8Array`.
   * @throws RangeError when their offsets do not ascend or leave the bytes.
   */
  addKeys(keys: Pick<KeyList, 'bytes' | 'offsets' | 'length'>): void {
    this.#mustNotHaveEnded();
    this.#keys.pushAll(keys);
  }

  /**
   * Ends the builder.
   *
   * @returns the contents of the filter block.
   * @throws RangeError when the filters have 4 GiB or more in total, which their offsets cannot express.
   * @throws whatever the policy throws.
   */
  finish(): Bytes {
    this.#mustNotHaveEnded();
    if (this.#keys.length > 0) this.#generateFilter();
    const filterBytes = this.#filters.byteLength;
    const contents = new Uint8Array(this.byteLength);
    const view = new DataView(contents.buffer);
    this.#filters.copyTo(contents);
    let offset = filterBytes;
    for (let i = 0; i < this.#filterCount; i++, offset += 4) view.setUint32(offset, this.#filterOffsets[i]!, true);
    view.setUint32(offset, filterBytes, true);
    contents[offset + 4] = Math.log2(this.#range);
    this.#ended = { reason: 'the filter block is finished' };
    return contents;
  }

  #generateFilter(): void {
    const offset = this.#filters.byteLength;
    if (this.#filterCount === this.#filterOffsets.length) {
      const grown = new Uint32Array(this.#filterOffsets.length * 2);
      grown.set(this.#filterOffsets);
      this.#filterOffsets = grown;
    }
    this.#filterOffsets[this.#filterCount++] = offset;
    if (this.#keys.length === 0) return;
    try {
      this.#policy.createFilter(this.#keys, this.#filters);
      this.#filters.settle();
      if (this.#filters.byteLength > 0xffffffff) throw new RangeError('filters must be less than 4 GiB in total');
    } catch (error) {
      this.#ended = { reason: 'the filter block is incomplete: making a filter failed', cause: error };
      throw error;
    }
    this.#keys.clear();
  }

  #mustNotHaveEnded(): void {
    if (this.#ended === undefined) return;
    const { reason, ...cause } = this.#ended;
    throw new TypeError(reason, cause);
  }
}

/** @throws RangeError unless `filterRange` is a power of two from 1 to 2^40: a number of bytes. */
export function mustBeFilterRange(filterRange: number): void {
  if (Number.isInteger(filterRange) && Number.isInteger(Math.log2(filterRange)) && filterRange >= 1 && filterRange <= MAX_FILTER_RANGE) return;
  throw new RangeError(`filterRange must be a power of two from 1 to 2^${MAX_FILTER_RANGE_LG}, got ${shownValue(filterRange)}`);
}

/**
 * Looks keys up in the filters of a filter block.
 *
 * Damage that can be detected does not hide a key: whatever cannot be read as a filter matches every key, even where an
 * offset is damaged such that LevelDB's reader would not match. Other damage, such as a flipped bit in a filter, is
 * found by the block's checksum, which `@bloom/sstable` checks.
 *
 * @example
 * ```ts
 * new FilterBlockReader(new BloomFilterPolicy(), contents).keyMayMatch(blockOffset, utf8('hello'));
 * ```
 */
export class FilterBlockReader {
  /** How many filters there are, including empty ones. */
  readonly filterCount: number;
  /** The range of the file that one filter covers, in bytes. */
  readonly base: number;
  /** Length of the block in bytes. */
  readonly byteLength: number;
  readonly #policy: FilterPolicy;
  readonly #asksInRanges: boolean;
  readonly #prefixes: PrefixExtractor | undefined;
  readonly #contents: Uint8Array;
  readonly #view: DataView;
  /** Where the filters end and their offsets start. */
  readonly #offsetsStart: number;

  /**
   * @param contents the bytes of the block, which must not change while the reader is in use.
   * @throws TypeError when `policy` is not a policy, or `contents` is not a `Uint8Array`.
   */
  constructor(policy: FilterPolicy, contents: Uint8Array) {
    mustBeFilterPolicy('policy', policy);
    mustBeBytes('contents', contents);
    this.#policy = policy;
    this.#asksInRanges = mayAskInRanges(policy);
    this.#prefixes = askablePrefixes(policy);
    this.#contents = plainBytes(contents);
    this.byteLength = contents.length;
    this.#view = new DataView(contents.buffer, contents.byteOffset, contents.byteLength);
    const trailer = contents.length - TRAILER_LENGTH;
    const offsetsStart = trailer >= 0 ? this.#view.getUint32(trailer, true) : 0;
    const baseLg = contents[contents.length - 1]!;
    const readable = trailer >= 0 && offsetsStart <= trailer && baseLg <= MAX_BASE_LG;
    this.#offsetsStart = readable ? offsetsStart : 0;
    this.filterCount = readable ? Math.floor((trailer - offsetsStart) / 4) : 0;
    this.base = readable ? 2 ** baseLg : FILTER_BASE;
  }

  /**
   * Whether `key` may be in the data block that starts at `blockOffset`.
   *
   * @param blockOffset bytes from the start of the file.
   * @throws TypeError when `key` is not a `Uint8Array`, or is detached.
   */
  keyMayMatch(blockOffset: number, key: Uint8Array): boolean {
    mustBeBytes('key', key);
    return this.#mayMatch(blockOffset, key, 0, key.length, false);
  }

  /**
   * Whether the filter excludes the key `keyBytes[keyStart, keyEnd)` from the data block that starts at `blockOffset`. Tables
   * ask this of blocks that their index has. An empty filter contradicts the index, so here it excludes no key; for
   * `keyMayMatch`, it excludes every key.
   *
   * @param blockOffset bytes from the start of the file.
   */
  denies(blockOffset: number, keyBytes: Uint8Array, keyStart: number, keyEnd: number): boolean {
    return !this.#mayMatch(blockOffset, keyBytes, keyStart, keyEnd, true);
  }

  /** The rule that gives keys their prefixes; undefined if the filters cannot be asked about prefixes. */
  get prefixes(): PrefixExtractor | undefined {
    return this.#prefixes;
  }

  /**
   * Whether the filter excludes all keys with `prefix` from the data block that starts at `blockOffset`. As for {@link denies}, an
   * empty filter excludes none.
   *
   * @param prefix of a key, by {@link prefixes}.
   */
  deniesPrefix(blockOffset: number, prefix: Uint8Array): boolean {
    if (this.#prefixes === undefined) return false;
    const filter = this.filterAt(Math.floor(blockOffset / this.base));
    return filter !== undefined && filter.length > 0 && !this.#policy.prefixMayMatch!(prefix, filter);
  }

  /** The bytes of filter `i`: empty for a range without keys, undefined when the filter does not exist or is damaged. */
  filterAt(i: number): Uint8Array | undefined {
    if (!(Number.isInteger(i) && i >= 0 && i < this.filterCount)) return undefined;
    const start = this.#startOf(i);
    const limit = this.#startOf(i + 1);
    return start <= limit && limit <= this.#offsetsStart ? this.#contents.subarray(start, limit) : undefined;
  }

  #mayMatch(blockOffset: number, keyBytes: Uint8Array, keyStart: number, keyEnd: number, ifEmpty: boolean): boolean {
    const i = Math.floor(blockOffset / this.base);
    if (!(i >= 0 && i < this.filterCount)) return true;
    const start = this.#startOf(i);
    const limit = this.#startOf(i + 1);
    if (start > limit || limit > this.#offsetsStart) return true;
    if (start === limit) return ifEmpty;
    const policy = this.#policy;
    // Without views of filter and key, a lookup of an absent key takes an eighth less time.
    if (this.#asksInRanges) return policy.keyMayMatchRange!(keyBytes, keyStart, keyEnd, this.#contents, start, limit);
    const key = keyStart === 0 && keyEnd === keyBytes.length ? keyBytes : keyBytes.subarray(keyStart, keyEnd);
    return policy.keyMayMatch(key, this.#contents.subarray(start, limit));
  }

  /** Where filter `i` starts. After the last filter, that is the offset of the offsets. */
  #startOf(i: number): number {
    return this.#view.getUint32(this.#offsetsStart + i * 4, true);
  }
}

/**
 * Labels the bytes of a filter block that lies at `offset` of a file: every byte once, in order. A generator, because all
 * ranges together take many times the memory of the block.
 *
 * @param isBloom whether the filters are LevelDB's Bloom filters, whose parts are then labelled too.
 * @throws TypeError when `contents` is not a `Uint8Array`.
 */
export function* filterBlockLayout(
  contents: Uint8Array,
  offset: number,
  isBloom: boolean,
): Generator<LabelledRange, void, undefined> {
  mustBeBytes('contents', contents);
  const trailer = contents.length - TRAILER_LENGTH;
  const view = new DataView(contents.buffer, contents.byteOffset, contents.byteLength);
  const offsetsStart = trailer < 0 ? Infinity : view.getUint32(trailer, true);
  if (offsetsStart > trailer) {
    if (contents.length > 0) yield { offset, byteLength: contents.length, label: 'not a filter block' };
    return;
  }
  const count = Math.floor((trailer - offsetsStart) / 4);
  let position = 0;
  function* fill(end: number): Generator<LabelledRange, void, undefined> {
    if (end > position) yield { offset: offset + position, byteLength: end - position, label: 'bytes of no filter' };
    position = end;
  }
  for (let i = 0; i < count; i++) {
    const start = view.getUint32(offsetsStart + i * 4, true);
    const limit = view.getUint32(offsetsStart + i * 4 + 4, true);
    // Skips a filter that is empty, damaged, or overlaps an earlier one.
    if (start >= limit || limit > offsetsStart || start < position) continue;
    yield* fill(start);
    const filter = contents.subarray(start, limit);
    const parts = isBloom ? bloomFilterLayout(filter, offset + start) : [{ offset: offset + start, byteLength: filter.length, label: 'bytes' }];
    for (const part of parts) yield { ...part, label: `filter ${i}: ${part.label}` };
    position = limit;
  }
  yield* fill(offsetsStart);
  for (let i = 0; i < count; i++) {
    const at = offsetsStart + i * 4;
    yield { offset: offset + at, byteLength: 4, label: `offset of filter ${i}`, value: String(view.getUint32(at, true)) };
  }
  position = offsetsStart + count * 4;
  yield* fill(trailer);
  yield { offset: offset + trailer, byteLength: 4, label: 'offset of the offsets', value: String(offsetsStart) };
  const baseLg = contents[trailer + 4]!;
  yield { offset: offset + trailer + 4, byteLength: 1, label: 'baseLg', value: `${baseLg}: a filter for every ${2 ** baseLg} bytes` };
}
