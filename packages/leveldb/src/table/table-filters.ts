import { seeded } from '@bloom/bytes/internal';
import { bloomFilterRate } from '@bloom/policy';
import type { OpenTable } from '@bloom/sstable/internal';

/** What the filters of a table are worth. */
export interface TableFilters {
  /** Bytes of the filter block; 0 without one. */
  readonly byteLength: number;
  /** Bits of the filters, without their numbers of probes and their places. */
  readonly bits: number;
  /** The share of absent keys, 0 to 1, that they let pass. */
  readonly falsePositiveRate: number;
}

const NO_FILTERS: TableFilters = { byteLength: 0, bits: 0, falsePositiveRate: 1 };
/** LevelDB's name for its Bloom filters, and goleveldb's. */
const BLOOM_NAMES = ['leveldb.BuiltinBloomFilter2', 'leveldb.BuiltinBloomFilter'];

/** How many filters of another policy are tried, and with how many absent keys each. */
const TRIED_FILTERS = 64;
const TRIED_KEYS = 32;
const TRIED_KEY_LENGTH = 24;

/**
 * What the filters of an open table are worth: LevelDB's Bloom filters say it by the bits that are set, others are asked for keys
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

/** Asks some of the filters, evenly spread, for random keys. */
function triedRate(filter: NonNullable<OpenTable['filter']>, numbers: readonly number[]): number {
  const random = seeded(1);
  const step = Math.max(1, Math.floor(numbers.length / TRIED_FILTERS));
  // A single filter of a whole table is asked as often as many.
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
