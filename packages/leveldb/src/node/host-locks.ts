/**
 * The locks of files that a host has. No JavaScript host has a call for them, so they come from native code:
 *
 * - Node.js on Linux, on x64 and arm64, calls the C library with koffi, which is prebuilt for glibc and musl. Only koffi's package with the
 *   add-on is installed: it has no install script, and other platforms do not download it.
 * - Node.js elsewhere has fs-native-extensions, which locks with flock on macOS and with `LockFileEx` on Windows. On Linux it replaces koffi if
 *   that is missing, but without flock.
 * - Deno and Bun call the C library themselves, on Linux only: macOS passes fcntl's third argument differently from that of
 *   other functions. Loading fs-native-extensions ends Deno at once, and a lock that is held by another process ends Bun
 *   (both lack functions of libuv that it calls).
 */
import { existsSync, statSync } from 'node:fs';
import { DatabaseError } from '../folder/database-error.js';
import { type CLibrary, CLibraryLocks } from './c-library-locks.js';
import type { FileLocks } from './file-locks.js';
import { codeOf } from './system-error.js';

export interface Host {
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly arch: string;
}

export type ImportAddOn = (name: string) => Promise<unknown>;

/** The members of `Deno`, `bun:ffi` and koffi that are used. */
interface DenoHost {
  dlopen(library: string, symbols: Readonly<Record<string, { readonly parameters: readonly string[]; readonly result: string }>>): CLibrary;
}
interface BunForeignFunctions {
  dlopen(library: string, symbols: Readonly<Record<string, { readonly args: readonly string[]; readonly returns: string }>>): CLibrary;
}
interface Koffi {
  /** @param library null for everything that the process has loaded, which includes its C library under any name. */
  load(library: null): { func(name: string, result: string, parameters: readonly string[]): (...values: readonly unknown[]) => number };
}

const C_LIBRARY = 'libc.so.6';
const OTHERWISE = "or make sure that nobody else writes and pass lock: 'none'";

/**
 * The locks of this host.
 *
 * The versions of the process identify the host. Programs for Node.js may have a global `Deno` or `Bun` of their own.
 *
 * @throws DatabaseError `BLOOM_NO_LOCK` when the host cannot lock files.
 */
export async function hostLocks(host: Host = process, importAddOn: ImportAddOn = importPackage): Promise<FileLocks> {
  const { deno, bun } = host.versions;
  if (deno === undefined && bun === undefined) return nodeLocks(host, importAddOn);
  const name = deno === undefined ? `Bun ${bun}` : `Deno ${deno}`;
  if (!hasKnownCLibrary(host)) {
    throw new DatabaseError('BLOOM_NO_LOCK', `${name} can lock folders only on Linux, on x64 and arm64: use Node.js, ${OTHERWISE}`);
  }
  if (deno !== undefined && !hasRealDescriptors(deno)) {
    throw new DatabaseError('BLOOM_NO_LOCK', `${name} cannot lock folders: use Deno 2.8 or later, ${OTHERWISE}`);
  }
  try {
    const openLibrary = deno === undefined ? await bunLibrary() : denoLibrary;
    openLibrary().close();
    return new CLibraryLocks(openLibrary, OTHERWISE);
  } catch (cause) {
    const remedy = deno === undefined ? `this needs ${C_LIBRARY}: use Node.js` : `this needs ${C_LIBRARY} and the permission to call it: pass --allow-ffi`;
    throw new DatabaseError('BLOOM_NO_LOCK', `${name} locks folders with the C library, which cannot be called; ${remedy}, ${OTHERWISE}`, { cause });
  }
}

/** The hosts whose C library has the numbers and structures of `c-library-locks.ts`. */
function hasKnownCLibrary({ platform, arch }: Host): boolean {
  return platform === 'linux' && ['x64', 'arm64'].includes(arch);
}

async function nodeLocks(host: Host, importAddOn: ImportAddOn): Promise<FileLocks> {
  const { platform, arch } = host;
  const koffi = hasKnownCLibrary(host) ? `@koromix/koffi-linux-${arch}` : undefined;
  let noFlock = ['darwin', 'win32'].includes(platform) ? undefined : `flock can be called only on x64 and arm64, and this is ${arch}`;
  if (koffi !== undefined) {
    try {
      return koffiLocks((await importAddOn(koffi)) as Koffi);
    } catch (error) {
      noFlock = `flock needs the package ${koffi}, which cannot be loaded (${firstLine(error)})`;
    }
  }
  try {
    const locks = (await importAddOn('fs-native-extensions')) as FileLocks;
    return { tryLock: (fd) => locks.tryLock(fd), unlock: (fd) => locks.unlock(fd), noFlock };
  } catch (cause) {
    throw new DatabaseError('BLOOM_NO_LOCK', missingAddOn(koffi, cause, `${platform} on ${arch}`), { cause });
  }
}

