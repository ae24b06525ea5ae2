/** The entry point for Node, Deno and Bun: a string as location is the path of a folder. */
import { Buffer } from 'node:buffer';
import { mustHaveAtMost } from '@bloom/bytes/internal';
import type { Folder, RepairOptions, RepairReport, WritableFolder } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { BaseBloomLevel, mustBeText } from './base-bloom-level.js';
import { staticArguments } from './call-options.js';
import * as folderCalls from './folder-calls.js';
import type { LevelHost } from './level-host.js';
import { isFolder, type LevelOptions } from './level-options.js';

export type { AdditionalIteratorOptions, BatchOperation, ChainedBatch, DatabaseOptions, Iterator, KeyIterator, Snapshot, ValueIterator } from './classic-types.js';
export { copyLevel, type CopyOptions, type CopyProgress, type CopyResult, type CopySource, type CopyTarget } from './copy-level.js';
export { LevelError, type LevelErrorCode } from './level-error.js';
export type {
  BatchOptions,
  ChainedBatchWriteOptions,
  DelOptions,
  GetManyOptions,
  GetOptions,
  HasManyOptions,
  HasOptions,
  IteratorOptions,
  KeyIteratorOptions,
  LevelOptions,
  OpenOptions,
  PutOptions,
  StartEndOptions,
  ValueIteratorOptions,
} from './level-options.js';

/** Used for all `Buffer`s, and on Node.js also for other bytes, without making a `Buffer` over them, which would take as long as decoding a key. */
const { utf8Slice } = Buffer.prototype as { readonly utf8Slice?: (this: Uint8Array, start: number, end: number) => string };

/** Whether the host's `utf8Slice` accepts bytes that are not a `Buffer`. */
function slicesAllBytes(): boolean {
  try {
    return utf8Slice!.call(new Uint8Array([0, 0xc3, 0xbc]), 1, 3) === '\u00fc';
  } catch {
    return false;
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

/** Up to this many bytes, a loop is faster than `set` with a view. */
const MAX_LOOPED_BYTES = 128;

/**
 * A `Buffer` in memory of its own, as in classic-level: some programs call methods of `Buffer`, and others use all of its memory as the value,
 * or transfer it to a worker. Several in one memory, as in Node's pool, would take 0.4 of the time, and `'buffer'` gives those.
 * `allocUnsafeSlow` takes two thirds of the time that a slice and a `Buffer` over its memory take.
 */
function viewOf(bytes: Uint8Array, start: number, end: number): Buffer {
  const view = Buffer.allocUnsafeSlow(end - start);
  if (view.length > MAX_LOOPED_BYTES) view.set(bytes.subarray(start, end));
  else for (let i = start, to = 0; i < end; i++, to++) view[to] = bytes[i]!;
  return view;
}

const host: LevelHost = {
  openFolder: (folder, options) => folderCalls.openDatabase(folder, options, host),
  openFolderToRead: (folder, options) => folderCalls.openReader(folder, options, host),
  writableAt: (location) => new WritableNodeFolder(location),
  // Loaded on demand: few programs share a database between threads.
  openShared: async (location, options) => (await import('./node/open-shared.js')).openShared(location, options, host),
  readOnlyFolderAt: (location) => new NodeFolder(location),
  bytesOf: (text) => Buffer.from(text),
  textOf: slicesAllBytes() ? (bytes, start, end) => utf8Slice!.call(bytes, start, end) : textOf,
  bufferOf: (bytes, start, end) => Buffer.from(bytes.subarray(start, end)),
  viewOf,
};

function folderAt(location: string | WritableFolder): WritableFolder {
  if (isFolder(location)) return location;
  mustBeText(location);
  return new WritableNodeFolder(location);
}

/**
 * An abstract-level database on a LevelDB folder: strings, JSON and bytes as keys and values, sublevels, iterators, batches and events.
 *
 * @example
 * ```ts
 * const level = new BloomLevel<string, unknown>('path/to/database', { valueEncoding: 'json' });
 * await level.put('hello', { to: 'world' });
 * await level.get('hello'); // { to: 'world' }
 * await level.close();
 * ```
 */
export class BloomLevel<KDefault = string, VDefault = string> extends BaseBloomLevel<KDefault, VDefault> {
  /**
   * Opens the database on the next tick; operations wait until it is open.
   *
   * @param location the path of a folder, or a folder of `@bloom/leveldb`, such as `WritableMemoryFolder`; for `readOnly` also one that
   *   cannot be written to, such as `HttpFolder`.
   * @throws TypeError for another location.
   */
  constructor(location: string | Folder, options?: LevelOptions<KDefault, VDefault>) {
    super(host, location, options);
  }

  /**
   * Deletes a database, and its folder if nothing else is in it.
   *
   * @throws LevelError `LEVEL_LOCKED` when it is open, `LEVEL_IO_ERROR` when a file cannot be deleted.
   */
  static async destroy(location: string | WritableFolder): Promise<void> {
    // eslint-disable-next-line prefer-rest-params -- a rest parameter would be in the types
    mustHaveAtMost('BloomLevel.destroy', 'a location', 1, staticArguments([...arguments]).length);
    return folderCalls.destroyFolder(folderAt(location));
  }

  /**
   * Rebuilds, from its readable parts, a database that cannot be opened, as `Database.repair` of `@bloom/leveldb` does.
   *
   * @param options such as the comparator, policy and codecs of the database.
   * @returns what was kept, and what was lost.
   * @throws LevelError `LEVEL_LOCKED` when it is open, `LEVEL_IO_ERROR` when there is no folder or it fails.
   */
  static async repair(location: string | WritableFolder, options?: RepairOptions): Promise<RepairReport> {
    // eslint-disable-next-line prefer-rest-params -- a rest parameter would be in the types
    const given = staticArguments([...arguments]);
    mustHaveAtMost('BloomLevel.repair', 'a location and options', 2, given.length);
    return folderCalls.repairFolder(folderAt(location), given.length > 1 ? options : undefined);
  }
}
