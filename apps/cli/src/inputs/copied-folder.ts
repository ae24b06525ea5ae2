/**
 * Copies a database's folder while another program may write to it.
 *
 * The MANIFEST is read first: it lists the tables, which never change, and determines which logs are needed. Tables and logs are
 * copied, and then the MANIFEST is compared with its first reading. If nothing was added, the tables and the logs belong
 * together; writes to a log after it was copied are not in the copy. Otherwise the round is repeated, and only new files are
 * copied. A log is copied again in each round, because it grows.
 */
import { constants, existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { access, chmod, copyFile, open, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { decodeVersionEdit, parseFileName } from '@bloom/leveldb';
import { isCanonicalName } from '@bloom/leveldb/internal';
import { readLog } from '@bloom/log';
import { Failure, failureOf, isSystemError } from '../failure.js';
import { makeFolder } from '../outputs/new-folder.js';
import { mustBeLevelDb } from './refuse-foreign-folder.js';

/** The number of rounds after which the copy fails because the folder keeps changing. */
const MAX_ROUNDS = 1000;

/** What was copied. */
export interface CopiedFolder {
  readonly files: number;
  readonly bytes: number;
}

/** Copies the database in `path` to the new folder `target`, completely or not at all. @throws Failure. */
export async function copyFolder(path: string, target: string, signal: AbortSignal): Promise<CopiedFolder> {
  if (path === '') throw new Failure('the name of the folder is empty');
  // A copy would lack the files that only the other engine has.
  await mustBeLevelDb(path);
  try {
    const copied = await makeFolder(target, [path], signal, (temporary) => new FolderCopy(path, temporary, signal).run());
    await syncFolder(dirname(resolve(target)));
    return copied;
  } catch (error) {
    // Errors of the source are failures that name it.
    throw failureOf(target, error);
  }
}

/** The contents of a MANIFEST. */
interface Contents {
  readonly manifest: string;
  readonly bytes: Uint8Array;
  /** The numbers of the tables. */
  readonly tables: ReadonlySet<bigint>;
  readonly logNumber: bigint;
  readonly previousLogNumber: bigint;
}

class FolderCopy {
  readonly #path: string;
  readonly #target: string;
  readonly #signal: AbortSignal;
  /** The tables that have been copied. */
  readonly #tables = new Set<string>();
  /** The MANIFEST that was damaged in the last round. */
  #damaged: Uint8Array | undefined;
  /** The tables that were missing in the last round, and the number of rounds in which they were missing. */
  #missed = '';
  #missedTimes = 0;

  constructor(path: string, target: string, signal: AbortSignal) {
    this.#path = path;
    this.#target = target;
    this.#signal = signal;
  }

  async run(): Promise<CopiedFolder> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      this.#signal.throwIfAborted();
      const copied = await this.#round();
      if (copied !== undefined) return copied;
    }
    throw new Failure(`${this.#path}: another program keeps changing the folder: try again`);
  }

  /** @returns undefined when the folder changed in the meantime. */
  async #round(): Promise<CopiedFolder | undefined> {
    const contents = await this.#contents();
    if (contents === undefined) return undefined;
    const needed = this.#neededFiles(contents);
    if (needed === undefined) return undefined;
    for (const name of readdirSync(this.#target)) if (!this.#tables.has(name)) rmSync(join(this.#target, name));
    for (const name of needed.tables) if (!this.#tables.has(name) && !(await this.#copy(name))) return undefined;
    for (const name of this.#tables) {
      if (needed.tables.includes(name)) continue;
      rmSync(join(this.#target, name));
      this.#tables.delete(name);
    }
    for (const name of needed.tables) this.#tables.add(name);
    for (const name of needed.logs) if (!(await this.#copy(name))) return undefined;
    const after = await this.#contents();
    // Compared by its bytes, because the Java port writes into space allocated in advance, and the length stays the same.
    if (after?.manifest !== contents.manifest || Buffer.compare(after.bytes, contents.bytes) !== 0) return undefined;
    await this.#write(contents.manifest, contents.bytes);
    await this.#write('CURRENT', Buffer.from(`${contents.manifest}\n`, 'latin1'));
    await syncFolder(this.#target);
    const names = readdirSync(this.#target);
    return { files: names.length, bytes: names.reduce((sum, name) => sum + statSync(join(this.#target, name)).size, 0) };
  }

  /** The current contents of the MANIFEST; undefined when it was replaced while it was read. */
  async #contents(): Promise<Contents | undefined> {
    const current = await this.#read('CURRENT');
    if (current === undefined) throw new Failure(`${this.#path}: it has no CURRENT, so it is not a database, or it is damaged`);
    const text = Buffer.from(current).toString('latin1');
    const manifest = text.replace(/\n$/, '');
    if (parseFileName(manifest)?.type !== 'manifest') throw new Failure(`${join(this.#path, 'CURRENT')}: does not name a MANIFEST; bloom repair makes a new one`);
    const bytes = await this.#read(manifest);
    if (bytes === undefined) {
      if (String(await this.#read('CURRENT')) !== String(current)) return undefined;
      throw new Failure(`${this.#path}: ${manifest}, which CURRENT names, is missing; bloom repair makes a new one`);
    }
    const parsed = this.#parsed(manifest, bytes);
    if (!(parsed instanceof Error)) return { manifest, ...parsed };
    // It may have been read while another program wrote it. If it has the same bytes in the next round, it is damaged.
    if (this.#damaged !== undefined && Buffer.compare(this.#damaged, bytes) === 0) throw parsed;
    this.#damaged = bytes;
    return undefined;
  }

  /** @returns the contents, or a failure if the MANIFEST is damaged. */
  #parsed(manifest: string, bytes: Uint8Array): Omit<Contents, 'manifest'> | Error {
    const tables = new Set<bigint>();
    let [logNumber, previousLogNumber] = [0n, 0n];
    const { records, drops, tail } = readLog(bytes);
    const damage = drops.find(({ isInterrupted }) => isInterrupted !== true);
    if (damage !== undefined) return new Failure(`${join(this.#path, manifest)}: is damaged at offset ${damage.offset}; bloom repair makes a new one`);
    for (const record of records) {
      const edit = decodeVersionEdit(record.bytes, { structure: 'MANIFEST', offset: record.offset, file: manifest });
      for (const { number } of edit.deletedFiles ?? []) tables.delete(number);
      for (const { file } of edit.newFiles ?? []) tables.add(file.number);
      logNumber = edit.logNumber ?? logNumber;
      previousLogNumber = edit.previousLogNumber ?? previousLogNumber;
    }
    // A record that is being written is not part of the copy.
    return { bytes: tail === undefined ? bytes : bytes.subarray(0, tail.offset), tables, logNumber, previousLogNumber };
  }

  /** The names of the tables and the logs that are needed; undefined when a table is missing. */
  #neededFiles({ tables, logNumber, previousLogNumber }: Contents): { readonly tables: readonly string[]; readonly logs: readonly string[] } | undefined {
    const found = new Map<bigint, string>();
    const logs: string[] = [];
    for (const name of this.#names()) {
      const file = isCanonicalName(name) ? parseFileName(name) : undefined;
      if (file?.type === 'table' && tables.has(file.number)) found.set(file.number, name);
      if (file?.type === 'log' && (file.number >= logNumber || file.number === previousLogNumber)) logs.push(name);
    }
    if (found.size === tables.size) return { tables: [...found.values()], logs };
    this.#miss(tables, found);
    return undefined;
  }

  /** Fails when the same tables are missing for the fifth time in a row: no program is replacing them. */
  #miss(tables: ReadonlySet<bigint>, found: ReadonlyMap<bigint, string>): void {
    const missing = [...tables].filter((number) => !found.has(number));
    const text = missing.join(' ');
    if (this.#missed === text && ++this.#missedTimes > 3) {
      throw new Failure(`${this.#path}: ${missing.length === 1 ? 'a table is' : `${missing.length} tables are`} missing, such as number ${missing[0]!}; bloom repair rebuilds the database from the other files`);
    }
    if (this.#missed !== text) this.#missedTimes = 0;
    this.#missed = text;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#path);
    } catch (error) {
      throw failureOf(this.#path, error);
    }
  }

  async #read(name: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(join(this.#path, name));
    } catch (error) {
      if (isMissing(error) && existsSync(this.#path)) return undefined;
      throw failureOf(name === 'CURRENT' ? this.#path : join(this.#path, name), error);
    }
  }

  /** @returns whether the file exists. */
  async #copy(name: string): Promise<boolean> {
    this.#signal.throwIfAborted();
    const [source, target] = [join(this.#path, name), join(this.#target, name)];
    try {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
    } catch (error) {
      const isOfSource = await access(source, constants.R_OK).then(async () => !(await stat(source)).isFile(), () => true);
      if (!isOfSource) throw error;
      // A link to a missing file stays.
      if (isMissing(error) && lstatSync(source, { throwIfNoEntry: false }) === undefined) return false;
      // The error names both files, and does not say which of them it is about.
      throw failureOf(source, error);
    }
    await makeWritable(target);
    await syncFile(target);
    return true;
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    const handle = await open(join(this.#target, name), 'w');
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

function isMissing(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ENOENT';
}

/** Lets the owner read and write a file, which has the mode of its source. */
async function makeWritable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o600) !== 0o600) await chmod(path, mode | 0o600);
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch {
    // Not all file systems support this.
  } finally {
    await handle.close();
  }
}
