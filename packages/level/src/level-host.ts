import type { Folder, WritableFolder } from '@bloom/leveldb';
import type { HostFormats } from './host-formats.js';
import type { OpenOptions } from './level-options.js';
import type { LevelStore } from './level-store.js';

/** Opens the database of a path. */
export type StoreOpener = (options: OpenOptions) => Promise<LevelStore>;

/** The differences between hosts. */
export interface LevelHost extends HostFormats {
  /** Opens the database of a folder. In pages, this loads the code of databases, which a page whose database is in a worker does not need. */
  openFolder(folder: WritableFolder, options: OpenOptions): Promise<LevelStore>;
  /** The same for levels that only read. */
  openFolderToRead(folder: Folder, options: OpenOptions): Promise<LevelStore>;
  /** What a string location names: a folder, or a database that is opened elsewhere. */
  writableAt(location: string): WritableFolder | StoreOpener;
  /** What a string location names for levels that only read. */
  readOnlyFolderAt(location: string): Folder | StoreOpener;
  /** Opens the database of a folder that a string names for several threads; undefined where that is not supported. */
  readonly openShared?: (location: string, options: OpenOptions) => Promise<LevelStore>;
}
