/** Reads standard input, or a file, to its end, synchronously. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { Failure, failureOf, isSystemError } from '../failure.js';
import { MAX_ENTRY_BYTES } from '../formats/entry.js';
import { type StandardStreams, standardStreams } from '../standard-streams.js';

const FIRST_BYTES = 64 * 2 ** 10;
/** Node.js reads less than 2 GiB at once. */
const MAX_READ_BYTES = 2 ** 30;
/** Milliseconds between two attempts to read input that has not arrived yet. */
const WAIT_MS = 2;
/** The streams whose input has been read. */
const readStreams = new WeakSet<StandardStreams>();

/** The bytes of a file, or of standard input for `-`. @throws Failure that names it. */
export function readWholeFile(path: string): Buffer {
  try {
    return path === '-' ? readStandardInput() : readFileSync(path);
  } catch (error) {
    throw failureOf(nameOfFile(path), error);
  }
}

/**
 * {@link readWholeFile} for a value. A device or a pipe may have no end, so no more is read than an entry can have.
 *
 * @param keyLength the length of the value's key.
 * @throws Failure when the value is too long.
 */
export function readValue(path: string, keyLength: number): Buffer {
  const mostBytes = MAX_ENTRY_BYTES - keyLength;
  try {
    if (path === '-') return readStandardInput(mostBytes);
    const fd = openSync(path, 'r');
    try {
      return readToEnd(fd, path, mostBytes);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw failureOf(nameOfFile(path), error);
  }
}

/** {@link readWholeFile} as text: UTF-8, or UTF-16 after its byte order mark, as Windows PowerShell redirects output. */
export function readWholeText(path: string): string {
  const bytes = readWholeFile(path);
  try {
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return bytes.toString(isUtf16 ? 'utf16le' : 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw failureOf(nameOfFile(path), error);
  }
}

/** The name of a file in messages, or of standard input for `-`. */
export function nameOfFile(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** All of standard input. @param mostBytes the number of bytes after which reading fails. */
export function readStandardInput(mostBytes = Infinity): Buffer {
  const streams = standardStreams();
  if (readStreams.has(streams)) throw new Failure('-: stdin can be read only once');
  readStreams.add(streams);
  return readToEnd(streams.stdinFd, nameOfFile('-'), mostBytes);
}

/** Another program may have set `O_NONBLOCK`, which it shares, so that reads of standard input do not wait. This function waits in that case. */
function readToEnd(fd: number, name: string, mostBytes: number): Buffer {
  // With bigints: after an `fstatSync` of a pipe without bigints, Node does not resolve links to packages that are loaded later.
  const stat = fstatSync(fd, { bigint: true });
  const expected = stat.isFile() && stat.size >= FIRST_BYTES ? Number(stat.size) : FIRST_BYTES - 1;
  // One byte more, so that the end is seen without growing the buffer.
  let bytes = inMemory(name, () => Buffer.allocUnsafe(Math.min(expected, mostBytes) + 1));
  let length = 0;
  for (;;) {
    const read = readSome(fd, bytes, length);
    if (read === 0) return bytes.subarray(0, length);
    length += read ?? 0;
    if (length > mostBytes) throw new Failure(`${name}: longer than ${MAX_ENTRY_BYTES} bytes with its key, the maximum for an entry`);
    if (read === undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    else if (length === bytes.length) bytes = inMemory(name, () => Buffer.concat([bytes], Math.min(length * 2, mostBytes + 1)));
  }
}

/** @throws Failure when the buffer cannot be allocated. */
function inMemory(name: string, allocate: () => Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  try {
    return allocate();
  } catch (error) {
    if (error instanceof RangeError) throw new Failure(`${name}: is too large to be read into memory`, { cause: error });
    throw error;
  }
}

/** @returns how many bytes were read, 0 at the end; undefined if none have arrived yet. */
function readSome(fd: number, bytes: Uint8Array, offset: number): number | undefined {
  try {
    return readSync(fd, bytes, offset, Math.min(bytes.length - offset, MAX_READ_BYTES), null);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'EAGAIN') return undefined;
    // Windows ends a pipe this way.
    if (error.code === 'EOF') return 0;
    throw error;
  }
}
