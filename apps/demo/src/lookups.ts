import { FILTER_BASE } from '@bloom/filter-block';
import type { SyncTable } from '@bloom/sstable';

/** The results of many lookups. */
export interface Lookups {
  readonly found: number;
  /** Blocks read from the file. */
  readonly reads: number;
  /** Lookups that used a filter. */
  readonly filterAnswers: number;
  /** Lookups of absent words that matched the filter. */
  readonly falsePositives: number;
  readonly milliseconds: number;
}

/** The steps of one lookup. */
export interface Trace {
  /** The offset of the block that the index points to. */
  readonly offset: number;
  /** The number of the filter for that offset, from 0. */
  readonly filter: number;
  readonly mayContain: boolean;
  readonly reads: number;
  readonly value: string | undefined;
}

/** Looks up every word. */
export function lookUp(table: SyncTable, words: readonly string[]): Lookups {
  const keys = words.map((word) => Buffer.from(word));
  const before = table.stats;
  let found = 0;
  const start = performance.now();
  for (const key of keys) if (table.get(key) !== undefined) found++;
  const milliseconds = performance.now() - start;
  const after = table.stats;
  const falsePositives = after.filterFalsePositives - before.filterFalsePositives;
  const negatives = after.filterNegatives - before.filterNegatives;
  const truePositives = after.filterTruePositives - before.filterTruePositives;
  return {
    found,
    reads: after.blockReads - before.blockReads,
    filterAnswers: falsePositives + negatives + truePositives,
    falsePositives,
    milliseconds,
  };
}

/** Looks up one word and records each step. */
export function traceOne(table: SyncTable, word: string): Trace {
  const key = Buffer.from(word);
  const offset = table.approximateOffset(key);
  const mayContain = table.mayContain(key);
  const { blockReads } = table.stats;
  const value = table.get(key);
  return {
    offset,
    filter: Math.floor(offset / FILTER_BASE),
    mayContain,
    reads: table.stats.blockReads - blockReads,
    value: value && Buffer.from(value).toString(),
  };
}
