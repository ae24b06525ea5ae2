import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ComparatorName, formatKv, type KeyValue, parseKv } from '@bloom/fixtures';
import { answersIn, fields } from './fields.js';
import { leveldbProgram } from './leveldb-program.js';
import { compileProgram, type Program } from './program.js';

export {
  type CodecName,
  ReferenceCodec,
  referenceCodec,
  ZSTD_CHECKSUM,
  ZSTD_SMALL_WINDOW,
  ZSTD_WITHOUT_SIZE,
} from './reference-codec.js';

export { NativeDatabase, nativeDatabase, type DatabaseOptions, type HeldSnapshot } from './database.js';

/** How the real LevelDB builds a table. Defaults are LevelDB's, except that there is no compression. */
export interface BuildOptions {
  readonly comparator?: ComparatorName;
  /** Bytes before compression; 4096. */
  readonly blockSize?: number;
  /** Keys between restart points of data blocks; 16. */
  readonly blockRestartInterval?: number;
  /** `null`, the default: no filter. */
  readonly bitsPerKey?: number | null;
  readonly compression?: 'none' | 'snappy';
}

export interface ReadOptions {
  readonly comparator?: ComparatorName;
}

export interface GetOptions extends ReadOptions {
  /** Whether to check the table's filter first, as a lookup in a database does. Default: false. */
  readonly useFilter?: boolean;
}

/** The bytes of a table, or the path of its file. */
export type TableInput = Uint8Array | string;

/** LevelDB reported an error: the file is not a table, or is damaged. */
export class NativeLevelDbError extends Error {
  override readonly name = 'NativeLevelDbError';
}

/** The real LevelDB. Each call starts a process. */
export class NativeLevelDb {
  /** The library's version, such as `1.23`. */
  readonly version: string;
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
    this.version = new TextDecoder().decode(this.#run(['version']));
  }

  /** The bytes of a table of `entries`, which must be in the comparator's order. */
  build(entries: Iterable<readonly [Uint8Array, Uint8Array]>, options: BuildOptions = {}): Uint8Array {
    return inFolder((folder) => {
      const out = join(folder, 'table.ldb');
      this.#run(['build', out, ...buildArguments(options)], formatKv(entries));
      return new Uint8Array(readFileSync(out));
    });
  }

  /** All entries in file order, with every checksum verified. Throws `NativeLevelDbError` on a bad table. */
  dump(table: TableInput, options: ReadOptions = {}): KeyValue[] {
    return parseKv(this.#read('dump', table, readArguments(options)));
  }

  /** The value of each key, or `undefined`. Throws `NativeLevelDbError` on a bad table. */
  get(table: TableInput, keys: readonly Uint8Array[], options: GetOptions = {}): (Uint8Array | undefined)[] {
    const filter = options.useFilter === true ? ['--bits-per-key', '10'] : [];
    const output = this.#read('get', table, [...readArguments(options), ...filter], fields(keys));
    return answersIn(output, keys.length);
  }

  /** For each key, the offset in the file that `Table::ApproximateOffsetOf` returns. */
  approximateOffsets(table: TableInput, keys: readonly Uint8Array[], options: ReadOptions = {}): number[] {
    const output = this.#read('offset', table, readArguments(options), fields(keys));
    const view = new DataView(output.buffer, output.byteOffset, output.byteLength);
    return keys.map((_, i) => Number(view.getBigUint64(8 * i, true)));
  }

  /** The Bloom filter of `keys`; with `trailing-space`, of the keys without their trailing spaces. */
  filter(keys: readonly Uint8Array[], bitsPerKey: number, options: ReadOptions = {}): Uint8Array {
    return this.#run(['filter', String(bitsPerKey), ...readArguments(options)], fields(keys));
  }

  /** Whether the filter may contain each key, according to the Bloom policy. */
  mayMatch(filter: Uint8Array, keys: readonly Uint8Array[], options: ReadOptions = {}): boolean[] {
    const output = this.#run(['may-match', ...readArguments(options)], fields([filter, ...keys]));
    return Array.from(output, (answer) => answer === 1);
  }

  #read(command: string, table: TableInput, args: readonly string[], input?: Uint8Array): Uint8Array {
    if (typeof table === 'string') return this.#run([command, table, ...args], input);
    return inFolder((folder) => {
      const path = join(folder, 'table.ldb');
      writeFileSync(path, table);
      return this.#run([command, path, ...args], input);
    });
  }

  #run(args: readonly string[], input: Uint8Array = new Uint8Array()): Uint8Array {
    const { error, signal, status, stderr, stdout } = spawnSync(this.#program, args, { input, maxBuffer: 2 ** 31 });
    if (error !== undefined) throw error;
    if (status === 0) return new Uint8Array(stdout);
    const message = `${args[0]}: ${new TextDecoder().decode(stderr).trim() || String(signal)}`;
    throw status === 2 ? new NativeLevelDbError(message) : new Error(message);
  }
}

let program: Program | undefined;
let native: NativeLevelDb | undefined;

/** The real LevelDB, compiled on first use; `undefined` if its headers or a C++ compiler are missing. */
export function nativeLevelDb(): NativeLevelDb | undefined {
  program ??= compileProgram(leveldbProgram('leveldb-table'));
  if ('path' in program) native ??= new NativeLevelDb(program.path);
  return native;
}

/** Why `nativeLevelDb` returns `undefined`; `undefined` if it does not. */
export function nativeUnavailableReason(): string | undefined {
  program ??= compileProgram(leveldbProgram('leveldb-table'));
  return 'unavailable' in program ? program.unavailable : undefined;
}

function readArguments({ comparator = 'bytewise' }: ReadOptions): string[] {
  return ['--comparator', comparator];
}

function buildArguments(options: BuildOptions): string[] {
  const { blockSize = 4096, blockRestartInterval = 16, bitsPerKey = null, compression = 'none' } = options;
  return [
    ...readArguments(options),
    '--block-size',
    String(blockSize),
    '--restart-interval',
    String(blockRestartInterval),
    ...(bitsPerKey === null ? ['--no-filter'] : ['--bits-per-key', String(bitsPerKey)]),
    '--compression',
    compression,
  ];
}

function inFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-native-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
