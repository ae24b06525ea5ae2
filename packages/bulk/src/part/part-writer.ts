import type { Bytes } from '@bloom/bytes';
import { bytesOf, copiedOptions, mustBeWhole, mustHaveAtMost } from '@bloom/bytes/internal';
import { type Comparator, MemorySink, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { DELETION, encodeInternalKey, INTERNAL_KEY_TRAILER_LENGTH, internalKeyComparator, internalKeyPolicy, MAX_SEQUENCE, VALUE } from '@bloom/sstable/database';
import { comparatorOf } from '@bloom/sstable/internal';
import { BloomFilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { numberOfSha256 } from './object-name.js';
import type { Part, PartKind } from './part.js';
import { sha256Hex, toHex } from './sha256.js';

/** How to write parts. Every option except `sequence` has a default. The same entries and options always give the same bytes. */
export interface PartOptions extends Omit<TableBuilderOptions, 'omitLargeFilters'> {
  /**
   * Creates the filters; null for none. Default: `new BloomFilterPolicy(14)`, whose filters LevelDB can read; none if the comparator has a
   * `keyEquivalence`. A false positive costs a request when the part is on a server.
   */
  readonly filterPolicy?: TableBuilderOptions['filterPolicy'];
  /**
   * The sequence of all entries, up to 2^56 - 1. Each delivery needs a higher one than the publication has: for example the number of
   * the day, or the publication's last sequence plus one.
   */
  readonly sequence: bigint;
  /** A part ends with the block at which its blocks and index reach this many bytes, without its filters. Default: 16 MiB. */
  readonly partBytes?: number | undefined;
}

/** The names of {@link PartOptions}. */
export const PART_OPTIONS: Record<keyof PartOptions, true> = {
  sequence: true,
  partBytes: true,
  comparator: true,
  filterPolicy: true,
  filterRange: true,
  blockSize: true,
  blockRestartInterval: true,
  compression: true,
  maxBlockBytes: true,
};

/** The default of {@link PartOptions.partBytes}. */
export const DEFAULT_PART_BYTES = 16 * 2 ** 20;

const BITS_PER_KEY = 14;

/** A part, and the bytes of its file. */
export interface WrittenPart {
  readonly part: Part;
  readonly bytes: Bytes;
}

/**
 * Writes entries in ascending order of their keys as parts. One part at a time is in memory.
 *
 * @example
 * ```ts
 * const writer = new PartWriter({ sequence: 1n });
 * for (const [key, value] of entries) {
 *   writer.put(key, value);
 *   if (writer.isFull) await save(await writer.take());
 * }
 * if (!writer.isEmpty) await save(await writer.take());
 * ```
 */
export class PartWriter {
  private readonly comparator: Comparator;
  private readonly options: TableBuilderOptions;
  private readonly sequence: bigint;
  private readonly partBytes: number;
  private sink = new MemorySink();
  private builder: TableBuilder;
  private deletions = 0;
  private first: Uint8Array = new Uint8Array(0);
  private firstKind: PartKind = 'value';
  private lastKind: PartKind = 'value';
  /** The last key of the previous part, which the next key must follow. */
  private before: Uint8Array | undefined;
  /** The trailers of the internal keys of values and deletions. */
  private readonly valueTrailer: Uint8Array;
  private readonly deletionTrailer: Uint8Array;
  /** The internal key of the entry being added. */
  private stored = new Uint8Array(256);

  /** @throws TypeError or RangeError for an invalid option. */
  constructor(options: PartOptions) {
    const { sequence, partBytes = DEFAULT_PART_BYTES, comparator: given, filterPolicy, ...rest } = copiedOptions('PartWriter', options, PART_OPTIONS);
    const comparator = comparatorOf('comparator', given);
    if (typeof sequence !== 'bigint') throw new TypeError(`sequence must be a bigint, got ${typeof sequence}`);
    if (sequence < 0n || sequence > MAX_SEQUENCE) throw new RangeError(`sequence must be from 0 to 2^56 - 1, got ${sequence}`);
    this.sequence = sequence;
    this.valueTrailer = encodeInternalKey({ userKey: NOTHING, sequence, type: VALUE });
    this.deletionTrailer = encodeInternalKey({ userKey: NOTHING, sequence, type: DELETION });
    this.partBytes = mustBeWhole('partBytes', partBytes, 1, 2 ** 40);
    this.comparator = comparator;
    const policy = filterPolicy === undefined && comparator.keyEquivalence === undefined ? new BloomFilterPolicy(BITS_PER_KEY) : (filterPolicy ?? null);
    if (policy !== null) mustBeFilterPolicy('filterPolicy', policy);
    this.options = { ...rest, comparator: internalKeyComparator(comparator), filterPolicy: policy && internalKeyPolicy(policy) };
    this.builder = new TableBuilder(this.sink, this.options);
  }

  /** Whether the part has reached its size: call {@link take} before the next entry. */
  get isFull(): boolean {
    return this.builder.byteLength + this.builder.indexByteLength >= this.partBytes;
  }

  /** Whether the part has no entry. */
  get isEmpty(): boolean {
    return this.builder.entries === 0;
  }

  /**
   * Adds a value. Strings are stored as UTF-8.
   *
   * @throws TypeError or RangeError when the key is not after the last one, or the entry is too large. It is then not added.
   */
  put(key: Uint8Array | string, value: Uint8Array | string): void {
    if (arguments.length > 2) mustHaveAtMost('PartWriter.put', 'a key and a value', 2, arguments.length);
    this.#add(bytesOf('key', key), bytesOf('value', value), 'value');
  }

  /** Adds the deletion of a key, which hides the value that it has in the levels below. @throws as {@link put}. */
  delete(key: Uint8Array | string): void {
    if (arguments.length > 1) mustHaveAtMost('PartWriter.delete', 'a key', 1, arguments.length);
    this.#add(bytesOf('key', key), NOTHING, 'deletion');
  }

  /** Ends the part, and begins the next one. @throws TypeError when it has no entry. */
  async take(): Promise<WrittenPart> {
    if (this.isEmpty) throw new TypeError('the part has no entry');
    const last = this.builder.lastKey.slice(0, -INTERNAL_KEY_TRAILER_LENGTH);
    const { entries } = this.builder.finish();
    const bytes = this.sink.toBytes();
    const [deletions, first, firstKind, lastKind] = [this.deletions, this.first, this.firstKind, this.lastKind];
    this.before = last.slice();
    this.deletions = 0;
    this.sink = new MemorySink();
    this.builder = new TableBuilder(this.sink, this.options);
    const sha256 = await sha256Hex(bytes);
    const number = numberOfSha256(sha256);
    const part: Part = { number, byteLength: bytes.length, sha256, comparator: this.comparator.name, sequence: this.sequence, entries, deletions, first, firstKind, last, lastKind };
    return { part, bytes };
  }

  #add(key: Uint8Array, value: Uint8Array, kind: PartKind): void {
    const { isEmpty } = this;
    this.#mustBeAfter(key, isEmpty ? this.before : this.builder.lastKey.subarray(0, -INTERNAL_KEY_TRAILER_LENGTH));
    const length = key.length + INTERNAL_KEY_TRAILER_LENGTH;
    if (this.stored.length < length) this.stored = new Uint8Array(2 * length);
    this.stored.set(key);
    this.stored.set(kind === 'value' ? this.valueTrailer : this.deletionTrailer, key.length);
    this.builder.addRange(this.stored, 0, length, value, 0, value.length);
    if (isEmpty) {
      // Not by slice, which makes a view of a Buffer.
      this.first = new Uint8Array(key);
      this.firstKind = kind;
    }
    this.lastKind = kind;
    if (kind === 'deletion') this.deletions++;
  }

  /** A part has one entry per key, although a table could have several versions of a key. */
  #mustBeAfter(key: Uint8Array, before: Uint8Array | undefined): void {
    if (before === undefined) return;
    const difference = this.comparator.compare(before, key);
    if (difference < 0) return;
    const order = difference === 0 ? 'is equal to' : 'is before';
    throw new RangeError(`key must be after the previous key: ${shown(key)} ${order} ${shown(before)} by ${this.comparator.name}`);
  }
}

const NOTHING = new Uint8Array(0);

/** The start of a key, in hexadecimal. */
function shown(key: Uint8Array): string {
  return key.length > 32 ? `${toHex(key.subarray(0, 32))}…` : toHex(key);
}
