import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figures } from './figures.js';
import type { HttpFigure } from './http.js';
import { type Machine, machineLine } from './machine.js';
import type { MemoryFigure } from './memory.js';
import { plot } from './plot.js';
import { type Comparison, comparisonTable, goalLine, markdownTable, ratio, size } from './report.js';
import { type FilterRun, filterTable } from './filter-table.js';
import { speedPage, withSpeedTable } from './speed-table.js';
import { type KeyCounts, keyCountTables } from './key-counts.js';
import { type ProcessRun, processSection } from './process-table.js';
import { type StructuredCell, structuredTables } from './structured-tables.js';

/** The measurements of one run. */
export interface Run {
  readonly machine: Machine;
  readonly clock: string;
  /** The number of rounds of each figure, and the least duration of each sample. */
  readonly rounds: number;
  readonly sampleMs: number;
  readonly comparisons: readonly Comparison[];
  readonly http: readonly HttpFigure[];
  readonly memory: readonly MemoryFigure[];
}

const ANSWERS_OF_BLOOMFILTER =
  'bloomfilter 1.1.0 answers in 52 to 96 ns. The kernel takes 7 ns, and LevelDB in C++ 10 to 15 ns.';

/** Why a goal is not met: what was tried, what it gained, what remains. By figure, or by figure and contender. */
const LIMITS: Readonly<Record<string, string>> = {
  'probe-present':
    'V8 loads one byte of a `Uint8Array` at a time, each with a bounds check, so hashing 16 bytes takes four times as long as in C++, which loads words. Tried: a reciprocal instead of the division (no faster on this processor); one function for hash and probes, with two words and two probes per iteration (three quarters of the time before). `keysMayMatch` asks for many keys at once in WebAssembly.',
  'probe-absent': 'As for `probe-present`.',
  'build-filter':
    'Tried: four and eight keys at a time in WebAssembly SIMD, a memory that never grows, no division. The kernel takes 7 ns per key of 10,000 (C++: 11 to 14). For 100 keys about 200 ns go into the views that copy keys in and the filter out; for a million keys both wait for memory.',
  'build-filter bloomfilter':
    'bloomfilter 1.1.0 adds a key in 62 to 74 ns, of which the kernel takes about a tenth. For 100 keys, the views that copy keys in and the filter out come on top.',
  'build-filter-from-list bloomfilter':
    'An array of keys is first copied into one buffer, which takes several times as long as building the filter. Keys that are pushed to a `KeyBuffer` from the start are not copied again.',
  'probe-batch-present':
    'A filter of a megabyte is copied to the kernel for each batch, which is a third of the time. Tried: reading its bits in JavaScript at positions that the kernel computed (half as slow again); reading all bits at once (slower than one after another). Keeping the filter in the kernel would help, but the filter belongs to the caller and may change.',
  'probe-batch-absent':
    'As for `probe-batch-present`. C++ stops at the first zero bit; the kernel reads all bits without a branch, which is faster while the filter is in a near cache.',
  'probe-batch-present bloomfilter': ANSWERS_OF_BLOOMFILTER,
  'probe-batch-absent bloomfilter': ANSWERS_OF_BLOOMFILTER,
  'build-table':
    'Tried: one comparison for order and shared prefix, no view or array per entry, output in chunks of up to 256 KiB instead of 64 (0.95 of the time). What remains is copying bytes in loops, and writing the file, which takes both programs the same time.',
  'build-table-snappy':
    'As for `build-table`. The compressor takes 1.1 to 1.3 times as long as Google’s, in a kernel whose memory each block is copied into and out of.',
  scan: 'A fifth is the checksum: the kernel takes 0.48 µs for the 4 KiB of a block, whose 34 entries take 2.3 µs. Tried: copying keys eight bytes at a time, no views.',
  'scan-file':
    'As for `scan`, and C++ maps the file, where we copy it: 256 KiB for each read call. Tried: one window that doubles and is used again, instead of a read and an array for each block (0.47 of the time before).',
  'scan-snappy':
    'As for `scan`. Each block is copied into the memory of the kernel and out of it. Tried: one array for all blocks that no cache keeps (0.5 of the time before).',
  batches: 'As for `scan-file`, and a view for each key and value, which takes V8 25 ns each.',
  'open-sync':
    'Reading 256 KiB, and the checksums of index and filter; C++ maps the file. Tried: an index that is checked and searched as it is stored, and index and filter in one read (together 0.35 of the time before).',
  open: 'Opening and reading a file in Node each take a trip to another thread and back, some 50 µs. Tried: as for `open-sync`, and no trip for the length of the file (together 0.5 of the time before), nor for closing it.',
  entries:
    'A promise and its await take 100 ns, and the two copies as much. Tried: copies that share a buffer (half the time before), and no copy of a block that is not cached. `cursor()` and `SyncTable` need no promise per entry.',
  'entries-sync': 'Two copies and two arrays per entry; `cursor()` makes none.',
  'get-present-sync':
    'Tried: index keys as adjacent numbers, a block search that assembles no keys, copies that share a buffer (three fifths of the time before), and a search whose state is in local variables (0.77 of that): less than the seek and DB::Get of LevelDB itself.',
  'get-absent-sync':
    'Tried: a branch-free search of the index, cheaper views to ask filters (two thirds of the time before), and then none at all (0.87 of that). classic-level asks the same filter in C++, behind a single Node-API call.',
  'db-open':
    'Eight tables are opened with the view, so that damage is found at once and the tables stay readable when a writer deletes them. LevelDB opens a table when it first reads it, so it takes longer the more tables there are. Tried: as for `open`; tables opened while the logs are read, plain descriptors in place of FileHandles, no bytes read twice (together two thirds of the time before); fewer arrays (0.92 without promises). No gain: files opened without promises, memory that is not zeroed. Before a view is given out, the files of the log, CURRENT, MANIFEST, LOCK and tables are asked whether they are still those that were opened: a tenth of the time.',
  'db-get-absent-sync':
    'Four tables and a log are asked. LevelDB compacts its copy to a single level during the measurement, because lookups had to ask several tables: the compacted database has the same tables for both. Tried: one lookup and one internal key for all gets, tables found by object instead of by bigint, one view of the user key for all filters, an index that is searched by user key: three eighths of the processor time before; no views to ask filters (0.87 of that), a filter in memory in front of the log (0.82).',
  'db-get-present-sync':
    'As for `db-get-absent-sync`. Then a block is searched. Tried: comparing user keys without assembling whole keys (three quarters of the time before), a search whose state is in local variables and a filter in front of the log (together 0.78).',
  'db-compacted-get-present-sync':
    'Half of the time is spent waiting for memory: among 200 keys, whose blocks fit into the near caches, a lookup takes half as long. Tried: no question to a block for its buffer (0.91 to 0.97), a search whose state is in local variables and which assembles no key (0.77). Little gain: the first bytes of all keys beside each cached block (0.9 of that). No gain: copying values without a view.',
  'db-compacted-get-absent-sync': 'What remains is the search of an index, and a filter that is asked for one key at a time: see `probe-absent`.',
  'db-uncached-get-sync':
    'classic-level maps its files, so that a block is neither read nor copied, and does not verify its checksum. Measured in one process, as parts of its whole `getSync`: the call of Node that reads a block of 4,216 bytes takes 0.54, asking whether another program has written to the file 0.39, and the checksum 0.23, together 1.16 before anything is searched. A new array for the block, with the work of the garbage collector, took 0.67. Tried: the memory of the block that is displaced (0.74 to 0.91 of the time before), stored blocks read into memory that is used again. A reader cannot leave out the question, because a table that was overwritten in place has right checksums too; with the question taken out for a trial, the row was 2.4 instead of 3.0.',
  'db-uncached-get-many':
    'As for `db-uncached-get-sync`: both look up one key after another. Whether a file has changed is asked once for each table and call, so that a key takes 0.83 of the time of a `getSync` where 100 keys lie in 8 tables.',
  'db-uncached-range':
    'Ten random entries lie in blocks of each of the tables, which are read one after another: three tenths of the time. Asking whether files have changed is 3%; the rest is merging tables and memory, and the promises of the iterator. classic-level maps its files and hands ten entries over in one call.',
  'db-uncached-get-16':
    'classic-level looks up keys on four threads at once, and ours on one. Tried: reads that have held up the event loop wait for its next turn, and no longer for threads. Not tried: one question about changes for all callers of a turn, whose keys mostly lie in different tables.',
  'db-get-present': 'As for `db-get-present-sync`.',
  'db-write-put-random':
    'The call that appends a record to the log takes 37% of the main thread’s time in a profile. Tried: the first bytes of user keys beside the nodes of the memtable (half of the time before for the memtable), batches and arrays of the log that are used again.',
  'db-write-put-sequential': 'As for `db-write-put-random`.',
  'db-write-overwrite': 'As for `db-write-put-random`. Flushes and compactions use the other processor meanwhile, and the disk.',
  'db-write-put-sync': 'Nearly all of the time is the disk’s.',
  'db-write-batches':
    'Tried: as for `db-write-put-random`: half of the time before. The batch is copied once more than in C++, because the caller may change it.',
  'db-write-compact':
    'An entry is read, merged and added to a table twice, 1 µs each time. Tried: one thread for all databases, whose code is hot (three fifths of the time before), synchronous reads in it, ranges instead of a view of each key and value, and no bigint per entry (two thirds of the time before); a chunk that is filled while the system writes the last, and blocks read without generators (0.86 of that), an index that walks leave as it is stored (0.95). No gain: copying as words of 32 bits, deleting obsolete files while the next compaction runs, two tables synced at a time.',
  'db-entries':
    'As for `entries`, and merging the sources takes a tenth of the processor time. Tried: levels and merges that refer to an entry instead of copying it (0.96). No gain: copying values as words of 32 bits.',
  'db-write-get-present-sync': 'As for `db-compacted-get-present-sync`, and several tables and a memtable are asked.',
  'db-write-entries': 'As for `db-entries`.',
  'db-entries-reverse':
    'As for `db-entries`. The entries of a restart interval are read forwards first, and each once more when the walk comes back to it: a tenth of the processor time.',
};

