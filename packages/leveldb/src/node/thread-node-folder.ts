import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { WritableFile } from '../writable-folder.js';
import type { ThreadFolder } from '../write/thread-tables.js';
import { SyncNodeFolder } from './node-folder.js';
import { NodeWritableFile } from './node-writable-file.js';

/** A folder of the file system for a worker thread. It reads synchronously, because nobody is held up when the worker's event loop waits. */
export class ThreadNodeFolder extends SyncNodeFolder implements ThreadFolder {
  async create(name: string): Promise<WritableFile> {
    return new NodeWritableFile(await open(join(this.name, name), 'w'));
  }
}
