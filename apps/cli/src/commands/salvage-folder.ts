import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Dropped, SyncDatabaseReader } from '@bloom/leveldb';
import { comparatorNameSync, storedEntriesSync } from '@bloom/leveldb/inspect';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { BloomFilterPolicy } from '@bloom/policy';
import { counted } from '@bloom/report';
import { bytewiseComparator, type Comparator, CorruptionError, type TableBuilderOptions, UnsupportedError } from '@bloom/sstable';
import type { Entry } from '../formats/entry.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { keyId } from '../inputs/key-id.js';
import { comparatorNamed, droppedJson, droppedText, folderFailure, hasLogsOrTables, noteIgnoredComparator, openDatabase, unknownOrderText } from '../inputs/opened-folder.js';
import { CODEC_ADVICE } from '../library-advice.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import type { Plugins } from '../plugins/plugin-options.js';
import { policyInOrder } from '../plugins/policy-in-order.js';
import { note } from '../outputs/output.js';
import { mustBeOutside, mustBeWritable } from '../outputs/writable-output.js';
import { NothingSaved, type SalvagedTable, writeSalvaged } from './salvaged-table.js';

/** How many entries to write between two checks for signals. */
const ENTRIES_AT_ONCE = 1000;

/** The readable entries of a database. */
interface Readable {
  readonly tableOptions: TableBuilderOptions;
  readonly entries: Iterable<Entry>;
  /** The damage that was skipped so far. */
  readonly dropped: () => readonly Dropped[];
  readonly close: () => void;
}

/** The result of salvaging one input. */
export interface Saved {
  /** False when nothing could be saved. */
  readonly isWritten: boolean;
  readonly entries: number;
  readonly isInternal: boolean;
  /** The summary in one line. */
  readonly text: string;
  /** The losses, one per line. */
  readonly lostLines: readonly string[];
  /** The same facts as JSON. */
  readonly figures: object;
}

/**
 * Writes the readable entries of a database to a table of plain keys. Does not change the folder.
 *
 * @param head the start of each line about the folder.
 */
export async function salvageFolder(path: string, table: SalvagedTable, plugins: Plugins, head: string): Promise<Saved> {
  const { output } = table;
  const folder = new SyncNodeFolder(path);
  mustHaveFiles(path);
  mustBeWritable(output, statSync(path, { bigint: true }));
  mustBeOutside(path, output);
  let readable: Readable;
  let problem: string | undefined;
  try {
    const database = await openDatabase(folder, plugins, { damage: 'skip' });
    noteIgnoredComparator(path, database.describe().comparator, plugins);
    readable = merged(database, plugins);
  } catch (error) {
    const failure = readingFailure(path, error);
    if (!(failure instanceof Failure && error instanceof CorruptionError)) throw failure;
    problem = failure.message;
    readable = unmerged(path, comparatorOf(path, plugins), plugins);
    note(`${path}: cannot be opened, so all of its logs and tables are read: deleted keys may reappear`);
  }
  const { dropped } = readable;
  let entries = 0;
  let lost: readonly Dropped[];
  try {
    const saved = async function* (): AsyncGenerator<Entry, void, undefined> {
      for (const entry of failingAs(path, readable.entries)) {
        if (entries++ % ENTRIES_AT_ONCE === 0) await new Promise(setImmediate);
        yield entry;
      }
      if (entries === 0 && (problem !== undefined || dropped().length > 0)) throw new NothingSaved();
    };
    await writeSalvaged(table, saved, readable.tableOptions);
    lost = dropped();
  } finally {
    readable.close();
  }
  const isLossy = problem !== undefined || lost.length > 0;
  if (isLossy) process.exitCode = EXIT.no;
  const lostLines = lost.map((drop) => `${head}${basename(drop.file)}: ${droppedText(drop)}`);
  if (problem !== undefined) lostLines.unshift(problem.startsWith(path) ? problem : head + problem);
  const isWritten = entries > 0 || !isLossy;
  const nothing = head === '' ? `${path}: nothing can be saved; ${output} was not written` : `${path}: nothing can be saved`;
  return {
    isWritten,
    entries,
    isInternal: false,
    text: isWritten ? `${head === '' ? `${output}: ` : head}${counted(entries, 'entry')}` : nothing,
    lostLines,
    figures: { input: path, entries, problem: problem ?? null, lost: lost.map(droppedJson) },
  };
}