/** The command `bloom` compared with other programs. */
export interface CommandFigure {
  readonly what: string;
  /** In milliseconds. */
  readonly ours: number;
  readonly theirs: number;
  /** The measure that must be at most `goal`: `ours` divided by `theirs`, or their difference in milliseconds. */
  readonly measure: 'ratio' | 'difference';
  readonly goal: number;
}

/** The measurements of levels. */
export interface LevelRun {
  readonly machine: Machine;
  readonly rounds: number;
  readonly comparisons: readonly Comparison[];
}

/** The rows of a table, the first of them its header. */
type Rows = readonly (readonly string[])[];

/** What commands other than `bench` have stored, by the name of its file next to those of the runs. */
interface Stored {
  readonly command: readonly CommandFigure[];
  readonly 'http-requests': Rows;
  readonly 'event-loop': Rows;
  readonly levels: LevelRun;
  /** Stored by `level-bench` of `@bloom/browser-tests`. */
  readonly 'browser-levels': Rows;
  readonly processes: ProcessRun;
  readonly 'processes-again': ProcessRun;
  readonly 'filter-policies': FilterRun;
  readonly 'structured-keys': readonly StructuredCell[];
  readonly 'key-counts': readonly KeyCounts[];
}

/** The spaces by which each of these files is indented. */
const INDENTS: Readonly<Record<keyof Stored, number>> = {
  command: 0,
  'http-requests': 2,
  'event-loop': 2,
  levels: 0,
  'browser-levels': 2,
  processes: 0,
  'processes-again': 0,
  'filter-policies': 2,
  'structured-keys': 0,
  'key-counts': 0,
};

