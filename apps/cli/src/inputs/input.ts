// Its `promises` are loaded when they are first used, and no command that reads tables uses them.
import { type BigIntStats, fstatSync, promises, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Failure, failureOf } from '../failure.js';
import { standardStreams } from '../standard-streams.js';
import { folderProblem, mustNotBeTable } from './recognised-file.js';

const READ_BYTES = 2 ** 20;

/** An input that was named, and found. */
export interface NamedInput {
  readonly path: string;
  readonly stat: BigIntStats;
}

/** What entries are read from: a file of any kind, or standard input. */
export interface Input {
  /** As it was given. */
  readonly path: string;
  /** The name in messages. */
  readonly name: string;
  readonly pieces: InputPieces;
  /** Its length in bytes; undefined if it has no length, as a pipe. */
  readonly byteLength: number | undefined;
}

/** The bytes of an input, piece by piece. */
export interface InputPieces {
  /** The next piece; undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Ends the reading, also while a piece is awaited. */
  close(): void;
  /** Asked for memory of so many bytes for a piece, where pieces can be read into any. */
  spare?: (byteLength: number) => Uint8Array<ArrayBuffer> | undefined;
}

/** What kind of file `path` is, or standard input for `-`. @throws Failure when it cannot be an input. */
export function inputStat(path: string): BigIntStats {
  if (path === '') throw new Failure('the name of the input is empty');
  try {
    const stat = path === '-' ? fstatSync(standardStreams().stdinFd, { bigint: true }) : statSync(path, { bigint: true });
    // If standard input is a folder, Node would read it as empty.
    if (stat.isDirectory()) throw new Failure(`${nameOf(path)}: ${path === '-' ? 'is a folder' : folderProblem(path)}`);
    return stat;
  } catch (error) {
    throw failureOf(nameOf(path), error);
  }
}

/** Finds several inputs. @throws Failure when one of them cannot be one, or standard input is named twice. */
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
  const name = nameOf(path);
  if (path === '-') return { path, name, pieces: new StreamPieces(standardStreams().stdin), byteLength: undefined };
  try {
    const handle = await promises.open(path);
    if (!stat.isFile()) return { path, name, pieces: new StreamPieces(handle.createReadStream({ highWaterMark: READ_BYTES })), byteLength: undefined };
    return { path, name, pieces: new FilePieces(handle), byteLength: Number(stat.size) };
  } catch (error) {
    throw failureOf(name, error);
  }
}

/** The pieces of a stream, as they come. */
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
    // A read that is under way ends first.
    this.#handle.close().catch(() => undefined);
  }
}

function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}
