import { type Comparison, markdownTable, ratio } from './report.js';

/** A row of the table of speed: the figures of `figures.ts` that it sums up, compared with one contender. */
interface Row {
  readonly what: string;
  readonly other: Comparison['other'];
  readonly by?: string;
  readonly figures: readonly string[];
  /** Whether the README shows it too. */
  readonly isInReadme?: true;
}

const ROWS: readonly Row[] = [
  { what: 'build a filter from one buffer of keys', other: 'leveldb', figures: ['build-filter'] },
  { what: 'build a filter from an array of keys', other: 'leveldb', figures: ['build-filter-from-list'] },
  { what: 'test a batch of keys with a filter', other: 'leveldb', figures: ['probe-batch-present', 'probe-batch-absent'] },
  { what: 'test a key with a filter', other: 'leveldb', figures: ['probe-present', 'probe-absent'], isInReadme: true },
  { what: 'build a table', other: 'leveldb', figures: ['build-table', 'build-table-snappy'] },
  { what: 'scan a table with a cursor', other: 'leveldb', figures: ['scan', 'scan-file', 'scan-snappy'] },
  { what: 'open a table', other: 'leveldb', figures: ['open', 'open-sync'] },
  { what: 'synchronous `get` from a table, versus `DB::Get`', other: 'leveldb', by: 'DB::Get', figures: ['get-present-sync'] },
  { what: '`put` into a database', other: 'leveldb', by: 'DB::Put', figures: ['db-write-put-sequential', 'db-write-put-random', 'db-write-overwrite'], isInReadme: true },
  { what: 'write batches of 1,000 entries', other: 'leveldb', by: 'DB::Write', figures: ['db-write-batches'] },
  { what: '`entries()` of a database', other: 'leveldb', figures: ['db-write-entries'] },
  { what: '`get` from a table, versus `get` from a database', other: 'classic-level', figures: ['get-present'] },
  { what: '`get` from a database, cached', other: 'classic-level', figures: ['db-get-present'], isInReadme: true },
  { what: 'synchronous `get` from a compacted database, cached', other: 'classic-level', figures: ['db-compacted-get-present-sync'] },
  { what: '`entries()` of a table, versus iterating over a database', other: 'classic-level', by: 'for await over iterator()', figures: ['entries'] },
  { what: '`entries()` of a database', other: 'classic-level', figures: ['db-entries'], isInReadme: true },
  { what: '`put` into a database', other: 'classic-level', figures: ['db-write-put-sequential', 'db-write-put-random'], isInReadme: true },
  { what: 'compact a database', other: 'classic-level', figures: ['db-write-compact'] },
  { what: 'open and close a database', other: 'classic-level', figures: ['db-open'] },
  { what: '`get` from a database, uncached', other: 'classic-level', figures: ['db-uncached-get'] },
  { what: 'ten entries of a database, starting at a random key, uncached', other: 'classic-level', figures: ['db-uncached-range'] },
  { what: '16 concurrent `get`s from a database, uncached', other: 'classic-level', figures: ['db-uncached-get-16'] },
  { what: '`getMany` from a database, uncached', other: 'classic-level', figures: ['db-uncached-get-many'] },
  { what: '`getSync` from a database, uncached', other: 'classic-level', figures: ['db-uncached-get-sync'], isInReadme: true },
  { what: '`get` from a database, uncached', other: 'lmdb', figures: ['db-uncached-get'], isInReadme: true },
  { what: '16 concurrent `get`s from a database, uncached', other: 'lmdb', figures: ['db-uncached-get-16'] },
  { what: 'ten entries of a database, starting at a random key, uncached', other: 'lmdb', figures: ['db-uncached-range'] },
];

const NAMES: Readonly<Record<string, string>> = { leveldb: 'LevelDB 1.23, C++' };

interface Runs {
  readonly comparisons: readonly Comparison[];
}

/** The least and the greatest ratio of each row, over all sizes and runs, the worst row first. */
function speedTable(runs: readonly Runs[], rows: readonly Row[]): string {
  const measured = rows.map(({ what, other, by, figures }) => {
    const found = runs.flatMap(({ comparisons }) => comparisons.filter((of) => figures.includes(of.figure) && of.other === other && (by === undefined || of.by === by)));
    if (found.length < figures.length * runs.length) throw new Error(`a run lacks ${figures.join(' or ')}`);
    const medians = found.map((of) => of.ratio.median);
    return { what, other, least: Math.min(...medians), greatest: Math.max(...medians) };
  });
  measured.sort((a, b) => b.greatest - a.greatest);
  return markdownTable(
    ['what', 'compared with', 'ratio'],
    measured.map(({ what, other, least, greatest }) => {
      const [from, to] = [ratio(least), ratio(greatest)];
      return [what, NAMES[other] ?? other, from === to ? from : `${from} to ${to}`];
    }),
  );
}

/** RESULTS.md: every row, and where the rest is. */
export function speedPage(runs: readonly Runs[], machine: string): string {
  return `# Speed

Each ratio is our time divided by the other program's time, so a ratio above 1 means that we are slower. The worst rows come first.
Two ratios in a cell are the smallest and the largest over all data sizes and stored runs. The programs run in alternating rounds on one machine, and each value is the median. All
programs run on the same data, and their answers are compared. Keys are 16 bytes long, values 100, and filters have 10 bits
per key.

${speedTable(runs, ROWS)}

"Uncached" means that our cache of blocks is smaller than the data, so most blocks are read from the OS page cache. In the
other rows for \`get\`, the blocks are already in the cache. classic-level does not verify checksums; we always do.

## Why the worst rows are slow

- **Uncached reads.** classic-level and lmdb map their files into memory, so they neither read nor copy a block. We make one read
  call for each block, verify its checksum and check that the file has not changed. A larger \`cache\` avoids this.
- **One key at a time.** V8 reads one byte at a time where C++ reads words, so hashing a key of 16 bytes takes four times as long as in C++.
  \`keysMayMatch\` tests a batch of keys in WebAssembly.
- **An array of keys** is first copied into one buffer. Fill a \`KeyBuffer\` instead if you build many filters.
- **Promises and copies.** \`entries()\` makes a promise and two copies for each entry. Its synchronous form makes no promises, and
  a synchronous cursor makes no copies either.

The machine: ${machine}. It shares its processors with other jobs, so ratios vary by up to a fifth between runs.

## More

- [All figures](tooling/benchmarks/RESULTS.md): every comparison, the goals that are met and missed, with reasons, and figures for HTTP, the command,
  \`@bloom/level\`, memory, and false positive rates for different kinds of keys.
- \`npx pnpm@10 bench --quick\` measures on your machine. \`npx pnpm@10 bench --write NAME\` stores a run and writes these pages.
`;
}

/** The README with the table between its marks. */
export function withSpeedTable(readme: string, runs: readonly Runs[]): string {
  const marks = /(<!-- speed: [^\n]*-->\n)[^]*?(<!-- end of speed -->)/;
  if (!marks.test(readme)) throw new Error('the README has no place for the table of speed');
  const table = speedTable(runs, ROWS.filter(({ isInReadme }) => isInReadme));
  return readme.replace(marks, (_, before: string, after: string) => `${before}${table}\n${after}`);
}
