import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Source, SyncSource } from '../read/source.js';

/**
 * A file, read at any number of places at once.
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
  readonly #handle: FileHandle;

  private constructor(name: string, byteLength: number, handle: FileHandle) {
    this.name = name;
    this.byteLength = byteLength;
    this.#handle = handle;
  }

  /** @throws the system's error when the file cannot be opened. */
  static async open(path: string): Promise<FileSource> {
    const handle = await open(path, 'r');
    try {
      const stat = await handle.stat();
      if (stat.isDirectory()) throw directoryError(path);
      return new FileSource(path, stat.size, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    signal?.throwIfAborted();
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(bytes, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  close(): Promise<void> {
    return this.#handle.close();
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

  /** @throws the system's error when the file cannot be opened. */
  static open(path: string): SyncFileSource {
    const fd = openSync(path, 'r');
    try {
      const stat = fstatSync(fd);
      if (stat.isDirectory()) throw directoryError(path);
      return new SyncFileSource(path, stat.size, fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** @throws TypeError when it is closed. */
  read(offset: number, length: number): Uint8Array {
    if (this.#closed) throw new TypeError('the file is closed');
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const bytesRead = readSync(this.#fd, bytes, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  /** Closing twice does nothing: the number may be another file's by then. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }
}

/** Opening a folder succeeds on some systems, and reading it fails later with less to say. */
function directoryError(path: string): Error {
  return Object.assign(new Error(`EISDIR: illegal operation on a directory, read '${path}'`), {
    code: 'EISDIR',
    path,
    syscall: 'read',
  });
}
