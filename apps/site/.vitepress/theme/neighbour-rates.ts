import { seeded } from '@bloom/bytes/internal';
import { type KeyPattern, PATTERN_KEYS } from '@bloom/fixtures/key-patterns';
import { BloomFilterPolicy, buildFilter, FittedBloomFilterPolicy } from '@bloom/policy';

/** Filters of one number of keys, by one policy. */
export interface MeasuredFilters {
  /** The share of the absent keys, 0 to 1, that match. */
  readonly rate: number;
  /** Bytes of all filters. */
  readonly byteLength: number;
  /** Bits and probes of the first filter. */
  readonly bits: number;
  readonly probes: number;
}

/** LevelDB's filters and fitted ones, of the same keys. */
export interface NeighbourRates {
  readonly plain: MeasuredFilters;
  readonly fitted: MeasuredFilters;
}

const policies = { plain: new BloomFilterPolicy(10), fitted: new FittedBloomFilterPolicy(10) };

/** Makes filters of even numbers of the pattern, and asks for the odd number after each of them, for at least `asked` absent keys. */
export function neighbourRates(pattern: KeyPattern, keys: number, asked: number): NeighbourRates {
  const random = seeded(keys);
  const starts = Array.from({ length: Math.ceil(asked / keys) }, (_, i) => (i === 0 ? 0 : 2 * random.below(PATTERN_KEYS / 8)));
  const sets = starts.map((start) => ({
    stored: Array.from({ length: keys }, (_, i) => pattern.key(start + 2 * i)),
    absent: Array.from({ length: keys }, (_, i) => pattern.key(start + 2 * i + 1)),
  }));
  const measured = (policy: BloomFilterPolicy): MeasuredFilters => {
    const filters = sets.map(({ stored }) => buildFilter(policy, stored));
    const matched = sets.reduce((sum, { absent }, i) => sum + absent.filter((key) => policy.keyMayMatch(key, filters[i]!)).length, 0);
    const [first] = filters;
    return {
      rate: matched / (sets.length * keys),
      byteLength: filters.reduce((sum, filter) => sum + filter.length, 0),
      bits: 8 * (first!.length - 1),
      probes: first!.at(-1)!,
    };
  };
  return { plain: measured(policies.plain), fitted: measured(policies.fitted) };
}
