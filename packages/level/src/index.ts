/** The entry point for browsers and all hosts that are not like Node: a string as location is a path in the origin private file system. */
import { mustBeOptions, mustHaveAtMost } from '@bloom/bytes/internal';
import type { Folder, RepairOptions, RepairReport, WritableFolder } from '@bloom/leveldb';
import { BaseBloomLevel, mustBeText } from './base-bloom-level.js';
import { staticArguments } from './call-options.js';
import { LevelError } from './level-error.js';
import type * as FolderCalls from './folder-calls.js';
import type { LevelHost } from './level-host.js';
import { isFolder, type LevelOptions } from './level-options.js';
import { pageFormats } from './page-formats.js';
import type { WorkerLike } from './worker/browser-parts.js';
import { openInWorker, WorkerCalls } from './worker/worker-calls.js';

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

declare const Worker: (new (url: URL, options: { readonly type: 'module' }) => WorkerLike) | undefined;

type StartWorker = LevelOptions<unknown, unknown>['worker'];

declare const isSecureContext: boolean | undefined;

/** Jest loads the package's files for browsers into its jsdom environment. */
function whyWithoutFiles(): string {
  const { process } = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };
  const isInNode = process?.versions?.node !== undefined;
  return isInNode
    ? ": these are the package's files for browsers. Load those for Node, with the export condition \"node\" (in Jest: customExportConditions)"
    : ', where there is no file system: pass a folder, such as new WritableMemoryFolder()';
}

/** @throws LevelError `LEVEL_NOT_SUPPORTED` where there are no workers, and in a page that must not store files. */
function mustHaveWorkers(location: string): void {
  if (typeof isSecureContext !== 'undefined' && !isSecureContext) {
    const problem = `${JSON.stringify(location)} names no folder here: browsers store files only for pages served over HTTPS or from localhost`;
    throw new LevelError('LEVEL_NOT_SUPPORTED', problem);
  }
  if (typeof Worker !== 'undefined') return;
  throw new LevelError('LEVEL_NOT_SUPPORTED', `${JSON.stringify(location)} names no folder here${whyWithoutFiles()}`);
}

/** The worker that comes with the package. Bundlers recognize this form. */
function startWorker(): WorkerLike {
  return new Worker!(new URL('./level-worker.js', import.meta.url), { type: 'module' });
}

// A page whose database is in a worker does not load the code of databases.
const folderCalls = (): Promise<typeof FolderCalls> => import('./folder-calls.js');

/** @param worker the option of that name. */
function hostWith(worker: StartWorker = startWorker): LevelHost {
  return {
    ...pageFormats,
    openFolder: async (folder, options) => (await folderCalls()).openDatabase(folder, options, pageFormats),
    openFolderToRead: async (folder, options) => (await folderCalls()).openReader(folder, options, pageFormats),
    writableAt(location) {
      mustHaveWorkers(location);
      return (options) => openInWorker(location, worker, options, pageFormats);
    },
    readOnlyFolderAt(location) {
      mustHaveWorkers(location);
      return async (options) => {
        const [{ OpfsFolder }, { openReader }] = await Promise.all([import('@bloom/leveldb/opfs'), folderCalls()]);
        return openReader(new OpfsFolder(location), options, pageFormats);
      };
    },
  };
}

/** Makes one call in a worker. */
async function inWorker<T>(location: string, worker: StartWorker = startWorker, call: (calls: WorkerCalls) => Promise<T>): Promise<T> {
  mustBeText(location);
  mustHaveWorkers(location);
  const calls = new WorkerCalls(location, worker);
  try {
    return await call(calls);
  } finally {
    calls.fail('the worker has done what it was started for');
  }
}

/** How calls about a path in the origin private file system are made. */
export interface InWorker {
  /** As the option of the constructor. */
  readonly worker?: StartWorker;
}

const IN_WORKER: Record<keyof InWorker, true> = { worker: true };

/** The options for a folder, which needs no worker. Values that are not options are returned unchanged, to be refused. */
function withoutWorker(options: RepairOptions & InWorker): RepairOptions {
  if (Object(options) !== options || !('worker' in options)) return options;
  // A copy by spreading would lack inherited options.
  return Object.assign(Object.create(Object.getPrototypeOf(options) as object), options, { worker: undefined }) as RepairOptions;
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
   * @param location the path of a folder in the origin private file system, which is opened in a worker, once for all pages that use the path;
   *   or a folder of `@bloom/leveldb`, such as `WritableMemoryFolder`; for `readOnly` also one that cannot be written to, such as
   *   `DirectoryFolder` and `HttpFolder`.
   * @throws TypeError for another location, LevelError `LEVEL_NOT_SUPPORTED` for a string where there are no workers.
   */
  constructor(location: string | Folder, options?: LevelOptions<KDefault, VDefault>) {
    super(hostWith(options?.worker), location, options);
  }

  /**
   * Deletes a database, and its folder if nothing else is in it.
   *
   * @throws LevelError `LEVEL_LOCKED` when it is open, `LEVEL_IO_ERROR` when a file cannot be deleted.
   */
  static async destroy(location: string | WritableFolder, options: InWorker = {}): Promise<void> {
    // eslint-disable-next-line prefer-rest-params -- a rest parameter would be in the types
    const given = staticArguments([...arguments]);
    mustHaveAtMost('BloomLevel.destroy', 'a location and options', 2, given.length);
    const own = given.length > 1 ? options : {};
    mustBeOptions('BloomLevel.destroy', own, IN_WORKER);
    if (isFolder(location)) return (await folderCalls()).destroyFolder(location);
    return inWorker(location, own.worker, (calls) => calls.call('destroy'));
  }

  /**
   * Rebuilds, from its readable parts, a database that cannot be opened, as `Database.repair` of `@bloom/leveldb` does.
   *
   * @param options such as the comparator, policy and codecs of the database; for a path, which is repaired in a worker, only `worker`.
   * @returns what was kept, and what was lost.
   * @throws LevelError `LEVEL_LOCKED` when it is open, `LEVEL_IO_ERROR` when there is no folder or it fails.
   */
  static async repair(location: string | WritableFolder, options: RepairOptions & InWorker = {}): Promise<RepairReport> {
    // eslint-disable-next-line prefer-rest-params -- a rest parameter would be in the types
    const given = staticArguments([...arguments]);
    mustHaveAtMost('BloomLevel.repair', 'a location and options', 2, given.length);
    const own = given.length > 1 ? options : {};
    if (isFolder(location)) return (await folderCalls()).repairFolder(location, withoutWorker(own));
    mustBeOptions('BloomLevel.repair of a path', own, IN_WORKER);
    return inWorker(location, own.worker, (calls) => calls.call('repair'));
  }
}
