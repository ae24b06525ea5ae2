// Runs the same work in this project and in others, alternating between them.
//
//   bench [--quick] [--only REGEX] [--cpu] [--json FILE] [--write NAME]
//   bench --page
//
// --write stores the run as results/NAME.json and writes RESULTS.md and the plots from all stored runs. --page only
// writes them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Contender } from './contender.js';
import { type ContenderName, type Figure, figures, type Other } from './figures.js';
import { writeDatabase } from './database.js';
import { describeMachine, machineLine } from './machine.js';
import { measure, type Pace } from './measure.js';
import { compileNative } from './native-program.js';
import { measureHttp } from './http.js';
import { measureMemory } from './memory.js';
import { compare, type Comparison, comparisonTable, goalLine, size } from './report.js';
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
const native = compileNative(packageFolder);
/** Contenders that this machine cannot run, and why. */
const unavailable = new Map<ContenderName, string>();
if ('unavailable' in native) unavailable.set('leveldb', native.unavailable);
// Its module is made of native code, and is there for some systems only.
await import('lmdb').catch((error: unknown) => unavailable.set('lmdb', String(error)));
const folder = mkdtempSync(join(tmpdir(), 'bloom-bench-'));

function start(name: ContenderName): Contender {
  const work = join(folder, name);
  mkdirSync(work, { recursive: true });
  if (name !== 'leveldb') {
    return new Contender(name, [process.execPath, join(packageFolder, 'dist/contenders', `${name}.js`), work, folder]);
  }
  if ('unavailable' in native) throw new Error(native.unavailable);
  return new Contender(name, [native.path, work]);
}

/** Each figure gets new processes, so that earlier figures do not influence what the engine optimises. */
async function runFigure(figure: Figure): Promise<Comparison[]> {
  const others = figure.others.filter(({ contender }) => !unavailable.has(contender));
  const names = new Set<ContenderName>(['bloom', ...others.map(({ contender }) => contender)]);
  const contenders = new Map([...names].map((name) => [name, start(name)]));
  try {
    const comparisons: Comparison[] = [];
    for (const size of options.quick ? figure.quickSizes : figure.sizes) {
      const present = others.filter(({ maxSize = Infinity }) => size <= maxSize);
      if (present.length === 0) continue;
      if (figure.input !== undefined) await writeDatabase(folder, size, figure.input);
      const entrants = [{ contender: 'bloom' as const, job: figure.name }, ...present].map(({ contender, job }) => ({
        contender: contenders.get(contender)!,
        job: job ?? figure.name,
      }));
      const sums = [];
      for (const { contender, job } of entrants) sums.push(await contender.check(job, size));
      mustAgree(figure, present, size, sums);
      comparisons.push(...compare(figure, present, size, await measure(entrants, size, pace)));
    }
    return comparisons;
  } finally {
    for (const contender of contenders.values()) await contender.close();
  }
}

/** Checks that all contenders did the same work. */
function mustAgree(figure: Figure, others: readonly Other[], size: number, sums: readonly number[]): void {
  for (const [i, { contender, answersDiffer = false }] of others.entries()) {
    if (!answersDiffer && sums[i + 1] !== sums[0]) {
      throw new Error(`${figure.name}, ${size}: ours gives ${sums[0]}, ${contender} ${sums[i + 1]}`);
    }
  }
}

async function levelDbVersion(): Promise<string | undefined> {
  if ('unavailable' in native) return undefined;
  const contender = start('leveldb');
  try {
    return await contender.version();
  } finally {
    await contender.close();
  }
}

try {
  const machine = describeMachine(packageFolder, await levelDbVersion());
  const chosen = figures.filter(({ name }) => only.test(name));
  const comparisons: Comparison[] = [];
  for (const [i, figure] of chosen.entries()) {
    process.stderr.write(`${i + 1}/${chosen.length} ${figure.name}: ${figure.what}\n`);
    comparisons.push(...(await runFigure(figure)));
  }
  const kind = options.cpu ? 'processor time' : 'time';
  console.log(`\nRatios are our ${kind} / their ${kind}, medians of ${pace.rounds} alternating rounds.\n`);
  console.log(comparisonTable(comparisons));
  console.log(`\n${goalLine(comparisons)}`);
  for (const [contender, reason] of unavailable) console.log(`${contender === 'leveldb' ? 'C++ LevelDB' : contender} is left out: ${reason}`);
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
