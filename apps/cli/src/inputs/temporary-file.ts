import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A file that this or another thread has opened, and that is written from its start. */
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
 * A file without a name, so that the system removes it however the process ends. Linux creates it without a name on most file
 * systems. Elsewhere the name is deleted after the file is opened. Windows cannot delete the name of an open file, so the file is
 * deleted there when it is closed.
 */
export class TemporaryFile extends AppendedFile {
  /** The file's path, if it still has one. */
  readonly #path: string | undefined;

  /** @throws the system's error when the file cannot be created. */
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

/** A descriptor of a new file that never has a name; undefined if the system or the file system does not support this. */
function openNameless(folder: string): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync(folder, NAMELESS | constants.O_DIRECTORY | constants.O_RDWR, 0o600);
  } catch {
    // If the folder is the problem, opening a file by name reports it.
    return undefined;
  }
}
