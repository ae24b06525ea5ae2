import { writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { WritableFile } from '../writable-folder.js';

/**
 * Writes of up to this many bytes are synchronous: the system copies them in a few microseconds, and handing them to
 * another thread and back takes ten times as long.
 */
const FEW_BYTES = 64 * 2 ** 10;

/** A file of the file system that is being written. */
export class NodeWritableFile implements WritableFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  append(bytes: Uint8Array): void | Promise<void> {
    if (bytes.length > FEW_BYTES) return this.#append(bytes, 0);
    const written = writeSync(this.#handle.fd, bytes);
    // Bytes are left over only if a signal interrupted the write, or if the disk is full.
    if (written < bytes.length) return this.#append(bytes, written);
  }

  async #append(bytes: Uint8Array, start: number): Promise<void> {
    for (let written = start; written < bytes.length; ) {
      const step = await this.#handle.write(bytes, written, Math.min(2 ** 30, bytes.length - written));
      if (step.bytesWritten === 0) throw Object.assign(new Error('EIO: the system writes nothing, write'), { code: 'EIO', syscall: 'write' });
      written += step.bytesWritten;
    }
  }

  async sync(): Promise<void> {
    // On macOS, both calls use F_FULLFSYNC.
    await this.#handle.datasync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
