import type { Folder } from '../folder/folder.js';
import type { WritableFolder } from '../folder/writable-folder.js';

/** How to check a folder that is only read. */
export interface ReadFolderLawsOptions<Kind extends Folder = Folder> {
  /** Called with every folder that was made when its law has ended: to delete it, for example. */
  readonly dispose?: ((folder: Kind) => void | Promise<void>) | undefined;
  /** Milliseconds that one call of the folder may take; a law fails when a call takes longer. Default: 10,000. */
  readonly patienceMs?: number | undefined;
}

/** How to check a folder that a database is written to. */
export interface FolderLawsOptions<Kind extends WritableFolder = WritableFolder> extends ReadFolderLawsOptions<Kind> {
  /**
   * Another object for the same place, as another process has it: it must see at once what the first one did, and respect its
   * lock. Without it, what is visible to other objects is not checked.
   */
  readonly again?: ((folder: Kind) => Kind | Promise<Kind>) | undefined;
  /**
   * The place as it is found after the power failed at this moment, with or without anything that was not synced. The folder
   * itself is not used afterwards. Only what simulates the storage can do this: without it, the laws about syncing are left out.
   */
  readonly cutPower?: ((folder: Kind) => Folder | Promise<Folder>) | undefined;
}

/** The names of {@link FolderLawsOptions}. */
export const FOLDER_LAWS_OPTIONS: Record<keyof FolderLawsOptions, true> = { again: true, cutPower: true, dispose: true, patienceMs: true };

/** The names of {@link ReadFolderLawsOptions}. */
export const READ_FOLDER_LAWS_OPTIONS: Record<keyof ReadFolderLawsOptions, true> = { dispose: true, patienceMs: true };
