// The figures of whole processes as a table.
import type { Spread } from './measure.js';
import type { ProcessContender } from './process-figures.js';
import { type Machine, machineLine } from './machine.js';
import { markdownTable, ratio } from './report.js';

/** A comparison with one program. */
export interface ProcessRow {
  readonly what: string;
  readonly unit: 'time' | 'memory';
  readonly other: ProcessContender;
  /** Medians, in microseconds or KiB. */
  readonly ours: number;
  readonly theirs: number;
  /** Ours divided by theirs, over the rounds. */
  readonly ratio: Spread;
  readonly goal: number | undefined;
}

/** The measurements of whole processes. */
export interface ProcessRun {
  readonly machine: Machine;
  readonly entries: number;
  readonly rounds: number;
  readonly rows: readonly ProcessRow[];
}

const COLUMNS = ['', 'what', 'against', 'ours', 'theirs', 'ratio', 'spread', 'second run', 'at most'];

/** @param again rows of a second run, which has its own column. */
export function processTable(rows: readonly ProcessRow[], again: readonly ProcessRow[] = []): string {
  return markdownTable(
    COLUMNS,
    rows.map(({ what, unit, other, ours, theirs, ratio: { median, least, greatest }, goal }) => {
      const second = again.find((row) => row.what === what && row.other === other)?.ratio.median;
      return [
        goal === undefined ? '' : verdict(second === undefined ? [median] : [median, second], goal),
        what,
        other,
        amount(unit, ours),
        amount(unit, theirs),
        ratio(median),
        `${ratio(least)}–${ratio(greatest)}`,
        second === undefined ? '' : ratio(second),
        goal === undefined ? '' : String(goal),
      ];
    }),
  );
}

function verdict(ratios: readonly number[], goal: number): string {
  const met = ratios.filter((one) => one <= goal).length;
  return met === 0 ? 'not met' : met < ratios.length ? 'met once' : 'met';
}

function amount(unit: ProcessRow['unit'], value: number): string {
  const thousands = value / (unit === 'time' ? 1000 : 1024);
  return `${thousands < 100 ? thousands.toFixed(1) : thousands.toFixed(0)} ${unit === 'time' ? 'ms' : 'MiB'}`;
}

/** Why goals are not met. */
const LIMITS: readonly string[] = [
  'Each job includes loading the packages and opening the database: the row “open and close”. V8 also compiles the code in each process, so the first entries of a scan take longest. A compaction runs on a thread, which loads and compiles its code again. So the ratios are lower for larger databases: `compactRange` of 10,000,000 entries takes 1.11 times as long as in LevelDB (1.10 to 1.20 in three rounds; `--entries 10000000 --rounds 3 --only compactRange`; goal 1.2).',
  'Of the samples of `perf record -e cpu-clock node --perf-basic-prof dist/process-job.js bloom JOB FOLDER 1000000`, V8’s parser and compilers account for 33% in the first tenth of a scan, 28% in a scan with a synchronous cursor, 27% in `compactRange`, 25% in uncached `getSync`, and 9 to 17% in writing; the operating system for 13 to 30%; and WebAssembly code, which merges, compresses, decompresses and verifies checksums, for 21% in `compactRange`, and 12% in a scan and in `getSync`.',
  'Writing: see `db-write-put-random` above. Each call also makes a promise. All values are slices of one array, as in LevelDB’s db_bench; with an array for each of 10,000 values, a seventh of the time of batches was spent waiting for values that were not in the processor’s cache.',
  'Iterating: the benchmark takes the key and the value of each entry, each as an array of its own. Two such views take 26 ns in a loop that does nothing else, which is a quarter of LevelDB’s total time for an entry. `nextv` of a level gives each key and value its own `ArrayBuffer`, as classic-level does.',
  'Uncached reads: each block is read by a system call. classic-level maps its files into memory, and does not verify checksums.',
  'Opening: the first `open` and `close` of a small database in a process take 27 to 40 ms (seven processes, `performance.now()` around both calls; goal 11), 24 to 34 ms with `lock: \'none\'`, and the second ones 7 to 9 ms. So most of the time is V8 compiling code that runs for the first time.',
  'Memory: opening and closing a database takes 13 MiB more than a process that does nothing. `getSync` adds the block cache of 8 MiB. `--max-semi-space-size=1`, which limits where V8 puts new objects, saves 6 to 15 MiB; a library cannot set it.',
];

/** @param again a second run, if there is one. */
export function processSection({ machine, entries, rounds, rows }: ProcessRun, again: ProcessRun | undefined): string {
  return `## Whole processes

A process for each job on a database of ${entries.toLocaleString('en')} entries, with Snappy and filters of 10 bits per key: processor time of
all its threads, or peak resident memory, less those of a process of Node.js that does nothing. Medians of ${rounds} alternating rounds. All
programs do the same work, and the entries that they read are compared.
\`npx pnpm@10 --filter @bloom/benchmarks processes\` measures on your machine.

${processTable(rows, again?.rows)}

${LIMITS.map((limit) => `- ${limit}\n`).join('')}
${machineLine(machine)}

`;
}