/** What the tables of structured keys show, and why. */
const STRUCTURED_REASONS = `About 1% of most absent keys pass LevelDB's filter, up to 1.5% where it has 100,000 keys and more. There are two exceptions, for
absent keys that are close to stored ones:

- **In large filters, keys have the same hash.** Of decimal numbers between stored numbers, up to 17% pass. The hash adds four
  bytes of the key to its state, multiplies it, and xors its upper half into its lower half. What the last of the four bytes
  changes is then in two bytes of the state, and the next four bytes of the key, which are added, can cancel it. So
  \`key000000005\` and \`key000070500\` have the same hash, and with them 5,000 pairs of the first 100,000 numbers: all are 70,495
  apart, so that one is even and one is odd. A table below has [these keys](#keys-with-the-hash-of-a-stored-key). Of all others,
  no more pass than usual: with c for the part that has the hash of a stored key, and r for the usual rate, c + (1 - c) r pass,
  where r is at most 1.5% in every cell of 100,000 keys and more.
- **In filters of up to some hundred keys, probes overlap.** Numbers that differ only in their last bytes have hashes that differ by
  multiples of large powers of two, and each probe is the one before it plus the rotated hash. Modulo a number of bits that is a
  multiple of 32 or 64, as LevelDB's lengths often are, the probes of absent numbers fall on bits of stored ones. The rate depends on
  the exact number of keys: of numbers with 16 digits, 59% pass filters of 38 keys and 3% those of 39; of big-endian numbers, 93% and
  23%. A single number of keys, such as 30, therefore shows little. Hashes that gave independent probes would let 0.8% pass.
  [Filters whose lengths are fitted](#filters-of-8-to-128-keys) to the same keys let 0.3% and 3.1% pass
  on average.

The blocked policy has two hashes of 32 bits, one of them MurmurHash3, which mixes well. At 10 bits no pattern passes it more often
than random keys do, and at 24 bits hardly any: of two million odd numbers between 100,000 padded ones, 0.008% pass, where 0.005% of
random keys do, because the other hash is LevelDB's with another seed. Single cells at 24 bits count at most 12 keys.`;

