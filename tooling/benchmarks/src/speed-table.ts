import { type Comparison, markdownTable, ratio } from './report.js';

/** What the README says of speed: the figures of `figures.ts` that a row sums up, by contender. */
const ROWS: readonly { readonly what: string; readonly other: Comparison['other']; readonly by?: string; readonly figures: readonly string[] }[] = [
  { what: 'build a filter of a list of keys', other: 'leveldb', figures: ['build-filter'] },
  { what: 'ask a filter for a batch of keys', other: 'leveldb', figures: ['probe-batch-present', 'probe-batch-absent'] },
  { what: 'ask a filter for one key', other: 'leveldb', figures: ['probe-present', 'probe-absent'] },
  { what: 'build a table', other: 'leveldb', figures: ['build-table', 'build-table-snappy'] },
  { what: 'scan a table', other: 'leveldb', figures: ['scan', 'scan-file', 'scan-snappy'] },
  { what: 'open a table', other: 'leveldb', figures: ['open', 'open-sync'] },
  { what: '`get` from a table without a promise, beside `DB::Get`', other: 'leveldb', by: 'DB::Get', figures: ['get-present-sync'] },
  { what: 'an awaited `get` from a table', other: 'classic-level', figures: ['get-present'] },
  { what: '… from a database', other: 'classic-level', figures: ['db-get-present'] },
  { what: '… from a compacted database, without promises', other: 'classic-level', figures: ['db-compacted-get-present-sync'] },
  { what: '`entries()` of a table', other: 'classic-level', by: 'for await over iterator()', figures: ['entries'] },
  { what: '… of a database', other: 'classic-level', figures: ['db-entries'] },
  { what: 'an awaited `put`', other: 'classic-level', figures: ['db-write-put-sequential', 'db-write-put-random'] },
  { what: 'compact a database', other: 'classic-level', figures: ['db-write-compact'] },
  { what: 'uncached: an awaited `get`', other: 'classic-level', figures: ['db-uncached-get'] },
  { what: 'uncached: ten entries from a key on', other: 'classic-level', figures: ['db-uncached-range'] },
  { what: 'uncached: 16 `get`s at once', other: 'classic-level', figures: ['db-uncached-get-16'] },
  { what: 'uncached: `getMany`', other: 'classic-level', figures: ['db-uncached-get-many'] },
  { what: 'uncached: `getSync`', other: 'classic-level', figures: ['db-uncached-get-sync'] },
];

const NAMES: Readonly<Record<string, string>> = { leveldb: 'LevelDB 1.23, C++', 'classic-level': 'classic-level' };

/** The least and the greatest ratio of each row, over all sizes and runs. */
export function speedTable(runs: readonly { readonly comparisons: readonly Comparison[] }[]): string {
  const rows = ROWS.map(({ what, other, by, figures }) => {
    const found = runs.flatMap(({ comparisons }) => comparisons.filter((of) => figures.includes(of.figure) && of.other === other && (by === undefined || of.by === by)));
    if (found.length < figures.length * runs.length) throw new Error(`a run lacks ${figures.join(' or ')}`);
    const medians = found.map((of) => of.ratio.median);
    const [least, greatest] = [ratio(Math.min(...medians)), ratio(Math.max(...medians))];
    return [what, NAMES[other] ?? other, least === greatest ? least : `${least} to ${greatest}`];
  });
  return markdownTable(['what', 'beside', 'ratio'], rows);
}

/** The README with the table between its marks. */
export function withSpeedTable(readme: string, table: string): string {
  const marks = /(<!-- speed: [^\n]*-->\n)[^]*?(\n<!-- end of speed -->)/;
  if (!marks.test(readme)) throw new Error('the README has no place for the table of speed');
  return readme.replace(marks, (_, before: string, after: string) => `${before}\n${table}\n${after}`);
}
