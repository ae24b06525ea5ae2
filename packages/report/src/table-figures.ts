/** What is said of a table as a whole. */
import type { TableProfile } from '@bloom/sstable/inspect';
import type { FalsePositives, FilterTrial } from './filter-trial.js';
import { count } from './quantity.js';

/** The size of the data blocks before compression, divided by their stored size; undefined if there are none. */
export function compressionRatio({ rawDataBytes, storedDataBytes }: TableProfile): number | undefined {
  return storedDataBytes === 0 ? undefined : rawDataBytes / storedDataBytes;
}

/** Bits of filter block per key; undefined without keys. */
export function bitsPerKey({ filterBytes, entries }: TableProfile): number | undefined {
  return entries === 0 ? undefined : (filterBytes * 8) / entries;
}

/** A rate and the counts that it comes from, or why there is none. */
export type MeasuredRate = { readonly rate: string; readonly detail: string } | { readonly notMeasured: string };

/** How often absent keys match the filters, in words. */
export function falsePositivesText({ stored, denied, inversions, falsePositives }: FilterTrial): MeasuredRate {
  if (inversions > 0) return { notMeasured: 'the keys are not in bytewise order' };
  if (denied > 0) {
    return { notMeasured: `${count(denied)} of the stored keys do not match the filters, which were made from other keys (a database's table?)` };
  }
  if (falsePositives === undefined) return { notMeasured: stored === 0 ? 'no keys' : 'its filters are not used for these keys' };
  const { tried, passed, expectedRate } = falsePositives;
  return {
    rate: percentage(passed / tried),
    detail: `${count(passed)} of ${count(tried)} absent keys passed${expectedRate === undefined ? '' : `; independent probes would give ${percentage(expectedRate)}`}`,
  };
}

/** How often the absent neighbours of stored keys match them, in words, before an example is named. */
export function neighboursText({ neighbours }: FalsePositives): MeasuredRate {
  if (neighbours === undefined) return { notMeasured: 'the keys next to stored keys are stored too' };
  const { tried, passed } = neighbours;
  return { rate: percentage(passed / tried), detail: `${count(passed)} of ${count(tried)} absent keys next to stored keys passed, such as` };
}

function percentage(rate: number): string {
  return `${(rate * 100).toFixed(2)}%`;
}
