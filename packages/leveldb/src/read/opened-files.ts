import type { ClosingFiles } from '../folder/closing-files.js';
import type { FolderFile } from '../folder/folder.js';
import { type FolderReading, openFile } from '../folder/folder-reading.js';

/** The files that one attempt to read a folder opens. They are closed together when it ends. */
export class OpenedFiles {
  readonly #files: FolderFile[] = [];
  readonly #closing: ClosingFiles;

  constructor(closing: ClosingFiles) {
    this.#closing = closing;
  }

  *open(name: string): FolderReading<FolderFile | undefined> {
    const file = yield* openFile(name);
    if (file !== undefined) this.#files.push(file);
    return file;
  }

  close(): void {
    for (const file of this.#files.splice(0)) this.#closing.close(file);
  }
}
