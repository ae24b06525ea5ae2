/** The entries of a folder that a browser wrote, decoded to the values that pages stored. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type AsyncReaderOptions, CorruptionError, DatabaseReader, type Dropped, type Folder } from '@bloom/leveldb';
import { EntryDecoder, kindOfFolder, recognizeStorage, type StorageKind } from '@bloom/web-storage';
import { NodeBlobFolder } from '@bloom/web-storage/node';
import { Failure, failureOf } from '../failure.js';
import { FIND_BELOW, type FolderOptions, hasFolders, isSync, noteDropped, noteIgnoredComparator, openDatabase, withDatabaseFolder } from '../inputs/opened-folder.js';
import { shownName } from '../inputs/location.js';
import { isDatabase, recognised } from '../inputs/opened-input.js';
import { tracingFor } from '../inputs/opened-source.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import type { ReadEntry } from './read-entry.js';
import { storedVersions } from './stored-versions.js';

/** Which entries to read. */
export interface WantedEntries extends FolderOptions {
  readonly reverse?: true | undefined;
  readonly allVersions?: true | undefined;
  /** Called for each damaged part of a file that was left out. They are also noted on standard error. */
  readonly onDropped?: ((dropped: Dropped) => void) | undefined;
}

/** Runs `work` with the entries of a database that a browser wrote. @throws Failure when it is another database. */
export async function withDecodedEntries(given: string, options: WantedEntries, work: (path: string, entries: AsyncIterable<ReadEntry>) => Promise<void>): Promise<void> {
  const tracing = await tracingFor(options);
  const location = await recognised(given, { ...options, tracing });
  if (!isDatabase(location)) {
    // A path that does not exist has the location of a table.
    if (location.kind === 'file') mustExist(location.path);
    throw new Failure(`${shownName(given)}: is not a folder: --decode needs the whole folder`);
  }
  await withDatabaseFolder(location, { ...options, tracing, listsBucket: options.allVersions }, async (path, folder, plugins) => {
    const { allVersions } = options;
    // A browser may leave truncated tables when it is closed.
    const damage = options.damage ?? (allVersions ? 'skip' : 'strict');
    if (allVersions && folder.list === undefined) throw new Failure(`${path}: a folder at a URL cannot be listed, so the versions of decoded entries cannot be found: download it and pass the copy`);
    const codecs = knownCodecs(plugins);
    const beside = location.kind === 'folder' ? NodeBlobFolder.beside(path) : undefined;
    const blobs = beside && (tracing?.blobs(beside) ?? beside);
    const dropped: Dropped[] = [];
    const report = (): void => {
      noteDropped(path, dropped);
      for (const drop of dropped) options.onDropped?.(drop);
    };
    if (allVersions) {
      const kind = await storageIn(folder, path, { codecs, damage });
      if (kind === undefined) throw notStorage(path, folder);
      try {
        await work(path, storedVersions(folder, kind, { blobs, codecs, damage, onDropped: (drop) => dropped.push(drop) }));
      } finally {
        report();
      }
      tracing?.report(path);
      return;
    }
    const decoder = await EntryDecoder.open(folder, { blobs, codecs, damage });
    if (decoder === undefined) {
      // A browser that was killed can leave a storage without entries.
      if (storageByName(path) === undefined || (await hasEntries(folder, { codecs, damage }))) throw notStorage(path, folder);
      await work(path, nothing());
      return;
    }
    try {
      const database = await openDatabase(folder, plugins, { damage });
      try {
        noteIgnoredComparator(path, database.describe().comparator, plugins);
        await work(path, newest(decoder.committed(database, { reverse: options.reverse }), decoder));
        dropped.push(...database.describe().dropped);
      } finally {
        await database.close();
      }
    } finally {
      report();
      await decoder.close();
    }
    tracing?.report(path);
  });
}

async function hasEntries(folder: Folder, options: AsyncReaderOptions): Promise<boolean> {
  const reader = await DatabaseReader.open(folder, options);
  try {
    for await (const _ of reader.keys({ limit: 1 })) return true;
    return false;
  } finally {
    await reader.close();
  }
}

async function* nothing(): AsyncGenerator<ReadEntry> {
  // Ends at once.
}

/** @throws Failure when a file does not exist. */
function mustExist(path: string): void {
  try {
    statSync(path);
  } catch (error) {
    throw failureOf(path, error);
  }
}

function notStorage(path: string, folder: Folder): Failure {
  const isAbove = isSync(folder) && !folder.list().includes('CURRENT') && hasFolders(folder);
  return new Failure(`${path}: is not IndexedDB, Local Storage or Session Storage: ${isAbove ? FIND_BELOW : 'omit --decode'}`);
}

/** The kind of storage in a folder; by its name if CURRENT or the MANIFEST is missing or damaged. @throws as `recognizeStorage`. */
export async function storageIn(folder: Folder, path: string, options: AsyncReaderOptions): Promise<StorageKind | undefined> {
  const byName = storageByName(path);
  try {
    return (await recognizeStorage(folder, options)) ?? byName;
  } catch (error) {
    if (byName !== undefined && error instanceof CorruptionError) return byName;
    throw error;
  }
}

/** The kind of storage according to the folder's path, which is all that a damaged folder shows. */
export function storageByName(path: string): StorageKind | undefined {
  return kindOfFolder(resolve(path).replaceAll('\\', '/')).storage;
}

const NO_FACTS: readonly string[] = [];

async function* newest(entries: AsyncIterable<readonly [Uint8Array, Uint8Array]>, decoder: EntryDecoder): AsyncGenerator<ReadEntry> {
  for await (const [key, value] of entries) {
    const entry = await decoder.decode(key, value);
    if (entry !== undefined) yield { ...entry, facts: NO_FACTS };
  }
}