/** Stores what was measured, and writes the pages. */
export function writeStored(packageFolder: string, measured: Partial<Stored>): void {
  for (const [name, value] of Object.entries(measured)) {
    writeFileSync(join(packageFolder, 'results', `${name}.json`), `${JSON.stringify(value, undefined, INDENTS[name as keyof Stored])}\n`);
  }
  writePage(packageFolder);
}

/** What was stored before, as far as it was measured. */
export function stored(packageFolder: string): Partial<Stored> {
  const found = Object.keys(INDENTS).map((name) => [name, join(packageFolder, 'results', `${name}.json`)] as const).filter(([, path]) => existsSync(path));
  return Object.fromEntries(found.map(([name, path]) => [name, JSON.parse(readFileSync(path, 'utf8')) as unknown]));
}

/** Stores `run` under `name` and writes the page. */
export function writeResults(packageFolder: string, name: string, run: Run): void {
  const folder = join(packageFolder, 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(run)}\n`);
  writePage(packageFolder);
}

/** Writes the pages and the plots from all stored runs. The last by name is shown in full. */
export function writePage(packageFolder: string): void {
  const root = join(packageFolder, '../..');
  for (const [path, text] of pagesOf(packageFolder)) writeFileSync(join(root, path), text);
}

/** The generated files by path from the root: all figures, the page "Speed", the README with its table of speed, the plots. */
export function pagesOf(packageFolder: string): Map<string, string> {
  const folder = join(packageFolder, 'results');
  const names = readdirSync(folder).filter((file) => file.endsWith('.json') && !(file.slice(0, -'.json'.length) in INDENTS)).sort();
  const runs = names.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Run);
  const last = runs.at(-1)!;
  const plotted = [...new Set(last.comparisons.map(({ figure }) => figure))];
  const page = resultsPage(runs, names, plotted, stored(packageFolder));
  return new Map([
    ['tooling/benchmarks/RESULTS.md', page],
    ['RESULTS.md', speedPage(runs, machineLine(last.machine))],
    ['README.md', withSpeedTable(readFileSync(join(packageFolder, '../../README.md'), 'utf8'), runs)],
    ...plotted.map((figure) => [`tooling/benchmarks/plots/${figure}.svg`, plot(last.comparisons.filter((comparison) => comparison.figure === figure))] as const),
  ]);
}

function resultsPage(
  runs: readonly Run[],
  names: readonly string[],
  plotted: readonly string[],
  { command = [], 'http-requests': httpRequests = [], 'event-loop': eventLoop, levels, 'browser-levels': browserLevels = [], processes, 'processes-again': again, 'filter-policies': filters, 'structured-keys': structured, 'key-counts': counts = [] }: Partial<Stored>,
): string {
  const last = runs.at(-1)!;
  const { rows, notes } = goals(runs);
  const met = rows.filter((row) => row[0] === 'met').length;
  const columns = ['', 'figure', 'size', 'against', 'at most', ...names.map((name) => name.replace('.json', ''))];
  return `# All figures

Ratios are our time divided by theirs, medians of alternating rounds on one machine: below 1, this project is faster.
Keys are 16 bytes long, values 100; filters have 10 bits per key. All contenders do the same work on the same data, and their
answers are checked to be the same. \`npx pnpm@10 bench --quick\` measures on your machine.

## What is fast

The slowest ratio of all runs, for figures in which this project is faster in every run.

${markdownTable(['against', 'what', 'size', 'ratio'], fastest(runs))}

## Goals

${met} of ${rows.length} goals are met in each run.

${markdownTable(columns, rows.filter((row) => row[0] === 'met'))}

### Not met

${markdownTable(columns, rows.filter((row) => row[0] !== 'met'))}

${notes.join('\n')}

## The runs

${runs.map((run, i) => `- ${names[i]!.replace('.json', '')}: ${machineLine(run.machine)}; ${run.clock === 'cpu' ? 'processor time' : 'wall time'}, ${run.rounds} rounds, samples of ${run.sampleMs} ms`).join('\n')}

The machine's processors are shared with others, so single ratios vary by a fifth between runs.
\`npx pnpm@10 bench --write NAME\` adds a run and writes this page.

## Over HTTP

${last.http[1]?.count ?? 0} consecutive lookups each in a table of 100,000 entries, from a server on the same machine.

${markdownTable(
  ['lookup', 'µs', 'requests per lookup', 'bytes per lookup'],
  last.http.map((f) => [f.what, f.microseconds.toFixed(0), (f.requests / f.count).toFixed(3), (f.bytes / f.count).toFixed(0)]),
)}

A table of 5 million entries (114 MB) and databases of six tables, with the time that it takes on a line of 50 ms and 20 Mbit/s, which
the server imitates. \`npx pnpm@10 --filter @bloom/benchmarks http-requests\` measures on your machine.

${markdownTable(['', 'requests', 'bytes', 'time'], httpRequests)}

${eventLoop === undefined ? '' : eventLoopSection(eventLoop)}${processes === undefined ? '' : processSection(processes, again)}## The command

Whole processes, medians of alternating runs, with tables of 5 million entries of keys of 16 and values of 100 bytes.
\`npx pnpm@10 --filter @bloom/benchmarks command\` measures on your machine.

${markdownTable(
  ['', 'what', 'ours', 'theirs', '', 'at most'],
  command.map(({ what, ours, theirs, measure, goal }) => {
    const isRatio = measure === 'ratio';
    const value = isRatio ? ours / theirs : ours - theirs;
    const shown = isRatio ? ratio(value) : `${value.toFixed(0)} ms more`;
    return [value <= goal ? 'met' : 'not met', what, `${ours.toFixed(0)} ms`, `${theirs.toFixed(0)} ms`, shown, isRatio ? String(goal) : `${goal} ms more`];
  }),
)}

\`build --sort\`: sort(1) uses both processors, and the pipe lets it run in parallel with \`bloom build -\`. Here one thread decodes lines, one
adds them, and one sorts what was added before and writes it to a run (together 0.81 of the time of one thread for the last two). Sorted
entries are gathered from their pages before they are written (0.95), and are sorted by the digits of the keys' first bytes instead of
comparing (0.8).

\`scan\`: tsv is checked for bytes to escape and copied four bytes at a time (0.8 of the time before).

\`get\`: short names within the program, of which V8's cache has fewer, took 4 ms off. Of the rest, 15 ms are for the
index, of 4 MB, which is read, decompressed and checked.

\`merge\` writes a table too: one thread merges while the other makes blocks, filters and checksums, and the first one waits for a
twelfth of the time. A tournament whose keys have offset-value codes, and tables that are read in pieces of 1 MiB, took it from 2.8 to
2.0 seconds of another 5 million entries; copies of four bytes at a time to 0.93 of that, writing and syncing the table meanwhile to
0.98. No gain: batches whose memory comes back from the other thread (1.05 of the time), and smaller or larger pieces and batches.

\`bloom build\` of 2 and of 5 million lines took 0.56 and 0.55 of the time that it took without a thread that parses, and with a promise
for each entry. It takes 0.60 of that since the thread is given the next pieces while it parses one, and 0.96 of that since the table is
written while blocks are made. Copies of four bytes at a time save 6 to 10% of the processor time. No gain: memory that the threads share
instead of handing it over (1.15 times as long).

${levelsSection(levels, browserLevels)}## Memory

Peak resident memory above that of an empty process. The bound is the sizes of the table's index and filter plus 96 MiB.

${markdownTable(
  ['work', 'entries', 'file', 'index', 'filter', 'peak', 'bound', ''],
  last.memory.map((f) => [
    f.what,
    f.entries.toLocaleString('en'),
    mebibytes(f.fileBytes),
    mebibytes(f.indexBytes),
    mebibytes(f.filterBytes),
    mebibytes(f.peakBytes),
    mebibytes(f.boundBytes),
    f.peakBytes <= f.boundBytes ? 'within' : 'not within',
  ]),
)}

${structured === undefined ? '' : structuredSection(structured, counts)}${filters === undefined ? '' : filterSection(filters)}## Every comparison

${comparisonTable(last.comparisons)}

## By size

${plotted
  .filter((figure) => new Set(last.comparisons.filter((c) => c.figure === figure).map((c) => c.size)).size > 1)
  .map((figure) => `![${figure}](plots/${figure}.svg)`)
  .join('\n')}
`;
}

