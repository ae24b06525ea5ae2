/**
 * What the logs of a database hold becomes tables again, when it is opened for writing.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Recover` and `RecoverLogFile`.
 */
import { type CorruptionCode, CorruptionError, type Structure } from '@bloom/bytes';
import { LogReader } from '@bloom/log';
import type { TableBuilderOptions } from '@bloom/sstable';
import { MAX_SEQUENCE, readRange } from '@bloom/sstable/database';
import type { Dropped } from '../damage.js';
import { logFileName, parseFileName, tableFileName } from '../file-name.js';
import { Memtable } from '../memtable.js';
import { compareBigints, type FileMetadata } from '../version-edit.js';
import type { Version } from '../version.js';
import type { WritableFolder } from '../writable-folder.js';
import { WriteBatchReader } from '../write-batch.js';
import { LiveLog } from './live-log.js';
import { LostFiles } from './lost-files.js';
import { Pacer } from './pacer.js';
import { RecordFile } from './record-file.js';
import { ENTRIES_PER_LOOK, writeMemtable } from './table-file.js';
import type { VersionSet } from './version-set.js';

/** Bytes of a log that are read at once. */
const CHUNK_LENGTH = 4 * 2 ** 20;

/** How logs are recovered. */
export interface RecoverySettings {
  readonly writeBufferSize: number;
  readonly reuseLogs: boolean;
  /** Whether what is damaged is left out, as LevelDB does it, rather than an error. */
  readonly skipsDamage: boolean;
  readonly building: TableBuilderOptions;
}

/** What came of the logs. */
export interface Recovered {
  /** New tables of level 0; they are on disk, and in no version yet. */
  readonly files: readonly FileMetadata[];
  /** Whether a table was made, or would have been made had there been an entry, or a damaged log must become obsolete. */
  readonly isChanged: boolean;
  /** The last log, where it is gone on with. */
  readonly log: LiveLog | undefined;
  /** What was left out because it is damaged. */
  readonly dropped: readonly Dropped[];
}

/**
 * Replays the logs that are not obsolete.
 *
 * @throws CorruptionError when a log or a batch is damaged: opening would lose for good what is behind the damage. Nothing
 *   of the database has changed then. With `skipsDamage` damaged logs are copied to the folder `lost` first.
 */
export async function recoverLogs(folder: WritableFolder, names: readonly string[], versions: VersionSet, settings: RecoverySettings): Promise<Recovered> {
  const files: FileMetadata[] = [];
  const dropped: Dropped[] = [];
  let isChanged = false;
  let log: LiveLog | undefined;
  const numbers = logNumbers(names, versions);
  let lastSequence = 0n;
  for (const [i, number] of numbers.entries()) {
    const recovered = await recoverLog(folder, number, versions, settings, i === numbers.length - 1);
    files.push(...recovered.files);
    dropped.push(...recovered.dropped);
    isChanged ||= recovered.isChanged;
    ({ log } = recovered);
    if (recovered.lastSequence > lastSequence) ({ lastSequence } = recovered);
    // The MANIFEST may not have learnt of the log.
    versions.markFileNumberUsed(number);
  }
  if (lastSequence > versions.lastSequence) versions.lastSequence = lastSequence;
  if (dropped.length > 0) {
    // Once the database is open they are obsolete, and deleted.
    const lost = await LostFiles.open(folder);
    for (const name of new Set(dropped.map((one) => one.file))) await lost.copy(name);
    await lost.sync();
  }
  return { files, isChanged, log, dropped };
}

/**
 * Refuses a folder that lacks tables: there must be a file of each number, of whatever type, as LevelDB checks it.
 *
 * @throws CorruptionError `BLOOM_MISSING_FILE`.
 */
export function mustHaveTables(version: Version, names: readonly string[], file: string | undefined): void {
  const numbers = new Set<bigint>();
  for (const name of names) {
    const parsed = parseFileName(name);
    if (parsed !== undefined && 'number' in parsed) numbers.add(parsed.number);
  }
  const missing = version.files.map(({ number }) => number).filter((number) => !numbers.has(number));
  if (missing.length === 0) return;
  const [first] = missing.sort(compareBigints);
  const problem = `${missing.length} missing ${missing.length === 1 ? 'table' : 'tables, such as'} ${tableFileName(first!)}`;
  throw new CorruptionError('BLOOM_MISSING_FILE', { structure: 'MANIFEST', offset: 0, file }, problem);
}

