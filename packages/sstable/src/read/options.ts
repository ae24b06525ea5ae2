import { mustBeArray, mustBeOptions, mustBeSignal, mustBeWhole, mustHaveMethods, type Signal } from '@bloom/bytes';
import { BloomFilterPolicy, type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { snappyDecoder } from '../compression/snappy.js';
import { DEFAULT_MAX_BLOCK_BYTES, MAX_BLOCK_BYTES } from '../format/max-block-bytes.js';
import { type Codec, mustBeCodec } from '../format/codec.js';
import { bytewiseComparator, type Comparator, mustBeComparator } from '../format/comparator.js';
import { FOOTER_LENGTH } from '../format/footer.js';
import { mustAgree } from '../format/key-equivalence.js';
import type { BlockDecoding } from '../format/stored-block.js';
import type { BlockCache } from './block-cache.js';

/** How to open a table. All of it has a default. */
export interface TableOptions {
  /** The order of the keys: that which the table was written with. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  /**
   * The policies whose filters can be asked; the one whose name the file carries is. Default: LevelDB's Bloom filter,
   * or none where the comparator calls different bytes equal.
   */
  readonly filterPolicies?: readonly FilterPolicy[] | undefined;
  /** Codecs beside none and Snappy; one with their type takes their place. */
  readonly codecs?: readonly Codec[] | undefined;
  /** Keeps blocks that were read; null keeps none. Default: a cache of the table's own, of 8 MiB. */
  readonly cache?: BlockCache | null | undefined;
  /**
   * The most bytes that one block may have, as it is stored and as contents, up to 1 GiB. A larger one is refused before
   * it is read or decompressed. Default: 256 MiB.
   *
   * It bounds the memory that any file can cost, however it was made. With M for this limit:
   *
   * - No read is larger than M and a few bytes.
   * - Opening takes the tail, at most M; the index block and the filter block, each at most M as stored and M as contents;
   *   and the decoded index, at most 16 times its block and at most 2 M. The open table keeps filter block and index.
   * - A lookup, a cursor and a scan hold one block at a time: at most M as stored, M as contents, and 2 M for the longest
   *   key. Going backwards takes up to 4 M more.
   * - Beside that, a scan or a cursor of `Table` holds two windows of `readAheadBytes`, at most M each, and `getMany` 8 MiB of
   *   stored blocks, or one larger block.
   * - The cache has a limit of its own.
   */
  readonly maxBlockBytes?: number | undefined;
  /**
   * How many bytes at the end of the file are read first, in the hope that index and filter are there. More than
   * `maxBlockBytes` are not read. Default: 64 KiB.
   */
  readonly tailBytes?: number | undefined;
}

/** How a table reads blocks that lie near one another. */
export interface ReadingOptions {
  /**
   * The most bytes that a scan reads at once, up to `maxBlockBytes`. It starts with one block and doubles, so that a
   * short scan reads little and a long one seldom. 0 reads block by block. Default: 256 KiB.
   */
  readonly readAheadBytes?: number | undefined;
  /** The most bytes between two blocks that are read in vain to fetch both in one read. Default: 16 KiB. */
  readonly gapBytes?: number | undefined;
}

/** How to open a {@link Table}. All of it has a default. */
export interface AsyncTableOptions extends TableOptions, ReadingOptions {
  /** Ends the opening early. It has no effect on the open table. */
  readonly signal?: Signal | undefined;
}

/** How to wait for one call. */
export interface SignalOptions {
  /** Ends the call early: its promise is rejected with the signal's reason. */
  readonly signal?: Signal | undefined;
}

/** The default of {@link TableOptions.tailBytes}. */
const DEFAULT_TAIL_BYTES = 64 * 2 ** 10;
/** The default of {@link ReadingOptions.readAheadBytes}. */
const DEFAULT_READ_AHEAD_BYTES = 256 * 2 ** 10;
/** The default of {@link ReadingOptions.gapBytes}. */
const DEFAULT_GAP_BYTES = 16 * 2 ** 10;
/** The size of a table's own cache: that of LevelDB. */
export const DEFAULT_CACHE_BYTES = 8 * 2 ** 20;

/** Of `Table` and `SyncTable` alike, so that one object of options serves both: a `SyncTable` has no use for some. */
const TABLE_OPTIONS: Record<keyof AsyncTableOptions, true> = {
  comparator: true,
  filterPolicies: true,
  codecs: true,
  cache: true,
  maxBlockBytes: true,
  tailBytes: true,
  readAheadBytes: true,
  gapBytes: true,
  signal: true,
};
const SIGNAL_OPTIONS: Record<keyof SignalOptions, true> = { signal: true };

/** @throws TypeError for an unknown option, and for a cache or signal that is none. */
export function mustBeTableOptions(owner: string, options: AsyncTableOptions): void {
  mustBeOptions(owner, options, TABLE_OPTIONS);
  mustBeCache(options.cache);
  if (options.signal !== undefined) mustBeSignal('signal', options.signal);
}

function mustBeCache(cache: unknown): void {
  if (cache === undefined || cache === null) return;
  mustHaveMethods('cache', cache, 'a BlockCache or null', ['reserve', 'get', 'set', 'drop']);
}

/** The signal of a call, which is not aborted yet. @throws its reason if it is; TypeError for options that are none. */
export function signalOf(owner: string, options: SignalOptions | undefined): Signal | undefined {
  if (options === undefined) return undefined;
  mustBeOptions(owner, options, SIGNAL_OPTIONS);
  const { signal } = options;
  if (signal === undefined) return undefined;
  mustBeSignal('signal', signal);
  signal.throwIfAborted();
  return signal;
}

/** The order to read with. @throws TypeError for what is no comparator. */
export function comparatorFor({ comparator }: Pick<TableOptions, 'comparator'>): Comparator {
  if (comparator === undefined) return bytewiseComparator;
  mustBeComparator('comparator', comparator);
  return comparator;
}

/** How many bytes at the end of the file to read first. @throws RangeError for a `tailBytes` that is none. */
export function tailBytesFor({ tailBytes }: TableOptions, { maxBlockBytes }: BlockDecoding): number {
  const wanted = mustBeWhole('tailBytes', tailBytes ?? DEFAULT_TAIL_BYTES, FOOTER_LENGTH);
  return Math.min(wanted, Math.max(maxBlockBytes, FOOTER_LENGTH));
}

/** How to read blocks that lie near one another. @throws RangeError for a number of bytes that is none. */
export function readingFor({ readAheadBytes, gapBytes }: ReadingOptions): { readAheadBytes: number; gapBytes: number } {
  return {
    readAheadBytes: mustBeWhole('readAheadBytes', readAheadBytes ?? DEFAULT_READ_AHEAD_BYTES, 0),
    gapBytes: mustBeWhole('gapBytes', gapBytes ?? DEFAULT_GAP_BYTES, 0),
  };
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
 * How blocks are to be read.
 *
 * @throws TypeError for codecs that are none, RangeError for a `maxBlockBytes` that is none.
 */
export function decodingFor({ codecs, maxBlockBytes }: Pick<TableOptions, 'codecs' | 'maxBlockBytes'>): BlockDecoding {
  return {
    codecs: codecsByType(codecs),
    maxBlockBytes: mustBeWhole('maxBlockBytes', maxBlockBytes ?? DEFAULT_MAX_BLOCK_BYTES, 1, MAX_BLOCK_BYTES),
  };
}

/** The policies to read with. @throws TypeError for policies that are none, RangeError for those of other keys. */
export function policiesFor({ filterPolicies }: TableOptions, comparator: Comparator): readonly FilterPolicy[] {
  if (filterPolicies === undefined) return comparator.keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  mustBePolicies(filterPolicies);
  for (const policy of filterPolicies) mustAgree(comparator, policy);
  return filterPolicies;
}

/** @throws TypeError, which names the wrong one, for what are no filter policies. */
export function mustBePolicies(filterPolicies: unknown): asserts filterPolicies is readonly FilterPolicy[] {
  mustBeArray('filterPolicies', filterPolicies, 'filter policies');
  for (const [i, policy] of filterPolicies.entries()) mustBeFilterPolicy(`filterPolicies[${i}]`, policy);
}
