/**
 * The lock of a file in Deno and Bun, which cannot use fs-native-extensions: loading it ends Deno at once, and a lock that is
 * held by another process ends Bun (both lack functions of libuv that it calls).
 *
 * Both hosts can call the C library, so on Linux the same lock is taken by fcntl: a write lock on the whole file that belongs
 * to the open file (F_OFD_SETLK), which LevelDB's own lock and that of fs-native-extensions exclude. Elsewhere fcntl cannot be
 * called this way, because macOS passes its third argument differently from that of other functions.
 *
 * `struct flock`, in the byte order of the processor:
 *
 *     +-------------+---------------+---+--------------+------------+------------+---+
 *     | l_type (2)  | l_whence (2)  | 4 | l_start (8)  | l_len (8)  | l_pid (4)  | 4 |
 *     +-------------+---------------+---+--------------+------------+------------+---+
 *
 * Source: Linux, include/uapi/asm-generic/fcntl.h; the same for x64 and arm64.
 */
import process from 'node:process';
import { DatabaseError } from '../folder/database-error.js';

/** The functions of fs-native-extensions that are used. */
export interface FileLocks {
  tryLock(fd: number): boolean;
}

/** fcntl, until the library is closed. */
interface CLibrary {
  readonly symbols: { readonly fcntl: (fd: number, command: number, lock: Uint8Array) => number };
  close(): void;
}

/** What is known of a host. */
export interface Host {
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly arch: string;
}

/** The members of `Deno` and of `bun:ffi` that are used. */
interface DenoHost {
  dlopen(library: string, symbols: { readonly fcntl: { readonly parameters: readonly string[]; readonly result: string } }): CLibrary;
}
interface BunForeignFunctions {
  dlopen(library: string, symbols: { readonly fcntl: { readonly args: readonly string[]; readonly returns: string } }): CLibrary;
}

const C_LIBRARY = 'libc.so.6';
const F_OFD_GETLK = 36;
const F_OFD_SETLK = 37;
const F_WRLCK = 1;
const F_UNLCK = 2;
const FLOCK_LENGTH = 32;

const OTHERWISE = "or make sure that nobody else writes and give lock: 'none'";

/**
 * The locks of this host, if it is one that must not load fs-native-extensions; undefined in Node.js.
 *
 * The versions of the process say which host it is. Programs for Node.js may have a global `Deno` or `Bun` of their own.
 *
 * @throws DatabaseError `BLOOM_NO_LOCK` when such a host cannot lock files.
 */
export async function hostLocks({ versions, platform, arch }: Host = process): Promise<FileLocks | undefined> {
  const { deno, bun } = versions;
  if (deno === undefined && bun === undefined) return undefined;
  const host = deno === undefined ? `Bun ${bun}` : `Deno ${deno}`;
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch)) {
    throw new DatabaseError('BLOOM_NO_LOCK', `${host} can lock folders only on Linux, on x64 and arm64: use Node.js, ${OTHERWISE}`);
  }
  if (deno !== undefined && !hasRealDescriptors(deno)) {
    throw new DatabaseError('BLOOM_NO_LOCK', `${host} cannot lock folders: use Deno 2.8 or later, ${OTHERWISE}`);
  }
  try {
    const openLibrary = deno === undefined ? await bunLibrary() : denoLibrary;
    openLibrary().close();
    return new LinuxLocks(openLibrary);
  } catch (cause) {
    const remedy = deno === undefined ? `this needs ${C_LIBRARY}: use Node.js` : `this needs ${C_LIBRARY} and the permission to call it: give --allow-ffi`;
    throw new DatabaseError('BLOOM_NO_LOCK', `${host} locks folders with the C library, which cannot be called; ${remedy}, ${OTHERWISE}`, { cause });
  }
}

/** Locks of open files, by fcntl. */
class LinuxLocks implements FileLocks {
  readonly #openLibrary: () => CLibrary;

  /** @param openLibrary opens the C library for each call, because Deno reports a library that stays open as a leak. */
  constructor(openLibrary: () => CLibrary) {
    this.#openLibrary = openLibrary;
  }

  tryLock(fd: number): boolean {
    // The reason of a failure is in errno, which the host may have overwritten. Asking who holds the lock tells a lock that is
    // held from a file system without locks. Between the two calls the lock may be released, and taken by another again.
    for (let tries = 0; tries < 3; tries++) {
      if (this.#fcntl(fd, F_OFD_SETLK, F_WRLCK).succeeded) return true;
      const holder = this.#fcntl(fd, F_OFD_GETLK, F_WRLCK);
      if (!holder.succeeded) throw new DatabaseError('BLOOM_NO_LOCK', `the file system of the folder does not lock files: use another one, ${OTHERWISE}`);
      if (holder.type !== F_UNLCK) break;
    }
    return false;
  }

  #fcntl(fd: number, command: number, type: number): { readonly succeeded: boolean; readonly type: number } {
    // Zeros mean: from the start of the file to its end, wherever that will be.
    const lock = new Uint8Array(FLOCK_LENGTH);
    const view = new DataView(lock.buffer);
    view.setInt16(0, type, true);
    const library = this.#openLibrary();
    try {
      const succeeded = library.symbols.fcntl(fd, command, lock) === 0;
      return { succeeded, type: view.getInt16(0, true) };
    } finally {
      library.close();
    }
  }
}

function denoLibrary(): CLibrary {
  const { Deno } = globalThis as unknown as { readonly Deno: DenoHost };
  return Deno.dlopen(C_LIBRARY, { fcntl: { parameters: ['i32', 'i32', 'buffer'], result: 'i32' } });
}

async function bunLibrary(): Promise<() => CLibrary> {
  // Only Bun has this module, so bundlers must not look for it.
  const name = 'bun:ffi' as string;
  const foreignFunctions = (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)) as BunForeignFunctions;
  return () => foreignFunctions.dlopen(C_LIBRARY, { fcntl: { args: ['i32', 'i32', 'ptr'], returns: 'i32' } });
}

/** Whether Deno's file descriptors are those of the system. Those of Deno 2.6 were numbers of its own: locking one locked nothing. */
function hasRealDescriptors(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 8);
}
