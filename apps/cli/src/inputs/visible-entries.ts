/** What a reader of a table or a folder sees: the newest value of each key, in order. */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { SyncDatabaseReader } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { bytewiseComparator, type Comparator, SyncTable, UnsupportedError } from '@bloom/sstable';
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { Failure, failureOf } from '../failure.js';
import { EntryBatch } from '../formats/entry-batch.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { loadPlugins, type PluginOptions, type Plugins } from '../plugins/plugin-options.js';
import type { BatchSource } from './batch-source.js';
import { isFolder } from './folder-argument.js';
import { keyFormOf } from './key-form.js';
import { mergeTables } from './merging-thread.js';
import { folderFailure } from './opened-folder.js';
import { DescriptorSource } from './sorted-run.js';

/** Bytes of a batch. */
const BATCH_BYTES = 2 ** 19;

/** A table that is open. */
export interface OpenedFile {
  readonly name: string;
  readonly fd: number;
  readonly byteLength: number;
}

/** Opens a regular file. @throws Failure that names it. */
export function openFile(path: string): OpenedFile {
  if (path === '') throw new Failure('the name of the table is empty');
  if (path === '-') throw new Failure('-: a table cannot be read from standard input: name a file (./- for one with this name)');
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const stat = fstatSync(fd);
    if (stat.isDirectory()) throw new Failure(`${path}: is a folder`);
    if (!stat.isFile()) throw new Failure(`${path}: is not a regular file, but tables need random access: copy it to a file first`);
    return { name: path, fd, byteLength: stat.size };
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    throw failureOf(path, error);
  }
}

/** Whether the keys of a table are those of a database. @throws Failure when it cannot be opened. */
export async function hasInternalKeys({ name, fd, byteLength }: OpenedFile, plugins: Plugins): Promise<boolean> {
  const source = new DescriptorSource(fd, byteLength);
  try {
    const table = SyncTable.open(source, { codecs: knownCodecs(plugins), cache: null, filterPolicies: [] });
    return (await keyFormOf(source, table, 0)).isInternal;
  } catch (error) {
    throw failureOf(name, error);
  }
}

/** The visible entries of a table or a folder, and the order that they are in. */
export interface VisibleEntries extends BatchSource {
  readonly comparator: Comparator;
}

/** Opens a table or a folder. @throws Failure that names it. */
export async function openVisible(path: string, options: PluginOptions & { readonly internal?: boolean }): Promise<VisibleEntries> {
  const plugins = await loadPlugins(options);
  if (isFolder(path)) return FolderEntries.open(path, plugins);
  const file = openFile(path);
  try {
    const isInternal = options.internal ?? (await hasInternalKeys(file, plugins));
    const merged = await mergeTables({ files: [file], plugins: options, isInternal });
    const comparator = plugins.comparator ?? bytewiseComparator;
    const source = isInternal ? new NewestVersions(merged, comparator) : merged;
    return {
      comparator,
      next: () => source.next(),
      close() {
        source.close();
        closeSync(file.fd);
      },
    };
  } catch (error) {
    closeSync(file.fd);
    throw error;
  }
}

/** The newest version of each user key in batches of internal keys; keys whose newest version is a deletion are left out. */
export class NewestVersions implements BatchSource {
  readonly #source: BatchSource;
  readonly #comparator: Comparator;
  #last: Uint8Array | undefined;

  constructor(source: BatchSource, comparator: Comparator) {
    this.#source = source;
    this.#comparator = comparator;
  }

  async next(): Promise<EntryBatch | undefined> {
    const versions = await this.#source.next();
    if (versions === undefined) return undefined;
    const newest = new EntryBatch(versions.end || versions.bytes.length, versions.length);
    for (let i = 0; i < versions.length; i++) {
      const key = versions.key(i);
      const userEnd = key.length - INTERNAL_KEY_TRAILER_LENGTH;
      if (userEnd < 0) throw new Failure('a key is too short to be that of a database: --no-internal reads keys as they are');
      const userKey = key.subarray(0, userEnd);
      if (this.#last !== undefined && this.#comparator.compare(this.#last, userKey) === 0) continue;
      this.#last = userKey;
      if (key[userEnd] !== DELETION) newest.add(userKey, versions.value(i), 0);
    }
    // The batch may be used again.
    this.#last = this.#last?.slice();
    return newest;
  }

  close(): void {
    this.#source.close();
  }
}

/** The visible entries of a folder. */
class FolderEntries implements VisibleEntries {
  readonly comparator: Comparator;
  readonly #path: string;
  readonly #database: SyncDatabaseReader;
  readonly #entries: Iterator<readonly [Uint8Array, Uint8Array]>;

  private constructor(path: string, database: SyncDatabaseReader, comparator: Comparator) {
    this.#path = path;
    this.#database = database;
    this.comparator = comparator;
    this.#entries = database.entries();
  }

  static open(path: string, plugins: Plugins): FolderEntries {
    const folder = new SyncNodeFolder(path);
    const codecs = knownCodecs(plugins);
    const open = (comparator: Comparator): FolderEntries => {
      const filterPolicies = comparator === idbComparator ? [idbFilterPolicy] : undefined;
      return new FolderEntries(path, SyncDatabaseReader.open(folder, { codecs, comparators: [comparator], filterPolicies }), comparator);
    };
    try {
      return open(plugins.comparator ?? bytewiseComparator);
    } catch (error) {
      try {
        if (plugins.comparator === undefined && error instanceof UnsupportedError && error.code === 'BLOOM_UNKNOWN_COMPARATOR') return open(idbComparator);
      } catch {
        // The first error says what is wrong.
      }
      throw folderFailure(path, folder, error);
    }
  }

  async next(): Promise<EntryBatch | undefined> {
    await Promise.resolve();
    try {
      const batch = new EntryBatch(BATCH_BYTES);
      while (batch.end < BATCH_BYTES && batch.length < BATCH_BYTES) {
        const step = this.#entries.next();
        if (step.done === true) break;
        batch.add(step.value[0], step.value[1], 0);
      }
      return batch.length === 0 ? undefined : batch;
    } catch (error) {
      throw folderFailure(this.#path, new SyncNodeFolder(this.#path), error);
    }
  }

  close(): void {
    this.#database.close();
  }
}
