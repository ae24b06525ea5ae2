import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ProgramCommand } from './program-command.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const buildFolder = join(root, 'build');

/** A registry that does not answer within this time is not reachable. */
const FETCH_MS = 180_000;
const BUILD_MS = 600_000;

/** A program is missing, or the dependencies of a build cannot be fetched. The tests with the peer are skipped. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** A program that is built from sources in `programs` and pinned packages of registries. */
export interface ProgramSource {
  readonly name: string;
  /** A command that prints the version of the toolchain. */
  readonly toolchain: readonly [program: string, ...args: string[]];
  /** Paths below `programs`. A build is kept until one of them changes. */
  readonly files: readonly string[];
  /** Builds into the folder. */
  readonly build: (folder: string, tools: BuildTools) => Promise<void>;
}

export interface BuildTools {
  /** The folder `programs`. */
  readonly programs: string;
  /** Runs a command that downloads. Its failure means that the peer is unavailable. */
  readonly fetch: (program: string, args: readonly string[], options?: CommandOptions) => Promise<void>;
  /** Runs a command that must succeed. */
  readonly compile: (program: string, args: readonly string[], options?: CommandOptions) => Promise<void>;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The folder in `build` with the program, which is built there on first use.
 *
 * @throws UnavailableError when the toolchain is not installed, or a registry cannot be reached.
 * @throws Error when the program does not compile.
 */
export async function builtProgram({ name, toolchain, files, build }: ProgramSource): Promise<string> {
  const programs = join(root, 'programs');
  const [tool, ...args] = toolchain;
  const version = await run(tool, args, FETCH_MS);
  if (version.code !== 0) throw new UnavailableError(`${tool} is not installed`);
  const hash = createHash('sha256').update(JSON.stringify([name, version.output]));
  hash.update(readFileSync(join(root, 'src/program-sources.ts')));
  for (const file of files) hash.update(file).update(readFileSync(join(programs, file)));
  const folder = join(buildFolder, `${name}-${hash.digest('hex').slice(0, 16)}`);

  mkdirSync(buildFolder, { recursive: true });
  const unlock = await locked(`${folder}.lock`);
  try {
    if (existsSync(folder)) return folder;
    const fresh = `${folder}.${process.pid}`;
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh);
    try {
      await build(fresh, {
        programs,
        async fetch(program, programArguments, options) {
          const { code, output } = await run(program, programArguments, FETCH_MS, options);
          if (code !== 0) throw new UnavailableError(`what it needs cannot be fetched: ${lastLine(output)}`);
        },
        async compile(program, programArguments, options) {
          const { code, output } = await run(program, programArguments, BUILD_MS, options);
          if (code !== 0) throw new Error(`${name} does not compile in ${relative(root, programs)}:\n${output}`);
        },
      });
      renameSync(fresh, folder);
      return folder;
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  } finally {
    unlock();
  }
}

/** A command that runs a file of the folder that `builtProgram` gives. */
export function commandIn(folder: string, file: string, ...args: readonly string[]): ProgramCommand {
  return { program: join(folder, file), args };
}

/** Waits until no other process builds the same program: test workers start at the same time. */
async function locked(path: string): Promise<() => void> {
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (!isRunning(path)) rmSync(path, { force: true });
    await setTimeout(100);
  }
}

function isRunning(lock: string): boolean {
  try {
    const owner = Number(readFileSync(lock, 'utf8'));
    // The owner has created the file, but not written its process ID yet.
    if (owner === 0) return true;
    process.kill(owner, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The exit code and both outputs of a command; the code is null when the command cannot be started or takes too long. */
function run(program: string, args: readonly string[], timeout: number, { cwd = root, env }: CommandOptions = {}): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout });
    let output = '';
    const collect = (data: Buffer): void => void (output += data.toString());
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