/** The visible entries of a database that can be opened. */
function merged(database: SyncDatabaseReader, plugins: Plugins): Readable {
  return {
    tableOptions: tableOptionsFor(comparatorNamed(database.describe().comparator, plugins)!, plugins),
    entries: database.entries(),
    dropped: () => database.describe().dropped,
    close: () => {
      database.close();
    },
  };
}

function tableOptionsFor(comparator: Comparator, { policies }: Plugins): TableBuilderOptions {
  const policy = policyInOrder(policies[0] ?? new BloomFilterPolicy(), comparator);
  return { comparator, filterPolicy: policy.keyEquivalence === comparator.keyEquivalence ? policy : null };
}

/** The comparator of a database that cannot be opened: bytewise if no MANIFEST names one. */
function comparatorOf(path: string, plugins: Plugins): Comparator {
  const named = comparatorNameSync(new SyncNodeFolder(path));
  noteIgnoredComparator(path, named, plugins);
  const name = named ?? (plugins.comparator ?? bytewiseComparator).name;
  const comparator = comparatorNamed(name, plugins);
  if (comparator === undefined) {
    throw new Failure(`${path}: ${unknownOrderText(name)}; pass --comparator MODULE; without it, scan --all-versions without bounds prints the content of each file`);
  }
  return comparator;
}

/** The newest version of each key in any log or table. Holds all of them in memory. */
function unmerged(path: string, comparator: Comparator, plugins: Plugins): Readable {
  const dropped: Dropped[] = [];
  const onDropped = (drop: Dropped): unknown => dropped.push(drop);
  function* newest(): Generator<Entry, void, undefined> {
    const found = new Map<string, { readonly key: Uint8Array; readonly sequence: bigint; readonly value: Uint8Array | undefined }>();
    for (const { key, sequence, kind, value } of storedEntriesSync(new SyncNodeFolder(path), { codecs: knownCodecs(plugins), damage: 'skip', onDropped })) {
      const id = keyId(key);
      const other = found.get(id);
      if (other !== undefined && other.sequence >= sequence) continue;
      found.set(id, { key, sequence, value: kind === 'value' ? value : undefined });
    }
    const versions = [...found.values()].sort(
      (a, b) => comparator.compare(a.key, b.key) || (a.sequence < b.sequence ? 1 : -1),
    );
    let last: Uint8Array | undefined;
    for (const { key, value } of versions) {
      // The comparator may treat different bytes as the same key.
      const isOlder = last !== undefined && comparator.compare(last, key) === 0;
      last = key;
      if (!isOlder && value !== undefined) yield [key, value];
    }
  }
  return {
    tableOptions: tableOptionsFor(comparator, plugins),
    entries: newest(),
    dropped: () => dropped,
    close: () => undefined,
  };
}

/** Wraps `entries` so that failures name a file of the folder rather than the new table. */
function* failingAs(path: string, entries: Iterable<Entry>): Generator<Entry, void, undefined> {
  try {
    yield* entries;
  } catch (error) {
    throw readingFailure(path, error);
  }
}

/** {@link folderFailure}, with advice about a missing codec. */
function readingFailure(path: string, error: unknown): unknown {
  const failure = folderFailure(path, new SyncNodeFolder(path), error);
  const isOfCodec = error instanceof UnsupportedError && error.code === 'BLOOM_UNSUPPORTED_CODEC';
  return failure instanceof Failure && isOfCodec ? new Failure(`${failure.message}; ${CODEC_ADVICE}`, { cause: error }) : failure;
}

/** @throws Failure when nothing in the folder is a part of a database. */
function mustHaveFiles(path: string): void {
  let isEmpty: boolean;
  try {
    isEmpty = !existsSync(join(path, 'CURRENT')) && !hasLogsOrTables(new SyncNodeFolder(path));
  } catch (error) {
    throw folderFailure(path, new SyncNodeFolder(path), error);
  }
  if (isEmpty) throw new Failure(`${path}: it has no CURRENT, no log and no table, so it is not a LevelDB database`);
}
