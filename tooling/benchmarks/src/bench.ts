// Runs the same work in this project and in others, alternating between them.
//
//   bench [--quick] [--only REGEX] [--cpu] [--json FILE] [--write NAME]
//   bench --page
//
// --write stores the run as results/NAME.json and writes RESULTS.md and the plots from all stored runs. --page only
// writes them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FigureRuns } from './figure-runs.js';
import { figures } from './figures.js';
import { describeMachine, machineLine } from './machine.js';
import type { Pace } from './measure.js';
import { measureHttp } from './http.js';
import { measureMemory } from './memory.js';
import { comparisonTable, goalLine, size } from './report.js';
import { writePage, writeResults } from './results.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    cpu: { type: 'boolean', default: false },
    json: { type: 'string' },
    write: { type: 'string' },
    page: { type: 'boolean', default: false },
  },
});

const clock = options.cpu ? 'cpu' : 'wall';
const pace: Pace = options.quick
  ? { clock, rounds: 7, warmUpMs: 200, sampleMs: 12 }
  : { clock, rounds: 11, warmUpMs: 400, sampleMs: 60 };
const only = new RegExp(options.only);
const packageFolder = fileURLToPath(new URL('..', import.meta.url));
if (options.page) {
  writePage(packageFolder);
  process.exit();
}
const folder = mkdtempSync(join(tmpdir(), 'bloom-bench-'));
const runs = new FigureRuns({ packageFolder, folder, isQuick: options.quick, pace });
// Its module is native code, which exists only for some systems.
await import('lmdb').catch((error: unknown) => runs.unavailable.set('lmdb', String(error)));

try {
  const machine = describeMachine(packageFolder, await runs.levelDbVersion());
  const chosen = figures.filter(({ name }) => only.test(name));
  const comparisons = await runs.run(chosen);
  const kind = options.cpu ? 'processor time' : 'time';
  console.log(`\nRatios are our ${kind} / their ${kind}, medians of ${pace.rounds} alternating rounds.\n`);
  console.log(comparisonTable(comparisons));
  console.log(`\n${goalLine(comparisons)}`);
  for (const [contender, reason] of runs.unavailable) console.log(`${contender === 'leveldb' ? 'C++ LevelDB' : contender} is left out: ${reason}`);
  console.log(machineLine(machine));
  const isHttp = only.test('http');
  const http = isHttp ? await measureHttp(packageFolder, folder) : [];
  for (const { what, microseconds, requests, count } of http) {
    console.log(`${what}: ${microseconds.toFixed(0)} µs, ${(requests / count).toFixed(3)} requests each`);
  }
  const memory = only.test('memory') ? measureMemory(packageFolder, folder, options.quick ? [1e5] : [1e5, 1e6, 1e7]) : [];
  for (const { what, entries, peakBytes, boundBytes } of memory) {
    const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    console.log(`memory, ${what} ${size(entries, 'entries')}: ${mebibytes(peakBytes)}, bound ${mebibytes(boundBytes)}`);
  }
  const run = { machine, clock, rounds: pace.rounds, sampleMs: pace.sampleMs, comparisons, http, memory };
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(run, null, 2)}\n`);
  if (options.write !== undefined) writeResults(packageFolder, options.write, run);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