function logNumbers(names: readonly string[], { logNumber, previousLogNumber }: VersionSet): bigint[] {
  const numbers = new Set<bigint>();
  for (const name of names) {
    const file = parseFileName(name);
    if (file?.type === 'log' && (file.number >= logNumber || file.number === previousLogNumber)) numbers.add(file.number);
  }
  return [...numbers].sort(compareBigints);
}

async function recoverLog(
  folder: WritableFolder,
  number: bigint,
  versions: VersionSet,
  { writeBufferSize, reuseLogs, skipsDamage, building }: RecoverySettings,
  isLast: boolean,
): Promise<Recovered & { readonly lastSequence: bigint }> {
  const name = logFileName(number);
  const file = await folder.open(name);
  if (file === undefined) throw new CorruptionError('BLOOM_MISSING_FILE', { structure: 'folder', offset: 0, file: folder.name }, `${name} is listed and cannot be opened`);
  let lastSequence = 0n;
  let memtable: Memtable | undefined;
  /** Memtables that are full, to become tables. */
  let full: Memtable[] = [];
  const files: FileMetadata[] = [];
  let flushed = 0;
  const pacer = new Pacer(ENTRIES_PER_LOOK);

  const dropped: Dropped[] = [];
  function drop(code: CorruptionCode, structure: Structure, offset: number, byteLength: number, reason: string): void {
    if (!skipsDamage) throw new CorruptionError(code, { structure, offset, file: name }, `${reason} (${byteLength} bytes)`);
    dropped.push({ file: name, offset, byteLength, reason, code });
  }

  async function flush(filled: Memtable): Promise<void> {
    flushed++;
    const table = await writeMemtable(filled, folder, versions.newFileNumber(), building, pacer);
    if (table !== undefined) files.push(table);
  }

  const reader = new LogReader({
    drop: ({ offset, byteLength, reason }) => drop('BLOOM_BAD_LOG', 'log record', offset, byteLength, reason),
    record(record, offset) {
      const batch = new WriteBatchReader(record);
      if (batch.sequence + BigInt(batch.count) > MAX_SEQUENCE) {
        drop('BLOOM_BAD_WRITE_BATCH', 'write batch', offset, record.length, 'its sequence is too high');
        return;
      }
      memtable ??= new Memtable(versions.order.compareInternalKeys);
      for (let next = batch.sequence; batch.next(); next++) {
        memtable.add(next, batch.type, batch.bytes, batch.keyStart, batch.keyEnd, batch.valueStart, batch.valueEnd);
      }
      if (batch.problem !== undefined) drop('BLOOM_BAD_WRITE_BATCH', 'write batch', offset, record.length, batch.problem);
      // A record without a header has no operations.
      const last = batch.problem === 'log record too small' ? 0n : batch.sequence + BigInt(batch.count) - 1n;
      if (last > lastSequence) lastSequence = last;
      if (memtable.memoryUsage <= writeBufferSize) return;
      full.push(memtable);
      memtable = undefined;
    },
  });
  let isTorn: boolean;
  try {
    for (let position = 0; position < file.byteLength; position += CHUNK_LENGTH) {
      reader.push(await readRange(file, { offset: position, length: Math.min(CHUNK_LENGTH, file.byteLength - position) }));
      const filled = full;
      full = [];
      for (const one of filled) await flush(one);
    }
    isTorn = reader.finish() !== undefined;
  } finally {
    await file.close?.();
  }
  for (const one of full) await flush(one);
  // What is added behind a torn record could not be read again, and a damaged log would be refused again.
  if (reuseLogs && isLast && flushed === 0 && !isTorn && dropped.length === 0) {
    const records = new RecordFile(number, name, await folder.openForAppend(name), file.byteLength);
    return { files, isChanged: false, lastSequence, dropped, log: new LiveLog(records, memtable ?? new Memtable(versions.order.compareInternalKeys)) };
  }
  if (memtable !== undefined) await flush(memtable);
  return { files, isChanged: flushed > 0 || dropped.length > 0, lastSequence, log: undefined, dropped };
}
