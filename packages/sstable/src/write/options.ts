import { mustBeWhole } from '@bloom/bytes';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { snappyCodec } from '../compression/snappy.js';
import { DEFAULT_MAX_BLOCK_BYTES, MAX_BLOCK_BYTES } from '../format/block.js';
import { type Codec, mustBeCodec } from '../format/codec.js';
import type { Comparator } from '../format/comparator.js';
import { mustAgree } from '../format/key-equivalence.js';

/** How to build a table. Every option has a default; except for the filter, it is LevelDB's. */
export interface TableBuilderOptions {
  /** The order of the keys. Default: `bytewiseComparator`. */
  readonly comparator?: Comparator | undefined;
  /** Creates the filters; null for a table without filters. Default: `new BloomFilterPolicy(10)`. */
  readonly filterPolicy?: FilterPolicy | null | undefined;
  /** A data block is full at this many bytes before compression. Default: 4096. */
  readonly blockSize?: number | undefined;
  /** Entries from one restart of a data block to the next. Default: 16. */
  readonly restartInterval?: number | undefined;
  /** Default: `'snappy'`. */
  readonly compression?: 'none' | 'snappy' | Codec | undefined;
  /**
   * The most bytes that a block may have before compression, up to 1 GiB: an entry, or the index or filters of a table,
   * that would need a larger one is refused. Readers have the same limit. Default: 256 MiB, the default of readers.
   */
  readonly maxBlockBytes?: number | undefined;
}

/** @throws RangeError unless `maxBlockBytes` is a whole number up to 1 GiB. */
export function blockLimitFor({ maxBlockBytes }: TableBuilderOptions): number {
  return mustBeWhole('maxBlockBytes', maxBlockBytes ?? DEFAULT_MAX_BLOCK_BYTES, 1, MAX_BLOCK_BYTES);
}

/** The codec to write with, if any. @throws RangeError for a codec that cannot write. */
export function codecFor(compression: TableBuilderOptions['compression'] = 'snappy'): Codec | undefined {
  if (compression === 'none') return undefined;
  if (compression === 'snappy') return snappyCodec;
  if (typeof compression === 'object') {
    mustBeCodec(compression);
    if (compression.compress !== undefined) return compression;
    throw new RangeError(`compression must be a codec that writes, ${compression.name} only reads`);
  }
  throw new RangeError(`compression must be 'none', 'snappy' or a codec, got ${String(compression)}`);
}

/** The policy to write with, if any. */
export function policyFor({ filterPolicy }: TableBuilderOptions, comparator: Comparator): FilterPolicy | undefined {
  const policy = filterPolicy === undefined ? new BloomFilterPolicy() : filterPolicy;
  if (policy !== null) mustAgree(comparator, policy);
  return policy ?? undefined;
}
