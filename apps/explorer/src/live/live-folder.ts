import { type Folder, type FolderFile, type FolderLock, type WritableFile, type WritableFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { count } from '@bloom/report';
import type { FileState } from './live-facts.js';
import type { Pace } from './pace.js';

/** A file, and the part of it that would survive a power failure. */
interface DiskFile {
  name: string;
  synced: Uint8Array;
}

/**
 * A folder in memory that knows which bytes were synced, and whose changes can be slowed down.
 *
 * A power failure leaves only what a disk must keep: the synced bytes of each file, under the names at the last sync of the
 * folder.
 */
export class LiveFolder implements WritableFolder {
  readonly name = 'the live database';
  readonly #memory: WritableMemoryFolder;
  readonly #pace: Pace;
  readonly #files = new Map<string, DiskFile>();
  #named: Map<string, DiskFile>;

  constructor(files: Iterable<readonly [string, Uint8Array]>, pace: Pace) {
    const given = [...files];
    this.#memory = new WritableMemoryFolder(given);
    this.#pace = pace;
    for (const [name, synced] of given) this.#files.set(name, { name, synced });
    this.#named = new Map(this.#files);
  }

  /** The files after a crash of the program, with everything that was written. */
  afterCrash(): Map<string, Uint8Array> {
    return this.#memory.files();
  }

  /** The files after a power failure. */
  afterPowerFailure(): Map<string, Uint8Array> {
    return new Map([...this.#named].map(([name, { synced }]) => [name, synced]));
  }

  states(): FileState[] {
    return [...this.#files].map(([name, file]) => ({
      name,
      byteLength: this.#memory.open(name)!.byteLength,
      syncedBytes: file.synced.length,
      isNamed: this.#named.get(name) === file,
    }));
  }

  list(): string[] {
    return this.#memory.list();
  }

  open(name: string): FolderFile | undefined {
    return this.#memory.open(name);
  }

  identityOf(name: string): ReturnType<NonNullable<Folder['identityOf']>> {
    return this.#memory.identityOf(name);
  }

  createFolder(): void {
    // It is always there.
  }

  removeFolder(): void {
    // It is always there.
  }

  async create(name: string): Promise<WritableFile> {
    await this.#pace.pass(`create ${name}`);
    const file: DiskFile = { name, synced: new Uint8Array(0) };
    const writer = this.#memory.create(name);
    this.#files.set(name, file);
    return this.#writer(file, writer);
  }

  openForAppend(name: string): WritableFile {
    const writer = this.#memory.openForAppend(name);
    return this.#writer(this.#files.get(name)!, writer);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#pace.pass(`rename ${from} to ${to}`);
    this.#memory.rename(from, to);
    const file = this.#files.get(from)!;
    this.#files.delete(from);
    this.#files.set(to, file);
    file.name = to;
  }

  async delete(name: string): Promise<void> {
    await this.#pace.pass(`delete ${name}`);
    this.#memory.delete(name);
    this.#files.delete(name);
  }

  async syncFolder(): Promise<void> {
    await this.#pace.pass('sync the names in the folder');
    this.#named = new Map(this.#files);
  }

  lostFolder(): WritableFolder {
    return this.#memory.lostFolder();
  }

  moveToLost(name: string, as: string): void {
    this.#memory.moveToLost(name, as);
    this.#files.delete(name);
  }

  lock(): FolderLock {
    return this.#memory.lock();
  }

  #writer(file: DiskFile, writer: WritableFile): WritableFile {
    return {
      append: (bytes) => {
        const turn = this.#pace.pass(`append ${count(bytes.length)} bytes to ${file.name}`);
        return turn === undefined ? writer.append(bytes) : turn.then(() => writer.append(bytes));
      },
      sync: async () => {
        await this.#pace.pass(`sync ${file.name}`);
        const stored = this.#memory.open(file.name);
        // A file that was deleted while it was open has nothing to keep.
        if (stored !== undefined && this.#files.get(file.name) === file) file.synced = stored.read(0, stored.byteLength).slice();
      },
      close: () => writer.close(),
    };
  }
}
