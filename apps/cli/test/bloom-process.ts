import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** The program as it is published: `pnpm test` builds it first. */
export const program = join(import.meta.dirname, '../dist/bloom.cjs');

/** As where no pnpm runs: it names its packages in NODE_PATH, where they are found whether links are resolved or not. */
const ENVIRONMENT: NodeJS.ProcessEnv = { ...process.env, NODE_PATH: '' };

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs `bloom` in `cwd` as a process, until it exits. {@link bloom} takes a tenth of the time. */
export function bloomProcess(args: readonly string[], cwd: string, input: string | Uint8Array = ''): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: ENVIRONMENT });
  child.stdin.on('error', () => {
    // The program need not read its input.
  });
  child.stdin.end(input);
  return outcome(child);
}

/** Collects the output of a process until it exits. */
export function outcome(child: ChildProcess): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on('data', (piece: Buffer) => stdout.push(piece));
    child.stderr?.on('data', (piece: Buffer) => stderr.push(piece));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** The time and memory of a run of `bloom`. */
export interface Cost {
  /** Milliseconds of processor time, without other programs. */
  readonly cpuMs: number;
  /** Peak memory, in MiB. */
  readonly peakMiB: number;
}

const REPORT_COST = `
  import { writeSync } from 'node:fs';
  import { peakMemory } from '${import.meta.resolve('@bloom/fixtures/peak-memory')}';
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    writeSync(3, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMiB: peakMemory() / 2 ** 20 }));
  });
`;

/** Runs `bloom` in `cwd` until it exits, and measures its time and memory. */
export async function measuredBloom(args: readonly string[], cwd: string): Promise<Outcome & Cost> {
  const report = `data:text/javascript,${encodeURIComponent(REPORT_COST)}`;
  const child = spawn(process.execPath, ['--import', report, program, ...args], {
    cwd,
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let cost = '';
  child.stdio[3]!.on('data', (piece: Buffer) => (cost += piece.toString()));
  return { ...(await outcome(child)), ...(JSON.parse(cost) as Cost) };
}

/** Runs a shell command in which `bloom` is the program. */
export function shell(line: string, cwd: string, options: SpawnOptions = {}): Promise<Outcome> {
  const script = `bloom() { "$NODE" "$PROGRAM" "$@"; }\n${line}`;
  const env = { ...ENVIRONMENT, NODE: process.execPath, PROGRAM: program };
  return outcome(spawn('bash', ['-c', script], { ...options, cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** A folder for one test file, which is removed afterwards. */
export class Scratch {
  readonly path = mkdtempSync(join(tmpdir(), 'bloom-cli-'));

  constructor() {
    afterAll(() => {
      rmSync(this.path, { recursive: true });
    });
  }

  write(name: string, content: string | Uint8Array): string {
    writeFileSync(join(this.path, name), content);
    return name;
  }

  /** The absolute path of a file in it. */
  at(name: string): string {
    return join(this.path, name);
  }

  read(name: string): Buffer {
    return readFileSync(join(this.path, name));
  }
}

/** A module with the order of the golden folder `reverse`. */
export const REVERSE_MODULE = `export default {
  name: 'test.ReverseBytewiseComparator',
  compare: (a, b) => Buffer.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};`;
