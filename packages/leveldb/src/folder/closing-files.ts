import type { FolderFile } from './folder.js';

/** Closes files that were only read, without waiting. A failure is ignored, because nothing is lost by it. */
export class ClosingFiles {
  readonly #closing = new Set<Promise<void>>();

  close(file: Pick<FolderFile, 'close'> | undefined): void {
    let closing: void | Promise<void>;
    try {
      closing = file?.close?.();
    } catch {
      return;
    }
    if (!(closing instanceof Promise)) return;
    const closed = closing
      .catch(() => undefined)
      .then(() => {
        this.#closing.delete(closed);
      });
    this.#closing.add(closed);
  }

  /** Resolves when every file is closed. */
  async settled(): Promise<void> {
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }
}
