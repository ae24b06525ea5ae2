// Measures whole processes, one job each, in alternating rounds: processor time and peak memory, less those of an empty process of the same
// runtime.
//
//   npx pnpm@10 --filter @bloom/benchmarks processes [--entries N] [--rounds N] [--only REGEX] [--write] [--again]
//
// --write stores the figures, in place of earlier ones of the same jobs, and writes RESULTS.md. With --again they are those of the second run,
// which has a column of its own. A program that cannot be built here is left out.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { peers } from '@bloom/peers';
import { describeMachine, machineLine } from './machine.js';
import { type Spread, spread } from './measure.js';
import { compileNative } from './native-program.js';
import { type FolderState, type ProcessContender, type ProcessFigure, processFigures } from './process-figures.js';
import { type ProcessRow, processTable } from './process-table.js';
import { stored, writeStored } from './results.js';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
  },
});

const CPP = 'LevelDB 1.23, C++';
const PEERS = { goleveldb: 'goleveldb 2022-07-21', 'rusty-leveldb': 'rusty-leveldb 4.0.2' } as const;

/** What a process printed. */
interface Measured {
  /** In microseconds. */
  readonly time: number;
  /** In KiB. */
  readonly memory: number;
  readonly sum: number;
}

const entries = Number(options.entries);
const rounds = Number(options.rounds);
const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bloom-processes-'));
try {
  const commands = await commandsOf();
  if (!commands.has(CPP)) throw new Error('LevelDB with its static library is needed: it writes the databases');
  const only = new RegExp(options.only);
  const rows: ProcessRow[] = [];
  for (const figure of processFigures.filter(({ ourJob, what }) => only.test(ourJob) || only.test(what))) rows.push(...measure(commands, figure));
  const machine = describeMachine(packageFolder, undefined);
  const measured = new Set(rows.map(({ what }) => what));
  const name = options.again ? 'processes-again' : 'processes';
  const before = (options.write ? stored(packageFolder)[name]?.rows : undefined) ?? [];
  const others = before.filter(({ what }) => !measured.has(what));
  const inOrder = processFigures.flatMap((figure) => [...rows, ...others].filter(({ what }) => what === figure.what));
  const run = { machine, entries, rounds, rows: inOrder };
  console.log(`\n${processTable(run.rows)}\n\n${machineLine(machine)}`);
  if (options.write) writeStored(packageFolder, { [name]: run });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** How each program is started; the job, the folder and the number of entries follow. */
async function commandsOf(): Promise<Map<ProcessContender, readonly string[]>> {
  const commands = new Map<ProcessContender, readonly string[]>();
  for (const name of ['bloom', 'bloom-level', 'classic-level'] as const) commands.set(name, [process.execPath, join(packageFolder, 'dist/process-job.js'), name]);
  const native = compileNative(packageFolder);
  if ('path' in native) commands.set(CPP, [native.path]);
  for (const [name, peerName] of Object.entries(PEERS) as [keyof typeof PEERS, string][]) {
    const peer = peers().find((one) => one.name === peerName)!;
    const command = await peer.command();
    if (typeof command === 'string') process.stderr.write(`  without ${peerName}: ${command}\n`);
    else commands.set(name, [command.program, ...command.args]);
  }
  return commands;
}

function runJob([program, ...args]: readonly string[], job: string, path: string): Measured {
  const output = execFileSync(program!, [...args, job, path, String(entries)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const [time, memory, sum] = output.trim().split(' ').map(Number) as [number, number, number];
  return { time, memory, sum };
}

/** The folder of a contender: a copy, which the others do not change. Jobs that write get a new one each time. */
function folderOf(commands: ReadonlyMap<ProcessContender, readonly string[]>, state: FolderState, contender: ProcessContender): string {
  const path = join(folder, `${state}-${contender}`);
  const isWritten = state === 'new' || state === 'filled';
  if (isWritten) rmSync(path, { recursive: true, force: true });
  if (state === 'new') mkdirSync(path);
  else if (!existsSync(path)) cpSync(original(commands, state), path, { recursive: true });
  return path;
}

/** Written by LevelDB. */
function original(commands: ReadonlyMap<ProcessContender, readonly string[]>, state: FolderState): string {
  const path = join(folder, state);
  if (existsSync(path)) return path;
  const cpp = commands.get(CPP)!;
  const suffix = state === 'plain' ? '-plain' : '';
  runJob(cpp, `fill-random${suffix}`, path);
  if (state !== 'filled') runJob(cpp, `compact${suffix}`, path);
  return path;
}

function measure(commands: ReadonlyMap<ProcessContender, readonly string[]>, { what, measure: unit, state, ours, ourJob, job, others }: ProcessFigure): ProcessRow[] {
  const entrants = [[ours, ourJob] as const, ...others.filter(([name]) => commands.has(name)).map(([name]) => [name, job] as const)];
  const measured = entrants.map((): number[] => []);
  const empty = new Map<ProcessContender, number[]>();
  let sum: number | undefined;
  for (let round = 0; round < rounds; round++) {
    for (const [i, [contender, entrantJob]] of entrants.entries()) {
      const command = commands.get(contender)!;
      const path = folderOf(commands, state, contender);
      const result = runJob(command, entrantJob, path);
      sum ??= result.sum;
      if (result.sum !== sum) throw new Error(`${what}: ${contender} read other entries: ${result.sum}, not ${sum}`);
      // Of Node.js; the other runtimes start in a millisecond or two.
      const nothing = command[0] === process.execPath ? runJob(command, 'nothing', path)[unit] : 0;
      empty.set(contender, [...(empty.get(contender) ?? []), nothing]);
      measured[i]!.push(result[unit]);
    }
  }
  const net = entrants.map(([contender], i) => measured[i]!.map((value) => value - spread(empty.get(contender)!).median));
  const our = net[0]!;
  return entrants.slice(1).map(([contender], i): ProcessRow => {
    const theirs = net[i + 1]!;
    const ratio: Spread = spread(our.map((value, round) => value / theirs[round]!));
    const goal = others.find(([name]) => name === contender)?.[1];
    process.stderr.write(`  ${ourJob} to ${contender}: ${ratio.median.toFixed(2)}\n`);
    return { what, unit, other: contender, ours: spread(our).median, theirs: spread(theirs).median, ratio, goal };
  });
}
