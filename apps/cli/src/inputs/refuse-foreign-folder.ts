import { foreignEngine } from '@bloom/leveldb';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { Failure } from '../failure.js';
import { folderFailure } from './opened-folder.js';

/** @throws Failure when a folder is the database of another engine, or cannot be read. */
export async function mustBeLevelDb(path: string): Promise<void> {
  const folder = new SyncNodeFolder(path);
  try {
    const engine = await foreignEngine(folder);
    if (engine !== undefined) throw new Failure(`${path}: it ${engine.text}`);
  } catch (error) {
    throw folderFailure(path, folder, error);
  }
}
