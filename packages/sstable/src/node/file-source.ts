import type { Bytes, Signal } from '@bloom/bytes';
import { mustBeBoolean, mustBeBytes, mustBeOptions, numberOf, throwIfAborted } from '@bloom/bytes/internal';
import { closeSync, constants, fstatSync, open, openSync, read, readSync, type Stats, statSync } from 'node:fs';
import { allocate, AT_ONCE_BYTES, type FileIdentity, mustLieInside, PIECE_BYTES, type Source, type SyncSource } from '../read/source.js';
import { untilAborted } from '../read/until-aborted.js';
import { ReadPace } from './read-pace.js';

// Taken at load: test suites replace the host's functions with fake ones.
const now = /* @__PURE__ */ performance.now.bind(performance);

/** Without O_NONBLOCK, opening a named pipe waits for a writer. Windows has no such flag; `|` takes undefined for 0. */
const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;

/** Another program, such as Samba, holds a lease on the file. Only a blocking open makes it give the lease up. */
function isLeased(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}

/**
 * How long after a change another may get the same time, in milliseconds: a tick of the system's clock, or, on file systems that
 * store whole seconds (or, as FAT, every other), two seconds.
 */
const TICK_MS = 50;
const COARSE_TICK_MS = 2000;

/** What the system knows of a file. The time of its last change of any kind cannot be set by a program, unlike that of its contents. */
function identityOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): FileIdentity {
  const tick = ctimeMs % 1000 === 0 ? COARSE_TICK_MS : TICK_MS;
  return { file: `${dev}:${ino}`, state: `${size}:${mtimeMs}:${ctimeMs}`, isSettled: Date.now() - ctimeMs > tick };
}

/** Whether the contents of the file of a descriptor may have changed since it was opened. */
function hasChanged(fd: number, opened: Stats): boolean {
  const { size, mtimeMs, ctimeMs, nlink } = fstatSync(fd);
  if (size !== opened.size || mtimeMs !== opened.mtimeMs) return true;
  // To delete or link the file is a change of another kind. All others count, as a program can set the time of the contents back.
  return ctimeMs !== opened.ctimeMs && nlink === opened.nlink;
}

/** What the system knows of the regular file at `path`; undefined where there is none. */
export function fileIdentity(path: string): FileIdentity | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true ? identityOf(stats) : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** How to read a file. */
export interface FileSourceOptions {
  /**
   * Whether short reads of what the system has in memory are made at once instead of by another thread, which takes several times
   * as long. With `true` each file measures its reads on its own; files of one disk can share a {@link ReadPace}, by which they are
   * also opened at once. Default: true.
   */
  readonly readsAtOnce?: boolean | ReadPace | undefined;
}

