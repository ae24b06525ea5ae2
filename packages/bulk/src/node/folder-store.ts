import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, readdir, readFile, rename, rm, stat, unlink, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Signal } from '@bloom/bytes';
import { mustBeOptions, mustBePath, mustBeWhole } from '@bloom/bytes/internal';
import { DatabaseError, type Folder, type FolderLock } from '@bloom/leveldb';
import { mustBePlainName } from '@bloom/leveldb/internal';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { BulkError } from '../part/bulk-error.js';
import { CURRENT, isTemporaryName, mayBePublished, parseObjectName } from '../part/object-name.js';
import { mustNameOne, type NewObject, type ReadObject, type Replacement, type Store, type StoredObject } from '../store/store.js';

/** How to write to a folder. */
export interface FolderStoreOptions {
  /** Milliseconds to wait for other publishers that are replacing CURRENT. Default: 60,000. */
  readonly patienceMs?: number | undefined;
}

const FOLDER_STORE_OPTIONS: Record<keyof FolderStoreOptions, true> = { patienceMs: true };
const DEFAULT_PATIENCE_MS = 60_000;

/** A store in a folder of the file system, which a web server can serve. */
export class FolderStore implements Store {
  /** The path as given. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  readonly #patienceMs: number;
  #takesParts = false;

  constructor(path: string, options: FolderStoreOptions = {}) {
    mustBeOptions('FolderStore', options, FOLDER_STORE_OPTIONS);
    mustBePath('path', path);
    this.#patienceMs = mustBeWhole('patienceMs', options.patienceMs ?? DEFAULT_PATIENCE_MS, 0);
    this.name = path;
    this.path = resolve(path);
  }

  async get(name: string, signal?: Signal): Promise<ReadObject | undefined> {
    signal?.throwIfAborted();
    const path = this.#pathOf(name);
    try {
      const bytes = new Uint8Array(await readFile(path));
      // Only CURRENT is replaced, and its contents are short, so they serve as its ETag.
      return { bytes, etag: Buffer.from(bytes.subarray(0, MAX_ETAG_BYTES)).toString('base64') };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#failed(`read ${name}`, error, name);
    }
  }

  async head(name: string, signal?: Signal): Promise<StoredObject | undefined> {
    signal?.throwIfAborted();
    const path = this.#pathOf(name);
    try {
      const stats = await stat(path);
      return stats.isFile() ? { name, byteLength: stats.size, modifiedMs: stats.mtimeMs } : undefined;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#failed(`find ${name}`, error, name);
    }
  }

  /**
   * Writes a temporary file and then gives it the name, so that the file appears complete.
   *
   * @throws BulkError `BLOOM_NOT_PUBLISHED` for a part in the folder of a database that was not published.
   */
  async create(object: NewObject, signal?: Signal): Promise<boolean> {
    signal?.throwIfAborted();
    const { name } = object;
    const path = this.#pathOf(name);
    if (parseObjectName(name)?.type === 'part') await this.#mustTakeParts(signal);
    try {
      if ((await this.head(name)) !== undefined) return false;
      const temporary = await this.#writeTemporary(object);
      try {
        await giveName(temporary, path);
      } finally {
        await rm(temporary, { force: true });
      }
      await syncFolder(this.path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw this.#failed(`write ${name}`, error, name);
    }
  }

  async put(object: NewObject, signal?: Signal): Promise<void> {
    signal?.throwIfAborted();
    const path = this.#pathOf(object.name);
    try {
      // An existing file has the same bytes.
      if (await this.#isRenewed(path)) return;
      await this.#renameOver(await this.#writeTemporary(object), path);
    } catch (error) {
      throw this.#failed(`write ${object.name}`, error, object.name);
    }
  }

  /** Compares and replaces CURRENT while it holds LevelDB's lock on the folder. The system releases the lock when the process ends. */
  async replace(object: NewObject, etag: string | undefined, signal?: Signal): Promise<Replacement> {
    const { name } = object;
    const path = this.#pathOf(name);
    const lock = await this.#lock(signal);
    try {
      const found = await this.get(name, signal);
      if (found?.etag !== etag) return 'refused';
      try {
        await this.#renameOver(await this.#writeTemporary(object), path);
      } catch (error) {
        throw this.#failed(`replace ${name}`, error, name);
      }
      return 'replaced';
    } finally {
      await lock.release();
    }
  }

  async *list(signal?: Signal): AsyncGenerator<StoredObject, void, undefined> {
    let names: string[];
    try {
      names = await readdir(this.path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw this.#failed('list it', error);
    }
    for (const name of await this.#restored(names)) {
      const object = await this.head(name, signal);
      if (object !== undefined) yield object;
    }
  }

  async delete(name: string, seen?: StoredObject, signal?: Signal): Promise<boolean> {
    mustNameOne('FolderStore.delete', name, arguments.length);
    signal?.throwIfAborted();
    const path = this.#pathOf(name);
    try {
      // A temporary file has one writer, which does not renew it.
      if (seen !== undefined && !isTemporaryName(name)) return await this.#deleteUnchanged(name, path, seen);
      await unlink(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw this.#failed(`delete ${name}`, error, name);
    }
    return true;
  }

  /**
   * Renames the file before it compares its time: a writer that wants to renew it then finds no file, and writes it again. If the process
   * is killed before it deletes the file or restores its name, {@link list} restores it, and the file is kept as if it were new.
   */
  async #deleteUnchanged(name: string, path: string, seen: StoredObject): Promise<boolean> {
    const renamed = this.#pathOf(`.${name}.${randomBytes(8).toString('hex')}${DELETED}`);
    await rename(path, renamed);
    // If another process has listed the folder in the meantime, the file already has its name again.
    const modifiedMs = await stat(renamed).then(({ mtimeMs }) => mtimeMs, () => undefined);
    if (modifiedMs !== seen.modifiedMs) {
      await restore(renamed, path);
      return false;
    }
    await unlink(renamed);
    return true;
  }

  /** Restores the names of files that a process renamed to delete them before it was killed. @returns the names of all files afterwards. */
  async #restored(names: readonly string[]): Promise<Set<string>> {
    const restored = new Set(names);
    for (const renamed of names) {
      if (!renamed.endsWith(DELETED)) continue;
      const name = renamed.slice(1, renamed.lastIndexOf('.', renamed.length - DELETED.length - 1));
      if (parseObjectName(name) === undefined) continue;
      // In a folder that only others may change, the file stays as it is.
      await restore(this.#pathOf(renamed), this.#pathOf(name)).catch(() => undefined);
      restored.delete(renamed);
      restored.add(name);
    }
    return restored;
  }

  folder(): Folder {
    return new PublishedNodeFolder(this.path);
  }

  /**
   * Refuses the folder of a database that was not published: a program that opens it for writing deletes all tables that its MANIFEST does
   * not list.
   */
  async #mustTakeParts(signal: Signal | undefined): Promise<void> {
    if (this.#takesParts) return;
    const current = await this.get(CURRENT, signal);
    if (current !== undefined && !mayBePublished(current.bytes)) {
      throw new BulkError('BLOOM_NOT_PUBLISHED', `the database in ${this.name} was not published by @bloom/bulk: CURRENT does not name a MANIFEST of this package`);
    }
    this.#takesParts = true;
  }

  /** @throws RangeError for a name that leads out of the folder. */
  #pathOf(name: string): string {
    mustBePlainName(name);
    return join(this.path, name);
  }

  /** Writes the bytes to a temporary file and syncs it. */
  async #writeTemporary({ name, bytes }: NewObject): Promise<string> {
    const temporary = this.#pathOf(`.${name}.${randomBytes(8).toString('hex')}.tmp`);
    const create = () => open(temporary, 'wx', 0o644);
    const handle = await create().catch(async (error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      await new WritableNodeFolder(this.path).createFolder();
      return create();
    });
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    } finally {
      await handle.close();
    }
    return temporary;
  }

