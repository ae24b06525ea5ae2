import type { Bytes } from '@bloom/bytes';
import { FolderError, type FolderFile } from '../folder/folder.js';
import type { WritableFile } from '../folder/writable-folder.js';
import { type AccessHandle, nameOf } from './opfs-host.js';

/**
 * An open file. The browser gives out one access handle for it, shared by all who read or write it here: they are counted, and the last one
 * closes it.
 */
export class OpfsFile {
  readonly name: string;
  readonly #access: AccessHandle;
  readonly #onClosed: (file: OpfsFile) => void | Promise<void>;
  #users = 0;
  #length: number;
  /** The reason why it can no longer be used. */
  #end: string | undefined;
  /** Set once the file was deleted: it is removed when it is no longer in use. */
  isDeleted = false;

  /** @param onClosed called once the file is no longer in use. */
  constructor(name: string, access: AccessHandle, onClosed: (file: OpfsFile) => void | Promise<void>) {
    this.name = name;
    this.#access = access;
    this.#onClosed = onClosed;
    this.#length = access.getSize();
  }

  get length(): number {
    return this.#length;
  }

  use(): void {
    this.#users++;
  }

  leave(): void | Promise<void> {
    if (--this.#users > 0 || this.#end !== undefined) return;
    this.#end = 'was closed';
    this.#access.close();
    return this.#onClosed(this);
  }

  /** Ends everyone's use, because another file takes the name. @param why `was replaced`, for example. */
  end(why: string): void {
    if (this.#end !== undefined) return;
    this.#end = why;
    this.#access.close();
  }

  /** @throws FolderError `BLOOM_FOLDER_CHANGED` when the file can no longer be used. */
  mustBeOpen(): void {
    if (this.#end !== undefined) throw new FolderError('BLOOM_FOLDER_CHANGED', `${this.name} ${this.#end} while it was open`, { file: this.name });
  }

  /** Fills `into` with the bytes from `offset` on. @returns the number of bytes read. */
  read(offset: number, into: Bytes): number {
    this.mustBeOpen();
    return this.#access.read(into, { at: offset });
  }

  /** Appends all of the bytes, or none. @throws FolderError `BLOOM_FOLDER_FULL` when the quota is used up. */
  append(bytes: Uint8Array): void {
    this.mustBeOpen();
    let written = 0;
    try {
      while (written < bytes.length) {
        const rest = written === 0 ? bytes : bytes.subarray(written);
        const count = this.#access.write(rest, { at: this.#length + written });
        if (count === 0) throw fullFolder(this.name);
        written += count;
      }
    } catch (error) {
      this.#cut();
      throw folderErrorOf(error, this.name);
    }
    this.#length += bytes.length;
  }

  /** Removes the bytes of an incomplete append: they would be the damaged end of a log. */
  #cut(): void {
    try {
      this.#access.truncate(this.#length);
    } catch {
      // The next reader of the file finds the damage; the error that led to it is the one to report.
    }
  }

  flush(): void {
    this.mustBeOpen();
    try {
      this.#access.flush();
    } catch (error) {
      throw folderErrorOf(error, this.name);
    }
  }
}

/** A file as it was when it was opened. */
export class OpfsReadFile implements FolderFile {
  readonly byteLength: number;
  readonly name: string;
  readonly #file: OpfsFile;
  #closed = false;

  constructor(file: OpfsFile) {
    file.use();
    this.#file = file;
    this.name = file.name;
    this.byteLength = file.length;
  }

  read(offset: number, length: number): Uint8Array {
    return this.readSync(offset, length);
  }

  readSync(offset: number, length: number, into?: Bytes): Uint8Array {
    this.#mustBeOpen();
    const wanted = Math.max(0, Math.min(length, this.byteLength - offset));
    const bytes = into?.length === wanted ? into : new Uint8Array(wanted);
    const count = this.#file.read(offset, bytes);
    return count === wanted ? bytes : bytes.subarray(0, count);
  }

  /** The handle answers in microseconds. */
  readAtOnce(offset: number, length: number, into?: Bytes): Uint8Array {
    return this.readSync(offset, length, into);
  }

  close(): void | Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    return this.#file.leave();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new TypeError(`${this.name} is closed`);
  }
}

/** A file that is being written. */
export class OpfsWritableFile implements WritableFile {
  readonly #file: OpfsFile;
  #closing: Promise<void> | undefined;

  constructor(file: OpfsFile) {
    file.use();
    this.#file = file;
  }

  append(bytes: Uint8Array): void {
    this.#mustBeOpen();
    this.#file.append(bytes);
  }

  sync(): void {
    this.#mustBeOpen();
    this.#file.flush();
  }

  /** @throws FolderError `BLOOM_FOLDER_CHANGED` when written bytes are lost. */
  check(): void {
    this.#file.mustBeOpen();
    if (!this.#file.isDeleted) return;
    throw new FolderError('BLOOM_FOLDER_CHANGED', `${this.#file.name} was deleted while it was being written`, { file: this.#file.name });
  }

  close(): Promise<void> {
    this.#closing ??= Promise.resolve(this.#file.leave());
    return this.#closing;
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw new TypeError(`${this.#file.name} is closed`);
  }
}

function fullFolder(file: string, cause?: unknown): FolderError {
  return new FolderError('BLOOM_FOLDER_FULL', `${file} cannot be written: the quota of the origin, or the disk, is used up`, { file, cause });
}

/** The error with the code that this library has for it. */
export function folderErrorOf(error: unknown, file: string): unknown {
  return nameOf(error) === 'QuotaExceededError' ? fullFolder(file, error) : error;
}
