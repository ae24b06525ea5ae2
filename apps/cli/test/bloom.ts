import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { expect } from 'vitest';
import type * as Program from '../src/program.js';
import { type Outcome, program } from './bloom-process.js';

/** What a command prints. */
class Printed extends Writable {
  readonly #pieces: Buffer[] = [];

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    // The program uses the memory again.
    this.#pieces.push(Buffer.from(piece));
    done();
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** Commands run one after another: the working folder and the exit code are those of the process. */
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs the program as it is published in `cwd`, without a process of its own. What depends on one, such as signals, pipes and
 * terminals, is tested with `bloomProcess`.
 */
export function bloom(args: readonly string[], cwd: string, input: string | Uint8Array = '', env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return inTurn(() => runIn(cwd, args, input, env));
}

/** Runs the program as {@link bloomLine} does. @returns what it prints to either output, in order, as a terminal shows it. */
export async function bloomTranscript(line: string, cwd: string): Promise<string> {
  const printed = new Printed();
  await inTurn(() => runIn(cwd, wordsOf(line), '', {}, printed, printed));
  return printed.toBuffer().toString();
}

function inTurn<Result>(call: () => Promise<Result>): Promise<Result> {
  const run = previous.then(call);
  previous = run.catch(() => undefined);
  return run;
}

/** {@link bloom} with a line of arguments, which quotes may hold together. */
export function bloomLine(line: string, cwd: string, env?: Readonly<Record<string, string>>): Promise<Outcome> {
  return bloom(wordsOf(line), cwd, '', env);
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}

function exitCodeOfProcess(): number {
  return process.exitCode === undefined ? 0 : Number(process.exitCode);
}

async function runIn(cwd: string, args: readonly string[], input: string | Uint8Array, env: Readonly<Record<string, string>>, stdout = new Printed(), stderr = new Printed()): Promise<Outcome> {
  const { runCommand } = createRequire(import.meta.url)(join(dirname(program), 'program.cjs')) as typeof Program;
  const folder = process.cwd();
  const { exitCode } = process;
  const environment = process.env;
  const inputPath = input.length === 0 ? devNull : join(mkdtempSync(join(tmpdir(), 'bloom-input-')), 'input');
  if (inputPath !== devNull) writeFileSync(inputPath, input);
  const stdinFd = openSync(inputPath, 'r');
  process.chdir(cwd);
  process.exitCode = undefined;
  process.env = { ...environment, ...env };
  try {
    await runCommand(args, {
      stdinFd,
      get stdin() {
        return createReadStream(inputPath);
      },
      stdout,
      stderr,
    });
    return { code: exitCodeOfProcess(), signal: null, stdout: stdout.toBuffer(), stderr: stderr.toBuffer().toString() };
  } finally {
    process.exitCode = exitCode;
    process.env = environment;
    process.chdir(folder);
    closeSync(stdinFd);
    if (inputPath !== devNull) rmSync(dirname(inputPath), { recursive: true });
  }
}

/** Runs `bloom` and expects it to succeed without notes. @returns its output. */
export async function bloomPrints(args: readonly string[], cwd: string, input?: string | Uint8Array): Promise<string> {
  const { code, stdout, stderr } = await bloom(args, cwd, input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.toString();
}

/** Builds a table from standard input, quietly. */
export async function build(table: string, args: readonly string[], cwd: string, input: string | Uint8Array): Promise<void> {
  expect(await bloomPrints(['build', '-', '-q', '-o', table, ...args], cwd, input)).toBe('');
}
