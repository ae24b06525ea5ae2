import { mustBeBytes, type Signal } from '@bloom/bytes';
import { closeSync, constants, fstatSync, open, openSync, read, readSync, type Stats } from 'node:fs';
import { allocate, mustLieInside, PIECE_BYTES, type Source, type SyncSource } from '../read/source.js';
import { untilAborted } from '../read/until-aborted.js';

/** Without O_NONBLOCK, opening a named pipe waits for a writer. Windows has no such flag; `|` takes undefined for 0. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** Another program, such as Samba, holds a lease on the file. Only a blocking open makes it give the lease up. */
function isLeased(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}

/**
 * A file. Any number of reads can be under way at the same time. It stays open until it is closed: nothing closes a source
 * that is only dropped.
 *
 * @example
 * ```ts
 * const source = await FileSource.open('words.ldb');
 * const table = await Table.open(source);
 * …
 * await source.close();
 * ```
 */
export class FileSource implements Source {
  readonly name: string;
  readonly byteLength: number;
  readonly #fd: number;
  /** Reads that are under way. The descriptor is closed after them, as it may belong to another file from then on. */
  #reading = 0;
  /** Since `close` was called. */
  #closing: Promise<void> | undefined;
  /** Closes the descriptor; undefined before `close` was called. */
  #closeNow: (() => void) | undefined;

  private constructor(name: string, byteLength: number, fd: number) {
    this.name = name;
    this.byteLength = byteLength;
    this.#fd = fd;
  }

  /** @throws the system's error when the file cannot be opened; EISDIR or EINVAL when it is not a regular file. */
  static async open(path: string): Promise<FileSource> {
    const fd = await openLater(path, READ_AT_ONCE).catch((error: unknown) => {
      if (isLeased(error)) return openLater(path, 'r');
      throw error;
    });
    try {
      // Not awaited: the system has what it says at hand when it has just opened the file, and the way to another thread
      // and back takes fifty times as long.
      const stats = fstatSync(fd);
      mustBeFile(path, stats);
      return new FileSource(path, stats.size, fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * @param signal rejects the read at once, though the system still finishes the piece that it is reading.
   * @returns fewer bytes than `length` when the file has become shorter.
   * @throws RangeError when the range is not inside the file as it was opened; the system's error when the file
   *   cannot be read or is closed.
   */
  async read(offset: number, length: number, signal?: Signal): Promise<Uint8Array> {
    mustLieInside(offset, length, this);
    signal?.throwIfAborted();
    const reading = this.#read(offset, allocate(length), signal);
    return signal === undefined ? reading : untilAborted(reading, signal);
  }

  /**
   * The same without a promise: the host waits for the system.
   *
   * @returns fewer bytes than `length` when the file has become shorter.
   * @throws RangeError when the range is not inside the file as it was opened; the system's error when the file
   *   cannot be read or is closed.
   */
  readSync(offset: number, length: number): Uint8Array {
    mustLieInside(offset, length, this);
    this.#mustBeOpen();
    const bytes = allocate(length);
    return bytes.subarray(0, fill(this.#fd, offset, bytes));
  }

  async #read(offset: number, bytes: Uint8Array, signal: Signal | undefined): Promise<Uint8Array> {
    let filled = 0;
    while (filled < bytes.length && signal?.aborted !== true) {
      const wanted = Math.min(PIECE_BYTES, bytes.length - filled);
      const bytesRead = await this.#readPiece(bytes, filled, wanted, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  #readPiece(bytes: Uint8Array, at: number, length: number, offset: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#mustBeOpen();
      this.#reading++;
      read(this.#fd, bytes, at, length, offset, (error, bytesRead) => {
        if (--this.#reading === 0) this.#closeNow?.();
        if (error === null) resolve(bytesRead);
        else reject(error);
      });
    });
  }

  /** Closes the file when the reads that are under way are over. Closing twice does nothing. */
  close(): Promise<void> {
    return (this.#closing ??= new Promise((resolve, reject) => {
      this.#closeNow = () => {
        // Not handed to another thread: a file that was only read is closed in a few microseconds.
        try {
          closeSync(this.#fd);
          resolve();
        } catch (error) {
          reject(error);
        }
      };
      if (this.#reading === 0) this.#closeNow();
    }));
  }

  #mustBeOpen(): void {
    if (this.#closeNow === undefined) return;
    // The system's error: a descriptor that is closed may belong to another file.
    throw Object.assign(new Error('EBADF: bad file descriptor, read'), { code: 'EBADF', syscall: 'read' });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A file, read without promises. */
export class SyncFileSource implements SyncSource {
  readonly name: string;
  readonly byteLength: number;
  readonly #fd: number;
  #closed = false;

  private constructor(name: string, byteLength: number, fd: number) {
    this.name = name;
    this.byteLength = byteLength;
    this.#fd = fd;
  }

  /** @throws the system's error when the file cannot be opened; EISDIR or EINVAL when it is not a regular file. */
  static open(path: string): SyncFileSource {
    const fd = openAtOnce(path);
    try {
      const stats = fstatSync(fd);
      mustBeFile(path, stats);
      return new SyncFileSource(path, stats.size, fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * @returns fewer bytes than `length` when the file has become shorter.
   * @throws TypeError when the source is closed; RangeError when the range is not inside the file as it was
   *   opened; the system's error when the file cannot be read.
   */
  read(offset: number, length: number): Uint8Array {
    mustLieInside(offset, length, this);
    const bytes = allocate(length);
    return bytes.subarray(0, this.readInto(offset, bytes));
  }

  /**
   * Reads into `bytes`.
   *
   * @returns how many bytes it has read: fewer than `bytes` has when the file has become shorter.
   * @throws as {@link read}.
   */
  readInto(offset: number, bytes: Uint8Array): number {
    if (this.#closed) throw new TypeError('the file is closed');
    mustBeBytes('bytes', bytes);
    mustLieInside(offset, bytes.length, this);
    return fill(this.#fd, offset, bytes);
  }

  /** Closing twice does nothing: the descriptor may belong to another file by then. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }
}

function openLater(path: string, flags: number | string): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, flags, (error, fd) => {
      if (error === null) resolve(fd);
      else reject(error);
    });
  });
}

/** Reads into `bytes`. @returns how many bytes it has read. */
function fill(fd: number, offset: number, bytes: Uint8Array): number {
  let filled = 0;
  while (filled < bytes.length) {
    const wanted = Math.min(PIECE_BYTES, bytes.length - filled);
    const bytesRead = readSync(fd, bytes, filled, wanted, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

function openAtOnce(path: string): number {
  try {
    return openSync(path, READ_AT_ONCE);
  } catch (error) {
    if (isLeased(error)) return openSync(path, 'r');
    throw error;
  }
}

/** Opening a folder succeeds on some systems, and reading it fails later with a vaguer error. A device has no length. */
function mustBeFile(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const code = stats.isDirectory() ? 'EISDIR' : 'EINVAL';
  const problem = stats.isDirectory() ? 'illegal operation on a directory' : 'not a regular file';
  throw Object.assign(new Error(`${code}: ${problem}, read '${path}'`), { code, path, syscall: 'read' });
}
