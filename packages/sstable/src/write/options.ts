import { mustHaveMethods, shownValue } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { snappyCodec } from '../compression/snappy.js';
import { type Codec, mustBeCodec } from '../format/codec.js';
import type { Comparator } from '../format/comparator.js';
import { mustHaveShortName } from '../format/metaindex-block.js';
import { mustAgree } from '../format/key-equivalence.js';

/** How to build a table. Every option has a default; except for the filter, it is LevelDB's. */
export interface TableBuilderOptions {
  /** The order of the keys. Default: `bytewiseComparator`. */
  readonly comparator?: Comparator | undefined;
  /** Creates the filters; null for a table without filters. Default: `new BloomFilterPolicy(10)`. */
  readonly filterPolicy?: FilterPolicy | null | undefined;
  /**
   * How many bytes of the file one filter covers: a power of two up to 2^40, which is one filter for the whole table.
   * LevelDB reads any. A filter has at least 64 bits. With 10 bits per key, those are enough for six keys: where a data block of
   * 4 KiB has fewer, because entries have more than about 640 bytes, its filter is larger than `bitsPerKey` asks for. A range of
   * 2^40 avoids that, and keeps all keys in memory until the table is finished. For ranges of tens of thousands of keys or more, use a policy with a wide hash, such as
   * `BlockedBloomFilterPolicy`: with LevelDB's, 11% instead of 1% of the numbers between 100,000 stored ones passed, see
   * docs/filters.md. Default: 2048.
   */
  readonly filterRange?: number | undefined;
  /** A data block is full at this many bytes before compression. Default: 4096. */
  readonly blockSize?: number | undefined;
  /** Entries from one restart of a data block to the next. Default: 16. */
  readonly blockRestartInterval?: number | undefined;
  /** Default: `'snappy'`. */
  readonly compression?: 'none' | 'snappy' | Codec | undefined;
  /**
   * The most bytes that a block may have before compression, up to 1 GiB: an entry, or the index or filters of a table,
   * that would need a larger one is refused. Readers have the same limit. Default: 256 MiB, the default of readers.
   */
  readonly maxBlockBytes?: number | undefined;
  /**
   * What to do with a table whose filters would need a block of more than `maxBlockBytes`: `true` writes it without
   * filters, `false` refuses it. This happens with small filter ranges and large values, or with many bits per key.
   * Default: false.
   */
  readonly omitLargeFilters?: boolean | undefined;
}

/** The names of the options. */
export const TABLE_BUILDER_OPTIONS: Record<keyof TableBuilderOptions, true> = {
  comparator: true,
  filterPolicy: true,
  filterRange: true,
  blockSize: true,
  blockRestartInterval: true,
  compression: true,
  maxBlockBytes: true,
  omitLargeFilters: true,
};

/** The codec to write with, if any. @throws RangeError for a codec that cannot write. */
export function codecFor(compression: TableBuilderOptions['compression'] = 'snappy'): Codec | undefined {
  if (compression === 'none') return undefined;
  if (compression === 'snappy') return snappyCodec;
  if (typeof compression === 'object') {
    mustHaveMethods('compression', compression, "'none', 'snappy' or a codec", ['decompress']);
    mustBeCodec(compression);
    if (compression.compress !== undefined) return compression;
    throw new RangeError(`compression must be a codec that writes, ${compression.name} only reads`);
  }
  throw new RangeError(`compression must be 'none', 'snappy' or a codec, got ${shownValue(compression)}`);
}

/** The policy to write with, if any. @throws TypeError for an invalid policy, RangeError for one with another equivalence or a name of more than a MiB. */
export function policyFor({ filterPolicy }: TableBuilderOptions, comparator: Comparator): FilterPolicy | undefined {
  if (filterPolicy === null) return undefined;
  const policy = filterPolicy ?? new BloomFilterPolicy();
  mustBeFilterPolicy('filterPolicy', policy);
  mustHaveShortName(policy);
  mustAgree(comparator, policy);
  return policy;
}
