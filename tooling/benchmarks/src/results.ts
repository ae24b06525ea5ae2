import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figures } from './figures.js';
import type { HttpFigure } from './http.js';
import { type Machine, machineLine } from './machine.js';
import type { MemoryFigure } from './memory.js';
import { plot } from './plot.js';
import { type Comparison, comparisonTable, markdownTable, ratio, size } from './report.js';

/** All that one run measured. */
export interface Run {
  readonly machine: Machine;
  readonly clock: string;
  readonly comparisons: readonly Comparison[];
  readonly http: readonly HttpFigure[];
  readonly memory: readonly MemoryFigure[];
}

/** Why a goal is not met: what was tried, what it reached, why it stops there. By figure, or figure and other. */
const LIMITS: Readonly<Record<string, string>> = {
  'probe-present':
    'Of a `Uint8Array` V8 loads one byte at a time, each with a check of its bounds: the hash of 16 bytes takes four times that of C++, which loads words. Tried: a reciprocal in place of the division (no faster on this processor), one function for hash and probes, two words and two probes a turn (three quarters of the time before). `keysMayMatch` asks many keys at once in WebAssembly.',
  'probe-absent': 'As for present keys.',
  'build-filter':
    'Tried: keys by fours and eights in WebAssembly with SIMD, a memory that never grows, no division. The kernel takes 8 ns a key while the machine is quiet (C++: 16) and 14 when it is not (C++: 20). For 100 keys some 400 ns go by for the views with which JavaScript copies keys in and the filter out; for a million both wait for memory.',
  'build-filter bloomfilter':
    'bloomfilter 1.1.0 adds a key in 100 to 160 ns. A twentieth of that is less than half of what C++ LevelDB takes; the kernel is at a tenth.',
  'build-filter-from-list bloomfilter': 'An array of keys is copied into one buffer first, which takes several times as long as the filter; a `KeyBuffer` saves it.',
  'probe-batch-present':
    'A filter of a megabyte is copied to the kernel for each batch, which is a third of the time. Tried: its bits asked from JavaScript at positions that the kernel found (half as long again), all bits at once (less than one after another). A filter that stayed in the kernel would do, but it is the caller’s, and may change.',
  'probe-batch-absent':
    'As for present keys: C++ stops at the second bit, the kernel asks for all without a branch, which is faster where the filter is in a near cache.',
  'probe-batch-absent bloomfilter': 'As for present keys.',
  'probe-present bloomfilter': 'As for batches, and one key at a time.',
  'probe-absent bloomfilter': 'As for batches, and one key at a time.',
  'probe-batch-present bloomfilter': 'bloomfilter answers in 90 to 160 ns; a twentieth would be a third of the time of C++ LevelDB.',
  'build-table':
    'Tried: one comparison for order and shared prefix, no view or array for an entry, output by 64 KiB. What is left is the copying of bytes by loops, and the writing of the file, which takes both alike.',
  scan: 'A third is the checksum: the native library takes 0.3 µs for the call and 1.2 µs for 4 KiB. Tried: keys copied by eights, no views.',
  entries:
    'A promise and its await take 100 ns, the two copies as much. Tried: copies that share a buffer (half the time before), no copy of a block that is not cached. `cursor()` and `SyncTable` have no promise for each entry.',
  'entries-sync': 'Two copies and two arrays for each entry; `cursor()` makes none.',
  'get-present-sync':
    'Tried: index keys as numbers side by side, a search in the block that puts no key together, copies that share a buffer: three fifths of the time before, and less than LevelDB’s own seek and DB::Get.',
  'get-absent-sync':
    'Tried: a search of the index without branches, filters asked through cheaper views: two thirds of the time before. classic-level asks the same filter behind one call of Node-API.',
};

/** Keeps `run` as `name`, and writes the page. */
export function writeResults(packageFolder: string, name: string, run: Run): void {
  const folder = join(packageFolder, 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(run)}\n`);
  writePage(packageFolder);
}

/** Writes RESULTS.md and the plots anew from all runs that are kept: the last by name is shown whole. */
export function writePage(packageFolder: string): void {
  const folder = join(packageFolder, 'results');
  const names = readdirSync(folder).filter((file) => file.endsWith('.json')).sort();
  const runs = names.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Run);
  const plots = join(packageFolder, 'plots');
  mkdirSync(plots, { recursive: true });
  const last = runs.at(-1)!;
  const plotted = [...new Set(last.comparisons.map(({ figure }) => figure))];
  for (const figure of plotted) {
    writeFileSync(join(plots, `${figure}.svg`), plot(last.comparisons.filter((comparison) => comparison.figure === figure)));
  }
  writeFileSync(join(packageFolder, '../../RESULTS.md'), resultsPage(runs, names, plotted));
}

function resultsPage(runs: readonly Run[], names: readonly string[], plotted: readonly string[]): string {
  const last = runs.at(-1)!;
  const { rows, notes } = goals(runs);
  const met = rows.filter((row) => row[0] === 'met').length;
  return `# Results

Ratios are time of ours / time of theirs, medians of rounds in turn on one machine: below 1, ours is faster. 16-byte
keys, 100-byte values, 10 bits per key. All that is compared does the same work on the same data and is checked to give
the same answers. \`npx pnpm@10 bench --quick\` measures anew; \`npx pnpm@10 bench --write NAME\` writes this page.

${runs.map((run, i) => `- ${names[i]!.replace('.json', '')}: ${machineLine(run.machine)}; ${run.clock === 'cpu' ? 'processor time' : 'time on the wall'}`).join('\n')}

The machine's processors are shared with others: single ratios differ by a fifth from run to run.

## Goals

${met} of ${rows.length} are met in each run.

${markdownTable(['', 'figure', 'size', 'against', 'at most', ...names.map((name) => name.replace('.json', ''))], rows)}

${notes.length === 0 ? '' : `### Those not met\n\n${notes.join('\n')}\n`}
## Over HTTP

From a server on the same machine, ${last.http[1]?.count ?? 0} lookups each, one after another, in a table of 100,000 entries.

${markdownTable(
  ['lookup', 'µs', 'requests for each', 'bytes for each'],
  last.http.map((f) => [f.what, f.microseconds.toFixed(0), (f.requests / f.count).toFixed(3), (f.bytes / f.count).toFixed(0)]),
)}

## Memory

Peak of resident memory, above that of an empty process. The bound is the table's index and filter, and 96 MiB.

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

## All figures

${comparisonTable(last.comparisons)}

## By size

${plotted
  .filter((figure) => new Set(last.comparisons.filter((c) => c.figure === figure).map((c) => c.size)).size > 1)
  .map((figure) => `![${figure}](tooling/benchmarks/plots/${figure}.svg)`)
  .join('\n')}
`;
}

/** A row for each comparison that has a goal, and what there is to say of those that were not met in each run. */
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
      const label = special === undefined ? c.figure : `${c.figure} against ${c.other}`;
      if (!isMet && limit !== undefined) notes.set(limit, (notes.get(limit) ?? new Set()).add(label));
      const by = c.by === undefined ? c.other : `${c.other}, ${c.by}`;
      const shown = ratios.map((value) => (value === undefined ? '' : ratio(value)));
      return [isMet ? 'met' : 'not met', c.figure, size(c.size, c.sizeUnit), by, String(c.goal), ...shown];
    });
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
