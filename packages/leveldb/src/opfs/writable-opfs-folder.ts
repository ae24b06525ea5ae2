import { mustHaveAtMost } from '@bloom/bytes/internal';
import { DatabaseError } from '../folder/database-error.js';
import { isPlainName, mustBePlainName, type FolderFile } from '../folder/folder.js';
import { delay, now } from '../folder/pacer.js';
import { type FolderLock, missingFile, type WritableFile, type WritableFolder } from '../folder/writable-folder.js';
import { LOST } from '../format/file-name.js';
import { leaveLogBlock } from './name-log.js';
import { NameTurns } from './name-turns.js';
import { folderErrorOf, OpfsFile, OpfsReadFile, OpfsWritableFile } from './opfs-file.js';
import { type AccessHandle, type DirectoryHandle, type FileHandle, isAbsence, locksHere, nameOf } from './opfs-host.js';
import { directoryAt, namesOfPath } from './opfs-path.js';

/** How long to wait for a file that another worker holds. A terminated worker releases its lock before it releases its files. */
const PATIENCE_MS = 5000;

/** How long another worker must hold the lock before it counts as alive: a terminated one holds it for a short time. */
const LOCKED_MS = 500;

/** The longest wait between two attempts, in milliseconds. */
const MAX_WAIT_MS = 64;

/**
 * A folder of the origin private file system that a database can be written to, in a dedicated worker: browsers allow synchronous reads and
 * writes of files only there.
 *
 * Its lock is a Web Lock, which excludes all pages and workers of the origin, and ends with the worker. `sync` is the `flush` of a
 * `FileSystemSyncAccessHandle`: whether it survives a power failure is up to the browser, which has no call to sync names.
 *
 * A file is opened once for all its readers and its writer in this worker, and no one else can open it for writing in the meantime. A file that
 * is deleted while it is open is hidden, and deleted when it is closed.
 *
 * @example
 * ```ts
 * const database = await Database.open(new WritableOpfsFolder('path/to/database'));
 * ```
 */
export class WritableOpfsFolder implements WritableFolder {
  /** The path, as it was given. */
  readonly name: string;
  readonly #names: readonly string[];
  readonly #open = new Map<string, OpfsFile>();
  /** Files that were deleted while they were open, and still exist. */
  readonly #hidden = new Set<string>();
  readonly #turns = new NameTurns();
  #directory: Promise<DirectoryHandle | undefined> | undefined;
  #leftBlock: Promise<void> | undefined;
  #lost: WritableOpfsFolder | undefined;
  #hasLock = false;

  /** @param path from the root of the origin private file system, with `/` between the names. @throws RangeError if it names no folder. */
  constructor(path: string) {
    this.#names = namesOfPath(path);
    this.name = path;
  }

  place(): string {
    return this.#names.join('/');
  }

  async list(): Promise<string[]> {
    const names: string[] = [];
    try {
      for await (const name of (await this.#find())?.keys() ?? []) if (!this.#hidden.has(name)) names.push(name);
    } catch (error) {
      if (nameOf(error) !== 'NotFoundError') throw error;
      this.#directory = undefined;
      return [];
    }
    return names;
  }

  async open(name: string): Promise<FolderFile | undefined> {
    if (!isPlainName(name)) return undefined;
    return this.#turns.take([name], async () => {
      const file = await this.#existing(name);
      return file && new OpfsReadFile(file);
    });
  }

