import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import type { Readable } from 'node:stream';
import { formatKv, type KeyValue, parseKv } from '@bloom/fixtures';
import { answersIn, fields } from './fields.js';
import { leveldbProgram } from './leveldb-program.js';
import { compileProgram, type Program } from './program.js';

/** How the real LevelDB opens a database. Defaults are LevelDB's, except that there is no compression. */
export interface DatabaseOptions {
  /** `reverse` is `test.ReverseBytewiseComparator`. */
  readonly comparator?: 'bytewise' | 'reverse';
  readonly bitsPerKey?: number;
  /** A memtable becomes a table at this many bytes. */
  readonly writeBufferSize?: number;
  /** A compaction starts the next table at this many bytes. */
  readonly maxFileSize?: number;
  /** Compacts everything after the first round. */
  readonly compact?: boolean;
  /** How often the database is closed and opened again, so that several levels are used. */
  readonly rounds?: number;
  readonly paranoid?: boolean;
}

/** The contents of a snapshot that was still held when the writer ended. */
export interface HeldSnapshot {
  readonly sequence: bigint;
  readonly entries: KeyValue[];
}

/** The real LevelDB on whole databases. Each call starts a process. */
export class NativeDatabase {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  /**
   * Runs random operations with small buffers in a new folder.
   *
   * @param end `close` closes the database, `stop` ends the process without closing it, `kill` kills the process during a write.
   */
  writeRandom(folder: string, seed: number, end: 'close' | 'stop' | 'kill'): HeldSnapshot[] {
    const output = this.#run(['write', folder, String(seed), end], undefined, end === 'kill');
    const view = new DataView(output.buffer, output.byteOffset, output.byteLength);
    const snapshots: HeldSnapshot[] = [];
    for (let offset = 0; offset < output.length; ) {
      const length = view.getUint32(offset + 8, true);
      const entries = parseKv(output.subarray(offset + 12, offset + 12 + length));
      snapshots.push({ sequence: view.getBigUint64(offset, true), entries });
      offset += 12 + length;
    }
    return snapshots;
  }

  /** The status of `DB::Open` and all entries. Fails if iterating backward gives other entries. Changes the folder. */
  dump(folder: string, options: DatabaseOptions = {}): { readonly status: string; readonly entries: KeyValue[] } {
    const output = this.#run(['dump', folder, ...optionArguments(options)]);
    const end = output.indexOf(0x0a);
    return { status: new TextDecoder().decode(output.subarray(0, end)), entries: parseKv(output.subarray(end + 1)) };
  }

  /** The value of each key, or `undefined`. Changes the folder. */
  get(folder: string, keys: readonly Uint8Array[], options: DatabaseOptions = {}): (Uint8Array | undefined)[] {
    const output = this.#run(['get', folder, ...optionArguments(options)], fields(keys));
    return answersIn(output, keys.length);
  }

  /** How many reads of table files LevelDB makes to look up each key once when all tables are already open. Changes the folder. */
  reads(folder: string, keys: readonly Uint8Array[], options: DatabaseOptions = {}): number {
    const output = this.#run(['reads', folder, ...optionArguments(options)], fields(keys));
    return Number(new DataView(output.buffer, output.byteOffset).getBigUint64(0, true));
  }

  /** Puts entries in the given order, and closes the database. */
  fill(folder: string, entries: Iterable<readonly [Uint8Array, Uint8Array]>, options: DatabaseOptions = {}): void {
    this.#run(['fill', folder, ...optionArguments(options)], formatKv(entries));
  }

  /**
   * Runs operations, one per line, in the syntax of `leveldb-database.cc`, and ends without closing the database.
   *
   * @returns the result of each `property` operation.
   */
  script(folder: string, lines: readonly string[], options: DatabaseOptions = {}): string[] {
    const output = this.#run(['script', folder, ...optionArguments(options)], new TextEncoder().encode(lines.join('\n')));
    const view = new DataView(output.buffer, output.byteOffset, output.byteLength);
    const properties: string[] = [];
    for (let offset = 0; offset < output.length; ) {
      const end = offset + 4 + view.getUint32(offset, true);
      properties.push(new TextDecoder().decode(output.subarray(offset + 4, end)));
      offset = end;
    }
    return properties;
  }

  /**
   * Starts a writer that increments a counter for some seconds, with one batch per count, and prints every 64th count after writing it.
   * `Count` in leveldb-database.cc says what the database contains after each count.
   */
  startCounting(folder: string, seconds: number): ChildProcessByStdio<null, Readable, null> {
    return spawn(this.#program, ['count', folder, String(seconds)], { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  #run(args: readonly string[], input: Uint8Array = new Uint8Array(), mayBeKilled = false): Uint8Array {
    const { error, signal, status, stderr, stdout } = spawnSync(this.#program, args, { input, maxBuffer: 2 ** 31 });
    if (error !== undefined) throw error;
    if (status === 0 || (mayBeKilled && signal === 'SIGKILL')) return new Uint8Array(stdout);
    throw new Error(`${args[0]}: ${new TextDecoder().decode(stderr).trim() || String(signal)}`);
  }
}

let program: Program | undefined;
let native: NativeDatabase | undefined;

/** The real LevelDB on whole databases, compiled on first use; `undefined` if its headers or a C++ compiler are missing. */
export function nativeDatabase(): NativeDatabase | undefined {
  program ??= compileProgram(leveldbProgram('leveldb-database'));
  if ('path' in program) native ??= new NativeDatabase(program.path);
  return native;
}

function optionArguments(options: DatabaseOptions): string[] {
  const { comparator = 'bytewise', bitsPerKey, writeBufferSize, maxFileSize, compact, rounds, paranoid } = options;
  return [
    '--comparator',
    comparator,
    ...(bitsPerKey === undefined ? [] : ['--bits-per-key', String(bitsPerKey)]),
    ...(writeBufferSize === undefined ? [] : ['--write-buffer', String(writeBufferSize)]),
    ...(maxFileSize === undefined ? [] : ['--max-file', String(maxFileSize)]),
    ...(compact === true ? ['--compact'] : []),
    ...(rounds === undefined ? [] : ['--rounds', String(rounds)]),
    ...(paranoid === true ? ['--paranoid'] : []),
  ];
}
