/** Folders in browsers: picked, dropped, or in the origin private file system. */
import type { Signal } from '@bloom/bytes';
import { mustBeIterable, mustHaveMethods } from '@bloom/bytes/internal';
import type { FileIdentity } from '@bloom/sstable';
import { BlobSource, type BlobLike } from '@bloom/sstable/blob';
import { type Folder, FolderError, type FolderFile, isPlainName } from './folder/folder.js';
import { isAbsence, nameOf } from './opfs/opfs-host.js';

/** The part of a `FileSystemDirectoryHandle` that is needed. */
export interface DirectoryHandleLike {
  readonly name: string;
  keys(): AsyncIterable<string>;
  getFileHandle(name: string): Promise<{ getFile(): Promise<BlobLike> }>;
}

/** The part of a `File` that is needed. */
export interface FileLike extends BlobLike {
  readonly name: string;
  /** The path of a file within the picked folder. */
  readonly webkitRelativePath?: string;
}

/**
 * A folder that was opened with `showDirectoryPicker`, or that is in the origin's private file system.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(new DirectoryFolder(await showDirectoryPicker()));
 * ```
 */
export class DirectoryFolder implements Folder {
  readonly name: string;
  readonly #handle: DirectoryHandleLike;

  /** @throws TypeError when `handle` is not a directory handle. */
  constructor(handle: DirectoryHandleLike) {
    mustHaveMethods('handle', handle, 'a FileSystemDirectoryHandle', ['keys', 'getFileHandle']);
    this.#handle = handle;
    this.name = handle.name;
  }

  async list(): Promise<string[]> {
    const names: string[] = [];
    for await (const name of this.#handle.keys()) names.push(name);
    return names;
  }

  async identityOf(name: string): Promise<FileIdentity | undefined> {
    return (await this.open(name))?.identity;
  }

  async open(name: string): Promise<FolderFile | undefined> {
    if (!isPlainName(name)) return undefined;
    try {
      const handle = await this.#handle.getFileHandle(name);
      const blob: BlobLike & { readonly lastModified?: number } = await handle.getFile();
      return new SnapshotSource(blob, name, identityOf(blob));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }
}

/**
 * A folder that was picked with `<input type="file" webkitdirectory>`, or dropped: its files.
 *
 * @example
 * ```ts
 * input.onchange = async () => {
 *   const database = await DatabaseReader.open(new FileListFolder(input.files!));
 * };
 * ```
 */
export class FileListFolder implements Folder {
  readonly name: string | undefined;
  readonly #files: ReadonlyMap<string, FileLike>;

  /**
   * @param files the files of one database, or of a folder that contains it: the database is the folder with the file CURRENT.
   * @param path which database is meant if there are several: a `webkitRelativePath` without the file's name.
   * @throws TypeError when `files` is not a list of files; RangeError when there are several databases and no `path`.
   */
  constructor(files: Iterable<FileLike> | ArrayLike<FileLike>, path?: string) {
    if (typeof (files as ArrayLike<FileLike> | null | undefined)?.length !== 'number') mustBeIterable('files', files, 'Files');
    const all = Array.from(files);
    for (const file of all) mustHaveMethods('each of files', file, 'a File', ['slice']);
    const folders = [...new Set(all.filter(({ name }) => name === 'CURRENT').map(folderOf))];
    if (path === undefined && folders.length > 1) {
      throw new RangeError(`path must name one of the databases: ${folders.map((folder) => JSON.stringify(folder)).join(', ')}`);
    }
    const folder = path ?? folders[0];
    const chosen = folder === undefined ? all : all.filter((file) => folderOf(file) === folder);
    this.#files = new Map(chosen.map((file) => [file.name, file]));
    this.name = folder === '' ? undefined : folder;
  }

  list(): string[] {
    return [...this.#files.keys()];
  }

  identityOf(name: string): FileIdentity | undefined {
    return this.open(name)?.identity;
  }

  open(name: string): FolderFile | undefined {
    const file = this.#files.get(name);
    // A picked file is a snapshot: once it changes on disk, it can no longer be read.
    return file && new SnapshotSource(file, name, { file, state: file.size, isSettled: true });
  }
}

function folderOf({ webkitRelativePath = '' }: FileLike): string {
  return webkitRelativePath.slice(0, Math.max(0, webkitRelativePath.lastIndexOf('/')));
}

/** How long after a change another change may get the same timestamp, in milliseconds: some file systems store times in steps of two seconds. */
const TICK_MS = 2000;

/** The identity of a file, as far as browsers reveal it: they give no inode number. */
function identityOf({ size, lastModified }: { readonly size: number; readonly lastModified?: number }): FileIdentity | undefined {
  if (lastModified === undefined) return undefined;
  return { file: undefined, state: `${size}:${lastModified}`, isSettled: Date.now() - lastModified > TICK_MS };
}

/** A file as it was when it was opened. Once it changes on disk, it can no longer be read. */
class SnapshotSource implements FolderFile {
  readonly byteLength: number;
  readonly name: string;
  readonly identity: FileIdentity | undefined;
  readonly #source: BlobSource;

  constructor(blob: BlobLike, name: string, identity: FileIdentity | undefined) {
    this.identity = identity;
    this.#source = new BlobSource(blob, name);
    this.byteLength = blob.size;
    this.name = name;
  }

  async read(offset: number, length: number, signal?: Signal): Promise<Uint8Array> {
    try {
      return await this.#source.read(offset, length, signal);
    } catch (error) {
      if (!['NotReadableError', 'NotFoundError'].includes(nameOf(error))) throw error;
      throw new FolderError('BLOOM_FOLDER_CHANGED', `${this.name} changed while it was read`, { file: this.name, cause: error });
    }
  }
}
