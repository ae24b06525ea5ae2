import { MemorySource } from '@bloom/sstable';
import { mustBeBytes } from '@bloom/bytes';
import { DatabaseError } from './database-error.js';
import { LOST } from './file-name.js';
import type { SyncFolder, SyncFolderFile } from './folder.js';
import type { FolderLock, WritableFile, WritableFolder } from './writable-folder.js';

/**
 * A folder in memory that a database can be written to.
 *
 * @example
 * ```ts
 * const database = await Database.open(new WritableMemoryFolder());
 * ```
 */
export class WritableMemoryFolder implements WritableFolder, SyncFolder {
  readonly name: string | undefined;
  readonly #files = new Map<string, MemoryFile>();
  #isLocked = false;
  #lost: WritableMemoryFolder | undefined;

  /** @param files what is in the folder at first; copied. */
  constructor(files: Iterable<readonly [string, Uint8Array]> = [], name?: string) {
    this.name = name;
    for (const [file, bytes] of files) {
      mustBeBytes(file, bytes);
      const created = new MemoryFile();
      created.append(bytes);
      this.#files.set(file, created);
    }
  }

  /** The files and their contents, as copies. */
  files(): Map<string, Uint8Array> {
    return new Map([...this.#files].map(([name, file]) => [name, file.bytes.slice()]));
  }

  list(): string[] {
    return [...this.#files.keys()];
  }

  open(name: string): SyncFolderFile | undefined {
    const file = this.#files.get(name);
    return file && new MemorySource(file.bytes, name);
  }

  createFolder(): void {
    // A folder in memory always exists.
  }

  removeFolder(): void {
    // Memory is freed by the garbage collector.
  }

  create(name: string): WritableFile {
    const file = new MemoryFile();
    this.#files.set(name, file);
    return file;
  }

  openForAppend(name: string): WritableFile {
    return this.#mustHave(name);
  }

  rename(from: string, to: string): void {
    const file = this.#mustHave(from);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  delete(name: string): void {
    this.#files.delete(name);
  }

  syncFolder(): void {
    // Nothing in memory survives a crash.
  }

  lostFolder(): WritableMemoryFolder {
    this.#lost ??= new WritableMemoryFolder([], this.name === undefined ? LOST : `${this.name}/${LOST}`);
    return this.#lost;
  }

  moveToLost(name: string, as: string): void {
    this.lostFolder().#files.set(as, this.#mustHave(name));
    this.#files.delete(name);
  }

  lock(): FolderLock {
    if (this.#isLocked) throw new DatabaseError('BLOOM_LOCKED', 'the folder in memory is open for writing already');
    this.#isLocked = true;
    return { release: () => void (this.#isLocked = false) };
  }

  #mustHave(name: string): MemoryFile {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`there is no file ${JSON.stringify(name)} in the folder in memory`);
    return file;
  }
}

/** A growing file. Bytes that were read before never change. */
class MemoryFile implements WritableFile {
  #bytes = new Uint8Array(0);
  #length = 0;

  /** A view of the contents. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      grown.set(this.bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  sync(): void {
    // Nothing in memory survives a crash.
  }

  close(): void {
    // There is nothing to release.
  }
}
