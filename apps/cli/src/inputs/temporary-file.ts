import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A file that has no name any more once it is open, so that the system removes it however the process ends. Windows cannot do
 * that: there it is removed when it is closed.
 */
export class TemporaryFile {
  readonly fd: number;
  byteLength = 0;
  readonly #path: string;

  /** @throws the system's error when the file cannot be made. */
  constructor(folder: string) {
    this.#path = join(folder, `.bloom.${randomBytes(6).toString('hex')}.tmp`);
    this.fd = openSync(this.#path, 'wx+', 0o600);
    if (process.platform !== 'win32') rmSync(this.#path);
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(this.fd, bytes, at, bytes.length - at);
      at += written;
      this.byteLength += written;
    }
  }

  close(): void {
    closeSync(this.fd);
    if (process.platform === 'win32') rmSync(this.#path, { force: true });
  }
}
