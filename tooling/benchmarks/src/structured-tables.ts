import { markdownTable } from './report.js';

/** Which absent keys are asked for: those between the keys of the filter, those after the last, or any others of the pattern. */
export const ABSENT_KINDS = ['between', 'past', 'elsewhere'] as const;
export type AbsentKind = (typeof ABSENT_KINDS)[number];

/** Filters of one pattern and size, asked for absent keys of one kind. */
export interface StructuredCell {
  readonly pattern: string;
  /** How many keys each filter has. */
  readonly keys: number;
  readonly bitsPerKey: number;
  readonly absent: AbsentKind;
  readonly asked: number;
  /** How many of the absent keys have the 32-bit Bloom hash of a key in the filter. */
  readonly sameHash: number;
  /** How many passed each filter. */
  readonly bloom: number;
  readonly blocked: number;
}

type Count = 'sameHash' | 'bloom' | 'blocked';

/** The setting of which every pattern is shown. */
const SHOWN_BITS = 10;
/** From this size on, chance alone gives some absent keys the hash of a stored one. */
const MANY_KEYS = 100_000;

/** The section of RESULTS.md. */
export function structuredTables(cells: readonly StructuredCell[]): string {
  const shown = cells.filter(({ bitsPerKey }) => bitsPerKey === SHOWN_BITS);
  const many = shown.filter(({ keys }) => keys >= MANY_KEYS);
  return `### LevelDB's Bloom filter, ${SHOWN_BITS} bits per key

${patternTable(shown, 'bloom')}

### Keys with the hash of a stored key

The share of the absent keys above that have the 32-bit hash of a key in the filter. They pass at any number of bits. With random hashes,
n / 2^32 of the absent keys would have the hash of one of n stored keys: 0.0023% at 100,000 keys, 0.023% at a million, 0.23% at ten million.

${patternTable(many, 'sameHash')}

### The blocked policy, ${SHOWN_BITS} bits per key

${patternTable(shown, 'blocked')}

### Other settings

The median and the highest rate over all patterns and kinds of absent keys.

${settingsTable(cells)}`;
}

/** A row for each pattern, with the three kinds of absent keys in each cell. */
function patternTable(cells: readonly StructuredCell[], count: Count): string {
  const sizes = distinct(cells, ({ keys }) => keys);
  const rows = distinct(cells, ({ pattern }) => pattern).map((pattern) => [
    pattern,
    ...sizes.map((keys) => {
      const rates = ABSENT_KINDS.map((kind) => cells.find((cell) => cell.pattern === pattern && cell.keys === keys && cell.absent === kind)!);
      return rates.map((cell) => percent(rateOf(cell, count))).join(' · ');
    }),
  ]);
  return markdownTable(['keys', ...sizes.map((keys) => keys.toLocaleString('en'))], rows);
}

function settingsTable(cells: readonly StructuredCell[]): string {
  const rows = distinct(cells, ({ bitsPerKey }) => bitsPerKey)
    .sort((a, b) => a - b)
    .flatMap((bitsPerKey) => {
      const ofSetting = cells.filter((cell) => cell.bitsPerKey === bitsPerKey && cell.keys >= MANY_KEYS);
      return distinct(ofSetting, ({ keys }) => keys).map((keys) => {
        const some = ofSetting.filter((cell) => cell.keys === keys);
        return [String(bitsPerKey), keys.toLocaleString('en'), ...medianAndHighest(some, 'bloom'), ...medianAndHighest(some, 'blocked')];
      });
    });
  return markdownTable(['bits per key', 'keys', 'Bloom, median', 'Bloom, highest', 'blocked, median', 'blocked, highest'], rows);
}

function medianAndHighest(cells: readonly StructuredCell[], count: Count): [median: string, highest: string] {
  const rates = cells.map((cell) => rateOf(cell, count)).sort((a, b) => a - b);
  return [percent(rates[rates.length >> 1]!), percent(rates.at(-1)!)];
}

function rateOf(cell: StructuredCell, count: Count): number {
  return cell[count] / cell.asked;
}

/** Two digits, or three decimals of a small percentage: of 100,000 keys, more would be noise. */
export function percent(rate: number): string {
  const value = rate * 100;
  if (value === 0) return '0';
  if (value < 0.0005) return '<0.001%';
  return `${value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toPrecision(2) : value.toFixed(3)}%`;
}

function distinct<T>(cells: readonly StructuredCell[], of: (cell: StructuredCell) => T): T[] {
  return [...new Set(cells.map(of))];
}
