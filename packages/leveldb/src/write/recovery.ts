/**
 * What the logs of a database hold becomes tables again, when it is opened for writing.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Recover` and `RecoverLogFile`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { LogReader } from '@bloom/log';
import type { TableBuilderOptions } from '@bloom/sstable';
import { readRange } from '@bloom/sstable/database';
import { logFileName, parseFileName, tableFileName } from '../file-name.js';
import { Memtable } from '../memtable.js';
import { compareBigints, type FileMetadata } from '../version-edit.js';
import type { Version } from '../version.js';
import type { WritableFolder } from '../writable-folder.js';
import { WriteBatchReader } from '../write-batch.js';
import { LiveLog } from './live-log.js';
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
  readonly building: TableBuilderOptions;
}

/** What came of the logs. */
export interface Recovered {
  /** New tables of level 0; they are on disk, and in no version yet. */
  readonly files: readonly FileMetadata[];
  /** Whether a table was made, or would have been made had there been an entry. */
  readonly isChanged: boolean;
  /** The last log, where it is gone on with. */
  readonly log: LiveLog | undefined;
}

/**
 * Replays the logs that are not obsolete.
 *
 * @throws CorruptionError when a log or a batch is damaged: opening would lose for good what is behind the damage. Nothing
 *   of the database has changed then.
 */
export async function recoverLogs(folder: WritableFolder, names: readonly string[], versions: VersionSet, settings: RecoverySettings): Promise<Recovered> {
  const files: FileMetadata[] = [];
  let isChanged = false;
  let log: LiveLog | undefined;
  const numbers = logNumbers(names, versions);
  let lastSequence = 0n;
  for (const [i, number] of numbers.entries()) {
    const recovered = await recoverLog(folder, number, versions, settings, i === numbers.length - 1);
    files.push(...recovered.files);
    isChanged ||= recovered.isChanged;
    ({ log } = recovered);
    if (recovered.lastSequence > lastSequence) ({ lastSequence } = recovered);
    // The MANIFEST may not have learnt of the log.
    versions.markFileNumberUsed(number);
  }
  if (lastSequence > versions.lastSequence) versions.lastSequence = lastSequence;
  return { files, isChanged, log };
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
  { writeBufferSize, reuseLogs, building }: RecoverySettings,
  isLast: boolean,
): Promise<Recovered & { readonly lastSequence: bigint }> {
  const name = logFileName(number);
  const place: Place = { structure: 'log record', offset: 0, file: name };
  const file = await folder.open(name);
  if (file === undefined) throw new CorruptionError('BLOOM_MISSING_FILE', { structure: 'folder', offset: 0, file: folder.name }, `${name} is listed and cannot be opened`);
  let lastSequence = 0n;
  let memtable: Memtable | undefined;
  /** Memtables that are full, to become tables. */
  let full: Memtable[] = [];
  const files: FileMetadata[] = [];
  let flushed = 0;
  const pacer = new Pacer(ENTRIES_PER_LOOK);

  async function flush(filled: Memtable): Promise<void> {
    flushed++;
    const table = await writeMemtable(filled, folder, versions.newFileNumber(), building, pacer);
    if (table !== undefined) files.push(table);
  }

  const reader = new LogReader({
    drop({ offset, byteLength, reason }) {
      throw new CorruptionError('BLOOM_BAD_LOG', { ...place, offset }, `${reason} (${byteLength} bytes)`);
    },
    record(record, offset) {
      const batch = new WriteBatchReader(record);
      memtable ??= new Memtable(versions.order.compareInternalKeys);
      for (let next = batch.sequence; batch.next(); next++) {
        memtable.add(next, batch.type, batch.bytes, batch.keyStart, batch.keyEnd, batch.valueStart, batch.valueEnd);
      }
      if (batch.problem !== undefined) {
        throw new CorruptionError('BLOOM_BAD_WRITE_BATCH', { structure: 'write batch', offset, file: name }, batch.problem);
      }
      const last = batch.sequence + BigInt(batch.count) - 1n;
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
  // What is added behind a torn record could not be read again.
  if (reuseLogs && isLast && flushed === 0 && !isTorn) {
    const records = new RecordFile(number, name, await folder.openForAppend(name), file.byteLength);
    return { files, isChanged: false, lastSequence, log: new LiveLog(records, memtable ?? new Memtable(versions.order.compareInternalKeys)) };
  }
  if (memtable !== undefined) await flush(memtable);
  return { files, isChanged: flushed > 0, lastSequence, log: undefined };
}
