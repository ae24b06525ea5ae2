import { join } from 'node:path';
import type { SyncFolderFile } from '../folder/folder.js';
import type { WritableFile } from '../folder/writable-folder.js';
import type { ThreadFolder } from '../write/table-thread-work.js';
import { type FolderPin, mustBePinned } from './folder-pin.js';
import { SyncNodeFolder } from './node-folder.js';
import { createFile } from './node-writable-file.js';

/** A folder of the file system for a worker thread. It reads synchronously, because nothing else waits for the worker's event loop. */
export class ThreadNodeFolder extends SyncNodeFolder implements ThreadFolder {
  readonly #pin: FolderPin;

  constructor(pin: FolderPin) {
    super(pin.path);
    this.#pin = pin;
  }

  override open(name: string): SyncFolderFile | undefined {
    mustBePinned(this.#pin);
    return super.open(name);
  }

  create(name: string): WritableFile {
    mustBePinned(this.#pin);
    return createFile(join(this.#pin.path, name));
  }
}
