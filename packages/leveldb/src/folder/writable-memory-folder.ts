import { type FileIdentity, MemorySource } from '@bloom/sstable';
import type { Bytes } from '@bloom/bytes';
import { mustBeBytes, mustHaveAtMost } from '@bloom/bytes/internal';
import { DatabaseError } from './database-error.js';
import { LOST } from '../format/file-name.js';
import { mustBePlainName, type SyncFolder, type SyncFolderFile } from './folder.js';
import { type FolderLock, missingFile, type WritableFile, type WritableFolder } from './writable-folder.js';

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
  /** The lock, while it is held. */
  #lock: FolderLock | undefined;
  #lost: WritableMemoryFolder | undefined;

  /** @param files the initial contents of the folder, which are copied. */
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
  files(): Map<string, Bytes> {
    return new Map([...this.#files].map(([name, file]) => [name, file.bytes.slice()]));
  }

  list(): string[] {
    return [...this.#files.keys()];
  }

  open(name: string): SyncFolderFile | undefined {
    const file = this.#files.get(name);
    if (file === undefined) return undefined;
    const source = new MemorySource(file.bytes, name);
    return { byteLength: source.byteLength, name, identity: file.identity, read: (offset, length) => source.read(offset, length) };
  }

  identityOf(name: string): FileIdentity | undefined {
    return this.#files.get(name)?.identity;
  }

  createFolder(): void {
    // A folder in memory always exists.
  }

  removeFolder(): void {
    mustHaveAtMost('WritableMemoryFolder.removeFolder', 'no arguments', 0, arguments.length);
    // Memory is freed by the garbage collector.
  }

  create(name: string): WritableFile {
    mustBePlainName(name);
    const file = new MemoryFile();
    this.#files.set(name, file);
    return file;
  }

  openForAppend(name: string): WritableFile {
    return this.#mustHave(name);
  }

  rename(from: string, to: string): void {
    mustBePlainName(to);
    const file = this.#mustHave(from);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  delete(name: string): void {
    mustHaveAtMost('WritableMemoryFolder.delete', 'a name', 1, arguments.length);
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
    mustBePlainName(as);
    this.lostFolder().#files.set(as, this.#mustHave(name));
    this.#files.delete(name);
  }

  lock(): FolderLock {
    if (this.#lock !== undefined) throw new DatabaseError('BLOOM_LOCKED', 'the folder in memory is already open for writing');
    const lock: FolderLock = {
      release: () => {
        if (this.#lock === lock) this.#lock = undefined;
      },
    };
    this.#lock = lock;
    return lock;
  }

  #mustHave(name: string): MemoryFile {
    const file = this.#files.get(name);
    if (file === undefined) throw missingFile(`there is no file ${JSON.stringify(name)} in the folder in memory`);
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

  /** Files only grow, so the length identifies the state. */
  get identity(): FileIdentity {
    return { file: this, state: this.#length, isSettled: true };
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