function eventLoopSection([header, ...rows]: Rows): string {
  return `## The event loop

How long timers wait while keys are looked up in a database whose blocks are not in our cache: in the OS page cache (warm), on
the disk (cold), or in a folder whose reads take 20 ms each (slow). With \`readsAtOnce: false\`, threads make all reads.
\`npx pnpm@10 --filter @bloom/benchmarks event-loop\` measures on your machine.

${markdownTable(header!, rows)}

`;
}

/** Why goals of levels on Node are not met. */
const LEVEL_REASONS = `What stops the others:

- level-get, level-uncached-get, level-uncompressed-get: classic-level takes 24 to 48 µs from run to run, most of it for the trip to a
  thread and back: a key of \`getMany\` takes it 3 to 10 µs. Three quarters of the time of our uncached \`get\` are spent in memtables,
  filters and blocks, and the rest in abstract-level's promise, and in making bytes of the key and text of the value. With a store
  that returned values in memory directly, not in a promise, a cached \`get\` took 0.7 to 0.85 of its time. Of 100,000 entries, the cached
  blocks are larger than the processor's caches: more than a quarter of the time of \`get\` is the search of a block.
  No gain: reading a byte of each cache line of a block's entries before the search (0.97 to 1.03).
- level-nextv: a third of a call of \`nextv(1000)\` makes text of keys and values, which takes Node 110 to 190 ns each. Of 10,000
  entries, all of which are in the memtable, a fifth goes into reading its links and keys, which lie far apart.
  classic-level walks on another thread, while the program uses what came before.
  No gain: text of many keys and values at once, which is then cut, because copying them together takes as long (0.99 to 1.1).
- level-uncompressed-get-many: as for \`db-uncached-get-many\`. classic-level maps its files, and uses a block without reading or
  copying it. Reading takes 0.36 of our time, and no other function by itself more than 0.06. Compressed blocks have to be decompressed
  by both. Our time varies more from run to run than classic-level's does. Seven more views for each key added 0.7 to 0.9 µs in the
  quickest runs and 1.3 to 2.5 µs in median runs, so garbage is expensive here. Less of it (1.2 kB for each key in place of 2.8), and
  one wait for the event loop in place of 16, took the time to 0.8 of what it was.`;

