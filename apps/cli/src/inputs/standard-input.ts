/** Standard input, read to its end at once. */
import { fstatSync, readFileSync, readSync } from 'node:fs';
import { Failure, failureOf, isSystemError } from '../failure.js';
import { type StandardStreams, standardStreams } from '../standard-streams.js';

const FIRST_BYTES = 64 * 2 ** 10;
/** Between two attempts to read what is not there yet, in milliseconds. */
const WAIT_MS = 2;
/** Whose input has been read. */
const readStreams = new WeakSet<StandardStreams>();

/** The bytes of a file, or of standard input for `-`. @throws Failure that names it. */
export function readWholeFile(path: string): Buffer {
  try {
    return path === '-' ? readStandardInput() : readFileSync(path);
  } catch (error) {
    throw failureOf(nameOfFile(path), error);
  }
}

/** The name of a file in messages, or of standard input for `-`. */
export function nameOfFile(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** All of standard input. Other programs may have set it so that reads do not wait (`O_NONBLOCK` is shared with them), so this waits itself. */
export function readStandardInput(): Buffer {
  const streams = standardStreams();
  if (readStreams.has(streams)) throw new Failure('-: stdin can be read only once');
  readStreams.add(streams);
  // In bigints: after another `fstatSync` of a pipe, Node does not resolve links to packages that are loaded later.
  const stat = fstatSync(streams.stdinFd, { bigint: true });
  // One more, so that the end is seen without more memory.
  let bytes = Buffer.allocUnsafe(stat.isFile() && stat.size >= FIRST_BYTES ? Number(stat.size) + 1 : FIRST_BYTES);
  let length = 0;
  for (;;) {
    const read = readSome(streams.stdinFd, bytes, length);
    if (read === 0) return bytes.subarray(0, length);
    length += read ?? 0;
    if (read === undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    else if (length === bytes.length) bytes = Buffer.concat([bytes], length * 2);
  }
}

/** @returns how many bytes were read, 0 at the end; undefined when there are none yet. */
function readSome(fd: number, bytes: Uint8Array, offset: number): number | undefined {
  try {
    return readSync(fd, bytes, offset, bytes.length - offset, null);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'EAGAIN') return undefined;
    // So Windows ends a pipe.
    if (error.code === 'EOF') return 0;
    throw error;
  }
}
