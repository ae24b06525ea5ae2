import type { FolderLock } from '@bloom/leveldb';
import { WritableNodeFolder, type WritableNodeFolderOptions } from '@bloom/leveldb/node';
import { note } from '../outputs/output.js';

/** A folder that a command writes to. It tells the user which programs its lock does not keep out. */
export class WrittenFolder extends WritableNodeFolder {
  readonly #given: string;

  constructor(path: string, options?: WritableNodeFolderOptions) {
    super(path, options);
    this.#given = path;
  }

  override async lock(): Promise<FolderLock> {
    const lock = await super.lock();
    if (lock.limits !== undefined) note(`${this.#given}: ${lock.limits}`);
    return lock;
  }
}