/** The reasons for the figures in browsers. */
const BROWSER_LEVEL_REASONS = `A put ends when the file system has accepted the write to the log. Each put takes one call, and 100 concurrent puts share one. In a
page, a message to the worker and back takes 100 to 200 µs, so a single \`get\` or \`put\` waits for that. Each run follows one that is
not measured, and a pause of two seconds, in which Chromium clears up behind IndexedDB.`;

function levelsSection(run: LevelRun | undefined, [columns, ...browserRows]: Rows): string {
  const onNode =
    run === undefined
      ? ''
      : `\`BloomLevel\` of \`@bloom/level\` compared with classic-level, with the default options of both except the size of the cache, and
in memory, without compression, compared with memory-level. Keys and values are text. \`npx pnpm@10 --filter @bloom/benchmarks levels\` measures on your machine.

${comparisonTable(run.comparisons)}

${goalLine(run.comparisons)}. ${machineLine(run.machine)}; ${run.rounds} rounds.

${LEVEL_REASONS}

`;
  const inBrowsers =
    columns === undefined
      ? ''
      : `In Chromium, on the origin private file system, compared with browser-level, which uses IndexedDB: in a page, whose level is in a worker of its
own, and both in one worker. Medians, in microseconds per operation. \`npx pnpm@10 --filter @bloom/browser-tests level-bench\` measures on your machine.

${markdownTable(columns, browserRows)}

${BROWSER_LEVEL_REASONS}

`;
  return onNode + inBrowsers === '' ? '' : `## Levels\n\n${onNode}${inBrowsers}`;
}

