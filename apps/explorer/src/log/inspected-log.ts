import { CorruptionError, type LabelledRange } from '@bloom/bytes';
import { decodeVersionEdit, parseFileName, WriteBatchReader } from '@bloom/leveldb';
import { versionEditLayout, writeBatchLayout } from '@bloom/leveldb/inspect';
import { LOG_BLOCK_LENGTH, logRanges, type LogRecord, readLog } from '@bloom/log';
import type { Source } from '@bloom/sstable';
import { decodeInternalKey, DELETION } from '@bloom/sstable/database';
import { counted, minecraftKey } from '@bloom/report';
import { indexedDbKey } from '@bloom/web-storage';
import { partsOf } from '../bytes/byte-forms.js';
import { clipped } from '../table/clipped.js';
import type { LogFileFacts, OperationFacts, RecordRow } from './log-facts.js';

/** The largest file that is read. LevelDB starts a new log at 4 MiB by default. */
const MAX_BYTES = 512 * 2 ** 20;
const CLIPPED_BYTES = 400;
/** The number of writes listed per batch. */
const MOST_OPERATIONS = 1000;

/** Whether a file is a log or MANIFEST, by its name or else by its first block. */
export async function isLog(source: Source): Promise<boolean> {
  const type = parseFileName(source.name ?? '')?.type;
  if (type === 'log' || type === 'manifest') return true;
  if (type === 'table') return false;
  const start = await source.read(0, Math.min(LOG_BLOCK_LENGTH, source.byteLength));
  return readLog(start).records.length > 0;
}

/** A log or MANIFEST, record by record. */
export class InspectedLog {
  readonly facts: LogFileFacts;
  readonly #bytes: Uint8Array;
  readonly #records: readonly LogRecord[];

  private constructor(bytes: Uint8Array, records: readonly LogRecord[], facts: LogFileFacts) {
    this.facts = facts;
    this.#bytes = bytes;
    this.#records = records;
  }

  static async open(source: Source, signal: AbortSignal): Promise<InspectedLog> {
    if (source.byteLength > MAX_BYTES) throw new RangeError(`the log has ${source.byteLength} bytes: this page reads logs of up to ${MAX_BYTES}`);
    const bytes = (await source.read(0, source.byteLength, signal)).slice();
    const { records, drops, tail } = readLog(bytes);
    const type = parseFileName(source.name ?? '')?.type;
    const isManifest = type === 'manifest' || (type !== 'log' && records.length > 0 && records.every(({ bytes: record }) => editOf(record) !== undefined));
    let fragments = 0;
    for (const { label } of logRanges(bytes)) if (isFragment(label)) fragments++;
    let operations = 0;
    const keys: Uint8Array[] = [];
    if (!isManifest) {
      for (const { bytes: record } of records) {
        const { rows, count } = operationsOf(record, keys.length < 60 ? 20 : 0);
        operations += count;
        keys.push(...rows.map(({ key }) => key.bytes));
      }
    }
    return new InspectedLog(bytes, records, {
      byteLength: bytes.length,
      holds: isManifest ? 'edits' : 'batches',
      records: records.length,
      fragments,
      operations,
      damage: drops.filter(({ isInterrupted }) => isInterrupted !== true).map(({ offset, byteLength, reason }) => ({ offset, byteLength, reason })),
      tail,
      isIndexedDb: keys.length > 0 && keys.every((key) => indexedDbKey(key) !== undefined),
      isMinecraft: keys.length > 0 && keys.filter((key) => minecraftKey(key) !== undefined).length > keys.length / 2,
    });
  }

  rows(start: number, end: number): RecordRow[] {
    return this.#records.slice(start, end).map(({ bytes, offset }, i) => {
      const number = start + i;
      const row = { number, offset, byteLength: bytes.length, fragments: this.layout(number).filter(({ label }) => isFragment(label)).length };
      if (this.facts.holds === 'edits') {
        const changes = editOf(bytes);
        return { ...row, operations: [], operationCount: 0, changes: changes ?? [], problem: changes === undefined ? 'not an edit' : undefined };
      }
      const { rows, count, problem } = operationsOf(bytes, MOST_OPERATIONS);
      return { ...row, operations: rows, operationCount: count, changes: [], problem };
    });
  }

  /** The meaning of each byte of a record, including the headers of its fragments. */
  layout(number: number): LabelledRange[] {
    const start = this.#records[number]!.offset;
    const blockStart = start - (start % LOG_BLOCK_LENGTH);
    const ranges: LabelledRange[] = [];
    const layoutOf = this.facts.holds === 'edits' ? versionEditLayout : writeBatchLayout;
    const end = this.#records[number + 1]?.offset ?? Infinity;
    // Starts at the block, because only the starts of blocks are known.
    for (const range of logRanges(this.#bytes.subarray(blockStart, end === Infinity ? undefined : end), (record) => layoutOf(record))) {
      const offset = range.offset + blockStart;
      if (offset >= start) ranges.push({ ...range, offset });
    }
    return ranges;
  }
}

/** Each fragment has one range for its type. */
function isFragment(label: string): boolean {
  return /^fragment \d+: type$/.test(label);
}

function operationsOf(record: Uint8Array, most: number): { readonly rows: OperationFacts[]; readonly count: number; readonly problem: string | undefined } {
  const rows: OperationFacts[] = [];
  const batch = new WriteBatchReader(record);
  let count = 0;
  while (batch.next()) {
    if (rows.length < most) {
      const isDeletion = batch.type === DELETION;
      rows.push({ kind: isDeletion ? 'delete' : 'put', sequence: String(batch.sequence + BigInt(count)), key: clipped(batch.key, CLIPPED_BYTES), value: isDeletion ? undefined : clipped(batch.value, CLIPPED_BYTES) });
    }
    count++;
  }
  return { rows, count, problem: batch.problem };
}

/** The changes of an edit as text; undefined if the record is not an edit. */
function editOf(record: Uint8Array): string[] | undefined {
  try {
    const edit = decodeVersionEdit(record, { structure: 'MANIFEST', offset: 0 });
    const { comparator, logNumber, previousLogNumber, nextFileNumber, lastSequence, compactPointers = [], deletedFiles = [], newFiles = [] } = edit;
    const changes: string[] = [];
    if (comparator !== undefined) changes.push(`comparator ${comparator}`);
    if (logNumber !== undefined) changes.push(`logs from number ${logNumber}`);
    if (previousLogNumber !== undefined && previousLogNumber !== 0n) changes.push(`and log ${previousLogNumber}`);
    if (nextFileNumber !== undefined) changes.push(`next file number ${nextFileNumber}`);
    if (lastSequence !== undefined) changes.push(`last sequence ${lastSequence}`);
    for (const { level, file } of newFiles) changes.push(`+ table ${file.number} in level ${level}, ${counted(file.size, 'byte')}, ${keyText(file.smallest)} to ${keyText(file.largest)}`);
    for (const { level, number } of deletedFiles) changes.push(`− table ${number} of level ${level}`);
    for (const { level, key } of compactPointers) changes.push(`level ${level} is compacted next from ${keyText(key)}`);
    return changes;
  } catch (error) {
    if (error instanceof CorruptionError) return undefined;
    throw error;
  }
}

function keyText(internalKey: Uint8Array): string {
  const key = decodeInternalKey(internalKey)?.userKey ?? internalKey;
  return partsOf(key.subarray(0, 80), indexedDbKey(key) !== undefined ? 'indexeddb' : 'text')
    .map(({ text }) => text)
    .join('');
}
