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
  'bloomfilter 1.1.0 tests a key in 52 to 96 ns. The kernel takes 7 ns, and LevelDB in C++ 10 to 15 ns.';

/** Why a goal is not met: what was tried, what it gained, what remains. By figure, or by figure and contender. */
const LIMITS: Readonly<Record<string, string>> = {
  'probe-present':
    'V8 loads one byte of a `Uint8Array` at a time, each with a bounds check, so hashing 16 bytes takes four times as long as in C++, which loads words. Tried: a reciprocal instead of the division (no faster on this processor); one function for hash and probes, with two words and two probes per iteration (0.75). `keysMayMatch` tests many keys at once in WebAssembly.',
  'probe-absent': 'As for `probe-present`.',
  'build-filter':
    'Tried: four and eight keys at a time in WebAssembly SIMD, a memory that never grows, no division. The kernel takes 7 ns per key of 10,000 (C++: 11 to 14). With 100 keys, about 200 ns are spent on views that copy keys in and the filter out; with a million keys, both programs wait for memory.',
  'build-filter bloomfilter':
    'bloomfilter 1.1.0 adds a key in 62 to 74 ns; the kernel takes about a tenth of that. With 100 keys, the time for views that copy keys in and the filter out is added.',
  'build-filter-from-list bloomfilter':
    'An array of keys is first copied into one buffer, which takes several times as long as building the filter. Keys that are pushed to a `KeyBuffer` from the start are not copied again.',
  'probe-batch-present':
    'A filter of a megabyte is copied to the kernel for each batch, which takes a third of the time. Tried: reading its bits in JavaScript at positions that the kernel computed (1.5); reading all bits at once (slower than one after another). Keeping the filter in the kernel would help, but the filter belongs to the caller and may change.',
  'probe-batch-absent':
    'As for `probe-batch-present`. C++ stops at the first zero bit; the kernel reads all bits without a branch, which is faster only while the filter is in the processor’s L1 or L2 cache.',
  'probe-batch-present bloomfilter': ANSWERS_OF_BLOOMFILTER,
  'probe-batch-absent bloomfilter': ANSWERS_OF_BLOOMFILTER,
  'build-table':
    'Tried: one comparison for order and shared prefix, no view or array per entry, output in chunks of up to 256 KiB instead of 64 (0.95). What remains is copying bytes in loops, and writing the file, which takes both programs the same time.',
  'build-table-snappy':
    'As for `build-table`. The compressor takes 1.1 to 1.3 times as long as Google’s, and each block is copied into its kernel’s memory and out of it.',
  scan: 'A fifth of the time is the checksum: the kernel takes 0.48 µs for a block of 4 KiB, and its 34 entries take 2.3 µs. Tried: copying keys eight bytes at a time, no views.',
  'scan-file':
    'As for `scan`. In addition, C++ maps the file, and we copy it, 256 KiB with each read call. Tried: one window that doubles and is reused, instead of a read and an array for each block (0.47).',
  'scan-snappy':
    'As for `scan`. Each block is copied into the memory of the kernel and out of it. Tried: one array for all blocks that are not cached (0.5).',
  batches: 'As for `scan-file`. In addition, each key and value needs a view, which V8 creates in 25 ns.',
  'open-sync':
    'The time is spent reading 256 KiB and verifying the checksums of index and filter; C++ maps the file. Tried: checking and searching the index in its stored form, and reading index and filter at once (together 0.35).',
  open: 'In Node, opening a file and reading it each take a round trip to another thread, about 50 µs. Tried: as for `open-sync`, and no round trips for the length of the file (together 0.5) and for closing it.',
  entries:
    'A promise and its await take 100 ns, and the two copies also 100 ns. Tried: copies that share a buffer (0.5), and no copy of a block that is not cached. `cursor()` and `SyncTable` need no promise per entry.',
  'entries-sync': 'Two copies and two arrays per entry; `cursor()` makes none.',
  'get-present-sync':
    'Tried: index keys as adjacent numbers, a block search that assembles no keys, copies that share a buffer (0.6), and a search whose state is in local variables (a further 0.77). This is less than a seek or `DB::Get` of LevelDB itself takes.',
  'get-absent-sync':
    'Tried: a branch-free search of the index, cheaper views for filter tests (0.67), and then no views at all (a further 0.87). classic-level tests the same filter in C++, in a single Node-API call.',
  'db-open':
    'Eight tables are opened together with the database, so that damage is found at once and the tables stay readable when a writer deletes them. LevelDB opens a table only when it first reads from it, so the more tables there are, the larger the ratio. Tried: as for `open`; tables opened while the logs are read, plain descriptors in place of FileHandles, no bytes read twice (together 0.67); fewer arrays (0.92 without promises). No gain: files opened without promises, memory that is not zeroed. A tenth of the time is spent checking that log, CURRENT, MANIFEST, LOCK and tables are still the files that were opened.',
  'db-get-absent-sync':
    'A lookup searches four tables and a log. LevelDB compacts its copy to a single level during the measurement, because lookups had to search several tables; the figures for the compacted database compare the same tables. Tried: one lookup and one internal key for all gets, tables found by object instead of by bigint, one view of the user key for all filters, an index that is searched by user key (together 0.38 of the processor time); no views for filter tests (a further 0.87), a filter in memory in front of the log (0.82).',
  'db-get-present-sync':
    'As for `db-get-absent-sync`. Then a block is searched. Tried: comparing user keys without assembling whole keys (0.75), a search whose state is in local variables and a filter in front of the log (together 0.78).',
  'db-compacted-get-present-sync':
    'Half of the time is spent waiting for memory: a lookup among 200 keys, whose blocks fit into the L1 and L2 caches, takes half as long. Tried: not asking a block for its buffer (0.91 to 0.97), a search whose state is in local variables and which assembles no key (0.77). Little gain: storing the first bytes of all keys with each cached block (a further 0.9). No gain: copying values without a view.',
  'db-compacted-get-absent-sync': 'What remains is searching an index and testing a filter for one key at a time: see `probe-absent`.',
  'db-uncached-get-sync':
    'classic-level maps its files, so that a block is neither read nor copied, and does not verify its checksum. Measured in one process, and divided by the time of a whole `getSync` of classic-level: Node’s call that reads a block of 4,216 bytes takes 0.54, checking whether another program has written to the file 0.39, and the checksum 0.23, together 1.16 before anything is searched. A new array for the block, including garbage collection, took 0.67. Tried: reusing the memory of the evicted block (0.74 to 0.91), reading stored blocks into reused memory. A reader cannot omit the check, because a table that was overwritten in place also has valid checksums; in a trial without the check, the ratio was 2.4 instead of 3.0.',
  'db-uncached-get-many':
    'As for `db-uncached-get-sync`: both look up one key after another. Each call checks each table once for changes, so with 100 keys in 8 tables, a key takes 0.83 of the time of a `getSync`.',
  'db-uncached-range':
    'The ten entries are in blocks of every table, and reading these one after another takes three tenths of the time. Checking files for changes takes 3%; the rest is spent merging tables and memtable, and on the promises of the iterator. classic-level maps its files and returns ten entries in one call.',
  'db-uncached-get-16':
    'classic-level looks up keys on four threads at once, and we use one. Tried: reads that have blocked the event loop for some time continue in its next turn, instead of moving to threads. Not tried: one check for changes for all calls of a turn, whose keys are mostly in different tables.',
  'db-get-present': 'As for `db-get-present-sync`.',
  'db-write-put-random':
    'The call that appends a record to the log takes 37% of the main thread’s time in a profile. Tried: storing the first bytes of user keys next to the memtable’s nodes (0.5 of the memtable’s time), reusing batches and the log’s arrays.',
  'db-write-put-sequential': 'As for `db-write-put-random`.',
  'db-write-overwrite': 'As for `db-write-put-random`. In the meantime, flushes and compactions use the other processor and the disk.',
  'db-write-put-sync': 'Nearly all of the time is the disk’s.',
  'db-write-batches':
    'Tried: as for `db-write-put-random` (0.5). The batch is copied once more than in C++, because the caller may change it.',
  'db-write-compact':
    'Each entry is read, merged and added to a table twice, 1 µs each time. Tried: one thread for all databases, so that its code is already optimized (0.6); synchronous reads in it, ranges instead of a view of each key and value, and no bigint per entry (0.67); filling a chunk while the system writes the previous one, and reading blocks without generators (a further 0.86); leaving the index in its stored form during scans (0.95). No gain: copying as words of 32 bits, deleting obsolete files while the next compaction runs, two tables synced at a time.',
  'db-entries':
    'As for `entries`. In addition, merging the sources takes a tenth of the processor time. Tried: levels and merges that refer to an entry instead of copying it (0.96). No gain: copying values as words of 32 bits.',
  'db-write-get-present-sync': 'As for `db-compacted-get-present-sync`. In addition, several tables and a memtable are searched.',
  'db-write-entries': 'As for `db-entries`.',
  'db-entries-reverse':
    'As for `db-entries`. The entries of a restart interval are first read forwards, and then each of them again in reverse order, which takes a tenth of the processor time.',
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
const STRUCTURED_REASONS = `In most cells, about 1% of the absent keys pass LevelDB's filter, and up to 1.5% if it has 100,000 keys or more. There are two
exceptions, for absent keys that are close to stored ones:

- **In large filters, absent keys have the hash of a stored key.** Up to 17% of the decimal numbers between stored numbers pass. The hash
  adds four bytes of the key to its state, multiplies the state, and xors its upper half into its lower half. A difference in the last of
  the four bytes then affects only two bytes of the state, and a difference in the next four bytes of the key can cancel it. So
  \`key000000005\` and \`key000070500\` have the same hash, as do 5,000 pairs of the first 100,000 numbers. The numbers of each pair
  differ by 70,495, so one is even and one is odd. A table below shows [the share of such keys](#keys-with-the-hash-of-a-stored-key).
  Other keys pass no more often than usual: if a share c of the keys has the hash of a stored key, and r is the usual rate,
  c + (1 - c) r of the keys pass; r is at most 1.5% in every cell of 100,000 keys or more.
- **In filters of up to a few hundred keys, probes overlap.** Numbers that differ only in their last bytes have hashes that differ by
  multiples of large powers of two, and each probe is the previous one plus the rotated hash. LevelDB's filters often have a multiple of 32
  or 64 bits, and modulo such a length, the probes of absent numbers fall on bits of stored ones. The rate depends on
  the exact number of keys: of numbers with 16 digits, 59% pass filters of 38 keys, and 3% pass filters of 39; of big-endian numbers, 93% and
  23%. A single number of keys, such as 30, is therefore not representative. With independent probes, 0.8% would pass.
  [Fitted filters](#filters-of-8-to-128-keys) of the same keys let 0.3% and 3.1% pass on average.

The blocked policy has two hashes of 32 bits, one of them MurmurHash3, which mixes well. At 10 bits per key, no pattern passes it more
often than random keys do. At 24 bits, hardly any does: of two million odd numbers between 100,000 padded even ones, 0.008% pass,
compared with 0.005% of random keys, because the second hash is LevelDB's with another seed. At 24 bits, no cell has more than 12 keys that
pass.`;

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
Keys are 16 bytes long, values 100; filters have 10 bits per key. All programs do the same work on the same data, and their
answers are compared. \`npx pnpm@10 bench --quick\` measures on your machine.

## What is fast

The highest ratio of all runs, for the figures in which this project is faster in every run.

${markdownTable(['against', 'what', 'size', 'ratio'], fastest(runs))}

## Goals

${met} of ${rows.length} goals are met in each run.

${markdownTable(columns, rows.filter((row) => row[0] === 'met'))}

### Not met

${markdownTable(columns, rows.filter((row) => row[0] !== 'met'))}

A number in parentheses after "Tried" is the time after that change, divided by the time before it.

${notes.join('\n')}

## The runs

${runs.map((run, i) => `- ${names[i]!.replace('.json', '')}: ${machineLine(run.machine)}; ${run.clock === 'cpu' ? 'processor time' : 'wall time'}, ${run.rounds} rounds, samples of ${run.sampleMs} ms`).join('\n')}

The machine shares its processors with other jobs, so single ratios vary by up to a fifth between runs.
\`npx pnpm@10 bench --write NAME\` adds a run and writes this page.

## Over HTTP

${last.http[1]?.count ?? 0} consecutive lookups each in a table of 100,000 entries, from a server on the same machine.

${markdownTable(
  ['lookup', 'µs', 'requests per lookup', 'bytes per lookup'],
  last.http.map((f) => [f.what, f.microseconds.toFixed(0), (f.requests / f.count).toFixed(3), (f.bytes / f.count).toFixed(0)]),
)}

A table of 5 million entries (114 MB) and databases of six tables, with the time at 50 ms per round trip and 20 Mbit/s, which
the server simulates. \`npx pnpm@10 --filter @bloom/benchmarks http-requests\` measures on your machine.

${markdownTable(['', 'requests', 'bytes', 'time'], httpRequests)}

${eventLoop === undefined ? '' : eventLoopSection(eventLoop)}${processes === undefined ? '' : processSection(processes, again)}## The command

Whole processes, medians of alternating runs, with tables of 5 million entries. Keys have 16 bytes and values 100. A number in
parentheses is the time after a change divided by the time before it.
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

\`build --sort\`: sort(1) uses both processors, and the pipe lets it run in parallel with \`bloom build -\`. \`build --sort\` uses three threads: one
decodes lines, one adds them, and one sorts what was added before and writes it to a run (0.81, compared with one thread for adding and
sorting). Sorted entries are gathered from their pages before they are written (0.95). The sort is a radix sort on the first bytes of the
keys, not a comparison sort (0.8).

\`scan\`: the bytes of tsv are copied, and checked for characters to escape, four at a time (0.8).

\`get\`: shorter names in the program, which make V8's code cache smaller, save 4 ms. Reading, decompressing and verifying the index
of 4 MB takes 15 ms of the remaining time.

\`merge\`: one thread merges while another makes blocks, filters and checksums and writes the table; the first one waits for a twelfth of
the time. A tournament tree with offset-value codes, and reading tables in pieces of 1 MiB, reduced the time for another 5 million
entries from 2.8 to 2.0 seconds; copying four bytes at a time (0.93), and writing and syncing the table at the same time (0.98), reduced it
further. No gain: returning the memory of batches from the other thread (1.05), and smaller or larger pieces and batches.

\`bloom build\` of 2 and of 5 million lines: a thread that parses, and no promise for each entry (0.56 and 0.55); sending that thread the
next pieces while it parses one (a further 0.60); writing the table while blocks are made (a further 0.96). Copying four bytes at a time
saves 6 to 10% of the processor time. No gain: memory that the threads share instead of transferring it (1.15).

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
const LEVEL_REASONS = `Why the others are not met; a number in parentheses is the time after a change divided by the time before it:

- level-get, level-uncached-get, level-uncompressed-get: classic-level takes 24 to 48 µs, depending on the run, most of it for the round
  trip to a thread: in \`getMany\`, it takes 3 to 10 µs for each key. Our uncached \`get\` spends three quarters of its time in memtables,
  filters and blocks, and the rest in abstract-level's promise, in encoding the key and in decoding the value. If the store returned
  values in memory directly instead of in a promise, a cached \`get\` would take 0.7 to 0.85 of its time. With 100,000 entries, the cached
  blocks do not fit into the processor's caches, and searching a block takes more than a quarter of the time of \`get\`.
  No gain: reading a byte of each cache line of a block's entries before the search (0.97 to 1.03).
- level-nextv: a call of \`nextv(1000)\` spends a third of its time decoding keys and values as text, which takes Node 110 to 190 ns each.
  With 10,000 entries, all of which are in the memtable, a fifth of the time is spent reading its links and keys, which are far apart
  in memory. classic-level reads the next entries on another thread while the program uses the previous ones.
  No gain: decoding many keys and values as one text and splitting it, because copying them together takes as long (0.99 to 1.1).
- level-uncompressed-get-many: as for \`db-uncached-get-many\`. classic-level maps its files, and uses a block without reading or
  copying it. Reading takes 36% of our time, and no other function takes more than 6%. If blocks are compressed, both have to
  decompress them. Our time varies more between runs than classic-level's does. In an experiment, seven more views for each key added
  0.7 to 0.9 µs in the fastest runs and 1.3 to 2.5 µs in median runs, so garbage is expensive here. Less garbage (1.2 kB for each key
  instead of 2.8) and one wait for the event loop instead of 16 reduced the time (0.8).`;

/** The reasons for the figures in browsers. */
const BROWSER_LEVEL_REASONS = `A put ends when the file system has accepted the write to the log. Each put takes one call, and 100 concurrent puts share one. In a
page, a message to the worker and back takes 100 to 200 µs, so a single \`get\` or \`put\` waits for that. Before each run there is
a warm-up run and a pause of two seconds, in which Chromium finishes IndexedDB's background work.`;

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
      : `In Chromium, on the origin private file system, compared with browser-level, which uses IndexedDB: in a page, where the level runs in its own
worker, and with both in one worker. Medians, in microseconds per operation. \`npx pnpm@10 --filter @bloom/browser-tests level-bench\` measures on your machine.

${markdownTable(columns, browserRows)}

${BROWSER_LEVEL_REASONS}

`;
  return onNode + inBrowsers === '' ? '' : `## Levels\n\n${onNode}${inBrowsers}`;
}

