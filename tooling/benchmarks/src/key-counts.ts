// How many absent keys pass filters of few keys, for each number of keys: LevelDB's filters and fitted ones.
import { seeded } from '@bloom/bytes/internal';
import { type KeyPattern, PATTERN_KEYS } from '@bloom/fixtures/key-patterns';
import { BloomFilterPolicy, buildFilter, FittedBloomFilterPolicy } from '@bloom/policy';
import { spread } from './measure.js';
import { markdownTable } from './report.js';
import { percent } from './structured-tables.js';

/** The numbers of keys that are measured. */
const FEWEST_KEYS = 2;
const MOST_KEYS = 128;
/** How many absent keys are asked for at each number of keys, at least, over as many filters as that takes. */
const ASKED = 10_000;
const BITS_PER_KEY = 10;

/** The table of patterns starts here: LevelDB gives fewer than 7 keys its minimum of 64 bits. */
const FEWEST_SHOWN = 8;
/** The pattern and the numbers of keys of the second table. */
const SHOWN_PATTERN = 'padded counter, 0000000000000042';
const SHOWN_KEYS = [2, 4, 6, 8, 12, 16, 19, 24, 30, 32, 36, 38, 39, 48, 51, 64, 96, 128];

/** Filters of one pattern. Each list has one number for each number of keys, from 2 to 128. */
export interface KeyCounts {
  readonly pattern: string;
  readonly asked: readonly number[];
  /** How many of the absent keys passed LevelDB's filters, and fitted ones. */
  readonly plain: readonly number[];
  readonly fitted: readonly number[];
  /** Bytes of all filters. */
  readonly plainBytes: readonly number[];
  readonly fittedBytes: readonly number[];
}

/** Makes filters of even numbers of the pattern, and asks for the odd number after each of them. */
export function measureKeyCounts(pattern: KeyPattern): KeyCounts {
  const [plain, fitted] = [new BloomFilterPolicy(BITS_PER_KEY), new FittedBloomFilterPolicy(BITS_PER_KEY)];
  const counts = { pattern: pattern.name, asked: [] as number[], plain: [] as number[], fitted: [] as number[], plainBytes: [] as number[], fittedBytes: [] as number[] };
  for (let keys = FEWEST_KEYS; keys <= MOST_KEYS; keys++) {
    const random = seeded(keys);
    const sums = { asked: 0, plain: 0, fitted: 0, plainBytes: 0, fittedBytes: 0 };
    while (sums.asked < ASKED) {
      // The first filter has the first keys; others start anywhere.
      const start = sums.asked === 0 ? 0 : 2 * random.below(PATTERN_KEYS / 8);
      const stored = Array.from({ length: keys }, (_, i) => pattern.key(start + 2 * i));
      const plainFilter = buildFilter(plain, stored);
      const fittedFilter = buildFilter(fitted, stored);
      sums.plainBytes += plainFilter.length;
      sums.fittedBytes += fittedFilter.length;
      for (let i = 0; i < keys; i++) {
        const absent = pattern.key(start + 2 * i + 1);
        sums.asked++;
        if (plain.keyMayMatch(absent, plainFilter)) sums.plain++;
        if (fitted.keyMayMatch(absent, fittedFilter)) sums.fitted++;
      }
    }
    for (const [name, sum] of Object.entries(sums)) counts[name as keyof typeof sums].push(sum);
  }
  return counts;
}

/** The part of RESULTS.md on few keys. */
export function keyCountTables(all: readonly KeyCounts[]): string {
  const shown = all.find(({ pattern }) => pattern === SHOWN_PATTERN);
  return `### Filters of 8 to 128 keys

LevelDB's filters for each 2 KiB of a table have a few dozen keys, and the share of absent neighbours that pass depends on
their exact number. Every number of keys from ${FEWEST_SHOWN} to ${MOST_KEYS} was measured at ${BITS_PER_KEY} bits per key, with at least ${ASKED.toLocaleString('en')} absent keys each, which are
between those of the filter. The table shows the median, the worst and the mean of these rates, with the number of keys that has the worst
rate. "Bytes" is the size of fitted filters divided by that of LevelDB's: the mean over the numbers of keys, and the largest,
with its number of keys.

${markdownTable(
  ['keys', 'LevelDB: median', 'worst', 'mean', 'fitted: median', 'worst', 'mean', 'bytes: mean', 'most'],
  all.map((counts) => [counts.pattern, ...rateColumns(counts, 'plain'), ...rateColumns(counts, 'fitted'), ...byteColumns(counts)]),
)}
${
  shown === undefined
    ? ''
    : `
Numbers with 16 digits, by the number of keys. LevelDB's filters of 2 to 6 keys have 64 bits, its minimum.

${markdownTable(
  ['keys in the filter', 'LevelDB', 'fitted', 'bytes of fitted'],
  SHOWN_KEYS.map((keys) => {
    const at = keys - FEWEST_KEYS;
    return [String(keys), percent(shown.plain[at]! / shown.asked[at]!), percent(shown.fitted[at]! / shown.asked[at]!), (shown.fittedBytes[at]! / shown.plainBytes[at]!).toFixed(2)];
  }),
)}
`
}`;
}

/** The figures of `FEWEST_SHOWN` keys and more. */
const shares = (parts: readonly number[], wholes: readonly number[]): number[] => wholes.map((whole, i) => parts[i]! / whole).slice(FEWEST_SHOWN - FEWEST_KEYS);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The greatest value, as `show` writes it, and the number of keys that it belongs to. */
function greatest(values: readonly number[], show: (value: number) => string): string {
  const value = Math.max(...values);
  return value === 0 ? '0' : `${show(value)} (${values.indexOf(value) + FEWEST_SHOWN})`;
}

function rateColumns(counts: KeyCounts, of: 'plain' | 'fitted'): string[] {
  const rates = shares(counts[of], counts.asked);
  return [percent(spread(rates).median), greatest(rates, percent), percent(mean(rates))];
}

function byteColumns(counts: KeyCounts): string[] {
  const ratios = shares(counts.fittedBytes, counts.plainBytes);
  return [mean(ratios).toFixed(3), greatest(ratios, (value) => value.toFixed(3))];
}
