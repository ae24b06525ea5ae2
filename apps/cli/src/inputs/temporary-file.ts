import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A file that is open already, in this thread or another, and is written from its start on. */
export class AppendedFile {
  byteLength = 0;

  constructor(readonly fd: number) {}

  /** @throws the system's error when it cannot be written. */
  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(this.fd, bytes, at, bytes.length - at);
      at += written;
      this.byteLength += written;
    }
  }
}

/** `__O_TMPFILE` of Linux, which Node.js does not name: the same number on every processor that Node.js runs on. */
const NAMELESS = 0o20000000;

/**
 * A file that has no name once it is open, so that the system removes it however the process ends. Linux makes it without a name
 * on most file systems; elsewhere the name is removed as soon as the file is open. Windows cannot remove the name of an open
 * file: there it is removed when it is closed.
 */
export class TemporaryFile extends AppendedFile {
  /** The file's name, where it still has one. */
  readonly #path: string | undefined;

  /** @throws the system's error when the file cannot be made. */
  constructor(folder: string) {
    const nameless = openNameless(folder);
    const path = join(folder, `.bloom.${randomBytes(6).toString('hex')}.tmp`);
    super(nameless ?? openSync(path, 'wx+', 0o600));
    if (nameless !== undefined) return;
    if (process.platform === 'win32') this.#path = path;
    else rmSync(path);
  }

  close(): void {
    closeSync(this.fd);
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }
}

/** A descriptor of a new file that never has a name; undefined where the system or the file system has no such files. */
function openNameless(folder: string): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync(folder, NAMELESS | constants.O_DIRECTORY | constants.O_RDWR, 0o600);
  } catch {
    // If the folder is what is wrong, opening a file by name says so.
    return undefined;
  }
}