function missingAddOn(koffi: string | undefined, cause: unknown, platform: string): string {
  if (koffi !== undefined) {
    return `folders are locked with the package ${koffi} or fs-native-extensions, and neither can be loaded: install one of them, ${OTHERWISE}`;
  }
  const isInstalled = !['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(codeOf(cause) ?? '');
  const problem = isInstalled ? `which cannot be loaded here (${platform}): use a platform for which it is prebuilt` : 'which is not there: install it';
  return `folders are locked with the package fs-native-extensions, ${problem}, ${OTHERWISE}`;
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0]!;
}

/** The locks that were made with a loaded koffi: it frees neither a library nor a function before the thread ends. */
const ofKoffi = new WeakMap<Koffi, FileLocks>();

function koffiLocks(koffi: Koffi): FileLocks {
  const made = ofKoffi.get(koffi);
  if (made !== undefined) return made;
  const loaded = koffi.load(null);
  const fcntl = loaded.func('fcntl', 'int', ['int', 'int', '...']);
  const flock = loaded.func('flock', 'int', ['int', 'int']);
  const library: CLibrary = {
    symbols: { fcntl: (fd, command, lock) => fcntl(fd, command, 'void *', lock), flock },
    close: () => undefined,
  };
  const locks = new CLibraryLocks(() => library, OTHERWISE);
  ofKoffi.set(koffi, locks);
  return locks;
}

function denoLibrary(): CLibrary {
  const { Deno } = globalThis as unknown as { readonly Deno: DenoHost };
  return Deno.dlopen(C_LIBRARY, {
    fcntl: { parameters: ['i32', 'i32', 'buffer'], result: 'i32' },
    flock: { parameters: ['i32', 'i32'], result: 'i32' },
  });
}

async function bunLibrary(): Promise<() => CLibrary> {
  // Only Bun has this module, so bundlers must not look for it.
  const name = 'bun:ffi' as string;
  const foreignFunctions = (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)) as BunForeignFunctions;
  return () =>
    foreignFunctions.dlopen(C_LIBRARY, {
      fcntl: { args: ['i32', 'i32', 'ptr'], returns: 'i32' },
      flock: { args: ['i32', 'i32'], returns: 'i32' },
    });
}

/** Whether Deno's file descriptors are those of the operating system. Deno 2.6 numbered files by itself: locking such a number locked nothing. */
function hasRealDescriptors(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 8);
}

/** The packages that were imported. Asking Node for one again takes a tenth of a millisecond, at every opening of a database. */
const packages = new Map<string, unknown>();

async function importPackage(name: string): Promise<unknown> {
  const known = packages.get(name);
  if (known !== undefined) return known;
  const found = requiredAddOn(name) ?? (await imported(name));
  packages.set(name, found);
  return found;
}

/** For each package of koffi, the add-on that it loads with glibc, and the file that a system with musl has. */
const KOFFI_FILES: Readonly<Record<string, { readonly glibc: string; readonly musl: string }>> = {
  '@koromix/koffi-linux-x64': { glibc: 'linux_x64/koffi.node', musl: '/lib/ld-musl-x86_64.so.1' },
  '@koromix/koffi-linux-arm64': { glibc: 'linux_arm64/koffi.node', musl: '/lib/ld-musl-aarch64.so.1' },
};

/**
 * The package, loaded by `require`; undefined if that fails.
 *
 * Most of a process's first `open` was the import of koffi. In milliseconds, `import()` takes 5.6, `require` 3.4, and `require` of the add-on
 * alone 2.1: otherwise the package first reads from Node's own program file which C library it uses.
 */
function requiredAddOn(name: string): unknown {
  const file = KOFFI_FILES[name];
  return (file && !existsSync(file.musl) ? required(`${name}/${file.glibc}`) : undefined) ?? required(name);
}

function required(name: string): unknown {
  try {
    // `createRequire` is not imported, because bundles often declare it at their start, for the CommonJS packages in them.
    return process.getBuiltinModule('node:module').createRequire(import.meta.url)(name);
  } catch {
    // A bundler may leave `import.meta.url` undefined, or set it to a path on the machine that made the bundle.
    return undefined;
  }
}

async function imported(name: string): Promise<unknown> {
  // Node 20 resolves no links on the way to a package when the last file passed to `statSync` or `fstatSync` is a pipe, such as standard input. The
  // package is then not found where pnpm has put it. So `statSync` is called for another file first.
  statSync(process.execPath, { throwIfNoEntry: false });
  // A bundler that follows the import would bundle the package without its add-on.
  return ((await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)) as { readonly default: unknown }).default;
}
