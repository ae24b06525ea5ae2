import type { Folder } from '../folder/folder.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import type { LawRun } from './law-run.js';

/** A law: its claim, and its check. */
export type ReadingLaw = readonly [name: string, law: (run: LawRun, place: ReadingPlace) => Promise<void>];
export type WritingLaw = readonly [name: string, law: (run: LawRun, place: WritingPlace) => Promise<void>];

/** Where laws of reading get their folders. */
export interface ReadingPlace {
  /** A folder with exactly these files. */
  folderWith(files: ReadonlyMap<string, Uint8Array>): Promise<Folder>;
}

/** Where laws of writing get their folders. */
export interface WritingPlace extends ReadingPlace {
  /** A folder that exists and is empty. */
  folder(): Promise<WritableFolder>;
  /** A folder as the caller makes it: it may not exist yet. */
  newFolder(): Promise<WritableFolder>;
  /** Another object for the same place, if the folder supports that. */
  readonly again: ((folder: WritableFolder) => Promise<WritableFolder>) | undefined;
  /** What is left of the folder after a power cut. */
  readonly cutPower: ((folder: WritableFolder) => Promise<Folder>) | undefined;
}
