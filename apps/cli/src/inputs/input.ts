// `fs.promises` is loaded at its first use. Commands that read tables never use it.
import { type BigIntStats, fstatSync, promises, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Failure, failureOf } from '../failure.js';
import { standardStreams } from '../standard-streams.js';
import { folderProblem, mustNotBeTable } from './recognized-file.js';
import { nameOfFile } from './standard-input.js';

const READ_BYTES = 2 ** 20;

/** An input that exists, by its name. */
export interface NamedInput {
  readonly path: string;
  readonly stat: BigIntStats;
}

/** An open input: a file of any kind, or standard input. */
export interface Input {
  /** The path as given. */
  readonly path: string;
  /** The name in messages. */
  readonly name: string;
  readonly pieces: InputPieces;
  /** Its length in bytes; undefined if it has none, for example a pipe. */
  readonly byteLength: number | undefined;
}

/** The bytes of an input, piece by piece. */
export interface InputPieces {
  /** The next piece; undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Ends reading, also while a piece is awaited. */
  close(): void;
  /** If set, returns memory of `byteLength` bytes into which a piece can be read. */
  spare?: (byteLength: number) => Uint8Array<ArrayBuffer> | undefined;
}

/** The status of the file at `path`, or of standard input for `-`. @throws Failure when it cannot be an input. */
export function inputStat(path: string): BigIntStats {
  if (path === '') throw new Failure('the name of the input is empty');
  try {
    const stat = path === '-' ? fstatSync(standardStreams().stdinFd, { bigint: true }) : statSync(path, { bigint: true });
    // If standard input is a folder, Node would read it as empty.
    if (stat.isDirectory()) throw new Failure(`${nameOfFile(path)}: ${path === '-' ? 'is a folder' : folderProblem(path)}`);
    return stat;
  } catch (error) {
    throw failureOf(nameOfFile(path), error);
  }
}

/** Finds several inputs. @throws Failure when one of them cannot be an input, or standard input is named twice. */
export function findInputs(paths: readonly string[]): readonly NamedInput[] {
  if (paths.filter((path) => path === '-').length > 1) throw new Failure('-: stdin can be read only once');
  return paths.map((path) => {
    const stat = inputStat(path);
    if (stat.isFile()) mustNotBeTable(path);
    return { path, stat };
  });
}

/** Bytes of all inputs; undefined if one of them has no length. */
export function bytesOf(inputs: readonly NamedInput[]): number | undefined {
  return inputs.every(({ path, stat }) => path !== '-' && stat.isFile()) ? inputs.reduce((sum, { stat }) => sum + Number(stat.size), 0) : undefined;
}

/** Opens an input. @throws Failure when it cannot be read. */
export async function openInput({ path, stat }: NamedInput): Promise<Input> {
  const name = nameOfFile(path);
  if (path === '-') return { path, name, pieces: new StreamPieces(standardStreams().stdin), byteLength: undefined };
  try {
    const handle = await promises.open(path);
    if (!stat.isFile()) return { path, name, pieces: new StreamPieces(handle.createReadStream({ highWaterMark: READ_BYTES })), byteLength: undefined };
    return { path, name, pieces: new FilePieces(handle), byteLength: Number(stat.size) };
  } catch (error) {
    throw failureOf(name, error);
  }
}

/** The pieces of a stream, as they arrive. */
class StreamPieces implements InputPieces {
  readonly #stream: Readable;
  readonly #pieces: AsyncIterator<Uint8Array>;

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  async next(): Promise<Uint8Array | undefined> {
    const step = await this.#pieces.next();
    return step.done === true ? undefined : step.value;
  }

  close(): void {
    this.#stream.destroy();
  }
}

/** The pieces of a regular file. */
class FilePieces implements InputPieces {
  spare?: (byteLength: number) => Uint8Array<ArrayBuffer> | undefined;
  readonly #handle: FileHandle;
  #isClosed = false;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async next(): Promise<Uint8Array | undefined> {
    const bytes = new Uint8Array(this.spare?.(READ_BYTES)?.buffer ?? new ArrayBuffer(READ_BYTES));
    const { bytesRead } = await this.#handle.read(bytes, 0, READ_BYTES);
    return bytesRead === 0 ? undefined : bytes.subarray(0, bytesRead);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A read in progress ends first.
    this.#handle.close().catch(() => undefined);
  }
}
