import type { Dropped } from '../controls/dropped-files.js';

/** A LevelDB folder of a profile, and the blobs next to it. */
export interface ProfileFolder {
  /** The path from the profile, such as `Local Storage/leveldb`; empty if the folder itself was dropped. */
  readonly path: string;
  readonly files: readonly File[];
  /** Blobs by their paths in the blob folder, such as `1/00/2`. */
  readonly blobs: readonly (readonly [path: string, file: File])[];
}

/** A dropped or picked profile, app folder or single LevelDB folder. */
export interface ProfileOrigin {
  readonly name: string;
  readonly folders: readonly ProfileFolder[];
  /** The number of folders and files in it that were not read. */
  readonly unread?: number | undefined;
  /** Lists the files again. Browsers allow this for dropped folders, not for picked ones. */
  readonly again?: Dropped['again'];
}

/** The sample that comes with the page. Its files are loaded when it is opened. */
export const sampleProfile: ProfileOrigin = { name: 'sample profile', folders: [] };
