import type { Signal } from '@bloom/bytes';
import { mustBeArray, mustBeOptions, mustBeSignal, mustBeWhole, mustHaveMethods, shownValue, throwIfAborted } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { snappyDecoder } from '../compression/snappy.js';
import { maxBlockBytesFor } from '../format/max-block-bytes.js';
import { type Codec, mustBeCodec } from '../format/codec.js';
import type { Comparator } from '../format/comparator.js';
import { FOOTER_LENGTH } from '../format/footer.js';
import { mustAgree } from '../format/key-equivalence.js';
import type { BlockDecoding } from '../format/stored-block.js';
import type { BlockCache } from './block-cache.js';
import type { Source } from './source.js';

/** When the filters of a table are read. */
export type FilterReading = 'at-opening' | 'when-needed' | 'never';

/** How to open a table. Every option has a default. */
export interface TableOptions {
  /** The order in which the table was written. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  /**
   * The policies whose filters can be used; a file stores the name of the policy that made its filters. Default: LevelDB's Bloom
   * filter, or none if the comparator treats different keys as equal.
   */
  readonly filterPolicies?: readonly FilterPolicy[] | undefined;
  /** Codecs in addition to Snappy. A codec with Snappy's type replaces it. */
  readonly codecs?: readonly Codec[] | undefined;
  /**
   * When the filters are read, unless they come with the tail of the file:
   *
   * - `'at-opening'`, so that every lookup can ask them.
   * - `'when-needed'`: when lookups of absent keys have cost about as much as reading the filters does, counting a read as 128
   *   KiB, which is what arrives within 50 ms at 20 Mbit/s. They are never read if few keys are looked up, or only present
   *   ones. If the index keys look like those of a database, they are read at opening all the same.
   * - `'never'`: they are not used even if they come with the tail.
   *
   * Default: `'when-needed'` if the source is remote, `'at-opening'` otherwise.
   */
  readonly filters?: FilterReading | undefined;
  /** Keeps blocks that were read; null for no cache. Default: a separate cache of 8 MiB. */
  readonly cache?: BlockCache | null | undefined;
  /**
   * The most bytes that one block may have, both as stored and decompressed, up to 1 GiB. A larger block is refused before
   * it is read or decompressed. Default: 256 MiB.
   *
   * This bounds the memory that any file can take, even a crafted one. With M for this limit:
   *
   * - No read is larger than M and a few bytes.
   * - Opening takes the tail, at most M; the index block and the filter block, each at most M as stored and M as contents;
   *   and the decoded index, at most 16 times its block and at most 2 M. The open table keeps filter block and index.
   * - A lookup, a cursor and a scan hold one block at a time: at most M as stored, M as contents, and 2 M for the longest
   *   key. Moving backwards takes up to 4 M more.
   * - In addition, a scan or a cursor holds windows of `readAheadBytes`, at most M each: two with `Table`, one with `SyncTable`.
   *   It also holds up to 256 KiB for decompressing. `getMany` holds 8 MiB of stored blocks, or one larger block.
   * - The cache has a limit of its own.
   */
  readonly maxBlockBytes?: number | undefined;
  /**
   * How many bytes at the end of the file to read first, where index and filter usually are; at most `maxBlockBytes`.
   * Default: those that a source such as `HttpSource` has at hand; otherwise a 32nd of the file, but at least 64 KiB and at
   * most 256 KiB.
   */
  readonly tailBytes?: number | undefined;
}

/** How a table reads blocks that are close to each other. */
export interface ReadingOptions {
  /**
   * The most bytes that a scan reads at once, up to `maxBlockBytes`. Reads start with one block and double, so that a short
   * scan reads little and a long one makes few reads. 0 reads block by block. Default: 256 KiB.
   */
  readonly readAheadBytes?: number | undefined;
  /** The largest gap between two blocks that are still fetched in one read, in bytes. Default: 16 KiB. */
  readonly gapBytes?: number | undefined;
}

