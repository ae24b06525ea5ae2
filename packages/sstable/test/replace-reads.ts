import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

/** Replaces how pieces of files are read asynchronously, until the test is over. `read` reads the piece, or its first bytes. */
export function replaceReads(replacement: (read: (length?: number) => void, length: number) => void): void {
  const { read: original } = fs;
  onTestFinished(() => {
    fs.read = original;
    syncBuiltinESMExports();
  });
  const replaced = (fd: number, bytes: Uint8Array, at: number, length: number, offset: number, done: () => void): void => {
    replacement((first = length) => original(fd, bytes, at, first, offset, done), length);
  };
  fs.read = replaced as unknown as typeof original;
  syncBuiltinESMExports();
}
