import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { KeyValue } from '@bloom/fixtures';
import type { ProgramCommand } from './program-command.js';

/** A put, or a deletion if the value is undefined. */
export type Operation = readonly [key: Uint8Array, value: Uint8Array | undefined];

/** The peer answered `error`, and its message. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
}

/**
 * A running peer, with at most one database open. It reads one command a line, and answers each with `ok` or `error MESSAGE`:
 *
 * - `open BYTES FOLDER`: with write buffers and tables of this size, where it has options for them. The folder is created if it is missing.
 * - `apply FILE`: the lines of the file, `put KEY VALUE` and `delete KEY`, one write each. Keys and values are `x` and hex digits.
 * - `flush`: the memtable becomes a table; in rusty-leveldb, which buffers its log, the log reaches its file.
 * - `compact`: the whole range of keys.
 * - `dump FILE`: all entries, `KEY VALUE`, a line each.
 * - `close`
 */
export class PeerProcess {
  readonly #name: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;
  readonly #folder: string;
  #errors = '';

  constructor(name: string, { program, args, env }: ProgramCommand) {
    this.#name = name;
    this.#folder = mkdtempSync(join(tmpdir(), 'bloom-peer-'));
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    this.#child.stdin.on('error', () => {
      // The missing answer reports the end of the process.
    });
    this.#child.on('error', (error) => (this.#errors += error.message));
    this.#child.stderr.on('data', (data: Buffer) => (this.#errors += data.toString()));
    this.#reader = createInterface({ input: this.#child.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** The number of the process. */
  get pid(): number {
    return this.#child.pid!;
  }

  /** @throws PeerError when the folder is locked, or the peer cannot open it. */
  async open(folder: string, bufferBytes = 65_536): Promise<void> {
    await this.#run(`open ${bufferBytes} ${folder}`);
  }

  async apply(operations: readonly Operation[]): Promise<void> {
    const path = join(this.#folder, 'operations');
    const line = ([key, value]: Operation): string => (value === undefined ? `delete ${token(key)}\n` : `put ${token(key)} ${token(value)}\n`);
    writeFileSync(path, operations.map(line).join(''));
    if (operations.length > 0) await this.#run(`apply ${path}`);
  }

  async flush(): Promise<void> {
    await this.#run('flush');
  }

  async compact(): Promise<void> {
    await this.#run('compact');
  }

  /** All entries, in the order of the peer's answer. */
  async dump(): Promise<KeyValue[]> {
    const path = join(this.#folder, 'entries');
    await this.#run(`dump ${path}`);
    const lines = readFileSync(path, 'latin1').split('\n').slice(0, -1);
    return lines.map((line) => {
      const [key, value] = line.split(' ');
      return [bytesOf(key!), bytesOf(value!)];
    });
  }

  async close(): Promise<void> {
    await this.#run('close');
  }

  /** Kills the process without closing its database: data in its memory is lost. */
  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    const ended = exitCode === null && signalCode === null ? once(this.#child, 'exit') : undefined;
    this.#child.kill('SIGKILL');
    await ended;
    this.#reader.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #run(command: string): Promise<void> {
    this.#child.stdin.write(`${command}\n`);
    const answer = await this.#lines.next();
    if (answer.done === true) throw new Error(`${this.#name} ended at ${command}: ${this.#errors.trim()}`);
    if (answer.value !== 'ok') throw new PeerError(answer.value.replace(/^error /, ''));
  }
}

function token(bytes: Uint8Array): string {
  return `x${Buffer.from(bytes).toString('hex')}`;
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(1), 'hex'));
}