/** How to open a {@link SyncTable}. Every option has a default. */
export type SyncTableOptions = TableOptions & Pick<ReadingOptions, 'readAheadBytes'>;

/** How to open a {@link Table}. Every option has a default. */
export interface AsyncTableOptions extends TableOptions, ReadingOptions {
  /** Ends the opening early. It has no effect on the open table. */
  readonly signal?: Signal | undefined;
}

/** How to wait for one call. */
export interface SignalOptions {
  /** Ends the call early: its promise is rejected with the signal's reason. */
  readonly signal?: Signal | undefined;
}

/**
 * The default of {@link TableOptions.tailBytes}, as a share of the file and its bounds. Index and filter are about a 50th
 * of a table with entries of 100 bytes. A second read takes longer than reading some hundred kilobytes at once.
 */
const TAIL_SHARE = 32;
const LEAST_TAIL_BYTES = 64 * 2 ** 10;
const MOST_TAIL_BYTES = 256 * 2 ** 10;
/** The default of {@link ReadingOptions.readAheadBytes}. */
const DEFAULT_READ_AHEAD_BYTES = 256 * 2 ** 10;
/** The default of {@link ReadingOptions.gapBytes}. */
const DEFAULT_GAP_BYTES = 16 * 2 ** 10;
/** The size of a table's own cache, the same as LevelDB's. */
export const DEFAULT_CACHE_BYTES = 8 * 2 ** 20;

/** The names for both `Table` and `SyncTable`, so that one object can be used for both. `SyncTable` ignores `gapBytes`. */
export const TABLE_OPTIONS: Record<keyof AsyncTableOptions, true> = {
  comparator: true,
  filterPolicies: true,
  codecs: true,
  filters: true,
  cache: true,
  maxBlockBytes: true,
  tailBytes: true,
  readAheadBytes: true,
  gapBytes: true,
  signal: true,
};
const SIGNAL_OPTIONS: Record<keyof SignalOptions, true> = { signal: true };

/** @throws TypeError for an unknown option, and for an invalid cache or signal; the signal's reason if it is aborted. */
export function mustBeTableOptions(owner: string, options: AsyncTableOptions, known: Record<string, true> = TABLE_OPTIONS): void {
  mustBeOptions(owner, options, known);
  mustBeCache(options.cache);
  mustBeFilterReading(options.filters);
  mustNotBeAborted(options.signal);
}

/** Checks how tables are to be read, before there is one. @throws TypeError or RangeError, which names the option. */
export function mustBeReading(options: Pick<TableOptions, 'cache' | 'codecs' | 'filters' | 'maxBlockBytes' | 'tailBytes'> & ReadingOptions): void {
  mustBeCache(options.cache);
  mustBeFilterReading(options.filters);
  tailBytesFor(options, decodingFor(options), { byteLength: 0 });
  readingFor(options);
}

function mustBeCache(cache: unknown): void {
  if (cache === undefined || cache === null) return;
  mustHaveMethods('cache', cache, 'a BlockCache or null', ['reserve', 'get', 'set', 'drop']);
}

const FILTER_READINGS: readonly unknown[] = ['at-opening', 'when-needed', 'never'];

/** @throws RangeError unless it is undefined or one of three strings. */
function mustBeFilterReading(filters: unknown): void {
  if (filters === undefined || FILTER_READINGS.includes(filters)) return;
  throw new RangeError(`filters must be 'at-opening', 'when-needed' or 'never', got ${shownValue(filters)}`);
}

/** The signal of a call. @throws the signal's reason if it is aborted; TypeError for invalid options. */
export function signalOf(owner: string, options: SignalOptions | undefined): Signal | undefined {
  if (options === undefined) return undefined;
  mustBeOptions(owner, options, SIGNAL_OPTIONS);
  mustNotBeAborted(options.signal);
  return options.signal;
}

