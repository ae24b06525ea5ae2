import type { Random } from '@bloom/fixtures';
import { type FolderFile, type WritableFile, type WritableFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { MemorySource } from '@bloom/sstable';

/** The contents of a file, and how much of it is synced. */
interface Contents {
  bytes: Uint8Array;
  length: number;
  synced: number;
}

/** A change of the folder that is not synced. */
type Change =
  | { readonly kind: 'name'; readonly name: string; readonly contents: Contents }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly contents: Contents }
  | { readonly kind: 'delete'; readonly name: string };

function apply(change: Change, files: Map<string, Contents>): void {
  if (change.kind === 'delete') files.delete(change.name);
  else if (change.kind === 'name') files.set(change.name, change.contents);
  else {
    files.delete(change.from);
    files.set(change.to, change.contents);
  }
}

/** Where files of the folder `lost` are. */
const LOST = 'lost/';
/** Bytes that a disk writes at once. */
const SECTOR_LENGTH = 512;

function mustBePlain(name: string): void {
  if (/^$|^\.{1,2}$|[/\\\0]/.test(name)) throw new RangeError(`not the name of a file: ${name}`);
}

/** The possible states of the folder after a power cut. */
export interface Remains {
  /** @returns one possible state, with some of the unsynced bytes, or zeros in their place, and any subset of the unsynced changes. */
  folder(random: Random): WritableMemoryFolder;
}

/** A folder that keeps track of what was synced. */
export class PowerCutFolder implements WritableFolder {
  readonly name = 'power-cut';
  /** Called before each operation that changes something, with its number from 0. If it throws, the operation throws that. */
  onOperation: (number: number, operation: string) => void = () => undefined;
  operations = 0;
  readonly #files = new Map<string, Contents>();
  #synced = new Map<string, Contents>();
  #changes: Change[] = [];
  #isDead = false;

  constructor(files: Iterable<readonly [string, Uint8Array]> = []) {
    for (const [name, bytes] of files) this.#files.set(name, { bytes: bytes.slice(), length: bytes.length, synced: bytes.length });
    this.#synced = new Map(this.#files);
  }

