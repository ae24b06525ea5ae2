/** The parts of the browser's interface that are used: the origin private file system and Web Locks. */
import type { BlobLike } from '@bloom/sstable/blob';

/** The part of a `FileSystemSyncAccessHandle` that is needed. */
export interface AccessHandle {
  read(into: Uint8Array, options: { readonly at: number }): number;
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  getSize(): number;
  truncate(length: number): void;
  flush(): void;
  close(): void;
}

interface WritableStreamLike {
  write(blob: BlobLike): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

/** The part of a `FileSystemFileHandle` that is needed. */
export interface FileHandle {
  getFile(): Promise<BlobLike>;
  createSyncAccessHandle?(): Promise<AccessHandle>;
  createWritable(): Promise<WritableStreamLike>;
  /** Not in the standard, and not in all browsers. */
  move?(folder: DirectoryHandle, name: string): Promise<void>;
}

/** The part of a `FileSystemDirectoryHandle` that is needed. */
export interface DirectoryHandle {
  readonly name: string;
  keys(): AsyncIterable<string>;
  getFileHandle(name: string, options?: { readonly create: boolean }): Promise<FileHandle>;
  getDirectoryHandle(name: string, options?: { readonly create: boolean }): Promise<DirectoryHandle>;
  removeEntry(name: string): Promise<void>;
}

interface LockManager {
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
  request(name: string, options: { readonly ifAvailable: true }, held: (lock: unknown) => Promise<void> | undefined): Promise<unknown>;
}

interface OpfsNavigator {
  readonly storage?: { getDirectory?(): Promise<DirectoryHandle> };
  readonly locks?: LockManager;
}

function navigatorHere(): OpfsNavigator {
  return (globalThis as { readonly navigator?: OpfsNavigator }).navigator ?? {};
}

/** The root of the origin private file system. @throws TypeError where there is none. */
export async function opfsRoot(): Promise<DirectoryHandle> {
  const { storage } = navigatorHere();
  if (storage?.getDirectory === undefined) {
    throw new TypeError('this host has no origin private file system: use a browser, and serve the page over HTTPS or from localhost');
  }
  return storage.getDirectory();
}

/** The locks of the origin, which all of its pages and workers share; undefined where there are none. */
export function locksHere(): LockManager | undefined {
  return navigatorHere().locks;
}

/** The `name` of a `DOMException`, by which browsers distinguish errors. */
export function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';
}

/** Whether there is no such file: nothing of that name, a folder of that name, or a name that no file can have. */
export function isAbsence(error: unknown): boolean {
  return ['NotFoundError', 'TypeMismatchError', 'TypeError'].includes(nameOf(error));
}
