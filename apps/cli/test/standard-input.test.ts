import fs, { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Failure } from '../src/failure.js';
import { readStandardInput, readWholeFile } from '../src/inputs/standard-input.js';
import { setStandardStreams } from '../src/standard-streams.js';

const GIB = 2 ** 30;
let folder: string;
let path: string;
let stdinFd: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bloom-standard-input-'));
  path = join(folder, 'large');
  // The file has no blocks on disk.
  writeFileSync(path, '');
  truncateSync(path, 2 * GIB + 5);
  stdinFd = openSync(path, 'r');
  setStandardStreams({ stdinFd, stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() });
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  setStandardStreams(undefined);
  closeSync(stdinFd);
  rmSync(folder, { recursive: true });
});

test('standard input of more than 2 GiB is read in pieces of at most 1 GiB', () => {
  let left = 2 * GIB + 5;
  const lengths: number[] = [];
  // Nothing is written to the buffer, so that it needs no memory.
  vi.spyOn(fs, 'readSync').mockImplementation(((_fd: number, _bytes: Uint8Array, _offset: number, length: number) => {
    lengths.push(length);
    const read = Math.min(length, left);
    left -= read;
    return read;
  }) as typeof fs.readSync);
  syncBuiltinESMExports();
  expect(readStandardInput()).toHaveLength(2 * GIB + 5);
  expect(lengths).toEqual([GIB, GIB, 6, 1]);
});

test('standard input that does not fit into memory is a failure', () => {
  const { allocUnsafe } = Buffer;
  vi.spyOn(Buffer, 'allocUnsafe').mockImplementation((byteLength) => {
    // Vitest allocates its messages with it, too.
    if (byteLength < GIB) return allocUnsafe.call(Buffer, byteLength);
    throw new RangeError('Array buffer allocation failed');
  });
  expect(() => readStandardInput()).toThrow(new Failure('standard input: is too large to be read into memory'));
});

test('a file of more than 2 GiB that is read whole is a failure', () => {
  expect(() => readWholeFile(path)).toThrow(new Failure(`${path}: is too large to be read into memory`));
});
