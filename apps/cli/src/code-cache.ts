/**
 * Loads the program, a single file, with V8's code cache: compiled functions, which spare most of the time that a short
 * command takes. The first run of each command writes the cache, and later ones read it.
 *
 * V8 runs the code in a cache without checks, and a damaged cache can crash it. So a cache is used only if its checksum is right
 * and only this user and the owner of the program can have written it.
 *
 * V8 refuses a cache of another version or other flags of V8. Of the source it compares only the length, so the name of a
 * cache contains the hash of the program, and identifies the build of Node.
 *
 * Node 22 has `module.enableCompileCache`, but what it stores lacks the functions that are compiled when they are first
 * called: `bloom get` takes 7 ms longer with it, of 16, in Node 22 and in Node 24.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { constants as vmConstants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { commandWords, todaysArguments } from './command-name.js';
import type * as Program from './program.js';

/** The hash of the program's file. The build puts it here. */
const PROGRAM_HASH = '__PROGRAM_HASH__';
/** Missing on Windows. */
const NO_FOLLOW = (constants as { readonly O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0;
/** A CRC-32. */
const CHECKSUM_BYTES = 4;
/** V8 drops functions that have not run for a while, so after a longer run the functions of the start are missing. */
const MAX_RUN_MICROSECONDS = 1e6;
/** Caches that are older, such as those of other versions, are deleted when another one is written. */
const MAX_AGE_MS = 30 * 24 * 3600 * 1000;

/** Loads `program.cjs` from the folder of this file. */
export function loadProgram(): typeof Program {
  const file = join(__dirname, 'program.cjs');
  const require = createRequire(file);
  // Node applies source maps to stack traces only of modules that it loads itself.
  if (process.env.NODE_DISABLE_COMPILE_CACHE || process.sourceMapsEnabled) return require(file) as typeof Program;

  const cache = new CodeCache(file);
  const cachedData = cache.read();
  // The program is ASCII. Reading it as Latin-1 takes a quarter of the time.
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`, {
    filename: file,
    cachedData,
    importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData === undefined || script.cachedDataRejected) {
    process.on('exit', () => {
      if (process.cpuUsage().user < MAX_RUN_MICROSECONDS) cache.write(() => script.createCachedData());
    });
  }
  const module = { exports: {} };
  (script.runInThisContext() as (...names: unknown[]) => void)(module.exports, require, module, file, __dirname);
  return module.exports as typeof Program;
}

/** The code cache of a command: in the program's folder if that is writable, otherwise in the user's folder for caches. */
class CodeCache {
  readonly #program: string;
  readonly #name: string;

  constructor(program: string) {
    this.#program = program;
    // Each command has a cache of the functions that it runs, and everything else, such as help, has one together.
    const command = commandWords(todaysArguments(process.argv.slice(2))).join('-') || 'help';
    const { size, mtimeMs } = statSync(process.execPath);
    this.#name = [command, PROGRAM_HASH, process.version, process.arch, size, Math.trunc(mtimeMs)].join('-');
  }

  read(): Buffer | undefined {
    for (const folder of this.#folders()) {
      const cached = this.#readIn(folder);
      if (cached !== undefined) return cached;
    }
    return undefined;
  }

  /** Writes the cache completely or not at all. Does nothing if it cannot be written. */
  write(content: () => Buffer): void {
    for (const folder of this.#folders()) if (this.#writeIn(folder, content)) return;
  }

  *#folders(): Iterable<string> {
    yield join(dirname(this.#program), 'code-cache');
    const caches = userCaches();
    if (caches !== undefined) yield join(caches, 'bloom');
  }

  #readIn(folder: string): Buffer | undefined {
    let file: number | undefined;
    try {
      if (!this.#isSafe(lstatSync(folder))) return undefined;
      file = openSync(join(folder, this.#name), constants.O_RDONLY | NO_FOLLOW);
      return this.#isSafe(fstatSync(file)) ? unsealed(readFileSync(file)) : undefined;
    } catch {
      return undefined;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Whether only this user and the owner of the program can have written a file or a folder. */
  #isSafe({ uid, mode }: Stats): boolean {
    return process.geteuid === undefined || ((mode & 0o022) === 0 && (uid === process.geteuid() || uid === ownerOf(this.#program)));
  }

  #writeIn(folder: string, content: () => Buffer): boolean {
    // Two first runs write two files, and the later one gets the name.
    const temporary = join(folder, `${this.#name}.${process.pid}`);
    try {
      // Root does not write to folders of other users, who could not delete the file.
      if (process.geteuid !== undefined && ownerOf(nearestFolder(folder)) !== process.geteuid()) return false;
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      if (!this.#isSafe(lstatSync(folder))) return false;
      removeOld(folder);
      writeFileSync(temporary, sealed(content()), { flag: 'wx', mode: 0o644 });
    } catch {
      return false;
    }
    try {
      renameSync(temporary, join(folder, this.#name));
      return true;
    } catch {
      rmSync(temporary, { force: true });
      return false;
    }
  }
}

/** The content followed by its CRC-32. */
function sealed(content: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(content));
  return Buffer.concat([content, checksum]);
}

/** The content of a {@link sealed} buffer; undefined if it is damaged. */
function unsealed(stored: Buffer): Buffer | undefined {
  const end = stored.length - CHECKSUM_BYTES;
  if (end < 0) return undefined;
  const content = stored.subarray(0, end);
  return crc32(content) === stored.readUInt32LE(end) ? content : undefined;
}

function ownerOf(path: string): number {
  return statSync(path).uid;
}

/** The folder itself or, when it does not exist, the first above it that does. */
function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** The user's folder for caches, which need not exist. */
function userCaches(): string | undefined {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (process.platform === 'win32') return LOCALAPPDATA;
  if (process.platform === 'darwin') return join(homedir(), 'Library/Caches');
  // A relative path in the variable is ignored.
  return XDG_CACHE_HOME?.startsWith('/') ? XDG_CACHE_HOME : join(homedir(), '.cache');
}

/** Deletes old caches, and files that were left when a process was killed. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > MAX_AGE_MS) rmSync(path, { force: true });
  }
}
