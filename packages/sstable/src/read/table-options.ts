import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import type { BlockCache } from './block-cache.js';
import type { Codec } from '../format/codec.js';
import type { Comparator } from '../format/comparator.js';
import { snappyCodec, snappyDecoder } from '../compression/snappy.js';
import type { BlockDecoding } from '../format/stored-block.js';
import { mustBeWhole } from '@bloom/bytes';

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

/** The default of {@link TableOptions.maxBlockBytes}. */
const DEFAULT_MAX_BLOCK_BYTES = 256 * 2 ** 20;
/** The default of {@link TableOptions.tailBytes}. */
export const DEFAULT_TAIL_BYTES = 64 * 2 ** 10;
/** The size of a table's own cache: that of LevelDB. */
export const DEFAULT_CACHE_BYTES = 8 * 2 ** 20;

/** How to build a table. All of it has a default, which is LevelDB's but for the filter. */
export interface TableBuilderOptions {
  /** The order of the keys. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  /** Makes the filters; null for a table without. Default: LevelDB's Bloom filter with 10 bits per key. */
  readonly filterPolicy?: FilterPolicy | null | undefined;
  /** Bytes of a data block before compression, at which it is full. Default: 4096. */
  readonly blockSize?: number | undefined;
  /** Entries from one restart of a block to the next. Default: 16. */
  readonly restartInterval?: number | undefined;
  /** Default: `'snappy'`. */
  readonly compression?: 'none' | 'snappy' | Codec | undefined;
}

/** The codecs to read with, by compression type. */
function codecsByType(codecs: readonly Codec[] = []): ReadonlyMap<number, Codec> {
  for (const codec of codecs) mustHaveType(codec);
  return new Map([snappyDecoder, ...codecs].map((codec) => [codec.type, codec]));
}

/** Type 0 says that nothing is compressed, and the type is one byte. */
function mustHaveType({ type, name }: Codec): void {
  if (Number.isInteger(type) && type >= 1 && type <= 0xff) return;
  throw new RangeError(`the type of codec ${name} must be from 1 to 255, got ${type}`);
}

/** How blocks are to be read. @throws RangeError for a `maxBlockBytes` that is none. */
export function decodingFor({ codecs, maxBlockBytes }: Pick<TableOptions, 'codecs' | 'maxBlockBytes'>): BlockDecoding {
  return {
    codecs: codecsByType(codecs),
    maxBlockBytes: mustBeWhole('maxBlockBytes', maxBlockBytes ?? DEFAULT_MAX_BLOCK_BYTES, 1),
  };
}

/** The codec to write with, if any. */
export function codecFor(compression: TableBuilderOptions['compression'] = 'snappy'): Codec | undefined {
  if (compression === 'none') return undefined;
  if (compression === 'snappy') return snappyCodec;
  if (typeof compression === 'object') {
    mustHaveType(compression);
    if (compression.compress !== undefined) return compression;
    throw new RangeError(`compression must be a codec that writes, ${compression.name} only reads`);
  }
  throw new RangeError(`compression must be 'none', 'snappy' or a codec, got ${String(compression)}`);
}

/** The policies to read with. */
export function policiesFor({ filterPolicies }: TableOptions, comparator: Comparator): readonly FilterPolicy[] {
  if (filterPolicies === undefined) return comparator.keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  for (const policy of filterPolicies) mustAgree(comparator, policy);
  return filterPolicies;
}

/** The policy to write with, if any. */
export function policyFor({ filterPolicy }: TableBuilderOptions, comparator: Comparator): FilterPolicy | undefined {
  const policy = filterPolicy === undefined ? new BloomFilterPolicy() : filterPolicy;
  if (policy !== null) mustAgree(comparator, policy);
  return policy ?? undefined;
}

/**
 * Keys that are one to the comparator must be one to the filter: LevelDB documents the rule and cannot see it broken
 * (include/leveldb/filter_policy.h).
 */
function mustAgree(comparator: Comparator, policy: FilterPolicy): void {
  const ordered = comparator.keyEquivalence;
  const filtered = policy.keyEquivalence;
  if (ordered === filtered) return;
  const say = (equivalence: string | undefined): string =>
    equivalence === undefined ? 'tells all keys apart' : `treats keys as one by "${equivalence}"`;
  const danger =
    ordered === undefined
      ? 'Keys that are different here would share their filter bits for nothing, or a wrong comparator was given.'
      : 'A key stored as "a" and looked up as another that the comparator calls equal, such as "a " where trailing ' +
        'spaces do not count, would be called absent by the filter although it is there.';
  throw new RangeError(
    `filter policy ${policy.name} ${say(filtered)}, comparator ${comparator.name} ${say(ordered)}. ${danger} ` +
      `Give a policy whose keyEquivalence is ${ordered === undefined ? 'absent' : `"${ordered}"`}, one that filters ` +
      'what the comparator compares, or do without filters.',
  );
}