/** @throws the signal's reason if it is aborted; TypeError if it is no signal. */
export function mustNotBeAborted(signal: Signal | undefined): void {
  if (signal === undefined) return;
  mustBeSignal('signal', signal);
  throwIfAborted(signal);
}

/** How many bytes at the end of the file to read first. @throws RangeError for an invalid `tailBytes`. */
export function tailBytesFor(
  { tailBytes }: TableOptions,
  { maxBlockBytes }: BlockDecoding,
  { byteLength, heldTailBytes = 0 }: Pick<Source, 'byteLength' | 'heldTailBytes'>,
): number {
  const share = Math.floor(byteLength / TAIL_SHARE);
  const usual = heldTailBytes >= FOOTER_LENGTH ? heldTailBytes : Math.max(LEAST_TAIL_BYTES, Math.min(MOST_TAIL_BYTES, share));
  const wanted = mustBeWhole('tailBytes', tailBytes ?? usual, FOOTER_LENGTH);
  // What the source holds costs nothing to read, and it does not hold it any longer then.
  return Math.min(Math.max(wanted, heldTailBytes), byteLength, Math.max(maxBlockBytes, FOOTER_LENGTH));
}

/** How to read blocks that are close to each other. @throws RangeError for an invalid number of bytes. */
export function readingFor(options: ReadingOptions): { readAheadBytes: number; gapBytes: number } {
  const { gapBytes } = options;
  return {
    readAheadBytes: readAheadBytesFor(options),
    gapBytes: mustBeWhole('gapBytes', gapBytes ?? DEFAULT_GAP_BYTES, 0),
  };
}

/** The most bytes that a scan reads at once. @throws RangeError for an invalid `readAheadBytes`. */
export function readAheadBytesFor({ readAheadBytes }: ReadingOptions): number {
  return mustBeWhole('readAheadBytes', readAheadBytes ?? DEFAULT_READ_AHEAD_BYTES, 0);
}

/** The codecs to read with, by compression type. */
function codecsByType(codecs: readonly Codec[] = []): ReadonlyMap<number, Codec> {
  mustBeArray('codecs', codecs, 'codecs');
  for (const [i, codec] of codecs.entries()) {
    mustHaveMethods(`codecs[${i}]`, codec, 'a codec', ['decompress']);
    mustBeCodec(codec);
  }
  return new Map([snappyDecoder, ...codecs].map((codec) => [codec.type, codec]));
}

/**
 * How to decode blocks.
 *
 * @throws TypeError for invalid codecs, RangeError for an invalid `maxBlockBytes`.
 */
export function decodingFor(options: Pick<TableOptions, 'codecs' | 'maxBlockBytes'>): BlockDecoding {
  return { codecs: codecsByType(options.codecs), maxBlockBytes: maxBlockBytesFor(options) };
}

/** The policies to read with. @throws TypeError for invalid policies, RangeError if one has another equivalence of keys. */
export function policiesFor(options: TableOptions, comparator: Comparator): readonly FilterPolicy[] {
  const policies = givenPolicies(options, comparator);
  for (const policy of policies) mustAgree(comparator, policy);
  return policies;
}

/** The same, whatever equivalence of keys they have. @throws TypeError for invalid policies. */
export function givenPolicies({ filterPolicies }: TableOptions, { keyEquivalence }: Comparator): readonly FilterPolicy[] {
  if (filterPolicies === undefined) return keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  mustBePolicies(filterPolicies);
  return filterPolicies;
}

/** @throws TypeError, which names the invalid item, unless all are filter policies. */
export function mustBePolicies(filterPolicies: unknown): asserts filterPolicies is readonly FilterPolicy[] {
  mustBeArray('filterPolicies', filterPolicies, 'filter policies');
  for (const [i, policy] of filterPolicies.entries()) mustBeFilterPolicy(`filterPolicies[${i}]`, policy);
}