function structuredSection(cells: readonly StructuredCell[], counts: readonly KeyCounts[]): string {
  return `## Structured keys

The share of absent keys that pass a filter whose keys follow a pattern, such as numbers, dates or names. The filter is made of the keys
with even numbers. It is tested with 100,000 absent keys of each of three kinds, which each cell shows in this order:

1. between: odd numbers between those of the filter; for random keys, stored keys with a different last byte
2. past: the numbers after the last one of the filter
3. elsewhere: any other numbers

For filters of fewer than 100,000 keys, a cell is the mean over several filters that have 100,000 keys in total: the first starts at 0, the
others at random numbers. Single filters differ widely.

\`npx pnpm@10 --filter @bloom/benchmarks structured-keys --long\` prints the tables; without \`--long\`, filters have up to a million keys. The
figures are the same on every machine, and LevelDB in C++ makes the same filters and lets the same keys pass:
\`npx pnpm@10 test-thorough structured-keys\`.

${STRUCTURED_REASONS}

${keyCountTables(counts)}
${structuredTables(cells)}

`;
}

function filterSection({ node, rows }: FilterRun): string {
  return `## Filter policies

Filters of random 16-byte keys. Times are nanoseconds of processor time for each key, medians of rounds in which the policies
alternate, with Node ${node.replace('v', '')}; in parentheses, multiples of Bloom's time. About 20 ns of the times for single keys
are spent on copying a key. \`npx pnpm@10 --filter @bloom/benchmarks filter-policies --long --write\` measures again.

The goals, in multiples of Bloom's time for Ribbon and fuse: 6 and 5 to build, 1.6 and 1.1 for single absent keys, 2.5 and 1.6 for
batches.

Building a Ribbon filter mostly consists of Gaussian elimination: each row of 64 bits is combined with 6 others on average, and each row of
128 bits with 14. For a third of the seeds there is no solution, and hashing, sorting and elimination start again.

- Measured and kept: reducing two or three rows in turns (before that, elimination took 21 ns per key with 17,000 keys, and 49 with 100,000);
  storing rows of 128 bits in three words of 64 slots, so that none is shifted, and processing the rows that start last first (39 ns before
  and 29 after with 100,000 keys, 18 and 17 with 17,000); 0.5% more slots with rows of 64 bits and 0.25% with 128, because nearly half of the
  seeds had no solution; keeping memory for large filters until it is garbage-collected (with a million keys, the system spent a fifth of
  the time on new memory).
- Measured and rejected: reducing all rows that cross a slot at once, in vectors (no faster with 128 bits); storing rows of 64 bits in words
  too (a tenth slower); substituting four columns in variables (1 ns of 8 less, but a kernel that is an eighth longer); rows of 64 bits for
  more than 65,536 keys, which take 4% more bits.

Single keys are tested in plain TypeScript, where a 64-bit hash consists of two 32-bit ones, and a Bloom filter needs only one. A row
of 128 bits has 17 bytes in each column, which V8 reads one at a time. Using one function instead of three saved 5 to 10% of the time. A view
that reads four columns at once saved another tenth, but would have to be kept between calls, and policies must not keep what they were
lent. With 100 keys, the fuse policy writes a Bloom filter of its own hash, which the kernel cannot test.

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
