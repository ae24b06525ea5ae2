import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileSource, SyncFileSource } from '@bloom/sstable/node';
import { type Folder, type FolderFile, isPlainName, type SyncFolder, type SyncFolderFile } from '../folder.js';

/**
 * A folder of the file system.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(new NodeFolder('path/to/database'));
 * ```
 */
export class NodeFolder implements Folder {
  readonly name: string;

  constructor(path: string) {
    this.name = path;
  }

  list(): Promise<string[]> {
    return readdir(this.name);
  }

  async open(name: string): Promise<FolderFile | undefined> {
    if (!isPlainName(name)) return undefined;
    try {
      return await FileSource.open(join(this.name, name));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }
}

/** {@link NodeFolder} without promises. */
export class SyncNodeFolder implements SyncFolder {
  readonly name: string;

  constructor(path: string) {
    this.name = path;
  }

  list(): string[] {
    return readdirSync(this.name);
  }

  open(name: string): SyncFolderFile | undefined {
    if (!isPlainName(name)) return undefined;
    try {
      return SyncFileSource.open(join(this.name, name));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }
}

/** Whether a file cannot be opened because there is none, or because it is a folder. */
function isAbsence(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'ENOENT' || code === 'EISDIR' || code === 'ENAMETOOLONG';
}
