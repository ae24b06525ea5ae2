import type { Dropped } from '../controls/dropped-files.js';

/** A LevelDB folder of a profile, and the blobs that lie next to it. */
export interface ProfileFolder {
  /** From the profile, such as `Local Storage/leveldb`; empty where the folder itself was dropped. */
  readonly path: string;
  readonly files: readonly File[];
  /** By their paths in the blob folder, such as `1/00/2`. */
  readonly blobs: readonly (readonly [path: string, file: File])[];
}

/** A profile, an app's folder or a single LevelDB folder that was dropped or picked. */
export interface ProfileOrigin {
  readonly name: string;
  readonly folders: readonly ProfileFolder[];
  /** Lists the files again, where the browser lets the page do so: of a folder that was dropped, not of one that was picked. */
  readonly again?: Dropped['again'];
}

/** What comes with the page: its files are loaded when it is opened. */
export const sampleProfile: ProfileOrigin = { name: 'sample profile', folders: [] };
