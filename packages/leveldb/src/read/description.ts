import type { FilterStatus } from '@bloom/sstable';
import { decodeInternalKey, type InternalKey } from '@bloom/sstable/database';
import type { LogTail } from '@bloom/log';
import type { Dropped } from '../folder/damage.js';
import { tableFileName } from '../format/file-name.js';
import type { View } from './view.js';

/** A table of a database. */
export interface TableDescription {
  readonly number: bigint;
  /** As LevelDB writes it now; the file may have the older ending `.sst`. */
  readonly name: string;
  /** Bytes of the file, as the MANIFEST has it. */
  readonly byteLength: number;
  readonly smallest: InternalKey;
  readonly largest: InternalKey;
  /** Whether its filters are in use; `unopened` while the table is not open. */
  readonly filterStatus: FilterStatus | { readonly state: 'unopened' };
}

/** A log of a database. */
export interface LogDescription {
  readonly number: bigint;
  readonly name: string;
  /** Bytes of the file when it was read. */
  readonly byteLength: number;
  /** How many operations it holds. */
  readonly entries: number;
  /** What it ends in, unless that is a record: the writer was stopped, or is still writing. */
  readonly tail: LogTail | undefined;
}

/** What a database consists of. */
export interface DatabaseDescription {
  /** The name of the order of its keys. */
  readonly comparator: string;
  readonly lastSequence: bigint;
  /** The name of the MANIFEST. */
  readonly manifest: string;
  /** Logs with a lower number are obsolete. */
  readonly logNumber: bigint;
  readonly previousLogNumber: bigint;
  readonly nextFileNumber: bigint;
  /** The tables of each level, by their smallest keys. */
  readonly levels: readonly (readonly TableDescription[])[];
  /** The logs that are part of the database, the oldest first. */
  readonly logs: readonly LogDescription[];
  /** What was left out so far because it is damaged; always empty in strict reading. */
  readonly dropped: readonly Dropped[];
}

/** What `view` consists of. */
export function describe({ comparator, fields, manifest, version, logs, lastSequence, tables, damage }: View): DatabaseDescription {
  return {
    comparator: fields.comparator ?? comparator.name,
    lastSequence,
    manifest,
    logNumber: fields.logNumber,
    previousLogNumber: fields.previousLogNumber,
    nextFileNumber: fields.nextFileNumber,
    levels: version.levels.map((files) =>
      files.map((file) => ({
        number: file.number,
        name: tableFileName(file.number),
        byteLength: file.size,
        smallest: decodeInternalKey(file.smallest)!,
        largest: decodeInternalKey(file.largest)!,
        filterStatus: tables.get(file)?.table.filterStatus ?? { state: 'unopened' },
      })),
    ),
    logs: logs.map(({ number, name, byteLength, memtable, tail }) => ({ number, name, byteLength, entries: memtable.count, tail })),
    dropped: [...logs.flatMap(({ dropped }) => dropped), ...damage.dropped],
  };
}
