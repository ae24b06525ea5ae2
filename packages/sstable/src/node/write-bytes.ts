import type { FileHandle } from 'node:fs/promises';
import { PIECE_BYTES } from '../read/source.js';

/** Writes `bytes` from `start` on. @throws the system's error, or `EIO` when the system writes no bytes. */
export async function writeBytes(handle: FileHandle, bytes: Uint8Array, start = 0): Promise<void> {
  for (let written = start; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, Math.min(PIECE_BYTES, bytes.length - written));
    if (bytesWritten === 0) throw Object.assign(new Error('EIO: the system wrote no bytes, write'), { code: 'EIO', syscall: 'write' });
    written += bytesWritten;
  }
}