  files(): Map<string, Uint8Array> {
    return new Map([...this.#files].map(([name, { bytes, length }]) => [name, bytes.slice(0, length)]));
  }

  /** Ends the process that uses the folder: from here on all of its calls fail. @returns the folder for another process. */
  kill(): PowerCutFolder {
    const next = new PowerCutFolder();
    for (const [name, contents] of this.#files) next.#files.set(name, contents);
    next.#synced = this.#synced;
    next.#changes = this.#changes;
    this.#isDead = true;
    return next;
  }

  /** What a system may do at any time without being asked: any of the changes of the folder, and any sectors of files, reach the disk. */
  writeBack(random: Random): void {
    // The changes of one name keep their order.
    const waiting = new Set<string>();
    this.#changes = this.#changes.filter((change) => {
      const names = change.kind === 'rename' ? [change.from, change.to] : [change.name];
      const isWritten = random.below(2) === 0 && !names.some((name) => waiting.has(name));
      if (isWritten) apply(change, this.#synced);
      else for (const name of names) waiting.add(name);
      return !isWritten;
    });
    for (const contents of this.#files.values()) {
      const end = contents.synced + random.below(contents.length - contents.synced + 1);
      contents.synced = random.below(2) === 0 ? contents.length : Math.max(contents.synced, end - (end % SECTOR_LENGTH));
    }
  }

  list(): string[] {
    this.#mustLive();
    return [...this.#files.keys()].filter((name) => !name.startsWith(LOST));
  }

  open(name: string): FolderFile | undefined {
    this.#mustLive();
    const contents = this.#files.get(name);
    return contents && new MemorySource(contents.bytes.subarray(0, contents.length), name);
  }

  createFolder(): void {
    // It always exists.
  }

  removeFolder(): void {
    // It always exists.
  }

  create(name: string): WritableFile {
    mustBePlain(name);
    return this.#create(name);
  }

  #create(name: string): WritableFile {
    this.#begin(`create ${name}`);
    const contents: Contents = { bytes: new Uint8Array(0), length: 0, synced: 0 };
    this.#files.set(name, contents);
    this.#changes.push({ kind: 'name', name, contents });
    return this.#writer(name, contents);
  }

  openForAppend(name: string): WritableFile {
    return this.#writer(name, this.#mustHave(name));
  }

  rename(from: string, to: string): void {
    mustBePlain(to);
    this.#rename(from, to);
  }

  #rename(from: string, to: string): void {
    this.#begin(`rename ${from} ${to}`);
    const contents = this.#mustHave(from);
    this.#files.delete(from);
    this.#files.set(to, contents);
    this.#changes.push({ kind: 'rename', from, to, contents });
  }

  delete(name: string): void {
    this.#begin(`delete ${name}`);
    this.#files.delete(name);
    this.#changes.push({ kind: 'delete', name });
  }

  /** Syncs the names in this folder, or in `lost`. A rename between the two is a single change of the file system. */
  syncFolder(isLost = false): void {
    this.#begin('syncFolder');
    const rest: Change[] = [];
    for (const change of this.#changes) {
      if (change.kind !== 'rename' && change.name.startsWith(LOST) !== isLost) rest.push(change);
      else apply(change, this.#synced);
    }
    this.#changes = rest;
  }

  lostFolder(): WritableFolder {
    const path = (name: string): string => LOST + name;
    return {
      list: () => [...this.#files.keys()].flatMap((name) => (name.startsWith(LOST) ? name.slice(LOST.length) : [])),
      open: (name) => this.open(path(name)),
      createFolder: () => this.createFolder(),
      removeFolder: () => this.removeFolder(),
      create: (name) => this.#create(path(name)),
      openForAppend: (name) => this.openForAppend(path(name)),
      rename: (from, to) => this.#rename(path(from), path(to)),
      delete: (name) => this.delete(path(name)),
      syncFolder: () => this.syncFolder(true),
      lostFolder: () => this.lostFolder(),
      moveToLost: (name, as) => this.moveToLost(path(name), as),
    };
  }

  moveToLost(name: string, as: string): void {
    this.#rename(name, LOST + as);
  }

  /** The possible states if the power is cut now. */
  remains(): Remains {
    const synced = new Map(this.#synced);
    const changes = [...this.#changes];
    const all = new Set([...synced.values(), ...changes.flatMap((change) => ('contents' in change ? change.contents : []))]);
    const lengths = new Map([...all].map((contents) => [contents, { length: contents.length, synced: contents.synced }]));
    return {
      folder(random) {
        const mode = random.below(4);
        const mayBeZeroed = random.below(2) === 0;
        const isKept = (): boolean => (mode === 0 ? false : mode === 1 ? true : random.below(2) === 0);
        const files = new Map(synced);
        for (const change of changes) {
          if (isKept()) apply(change, files);
        }
        return new WritableMemoryFolder(
          [...files].map(([name, contents]) => {
            const { length, synced: least } = lengths.get(contents)!;
            const kept = mode === 0 ? least : mode === 1 ? length : least + random.below(length - least + 1);
            const bytes = contents.bytes.slice(0, kept);
            // Some file systems keep the length of a file, but not its last bytes.
            if (mayBeZeroed && random.below(2) === 0) bytes.fill(0, random.below(2) === 0 ? least : SECTOR_LENGTH * Math.ceil((least + random.below(kept - least + 1)) / SECTOR_LENGTH));
            return [name, bytes] as const;
          }),
        );
      },
    };
  }

  #mustLive(): void {
    if (this.#isDead) throw new Error('the process was killed');
  }

  #mustHave(name: string): Contents {
    const contents = this.#files.get(name);
    if (contents === undefined) throw Object.assign(new Error(`there is no file ${name}`), { code: 'ENOENT' });
    return contents;
  }

  #begin(operation: string): void {
    this.#mustLive();
    this.onOperation(this.operations++, operation);
  }

  #writer(name: string, contents: Contents): WritableFile {
    return {
      append: (bytes) => {
        const put = (part: Uint8Array): void => {
          if (contents.length + part.length > contents.bytes.length) {
            const grown = new Uint8Array(Math.max(contents.length + part.length, contents.bytes.length * 2));
            grown.set(contents.bytes.subarray(0, contents.length));
            contents.bytes = grown;
          }
          contents.bytes.set(part, contents.length);
          contents.length += part.length;
        };
        try {
          this.#begin(`append ${name}`);
        } catch (error) {
          // Like a full disk, which keeps a part of the bytes.
          put(bytes.subarray(0, bytes.length >>> 1));
          throw error;
        }
        put(bytes);
      },
      sync: () => {
        this.#begin(`sync ${name}`);
        contents.synced = contents.length;
      },
      close: () => undefined,
    };
  }
}