function paceOf(options: FileSourceOptions): ReadPace | undefined {
  mustBeOptions('FileSource.open', options, { readsAtOnce: true });
  const { readsAtOnce = true } = options;
  if (readsAtOnce instanceof ReadPace) return readsAtOnce;
  mustBeBoolean('readsAtOnce', readsAtOnce);
  return readsAtOnce ? new ReadPace() : undefined;
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
  readonly identity: FileIdentity;
  readonly #fd: number;
  /** What the system said when the file was opened. */
  readonly #opened: Stats;
  /** Reads that are under way. The descriptor is closed after them, as it may belong to another file from then on. */
  #reading = 0;
  /** Since `close` was called. */
  #closing: Promise<void> | undefined;
  /** Closes the descriptor; undefined before `close` was called. */
  #closeNow: (() => void) | undefined;
  readonly #pace: ReadPace | undefined;

  private constructor(name: string, stats: Stats, fd: number, pace: ReadPace | undefined) {
    this.#pace = pace;
    this.name = name;
    this.byteLength = stats.size;
    this.identity = identityOf(stats);
    this.#opened = stats;
    this.#fd = fd;
  }

  /**
   * @throws TypeError for an option that is wrong; the system's error when the file cannot be opened; EISDIR or EINVAL when it
   *   is not a regular file.
   */
  static async open(path: string, options: FileSourceOptions = {}): Promise<FileSource> {
    const pace = paceOf(options);
    // A pace of its own would let any number of files be opened at once.
    const fd = await descriptorOf(path, options.readsAtOnce === pace ? pace?.opens : undefined);
    try {
      // Synchronous: the system has the answer in memory when it has just opened the file, and with a trip to another thread it takes
      // fifteen times as long (Node 20, Linux).
      const stats = fstatSync(fd);
      mustBeFile(path, stats);
      return new FileSource(path, stats, fd, pace);
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
  async read(offset: number, length: number, signal?: Signal): Promise<Bytes> {
    mustLieInside(offset, length, this);
    throwIfAborted(signal);
    const turn = length > AT_ONCE_BYTES ? undefined : this.#pace?.nextTurn(now());
    const reading = turn === undefined ? this.#read(offset, allocate(length), signal) : this.#readInTurn(turn, offset, length, signal);
    return signal === undefined ? reading : untilAborted(reading, signal);
  }

  /**
   * Reads synchronously: the host waits for the system.
   *
   * @param into memory of `length` bytes to read into, which is returned.
   * @returns fewer bytes than `length` when the file has become shorter.
   * @throws RangeError when the range is not inside the file as it was opened; the system's error when the file
   *   cannot be read or is closed.
   */
  readSync(offset: number, length: number, into?: Bytes): Bytes {
    mustLieInside(offset, length, this);
    this.#mustBeOpen();
    const bytes = into ?? allocate(length);
    if (into !== undefined) mustHaveLength(into, length);
    const filled = fill(this.#fd, offset, bytes);
    return filled === length ? bytes : bytes.subarray(0, filled);
  }

  /**
   * Reads like {@link readSync} while reads take no longer than from the OS page cache and the synchronous reads of this turn of the
   * event loop began at most two milliseconds ago; otherwise returns undefined.
   *
   * @param into as that of {@link readSync}.
   * @throws as {@link readSync}.
   */
  readAtOnce(offset: number, length: number, into?: Bytes): Bytes | undefined {
    if (this.#pace === undefined) return undefined;
    const start = now();
    if (!this.#pace.takesNext(start)) return undefined;
    const bytes = this.readSync(offset, length, into);
    this.#pace.took(now() - start);
    return bytes;
  }

  /** Whether the file was written to since it was opened. */
  hasChanged(): boolean {
    this.#mustBeOpen();
    return hasChanged(this.#fd, this.#opened);
  }

  /** Reads at once when the event loop has turned, if the disk is still quick then. */
  async #readInTurn(turn: Promise<void>, offset: number, length: number, signal: Signal | undefined): Promise<Bytes> {
    this.#mustBeOpen();
    this.#reading++;
    try {
      for (let next: Promise<void> | undefined = turn; next !== undefined; next = this.#pace!.nextTurn(now())) {
        await next;
        throwIfAborted(signal);
        const start = now();
        // A read that was begun is made before the file is closed.
        if (this.#closeNow === undefined && !this.#pace!.takesNext(start)) continue;
        const bytes = allocate(length);
        const filled = fill(this.#fd, offset, bytes);
        this.#pace!.took(now() - start);
        return bytes.subarray(0, filled);
      }
    } finally {
      if (--this.#reading === 0) this.#closeNow?.();
    }
    return this.#read(offset, allocate(length), signal);
  }

  async #read(offset: number, bytes: Bytes, signal: Signal | undefined): Promise<Bytes> {
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

  /** Closes the file when the reads that are under way have ended. Closing twice does nothing. */
  close(): Promise<void> {
    return (this.#closing ??= new Promise((resolve, reject) => {
      const closeNow = (): void => {
        // Not handed to another thread: a file that was only read is closed in a few microseconds.
        try {
          closeSync(this.#fd);
          resolve();
        } catch (error) {
          reject(error);
        }
      };
      this.#closeNow = closeNow;
      if (this.#reading === 0) closeNow();
    }));
  }

  /** Closes the file, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #mustBeOpen(): void {
    if (this.#closeNow === undefined) return;
    // The system's error: a descriptor that is closed may belong to another file.
    throw Object.assign(new Error('EBADF: bad file descriptor, read'), { code: 'EBADF', syscall: 'read' });
  }
}

/** A file that is read synchronously. */
export class SyncFileSource implements SyncSource {
  readonly name: string;
  readonly byteLength: number;
  readonly identity: FileIdentity;
  readonly #fd: number;
  /** What the system said when the file was opened. */
  readonly #opened: Stats;
  #closed = false;

  private constructor(name: string, stats: Stats, fd: number) {
    this.name = name;
    this.byteLength = stats.size;
    this.identity = identityOf(stats);
    this.#opened = stats;
    this.#fd = fd;
  }

  /** @throws the system's error when the file cannot be opened; EISDIR or EINVAL when it is not a regular file. */
  static open(path: string): SyncFileSource {
    const fd = openAtOnce(path);
    try {
      const stats = fstatSync(fd);
      mustBeFile(path, stats);
      return new SyncFileSource(path, stats, fd);
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
  read(offset: number, length: number): Bytes {
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

  /** Whether the file was written to since it was opened. */
  hasChanged(): boolean {
    return !this.#closed && hasChanged(this.#fd, this.#opened);
  }

  /** Closing twice does nothing: the descriptor may belong to another file by then. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  /** Closes the file, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

async function descriptorOf(path: string, pace: ReadPace | undefined): Promise<number> {
  try {
    return openInPace(path, pace) ?? (await openLater(path, WITHOUT_WAITING));
  } catch (error) {
    if (isLeased(error)) return openLater(path, 'r');
    throw error;
  }
}

/** Opens a file at once if the pace allows it, in a fifth of the processor time of a trip to another thread. */
function openInPace(path: string, pace: ReadPace | undefined): number | undefined {
  const start = now();
  if (pace?.takesNext(start) !== true) return undefined;
  try {
    return openSync(path, WITHOUT_WAITING);
  } finally {
    pace.took(now() - start);
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

/** @throws TypeError or RangeError unless `into` is bytes, `length` of them. */
function mustHaveLength(into: Uint8Array, length: number): void {
  mustBeBytes('into', into);
  if (into.length !== length) throw new RangeError(`into must have ${numberOf(length, 'byte')}, got ${into.length}`);
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
    return openSync(path, WITHOUT_WAITING);
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
