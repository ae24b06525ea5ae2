import { close, closeSync, constants, fdatasync, fstatSync, openSync, unlinkSync, write, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers';
import { promisify } from 'node:util';
import { FolderError } from '../folder/folder.js';
import { now } from '../folder/pacer.js';
import { endProcess, isProcessEnding } from '../folder/process-end.js';
import type { WritableFile } from '../folder/writable-folder.js';
import { codeOf } from './system-error.js';

const closeLater = promisify(close);
const syncLater = promisify(fdatasync);
const writeLater = promisify(write);

/**
 * Writes of up to this many bytes are synchronous, and so is closing a file with that many unsynced ones: the system copies them in a few
 * microseconds, and handing them to another thread and back takes ten times as long.
 */
const FEW_BYTES = 64 * 2 ** 10;

/** How often, in milliseconds, to check that a file being appended to without a sync is still there. The check takes as long as a small write. */
const LOOK_INTERVAL = 1000;

/**
 * The number of unsynced bytes at which a sync starts on another thread, so that the next awaited sync has less to do. At the end of a
 * log of 4 MB, where nothing else can be written, that sync took 20 ms without it and 5 with it.
 */
const EARLY_SYNC_BYTES = 2 ** 20;

/**
 * Creates a file. A file of the same name is deleted first rather than emptied: it may be a link to a file outside of the folder, a
 * pipe, or a file with other hard links.
 *
 * Synchronous: the folder, which was just checked, must still be the same.
 */
export function createFile(path: string): NodeWritableFile {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  for (;;) {
    let fd: number | undefined;
    try {
      fd = openSync(path, flags);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    if (fd !== undefined) return closingIfItFails(fd, () => new NodeWritableFile(fd, path, fstatSync(fd).nlink));
    try {
      unlinkSync(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** Opens a file for appending. @returns undefined for a link, for anything but a file, and for a file with other hard links. */
export function openFileForAppend(path: string): NodeWritableFile | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // ELOOP, or EMLINK on FreeBSD: a link. ENXIO: a pipe or a socket.
    if (['ELOOP', 'EMLINK', 'ENXIO'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
  return closingIfItFails(fd, () => {
    const stats = fstatSync(fd);
    if (stats.isFile() && stats.nlink <= 1) return new NodeWritableFile(fd, path, stats.nlink);
    closeSync(fd);
    return undefined;
  });
}

/** The result of `use`. If it fails, the descriptor is closed, because nobody else knows it. */
function closingIfItFails<T>(fd: number, use: () => T): T {
  try {
    return use();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** The number of open files. While there are any, waiting writes are made when the process exits, as in classic-level. */
let openFiles = 0;

/** A worker thread gets the event too. */
const writeAtExit = (): void => {
  endProcess(setImmediate);
};

/**
 * A file of the file system that is being written. It has a descriptor rather than a `FileHandle`, which is closed when it is
 * garbage, even if the database was only left open.
 */
export class NodeWritableFile implements WritableFile {
  readonly #fd: number;
  readonly #path: string;
  /** When to check next that the file still has its name; Infinity on file systems that do not count the names of a file. */
  #nextLook: number;
  #closing: Promise<void> | undefined;
  /** The number of bytes written since a sync began. */
  #unsyncedBytes = 0;
  #earlySync: Promise<void> | undefined;
  /** Why an early sync failed. The system reports a failure once: later syncs succeed, although bytes are lost. */
  #earlyFailure: Error | undefined;
  /** Called with each check of the file: checks its folder. */
  onLook: (() => void) | undefined;

  /** @param nameCount how many names the file has, as the system counts them. */
  constructor(fd: number, path: string, nameCount: number) {
    this.#fd = fd;
    this.#path = path;
    this.#nextLook = nameCount === 0 ? Infinity : 0;
    if (openFiles++ === 0) process.on('exit', writeAtExit);
  }

  append(bytes: Uint8Array): void | Promise<void> {
    const time = now();
    if (time >= this.#nextLook) {
      this.#look();
      this.#nextLook = time + LOOK_INTERVAL;
    }
    if (this.#earlyFailure !== undefined) throw this.#earlyFailure;
    const written = bytes.length > FEW_BYTES && !isProcessEnding() ? 0 : writeSync(this.#fd, bytes);
    // Bytes of a short write are left over only if a signal interrupted it, or if the disk is full.
    if (written < bytes.length) return this.#append(bytes, written);
    this.#appended(bytes.length);
  }

  async #append(bytes: Uint8Array, start: number): Promise<void> {
    for (let written = start; written < bytes.length; ) {
      const step = await writeLater(this.#fd, bytes, written, Math.min(2 ** 30, bytes.length - written), null);
      if (step.bytesWritten === 0) throw Object.assign(new Error('EIO: the system wrote no bytes, write'), { code: 'EIO', syscall: 'write' });
      written += step.bytesWritten;
    }
    this.#appended(bytes.length);
  }

  #appended(byteLength: number): void {
    this.#unsyncedBytes += byteLength;
    if (this.#unsyncedBytes >= EARLY_SYNC_BYTES && this.#earlySync === undefined && this.#closing === undefined) this.#beginSync();
  }

  async sync(): Promise<void> {
    // Bytes appended during the sync may not be part of it.
    this.#unsyncedBytes = 0;
    try {
      // On macOS, all of these calls use F_FULLFSYNC.
      await syncLater(this.#fd);
    } catch (error) {
      if (codeOf(error) !== 'ERR_ACCESS_DENIED') throw error;
      await this.#syncByHandle();
    }
    await this.check();
  }

  /** Bytes appended during the sync are left for the next one. */
  #beginSync(): void {
    this.#unsyncedBytes = 0;
    this.#earlySync = syncLater(this.#fd)
      .catch((error: unknown) => {
        if (codeOf(error) !== 'ERR_ACCESS_DENIED') this.#earlyFailure = error as Error;
      })
      .finally(() => {
        this.#earlySync = undefined;
      });
  }

  /** @throws FolderError `BLOOM_FOLDER_CHANGED` when what was written is lost, or may be. */
  check(): void | Promise<void> {
    // The system reports a failure to one sync only, which may be this one.
    if (this.#earlySync !== undefined) return this.#earlySync.then(() => this.#look());
    this.#look();
  }

  #look(): void {
    if (this.#earlyFailure !== undefined) throw this.#earlyFailure;
    // First, because its error says more if all files were deleted with the folder.
    this.onLook?.();
    if (this.#nextLook !== Infinity) this.#mustHaveName();
  }

  /** For Node's permission model, which forbids the call for a descriptor. A file can be synced through any of its descriptors. */
  async #syncByHandle(): Promise<void> {
    const handle = await open(this.#path, 'r+');
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** On another thread if much is unsynced, because network file systems write when a file is closed. */
  async #close(): Promise<void> {
    // Once the descriptor is closed, another file may get its number, and the sync would be of that file.
    if (this.#earlySync !== undefined) await this.#earlySync;
    // A listener that stayed would keep the module in memory where test runners and servers load it again and again.
    if (--openFiles === 0) process.off('exit', writeAtExit);
    if (this.#unsyncedBytes > FEW_BYTES) await closeLater(this.#fd);
    else closeSync(this.#fd);
  }

  /** @throws FolderError `BLOOM_FOLDER_CHANGED` when the file was deleted: what is written to it is lost. */
  #mustHaveName(): void {
    if (fstatSync(this.#fd).nlink > 0) return;
    throw new FolderError('BLOOM_FOLDER_CHANGED', `${this.#path} was deleted while it was being written`, { file: this.#path });
  }
}
