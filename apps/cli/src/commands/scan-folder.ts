import type { Dropped, Folder, StoredEntry } from '@bloom/leveldb';
import { storedEntries, storedEntriesSync } from '@bloom/leveldb/inspect';
import { Failure } from '../failure.js';
import type { WantedRange } from '../inputs/key-range.js';
import { type DatabaseFile, type DatabaseLocation, isSync, noteDropped, withDatabase, withDatabaseFolder } from '../inputs/opened-folder.js';
import type { RemoteOptions } from '../inputs/opened-source.js';
import { storedIn } from '../inputs/stored-files.js';
import { type EntryOutput, NO_FACTS } from '../outputs/entry-output.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import type { Plugins } from '../plugins/plugin-options.js';
import { columnsOf, type ScanOptions, versionPrinter } from './scan-columns.js';

/** Prints the entries of a database. */
export async function scanFolder(location: DatabaseLocation, wanted: WantedRange, options: ScanOptions & RemoteOptions, output: EntryOutput): Promise<void> {
  if (options.allVersions) return scanAllVersions(location, wanted, options, output);
  await withDatabase(location, options, async (file) => {
    await scanDatabase(file, wanted, options, output);
    options.tracing?.report(file.path, file.database.stats);
  });
}

async function scanDatabase({ path, database }: DatabaseFile, wanted: WantedRange, options: ScanOptions, output: EntryOutput): Promise<void> {
  const { range, keeps } = wanted.in({ name: database.describe().comparator }, (a, b) => database.compare(a, b));
  const asked = { ...range, reverse: options.reverse, ...(keeps === undefined && { limit: output.limit }) };
  try {
    await output.print<readonly [Uint8Array, Uint8Array]>(path, columnsOf(options), database.entries(asked), ([key, value]) =>
      keeps?.(key) === false ? undefined : { key, value, facts: NO_FACTS },
    );
  } finally {
    noteDropped(path, database.describe().dropped);
  }
}

/** Prints the entries of each file of a database. Without bounds and --live, this needs neither MANIFEST nor comparator. */
function scanAllVersions(location: DatabaseLocation, wanted: WantedRange, given: ScanOptions & RemoteOptions, output: EntryOutput): Promise<void> {
  const { format, damage = 'strict', live } = given;
  const options = { ...given, listsBucket: !live };
  if (wanted.isAll && !live) {
    return withDatabaseFolder(location, options, (path, folder, plugins) => printStored(path, folder, plugins, undefined));
  }
  return withDatabase(location, live ? options : { ...options, damage: 'skip' }, async ({ path, folder, plugins, database }) => {
    // Bounds refer to the order of the database.
    const { keeps } = wanted.in(undefined, (a, b) => database.compare(a, b));
    const { levels, logs } = database.describe();
    await printStored(path, folder, plugins, keeps, live && [...levels.flat(), ...logs].map(({ name }) => name));
  });

  /** @param names of the files to print; undefined for all. */
  async function printStored(path: string, folder: Folder, plugins: Plugins, keeps: ((key: Uint8Array) => boolean) | undefined, names?: readonly string[]): Promise<void> {
    if (folder.list === undefined && names === undefined) throw new Failure(`${path}: a folder at a URL cannot be listed, so --all-versions has no files to print: with --live it prints those that the MANIFEST names; get --all-versions and find print the versions of one key`);
    if (options.reverse) throw new Failure(`${path}: --all-versions prints file by file: omit --reverse`);
    const columns = columnsOf(options, ['sequence', 'type', 'file']);
    const dropped: Dropped[] = [];
    const storedOptions = { codecs: knownCodecs(plugins), damage, onDropped: (drop: Dropped): unknown => dropped.push(drop) };
    try {
      const all = (): Iterable<StoredEntry> | AsyncIterable<StoredEntry> => (isSync(folder) ? storedEntriesSync(folder, storedOptions) : storedEntries(folder, storedOptions));
      await output.print<StoredEntry>(path, columns, names === undefined ? all() : storedIn(folder, names, storedOptions), versionPrinter(format, columns, keeps));
    } finally {
      noteDropped(path, dropped);
    }
    options.tracing?.report(path);
  }
}
