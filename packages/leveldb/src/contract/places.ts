import type { Folder } from '../folder/folder.js';
import type { WritableFolder } from '../folder/writable-folder.js';

/** Where laws of reading get their folders. */
export interface ReadingPlace {
  /** A folder with exactly these files. */
  folderWith(files: ReadonlyMap<string, Uint8Array>): Promise<Folder>;
}

/** Where laws of writing get their folders. */
export interface WritingPlace<Kind extends WritableFolder = WritableFolder> extends ReadingPlace {
  /** A folder that exists and is empty. */
  folder(): Promise<Kind>;
  /** A folder as the caller makes it: it may not exist yet. */
  newFolder(): Promise<Kind>;
  /** Another object for the same place, where there is such a thing. */
  readonly again: ((folder: Kind) => Promise<Kind>) | undefined;
  /** What is left of the folder after a power cut. */
  readonly cutPower: ((folder: Kind) => Promise<Folder>) | undefined;
}
