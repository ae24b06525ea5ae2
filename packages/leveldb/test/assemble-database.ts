import { encodeVersionEdit, WriteBatch } from '@bloom/leveldb';
import { LogWriter } from '@bloom/log';
import type { FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, MemorySink, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import type { FileMetadata } from '../src/format/version-edit.js';

/** A version of a key. */
export interface Version {
  readonly key: Uint8Array;
  readonly sequence: number;
  /** Undefined: a deletion. */
  readonly value: Uint8Array | undefined;
}

export interface TableParts {
  readonly level: number;
  readonly number: number;
  /** In any order. */
  readonly versions: readonly Version[];
}

/** A batch: its operations, and the sequence of the first one. */
export interface BatchParts {
  readonly sequence: number;
  /** A value of undefined is a deletion. */
  readonly operations: readonly (readonly [key: Uint8Array, value: Uint8Array | undefined])[];
}

export interface LogParts {
  readonly number: number;
  readonly batches: readonly BatchParts[];
}

export interface DatabaseParts {
  readonly tables?: readonly TableParts[];
  readonly logs?: readonly LogParts[];
  readonly comparator?: Comparator;
  /** Of user keys; null for tables without filters. */
  readonly filterPolicy?: FilterPolicy | null;
  readonly lastSequence?: number;
  readonly build?: Pick<TableBuilderOptions, 'blockSize' | 'compression' | 'blockRestartInterval'>;
}

/** The file of records, in LevelDB's form. */
export function logOf(records: Iterable<Uint8Array>): Uint8Array {
  const parts: Uint8Array[] = [];
  const writer = new LogWriter({ append: (bytes) => parts.push(bytes) });
  for (const record of records) writer.addRecord(record);
  return new Uint8Array(Buffer.concat(parts));
}

/** The record of a batch. */
export function recordOf({ sequence, operations }: BatchParts): Uint8Array {
  const batch = new WriteBatch();
  for (const [key, value] of operations) {
    if (value === undefined) batch.delete(key);
    else batch.put(key, value);
  }
  return batch.encode(BigInt(sequence)).slice();
}

/** The files of a database, by name. They are assembled by hand, so that the database has the state that a test needs. */
export function assembleDatabase(parts: DatabaseParts): Map<string, Uint8Array> {
  const { tables = [], logs = [], comparator = bytewiseComparator, filterPolicy = null, build } = parts;
  const order = internalKeyComparator(comparator);
  const files = new Map<string, Uint8Array>();
  const newFiles: { level: number; file: FileMetadata }[] = [];
  let last = parts.lastSequence ?? 0;
  let next = 2;
  for (const { level, number, versions } of tables) {
    const entries = versions
      .map(({ key, sequence, value }) => {
        last = Math.max(last, sequence);
        return { key: encodeInternalKey({ userKey: key, sequence: BigInt(sequence), type: value === undefined ? 0 : 1 }), value };
      })
      .sort((a, b) => order.compare(a.key, b.key));
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, {
      comparator: order,
      filterPolicy: filterPolicy && internalKeyPolicy(filterPolicy),
      compression: 'none',
      ...build,
    });
    for (const { key, value } of entries) builder.add(key, value ?? new Uint8Array(0));
    builder.finish();
    const bytes = sink.toBytes();
    files.set(`${String(number).padStart(6, '0')}.ldb`, bytes);
    newFiles.push({ level, file: { number: BigInt(number), size: bytes.length, smallest: entries[0]!.key, largest: entries.at(-1)!.key } });
    next = Math.max(next, number + 1);
  }
  for (const { number, batches } of logs) {
    files.set(`${String(number).padStart(6, '0')}.log`, logOf(batches.map(recordOf)));
    next = Math.max(next, number + 1);
  }
  const manifest = [
    encodeVersionEdit({ comparator: comparator.name }),
    encodeVersionEdit({
      logNumber: BigInt(Math.min(...logs.map(({ number }) => number), next)),
      previousLogNumber: 0n,
      nextFileNumber: BigInt(next + 1),
      lastSequence: BigInt(last),
      newFiles,
    }),
  ];
  files.set('MANIFEST-000001', logOf(manifest));
  files.set('CURRENT', new TextEncoder().encode('MANIFEST-000001\n'));
  return files;
}
