/** The entry point for browsers and all hosts that are not like Node: a location is a folder of `@bloom/leveldb`. */
// The package, which abstract-level uses in browsers too, rather than Node's own module.
import { Buffer } from 'buffer/index.js';
import type { Folder, RepairOptions, RepairReport, WritableFolder } from '@bloom/leveldb';
import { destroyLevel, FolderLevel, repairLevel } from './folder-level.js';
import { LevelError } from './level-error.js';
import type { LevelHost } from './level-host.js';
import type { LevelOptions } from './level-options.js';

export { LevelError, type LevelErrorCode } from './level-error.js';
export type {
  BatchOptions,
  ChainedBatchWriteOptions,
  DelOptions,
  IteratorOptions,
  KeyIteratorOptions,
  LevelOptions,
  OpenOptions,
  PutOptions,
  StartEndOptions,
  ValueIteratorOptions,
} from './level-options.js';

const encoder = new TextEncoder();
/** As `Buffer` decodes: a byte order mark is part of the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function refuse(location: string): never {
  const problem = `${JSON.stringify(location)} names no folder here, where there is no file system: give a folder, such as new WritableMemoryFolder()`;
  throw new LevelError('LEVEL_NOT_SUPPORTED', problem);
}

const host: LevelHost = {
  folderAt: refuse,
  readOnlyFolderAt: refuse,
  bytesOf: (text) => encoder.encode(text),
  textOf: (bytes, start, end) => decoder.decode(bytes.subarray(start, end)),
  bufferOf: (bytes, start, end) => Buffer.from(bytes.subarray(start, end)),
};

/**
 * An abstract-level database on a LevelDB folder: strings, JSON and bytes as keys and values, sublevels, iterators, batches and events.
 *
 * @example
 * ```ts
 * const level = new BloomLevel(new WritableMemoryFolder(), { valueEncoding: 'json' });
 * await level.put('hello', { to: 'world' });
 * await level.get('hello'); // { to: 'world' }
 * await level.close();
 * ```
 */
export class BloomLevel<KDefault = string, VDefault = string> extends FolderLevel<KDefault, VDefault> {
  /**
   * Opens the database on the next tick; operations wait until it is open.
   *
   * @param location a folder of `@bloom/leveldb`, such as `WritableMemoryFolder`; for `readOnly` also one that cannot be written to, such as
   *   `DirectoryFolder` and `HttpFolder`.
   * @throws TypeError for another location, LevelError `LEVEL_NOT_SUPPORTED` for a string.
   */
  constructor(location: string | Folder, options?: LevelOptions<KDefault, VDefault>) {
    super(host, location, options);
  }

  /**
   * Deletes a database, and its folder if nothing else is in it.
   *
   * @throws LevelError `LEVEL_LOCKED` when it is open, `LEVEL_IO_ERROR` when a file cannot be deleted.
   */
  static destroy(location: string | WritableFolder): Promise<void> {
    return destroyLevel(host, location);
  }

  /**
   * Rebuilds a database that cannot be opened from what can be read of it, as `Database.repair` of `@bloom/leveldb` does.
   *
   * @param options such as the comparator, policy and codecs of the database.
   * @returns what was kept, and what was lost.
   * @throws LevelError `LEVEL_LOCKED` when it is open, `LEVEL_IO_ERROR` when there is no folder or it fails.
   */
  static repair(location: string | WritableFolder, options?: RepairOptions): Promise<RepairReport> {
    return repairLevel(host, location, options);
  }
}
