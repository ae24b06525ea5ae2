import type { Folder, WritableFolder } from '@bloom/leveldb';
import type { ByteFormats } from './byte-formats.js';
import type { OpenOptions } from './level-options.js';
import type { LevelStore } from './level-store.js';

/** Opens the database of a path. */
export type StoreOpener = (options: OpenOptions) => Promise<LevelStore>;

/** What differs from host to host. */
export interface LevelHost extends ByteFormats {
  /** Opens the database of a folder. In pages, this loads the code of databases, which a page does not need whose database is in a worker. */
  openFolder(folder: WritableFolder, options: OpenOptions): Promise<LevelStore>;
  /** The same for levels that only read. */
  openFolderToRead(folder: Folder, options: OpenOptions): Promise<LevelStore>;
  /** What a string names: a folder, or what is opened elsewhere. */
  writableAt(location: string): WritableFolder | StoreOpener;
  /** What a string names for levels that only read. */
  readOnlyFolderAt(location: string): Folder | StoreOpener;
  /** Opens the database of a folder that a string names for several threads; undefined where that cannot be done. */
  readonly openShared?: (location: string, options: OpenOptions) => Promise<LevelStore>;
}