  async create(name: string): Promise<WritableFile> {
    mustBePlainName(name);
    return this.#turns.take([name], async () => {
      this.#end(name, 'was replaced');
      const directory = await this.#mustFind();
      await this.#beforeNaming();
      try {
        const handle = await this.#doing(name, () => directory.getFileHandle(name, { create: true }));
        const file = this.#opened(name, await this.#accessOf(handle, name), (access) => access.truncate(0));
        this.#hidden.delete(name);
        return new OpfsWritableFile(file);
      } catch (error) {
        if (nameOf(error) === 'NotFoundError') throw this.#missing(name);
        throw error;
      }
    });
  }

  async openForAppend(name: string): Promise<WritableFile> {
    mustBePlainName(name);
    return this.#turns.take([name], async () => {
      const file = await this.#existing(name);
      if (file === undefined) throw this.#missing(name);
      return new OpfsWritableFile(file);
    });
  }

  async rename(from: string, to: string): Promise<void> {
    mustBePlainName(to);
    await this.#turns.take([from, to], async () => {
      const handle = await this.#toMove(from);
      this.#end(to, 'was replaced');
      await this.#move(handle, from, await this.#mustFind(), to);
      this.#hidden.delete(to);
    });
  }

  async delete(name: string): Promise<void> {
    mustHaveAtMost('WritableOpfsFolder.delete', 'a name', 1, arguments.length);
    if (!isPlainName(name)) return;
    await this.#turns.take([name], async () => {
      const file = this.#open.get(name);
      if (file === undefined) return this.#remove(name);
      file.isDeleted = true;
      this.#hidden.add(name);
    });
  }

  syncFolder(): void {
    // Browsers have no call for that.
  }

  async createFolder(): Promise<void> {
    this.#directory = undefined;
    if ((await this.#find()) !== undefined) return;
    await this.#beforeNaming();
    this.#directory = directoryAt(this.#names, true);
    await this.#directory;
  }

  async removeFolder(): Promise<void> {
    mustHaveAtMost('WritableOpfsFolder.removeFolder', 'no arguments', 0, arguments.length);
    try {
      const parent = await directoryAt(this.#names.slice(0, -1), false);
      await this.#beforeNaming();
      await parent?.removeEntry(this.#names.at(-1)!);
      this.#directory = undefined;
    } catch {
      // It has files.
    }
  }

  lostFolder(): WritableFolder {
    return this.#lostFolder();
  }

  async moveToLost(name: string, as: string): Promise<void> {
    mustBePlainName(as);
    const lost = this.#lostFolder();
    await this.#turns.take([name], async () => {
      const handle = await this.#toMove(name);
      await lost.#turns.take([as], async () => {
        lost.#end(as, 'was replaced');
        await this.#move(handle, name, await lost.#mustFind(), as);
      });
    });
  }

  lock(): Promise<FolderLock> {
    const locks = locksHere();
    if (locks === undefined) throw new DatabaseError('BLOOM_NO_LOCK', 'folders are locked with Web Locks, which this browser does not have');
    return new Promise((resolve, reject) => {
      const requested = locks.request(this.#lockName, { ifAvailable: true }, (lock) => {
        if (lock === null) {
          reject(this.#locked());
          return undefined;
        }
        this.#hasLock = true;
        return new Promise<void>((end) => {
          resolve({
            release: async () => {
              this.#hasLock = false;
              end();
              // The lock is free when the request has settled.
              await requested;
            },
          });
        });
      });
      requested.catch(reject);
    });
  }

  /** Waits until Chromium continues in another block of its log of names, before a name is created, changed or removed. */
  async #beforeNaming(): Promise<void> {
    this.#leftBlock ??= leaveLogBlock();
    try {
      await this.#leftBlock;
    } catch (error) {
      this.#leftBlock = undefined;
      throw error;
    }
  }

  #lostFolder(): WritableOpfsFolder {
    this.#lost ??= new WritableOpfsFolder([...this.#names, LOST].join('/'));
    return this.#lost;
  }

  /** The file called `name`, opened unless it is open already; undefined when there is none. */
  async #existing(name: string): Promise<OpfsFile | undefined> {
    if (this.#hidden.has(name)) return undefined;
    const open = this.#open.get(name);
    if (open !== undefined) return open;
    try {
      const handle = await (await this.#find())?.getFileHandle(name);
      return handle && this.#opened(name, await this.#accessOf(handle, name));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  /** @param begin the first step with the file, which is closed if the step fails: otherwise no one could open it. */
  #opened(name: string, access: AccessHandle, begin?: (access: AccessHandle) => void): OpfsFile {
    try {
      begin?.(access);
      const file = new OpfsFile(name, access, (closed) => this.#closed(closed));
      this.#open.set(name, file);
      return file;
    } catch (error) {
      access.close();
      throw folderErrorOf(error, name);
    }
  }

  /** Forgets a file that is no longer in use, and deletes it if it is to be deleted. */
  #closed(file: OpfsFile): void | Promise<void> {
    const { name } = file;
    if (this.#open.get(name) === file) this.#open.delete(name);
    if (file.isDeleted) return this.#turns.take([name], () => (this.#hidden.has(name) ? this.#remove(name) : Promise.resolve()));
  }

  /** Ends the use of the file that has the name, if one is open. */
  #end(name: string, why: string): void {
    this.#open.get(name)?.end(why);
    this.#open.delete(name);
  }

  async #remove(name: string): Promise<void> {
    try {
      const directory = await this.#find();
      await this.#beforeNaming();
      await this.#doing(name, async () => directory?.removeEntry(name));
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
    this.#hidden.delete(name);
  }

  /** The handle of a file that is to be renamed. */
  async #toMove(name: string): Promise<FileHandle> {
    if (!isPlainName(name) || this.#hidden.has(name)) throw this.#missing(name);
    try {
      const handle = await (await this.#mustFind()).getFileHandle(name);
      this.#end(name, 'was renamed');
      return handle;
    } catch (error) {
      if (isAbsence(error)) throw this.#missing(name);
      throw error;
    }
  }

  /** Moves a file, and replaces one that has the new name. */
  async #move(handle: FileHandle, from: string, folder: DirectoryHandle, to: string): Promise<void> {
    await this.#beforeNaming();
    if (handle.move !== undefined) return this.#doing(to, () => handle.move!(folder, to));
    // The bytes written to such a stream replace the file atomically when it is closed.
    await this.#doing(to, async () => {
      const stream = await (await folder.getFileHandle(to, { create: true })).createWritable();
      try {
        await stream.write(await handle.getFile());
        await stream.close();
      } catch (error) {
        // It keeps the file locked until it ends.
        await stream.abort().catch(() => undefined);
        throw error;
      }
    });
    await this.#remove(from);
  }

  async #accessOf(handle: FileHandle, name: string): Promise<AccessHandle> {
    if (handle.createSyncAccessHandle === undefined) {
      throw new TypeError('files of the origin private file system can be written only in a dedicated worker, and this is not one');
    }
    return this.#doing(name, () => handle.createSyncAccessHandle!());
  }

  get #lockName(): string {
    return `@bloom/leveldb ${this.#names.join('/')}`;
  }

  #locked(): DatabaseError {
    return new DatabaseError('BLOOM_LOCKED', `${this.name} is already open for writing, in this page or in another one of the origin`);
  }

  async #isLockedElsewhere(): Promise<boolean> {
    if (this.#hasLock) return false;
    const { held = [] } = (await locksHere()?.query()) ?? {};
    return held.some(({ name }) => name === this.#lockName);
  }

  /**
   * Makes a call that is refused while another worker has the file open. A terminated worker keeps its files open for a short time, and its lock
   * for a shorter one: while another one keeps the lock, waiting is of no use.
   */
  async #doing<T>(name: string, call: () => Promise<T>): Promise<T> {
    const start = now();
    /** When the lock was last seen free. */
    let freeAt = start;
    for (let wait = 1; ; wait = Math.min(2 * wait, MAX_WAIT_MS)) {
      try {
        return await call();
      } catch (error) {
        if (nameOf(error) === 'NotFoundError') this.#directory = undefined;
        if (nameOf(error) !== 'NoModificationAllowedError') throw folderErrorOf(error, name);
        if (!(await this.#isLockedElsewhere())) freeAt = now();
        else if (now() - freeAt >= LOCKED_MS) throw this.#locked();
        if (now() - start > PATIENCE_MS) throw new DatabaseError('BLOOM_LOCKED', `${name} in ${this.name} is open elsewhere`, { cause: error });
      }
      await delay(wait);
    }
  }

  /** The folder itself; undefined when it is missing. */
  #find(): Promise<DirectoryHandle | undefined> {
    this.#directory ??= directoryAt(this.#names, false).then((directory) => {
      if (directory === undefined) this.#directory = undefined;
      return directory;
    });
    return this.#directory;
  }

  async #mustFind(): Promise<DirectoryHandle> {
    const directory = await this.#find();
    if (directory === undefined) throw missingFile(`there is no folder ${JSON.stringify(this.name)}`);
    return directory;
  }

  #missing(name: string): Error {
    return missingFile(`there is no file ${JSON.stringify(name)} in ${this.name}`);
  }
}
