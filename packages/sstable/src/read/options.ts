import { mustBeWhole } from '@bloom/bytes';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { snappyDecoder } from '../compression/snappy.js';
import { DEFAULT_MAX_BLOCK_BYTES, MAX_BLOCK_BYTES } from '../format/block.js';
import { type Codec, mustBeCodec } from '../format/codec.js';
import type { Comparator } from '../format/comparator.js';
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
  /** The most bytes that the contents of one block may have. Default: 256 MiB. */
  readonly maxBlockBytes?: number | undefined;
  /** How many bytes at the end of the file are read first, in the hope that index and filter are there. Default: 64 KiB. */
  readonly tailBytes?: number | undefined;
}

/** How a table reads blocks that lie near one another. */
export interface ReadingOptions {
  /**
   * The most bytes that a scan reads at once. It starts with one block and doubles, so that a short scan reads little
   * and a long one seldom. 0 reads block by block. Default: 256 KiB.
   */
  readonly readAheadBytes?: number | undefined;
  /** The most bytes between two blocks that are read in vain to fetch both in one read. Default: 16 KiB. */
  readonly gapBytes?: number | undefined;
}

/** How to open a {@link Table}. All of it has a default. */
export interface AsyncTableOptions extends TableOptions, ReadingOptions {
  /** Ends the opening early. */
  readonly signal?: AbortSignal | undefined;
}

/** The default of {@link TableOptions.tailBytes}. */
export const DEFAULT_TAIL_BYTES = 64 * 2 ** 10;
/** The default of {@link ReadingOptions.readAheadBytes}. */
export const DEFAULT_READ_AHEAD_BYTES = 256 * 2 ** 10;
/** The default of {@link ReadingOptions.gapBytes}. */
export const DEFAULT_GAP_BYTES = 16 * 2 ** 10;
/** The size of a table's own cache: that of LevelDB. */
export const DEFAULT_CACHE_BYTES = 8 * 2 ** 20;

/** The codecs to read with, by compression type. */
function codecsByType(codecs: readonly Codec[] = []): ReadonlyMap<number, Codec> {
  for (const codec of codecs) mustBeCodec(codec);
  return new Map([snappyDecoder, ...codecs].map((codec) => [codec.type, codec]));
}

/** How blocks are to be read. @throws RangeError for a `maxBlockBytes` that is none. */
export function decodingFor({ codecs, maxBlockBytes }: Pick<TableOptions, 'codecs' | 'maxBlockBytes'>): BlockDecoding {
  return {
    codecs: codecsByType(codecs),
    maxBlockBytes: mustBeWhole('maxBlockBytes', maxBlockBytes ?? DEFAULT_MAX_BLOCK_BYTES, 1, MAX_BLOCK_BYTES),
  };
}

/** The policies to read with. */
export function policiesFor({ filterPolicies }: TableOptions, comparator: Comparator): readonly FilterPolicy[] {
  if (filterPolicies === undefined) return comparator.keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  for (const policy of filterPolicies) mustAgree(comparator, policy);
  return filterPolicies;
}
