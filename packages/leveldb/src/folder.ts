/** Where the files of a database are. */
import { mustHaveMethods, type Signal } from '@bloom/bytes';
import type { Source, SyncSource } from '@bloom/sstable';

/** A file of a folder, opened for reading. It has the length that it had when it was opened, even if it grows. */
export interface FolderFile extends Source {
  /** `read` without a promise, where it returns one and the host can do without. */
  readonly readSync?: ((offset: number, length: number) => Uint8Array) | undefined;
  close?(): void | Promise<void>;
}

/** A file of a {@link SyncFolder}. */
export interface SyncFolderFile extends SyncSource {
  close?(): void;
}

/** A folder that is read. Nothing in it is ever changed. */
export interface Folder {
  /** Names the folder in errors. */
  readonly name?: string | undefined;

  /**
   * The names of the files, in any order. Left out where a folder cannot be listed, as on a web server: then logs are
   * looked for by their numbers.
   */
  list?(signal?: Signal): readonly string[] | Promise<readonly string[]>;

  /**
   * Opens a file; undefined when there is none of that name. A name that is no plain file name is that of no file.
   *
   * What is read of it is what it held when it was opened. Where that cannot be had, because the file was changed, the
   * read fails with a {@link FolderError} `BLOOM_FOLDER_CHANGED`.
   */
  open(name: string, signal?: Signal): FolderFile | undefined | Promise<FolderFile | undefined>;

  /** `open` without a promise, where it returns one and the host can do without: for `Database.getSync`. */
  openSync?(name: string): SyncFolderFile | undefined;
}

/** A folder that answers at once. */
export interface SyncFolder extends Folder {
  list(): readonly string[];
  open(name: string): SyncFolderFile | undefined;
}

/** @throws TypeError unless `folder` has the methods of a folder. */
export function mustBeFolder(folder: unknown, methods: readonly string[] = ['open']): void {
  mustHaveMethods('folder', folder, 'a folder, such as a NodeFolder', methods);
}

/**
 * What can be wrong with a folder that another process writes. The codes are stable.
 *
 * - `BLOOM_FOLDER_BUSY`: the folder changed each time that it was read. Try again when the writer is less busy, or allow
 *   more `maxRestarts`.
 * - `BLOOM_FOLDER_CHANGED`: a file that belongs to what is being read is gone or was replaced. Call `refresh`.
 */
export type FolderErrorCode = 'BLOOM_FOLDER_BUSY' | 'BLOOM_FOLDER_CHANGED';

/** A folder is sound, and was changed while it was read. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
  readonly code: FolderErrorCode;
  /** The file that it is about, where it is one. */
  readonly file: string | undefined;

  constructor(code: FolderErrorCode, problem: string, options: ErrorOptions & { readonly file?: string } = {}) {
    super(problem, options);
    this.code = code;
    this.file = options.file;
  }
}

/** Whether `name` is that of a file within a folder, and leads nowhere else. */
export function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/** The source as one that does not return promises: a source that does so all the same is found out when it is read. */
export function withoutPromises(source: FolderFile): SyncSource {
  if (source.readSync === undefined) return source as SyncSource;
  return { byteLength: source.byteLength, name: source.name, read: (offset, length) => source.readSync!(offset, length) };
}
