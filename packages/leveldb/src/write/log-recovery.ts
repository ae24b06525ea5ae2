/**
 * Turns the logs of a database into tables when it is opened for writing.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::RecoverLogFile`.
 */
import { CorruptionError } from '@bloom/bytes';
import { attempt, closeRead } from '../folder/closing-files.js';
import { addBatch, isFull, misfitOf } from '../memtable/batch-entries.js';
import type { Dropped } from '../folder/damage.js';
import { logFileName, tableFileName } from '../format/file-name.js';
import { runAsync } from '../folder/folder-reading.js';
import { type LogEnd, lostEnds } from '../memtable/log-ends.js';
import { LogBatches } from '../folder/log-batches.js';
import { Memtable } from '../memtable/memtable.js';
import { neededLogs } from '../format/needed-files.js';
import type { WrittenTable } from '../folder/table-thread.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { BitsChoice } from './bits-by-level.js';
import { tableMade } from './database-event.js';
import type { Settings } from './database-options.js';
import { mustLeaveNumbers } from './file-numbers.js';
import { deleteIfPossible } from './obsolete-files.js';
import { LiveLog } from './live-log.js';
import { LostFiles } from '../folder/lost-files.js';
import { writeFlushedTable } from '../compact/flushed-table.js';
import { canBeContinued } from '../folder/record-file.js';
import type { VersionSet } from './version-set.js';

export interface Recovered {
  /** New tables of level 0. They are on disk, but not yet in a version. */
  readonly files: readonly FileMetadata[];
  /** Whether a table was made, or would have been made if there had been an entry, or a damaged log must become obsolete. */
  readonly isChanged: boolean;
  /** The last log, if it is reused. */
  readonly log: LiveLog | undefined;
  readonly dropped: readonly Dropped[];
}

/**
 * Replays the logs that are not obsolete.
 *
 * @throws CorruptionError when a log or a batch is damaged: opening would lose the records behind the damage for good. The
 *   database is then unchanged. With `skipsDamage` damaged logs are copied to the folder `lost` first.
 */
export async function recoverLogs(folder: WritableFolder, names: readonly string[], versions: VersionSet, settings: Settings): Promise<Recovered> {
  const files: FileMetadata[] = [];
  const dropped: Dropped[] = [];
  let isChanged = false;
  let log: LiveLog | undefined;
  const numbers = neededLogs(names, versions);
  if (numbers.length === 0) return { files, isChanged, log, dropped };
  mustLeaveNumbers(numbers);
  let lastSequence = 0n;
  const begun: bigint[] = [];
  const ends: LogEnd[] = [];
  try {
    for (const [i, number] of numbers.entries()) {
      const recovered = await recoverLog(folder, number, versions, settings, i === numbers.length - 1, begun);
      files.push(...recovered.files);
      dropped.push(...recovered.dropped);
      isChanged ||= recovered.isChanged;
      ({ log } = recovered);
      ends.push(recovered);
      if (recovered.lastSequence > lastSequence) ({ lastSequence } = recovered);
      // The MANIFEST may not know the log's number yet.
      versions.markFileNumberUsed(number);
    }
    for (const error of lostEnds(ends)) {
      if (!settings.skipsDamage) throw error;
      const { file = '', offset, problem: reason, code } = error;
      dropped.push({ file, offset, reason, code });
    }
    if (lastSequence > versions.lastSequence) versions.lastSequence = lastSequence;
    await keepDropped(folder, dropped);
  } catch (error) {
    await attempt(() => log?.close());
    // No edit lists them.
    for (const number of begun) await deleteIfPossible(folder, tableFileName(number));
    throw error;
  }
  return { files, isChanged, log, dropped };
}

/** Copies damaged logs: once the database is open, the originals are obsolete and deleted. */
async function keepDropped(folder: WritableFolder, dropped: readonly Dropped[]): Promise<void> {
  if (dropped.length === 0) return;
  const lost = await LostFiles.open(folder);
  for (const name of new Set(dropped.map((one) => one.file))) await lost.copy(name);
  await lost.sync();
}

async function recoverLog(
  folder: WritableFolder,
  number: bigint,
  versions: VersionSet,
  settings: Settings,
  isLast: boolean,
  begun: bigint[],
): Promise<Recovered & LogEnd> {
  const name = logFileName(number);
  const file = await folder.open(name);
  if (file === undefined) throw new CorruptionError('BLOOM_MISSING_FILE', { structure: 'folder', offset: 0, file: folder.name }, `${name} is listed but cannot be opened`);
  let memtable: Memtable | undefined;
  /** Memtables that are full, to become tables. */
  let full: Memtable[] = [];
  const tables: WrittenTable[] = [];
  const dropped: Dropped[] = [];
  let flushed = 0;
  let operations = 0;

  async function flush(filled: Memtable): Promise<void> {
    flushed++;
    const bitsPerKey = settings.levelBits && (await new BitsChoice(settings.levelBits).ofMemtable(0, filled, versions.current));
    const tableNumber = versions.newFileNumber();
    begun.push(tableNumber);
    if (filled.count > 0) tables.push(await writeFlushedTable(filled.arrays, versions.order, folder, tableNumber, settings.buildingWith(bitsPerKey)));
  }

  const batches = new LogBatches(file, name, {
    batch(batch, place) {
      const problem = misfitOf(batch.bytes, settings);
      if (problem !== undefined) throw new CorruptionError('BLOOM_TOO_LARGE', place, `${problem}: open the database with a larger maxBlockBytes, of up to 1 GiB`);
      memtable ??= new Memtable(versions.order.compareInternalKeys);
      addBatch(memtable, batch, place);
      operations += batch.found;
      if (!isFull(memtable, settings)) return;
      full.push(memtable);
      memtable = undefined;
    },
    skip: settings.skipsDamage ? (damage) => void dropped.push(damage) : undefined,
  });
  try {
    for (let isMore = true; isMore; ) {
      isMore = await runAsync(folder, batches.readPiece());
      const filled = full;
      full = [];
      for (const one of filled) await flush(one);
    }
  } finally {
    await closeRead(file);
  }
  const { lastSequence, tail } = batches;
  // A damaged log would be refused again.
  const isWhole = flushed === 0 && canBeContinued(file, batches.recordsEnd) && dropped.length === 0;
  const mayReuse = isLast && isWhole && (settings.reusedLogs === 'any' || (settings.reusedLogs === 'empty' && operations === 0));
  const appended = mayReuse ? await folder.openForAppend(name) : undefined;
  if (appended === undefined && memtable !== undefined) await flush(memtable);
  settings.onEvent?.({
    kind: 'log-replayed',
    log: name,
    byteLength: file.byteLength,
    operations,
    lastSequence: lastSequence.toString(),
    tables: tables.map(tableMade),
    isReused: appended !== undefined,
    dropped: dropped.length,
  });
  const files = tables.map((table) => table.file);
  const log = appended && new LiveLog(number, appended, memtable ?? new Memtable(versions.order.compareInternalKeys), file.byteLength);
  return { files, isChanged: flushed > 0 || dropped.length > 0, name, tail, lastSequence, log, dropped };
}