  async #renameOver(temporary: string, path: string): Promise<void> {
    await rename(temporary, path);
    await syncFolder(this.path);
  }

  /** Sets the modification time of an existing file to now. */
  async #isRenewed(path: string): Promise<boolean> {
    const now = new Date();
    try {
      await utimes(path, now, now);
      // Unless the file was renamed by a deletion at the same moment.
      await stat(path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  async #lock(signal: Signal | undefined): Promise<FolderLock> {
    const folder = new WritableNodeFolder(this.path);
    try {
      await folder.createFolder();
    } catch (error) {
      throw this.#failed('make its folder', error);
    }
    const end = Date.now() + this.#patienceMs;
    for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, 50)) {
      signal?.throwIfAborted();
      try {
        return await folder.lock();
      } catch (error) {
        if (!(error instanceof DatabaseError && error.code === 'BLOOM_LOCKED') || Date.now() >= end) throw this.#failed('lock it', error);
      }
      // Random, so that waiting publishers do not retry at the same moment.
      await delay(waitMs * (0.5 + Math.random()));
    }
  }

  #failed(what: string, cause: unknown, file?: string): BulkError {
    if (cause instanceof BulkError) return cause;
    return new BulkError('BLOOM_STORE_FAILED', `${this.name}: could not ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause, file });
  }
}

const MAX_ETAG_BYTES = 256;

/** The end of the name of a file that is being deleted: `.NAME.HEX.deleted`. */
const DELETED = '.deleted';

/** A folder in which a database was published. */
class PublishedNodeFolder extends NodeFolder {
  readonly isPublished = true;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** What a file system without hard links answers, such as exFAT, a share of Azure Files, or a mounted bucket; on Windows, EISDIR. */
const NO_LINKS: readonly (string | undefined)[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR'];

/**
 * Gives a file a name that no other file has. Without hard links, it replaces a file that gets the name at the same moment. That file has
 * the same bytes, because names tell the bytes, and was written just now: `file` must be as young, or the part could be collected as garbage.
 *
 * @throws the system's error: EEXIST if another file has the name.
 */
async function giveName(file: string, path: string): Promise<void> {
  try {
    await link(file, path);
  } catch (error) {
    if (!NO_LINKS.includes(codeOf(error))) throw error;
    const exists = await stat(path).then(
      () => true,
      (problem: unknown) => {
        if (codeOf(problem) !== 'ENOENT') throw problem;
        return false;
      },
    );
    if (exists) throw Object.assign(new Error(`EEXIST: file already exists, rename '${path}'`, { cause: error }), { code: 'EEXIST' });
    await rename(file, path);
  }
}

/** Restores the name of a renamed file, as one that was just written, unless the file was written again or already has its name. */
async function restore(renamed: string, path: string): Promise<void> {
  const now = new Date();
  // The name matters more than the time, which only the owner of the file may set.
  await utimes(renamed, now, now).catch(() => undefined);
  try {
    await giveName(renamed, path);
  } catch (error) {
    if (!['EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
  }
  await rm(renamed, { force: true });
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot sync folders, and does not need to.
  if (process.platform === 'win32') return;
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems do not support it.
    if (!['EINVAL', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}