function structuredSection(cells: readonly StructuredCell[], counts: readonly KeyCounts[]): string {
  return `## Structured keys

How many absent keys pass one filter of keys that are numbered, dated or named. The filter has the keys with the even numbers of
a pattern. 100,000 keys of each kind are asked for, in this order in each cell:

1. between: odd numbers between those of the filter; of random keys, the same with another last byte
2. past: the numbers after the last of the filter
3. elsewhere: any other numbers

Below 100,000 keys, a cell is the mean of several filters with 100,000 keys together: the first begins at 0, the others at random
numbers. Single filters differ widely.

\`npx pnpm@10 --filter @bloom/benchmarks structured-keys --long\` prints the tables, without \`--long\` up to a million keys. The
figures are the same on every machine, and LevelDB in C++ makes the same filters and lets the same keys pass:
\`npx pnpm@10 test-thorough structured-keys\`.

${STRUCTURED_REASONS}

${keyCountTables(counts)}
${structuredTables(cells)}

`;
}

function filterSection({ node, rows }: FilterRun): string {
  return `## Filter policies

Filters of random 16-byte keys. Times are nanoseconds of processor time for each key, medians of rounds in which the policies take
turns, with Node ${node.replace('v', '')}; in parentheses, multiples of Bloom's time. Some 20 ns of the times of single keys
are for copying a key. \`npx pnpm@10 --filter @bloom/benchmarks filter-policies --long --write\` measures anew.

The goals, in multiples of Bloom's time for Ribbon and fuse: 6 and 5 to build, 1.6 and 1.1 for single absent keys, 2.5 and 1.6 for
batches. Most of what a Ribbon filter takes to build is elimination: a row of 64 bits meets 6 others, and one of 128 bits 14; and a third
of the seeds have no solution, for which hashes, their order and elimination are done again. Measured and kept: two or three rows
are reduced in turns (elimination took 21 ns with 17,000 keys and 49 with 100,000); rows of 128 bits lie in three words of 64 slots, so
that none is shifted, and those that start last come first (39 ns before with 100,000 keys, 29 after, and 18 and 17 with 17,000); 0.5%
more slots with rows of 64 bits and 0.25% with 128, for nearly half of the seeds had no solution; memory for large filters is kept until
it is collected (of a million keys, a fifth of the time went to the system for new memory). Measured and left out: all rows that cross
a slot reduced at once, in vectors (no faster with 128 bits); rows of 64 bits in words too (a tenth slower); substitution of four columns
in variables (1 ns less in 8, for a kernel that is longer by an eighth); rows of 64 bits for more than 65,536 keys, which take 4% more
bits.
Single keys are asked for in plain TypeScript, where a hash of 64 bits is made of two of 32, and Bloom's filter needs one of 32. A row
of 128 bits is 17 bytes in each column, and V8 reads one at a time. One function in place of three took a twentieth to a tenth off the
time. A view that reads four columns at once took off another tenth; it would have to be kept from call to call, and policies keep
nothing that they were lent. With 100 keys, what fuse writes is a Bloom filter of that hash, whose probes are not those of the kernel.

${filterTable(rows)}

`;
}

