import { foreignEngine } from '@bloom/leveldb';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { Failure, failureOf } from '../failure.js';

/** @throws Failure when a folder is the database of another engine, or cannot be read. */
export async function mustBeLevelDb(path: string): Promise<void> {
  try {
    const engine = await foreignEngine(new SyncNodeFolder(path));
    if (engine !== undefined) throw new Failure(`${path}: it ${engine.text}`);
  } catch (error) {
    throw failureOf(path, error);
  }
}
