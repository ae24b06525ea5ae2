import { DatabaseError, FolderError, type FolderFile, type FolderLock, type PinnedFolder, type SyncFolderFile, type WritableFile, type WritableFolder } from '@bloom/leveldb';
import type { FileIdentity } from '@bloom/sstable';
import type { FolderLawsOptions } from '@bloom/leveldb/contract';

/** A file on a disk. Its bytes are never changed in place. */
export class Contents {
  bytes = new Uint8Array(0);
  /** What survives a power cut. */
  synced = new Uint8Array(0);
  /** How many names it has. */
  names = 1;
}

/** What several folder objects have in common: a place. */
export class Disk {
  files = new Map<string, Contents>();
  /** The names that survive a power cut. */
  synced = new Map<string, Contents>();
  exists = false;
  lock: object | undefined;
  lost: Disk | undefined;
}

export function missing(name: string): Error {
  return Object.assign(new Error(`no such file: ${name}`), { code: 'ENOENT' });
}

export function isPlain(name: string): boolean {
  return !/^$|^\.{1,2}$|[/\\\0]/.test(name);
}

export function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Waits as a folder does that asks another thread. */
export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A file that is open for reading, with all that it may have. */
export type Reader = FolderFile & Pick<SyncFolderFile, 'readInto'>;

/** A folder that keeps every law, with all that a folder may have. Others break one law each by replacing a method. */
export class RightFolder implements WritableFolder {
  /** What the laws need to know of it. */
  static readonly options: FolderLawsOptions<RightFolder> = {
    again: (folder) => folder.another(),
    cutPower: (folder) => folder.afterPowerCut(),
  };
  readonly disk: Disk;

  constructor(disk = new Disk()) {
    this.disk = disk;
  }

  /** A folder of the same class for the same place, or another one. */
  another(disk = this.disk): this {
    return new (this.constructor as new (disk: Disk) => this)(disk);
  }

  /** The folder after a power cut that kept nothing which was not synced. */
  afterPowerCut(): RightFolder {
    const disk = new Disk();
    disk.exists = true;
    for (const [name, { synced }] of this.disk.synced) {
      const left = new Contents();
      left.bytes = synced;
      disk.files.set(name, left);
    }
    return new RightFolder(disk);
  }

  async list(): Promise<readonly string[]> {
    await pause();
    if (!this.disk.exists) throw missing('.');
    return [...this.disk.files.keys()];
  }

  async open(name: string): Promise<FolderFile | undefined> {
    await pause();
    const contents = this.disk.files.get(name);
    return contents && this.reader(contents.bytes, contents);
  }

  openSync(name: string): SyncFolderFile | undefined {
    const contents = this.disk.files.get(name);
    if (contents === undefined) return undefined;
    const file = this.reader(contents.bytes, contents);
    return { ...file, read: file.readSync!.bind(file) };
  }

  protected reader(bytes: Uint8Array, contents: Contents): Reader {
    const read = (offset: number, length: number): Uint8Array => {
      if (offset + length > bytes.length) throw new RangeError('the range must lie inside the file');
      return bytes.subarray(offset, offset + length);
    };
    return {
      byteLength: bytes.length,
      identity: this.identity(contents),
      read,
      readSync: read,
      readInto(offset, into) {
        into.set(bytes.subarray(offset, offset + into.length));
        return into.length;
      },
      hasChanged: () => false,
      close: () => undefined,
    };
  }

  protected identity(contents: Contents): FileIdentity {
    return { file: contents, state: contents.bytes.length, isSettled: true };
  }

  identityOf(name: string): FileIdentity | undefined {
    const contents = this.disk.files.get(name);
    return contents && this.identity(contents);
  }

  async createFolder(): Promise<void> {
    await pause();
    this.disk.exists = true;
  }

  async removeFolder(): Promise<void> {
    await pause();
    if (this.disk.files.size === 0) this.disk.exists = false;
  }

  async create(name: string): Promise<WritableFile> {
    if (!isPlain(name)) throw new RangeError(`no file has the name ${name}`);
    await pause();
    const contents = new Contents();
    const replaced = this.disk.files.get(name);
    if (replaced !== undefined) replaced.names--;
    this.disk.files.set(name, contents);
    return this.writer(contents, name);
  }

  async openForAppend(name: string): Promise<WritableFile | undefined> {
    await pause();
    return this.writer(this.mustHave(name), name);
  }

  protected writer(contents: Contents, _name: string): WritableFile {
    return {
      append: async (bytes) => {
        const after = joined(contents.bytes, bytes);
        await pause();
        contents.bytes = after;
      },
      sync: async () => {
        await pause();
        contents.synced = contents.bytes;
      },
      check() {
        if (contents.names === 0) throw new FolderError('BLOOM_FOLDER_CHANGED', 'the file was deleted');
      },
      close: () => undefined,
    };
  }

  protected mustHave(name: string): Contents {
    const contents = this.disk.files.get(name);
    if (contents === undefined) throw missing(name);
    return contents;
  }

  async rename(from: string, to: string): Promise<void> {
    if (!isPlain(to)) throw new RangeError(`no file has the name ${to}`);
    await pause();
    const contents = this.mustHave(from);
    const replaced = this.disk.files.get(to);
    if (replaced !== undefined) replaced.names--;
    this.disk.files.delete(from);
    this.disk.files.set(to, contents);
  }

  async delete(name: string): Promise<void> {
    await pause();
    const contents = this.disk.files.get(name);
    if (contents !== undefined) contents.names--;
    this.disk.files.delete(name);
  }

  async syncFolder(): Promise<void> {
    await pause();
    this.disk.synced = new Map(this.disk.files);
  }

  lostFolder(): WritableFolder {
    this.disk.lost ??= new Disk();
    return this.another(this.disk.lost);
  }

  async moveToLost(name: string, as: string): Promise<void> {
    await pause();
    this.disk.lost!.files.set(as, this.mustHave(name));
    this.disk.files.delete(name);
  }

  lock(): FolderLock | Promise<FolderLock> {
    if (this.disk.lock !== undefined) throw new DatabaseError('BLOOM_LOCKED', 'the folder is locked');
    const lock = {
      release: () => {
        if (this.disk.lock === lock) this.disk.lock = undefined;
      },
    };
    this.disk.lock = lock;
    return lock;
  }

  pin(): PinnedFolder | Promise<PinnedFolder> {
    return Object.assign(this.another(), { unpin: () => undefined });
  }
}