/** A row for each quick comparison in which ours was faster in every run, by contender. */
function fastest(runs: readonly Run[]): string[][] {
  const order: readonly string[] = ['leveldb', 'classic-level', 'bloom-filters', 'bloomfilter'];
  return runs
    .at(-1)!
    .comparisons.filter(isQuickSize)
    .map((c) => ({ c, worst: Math.max(...runs.map((run) => run.comparisons.find((other) => isSame(c, other))?.ratio.median ?? Infinity)) }))
    .filter(({ worst }) => worst < 0.95)
    .sort((a, b) => order.indexOf(a.c.other) - order.indexOf(b.c.other) || a.worst - b.worst)
    .map(({ c, worst }) => [c.by === undefined ? c.other : `${c.other}, ${c.by}`, c.what, size(c.size, c.sizeUnit), ratio(worst)]);
}

/** A row for each comparison that has a goal, and the reasons for goals that some run did not meet, with those that they refer to. */
function goals(runs: readonly Run[]): { rows: string[][]; notes: string[] } {
  const notes = new Map<string, Set<string>>();
  const rows = runs
    .at(-1)!
    .comparisons.filter((c) => c.goal !== undefined && isQuickSize(c))
    .map((c) => {
      const ratios = runs.map((run) => run.comparisons.find((other) => isSame(c, other))?.ratio.median);
      const isMet = ratios.every((value) => value !== undefined && value <= c.goal!);
      const special = LIMITS[`${c.figure} ${c.other}`];
      const limit = special ?? LIMITS[c.figure];
      if (!isMet && limit !== undefined) notes.set(limit, (notes.get(limit) ?? new Set()).add(special === undefined ? c.figure : `${c.figure} against ${c.other}`));
      const by = c.by === undefined ? c.other : `${c.other}, ${c.by}`;
      const shown = ratios.map((value) => (value === undefined ? '' : ratio(value)));
      return [isMet ? 'met' : 'not met', c.figure, size(c.size, c.sizeUnit), by, String(c.goal), ...shown];
    });
  // The loop also visits entries that are added during it.
  for (const limit of notes.keys()) {
    for (const [, name] of limit.matchAll(/`([^`]+)`/g)) {
      const other = LIMITS[name!];
      if (other !== undefined && !notes.has(other)) notes.set(other, new Set([name!]));
    }
  }
  return {
    rows,
    notes: [...notes].map(([limit, labels]) => `- ${[...labels].join(', ')}: ${limit}`),
  };
}

/** The sizes that every run measures. */
function isQuickSize({ figure, size }: Comparison): boolean {
  return figures.some(({ name, quickSizes }) => name === figure && quickSizes.includes(size));
}

function isSame(a: Comparison, b: Comparison): boolean {
  return a.figure === b.figure && a.size === b.size && a.other === b.other && a.by === b.by;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
