import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
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

/**
 * A file that has no name any more once it is open, so that the system removes it however the process ends. Windows cannot do
 * that: there it is removed when it is closed.
 */
export class TemporaryFile extends AppendedFile {
  readonly #path: string;

  /** @throws the system's error when the file cannot be made. */
  constructor(folder: string) {
    const path = join(folder, `.bloom.${randomBytes(6).toString('hex')}.tmp`);
    super(openSync(path, 'wx+', 0o600));
    this.#path = path;
    if (process.platform !== 'win32') rmSync(path);
  }

  close(): void {
    closeSync(this.fd);
    if (process.platform === 'win32') rmSync(this.#path, { force: true });
  }
}
