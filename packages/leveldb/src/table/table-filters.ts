import { seeded } from '@bloom/bytes/internal';
import { bloomFilterRate } from '@bloom/policy';
import type { OpenTable } from '@bloom/sstable/internal';

/** The effect of a table's filters. */
export interface TableFilters {
  /** The size of the filter block; 0 without one. */
  readonly byteLength: number;
  /** The bits of the filters, without their numbers of probes and the offsets. */
  readonly bits: number;
  /** The share of absent keys, 0 to 1, that they let pass. */
  readonly falsePositiveRate: number;
}

const NO_FILTERS: TableFilters = { byteLength: 0, bits: 0, falsePositiveRate: 1 };
/** LevelDB's name for its Bloom filters, and goleveldb's. */
const BLOOM_NAMES = ['leveldb.BuiltinBloomFilter2', 'leveldb.BuiltinBloomFilter'];

/** The number of filters of another policy that are tried, and the number of absent keys for each. */
const TRIED_FILTERS = 64;
const TRIED_KEYS = 32;
const TRIED_KEY_LENGTH = 24;

/**
 * The effect of an open table's filters. It follows from the bits that are set in LevelDB's Bloom filters; other filters are queried with keys
 * that are not stored. Undefined while the filters are unread.
 */
export function tableFiltersOf({ filter, filterStatus }: OpenTable): TableFilters | undefined {
  if (filterStatus.state === 'unread') return undefined;
  if (filter === undefined || filterStatus.state !== 'used') return NO_FILTERS;
  const isBloom = BLOOM_NAMES.includes(filterStatus.policyName);
  const filters: number[] = [];
  let bits = 0;
  let rates = 0;
  for (let i = 0; i < filter.filterCount; i++) {
    const one = filter.filterAt(i);
    if (one === undefined || one.length === 0) continue;
    filters.push(i);
    bits += (isBloom ? one.length - 1 : one.length) * 8;
    if (isBloom) rates += bloomFilterRate(one);
  }
  const { byteLength } = filter;
  if (filters.length === 0) return { byteLength, bits, falsePositiveRate: 1 };
  return { byteLength, bits, falsePositiveRate: isBloom ? rates / filters.length : triedRate(filter, filters) };
}

/** Queries some of the filters, evenly spread, with random keys. */
function triedRate(filter: NonNullable<OpenTable['filter']>, numbers: readonly number[]): number {
  const random = seeded(1);
  const step = Math.max(1, Math.floor(numbers.length / TRIED_FILTERS));
  // A single filter for a whole table gets as many queries as many filters.
  const keysEach = Math.max(TRIED_KEYS, Math.ceil((TRIED_FILTERS * TRIED_KEYS) / numbers.length));
  let asked = 0;
  let passed = 0;
  for (let i = 0; i < numbers.length; i += step) {
    for (let j = 0; j < keysEach; j++) {
      const key = random.bytes(TRIED_KEY_LENGTH);
      asked++;
      if (!filter.denies(numbers[i]! * filter.base, key, 0, key.length)) passed++;
    }
  }
  return passed / asked;
}
