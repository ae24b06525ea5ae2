import type { FilterStatus } from '@bloom/sstable';
import { decodeInternalKey, type InternalKey } from '@bloom/sstable/database';
import type { LogTail } from '@bloom/log';
import type { Dropped } from '../folder/damage.js';
import { tableFileName } from '../format/file-name.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { ViewTables } from '../table/table-cache.js';
import type { View } from './view.js';

/** A table of a database. */
export interface TableDescription {
  readonly number: bigint;
  /** The name in LevelDB's current form; the file may have the older extension `.sst`. */
  readonly name: string;
  /** The length of the file according to the MANIFEST. */
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
  /** The length of the file when it was read. */
  readonly byteLength: number;
  /** The number of its operations. */
  readonly entries: number;
  /** The unfinished end of the log, if there is one: the writer was stopped, or is still writing. */
  readonly tail: LogTail | undefined;
}

/** The filters of a level. */
export interface LevelFilters {
  /** The number of open tables of the level whose filters have been read. The other figures are about these. */
  readonly knownTables: number;
  /** Bytes of their filters. */
  readonly filterBytes: number;
  /**
   * The expected number of blocks that a lookup of an absent key reads needlessly in this level, if the key is within the range of a
   * table: 1 for a level without filters, and in level 0 up to the number of tables. If not all tables are known, the others are assumed
   * to be similar; undefined when none is known.
   *
   * For LevelDB's Bloom filters it is computed from their bits, for keys with random hashes. Other filters are queried with keys that are
   * not stored.
   */
  readonly wastedReads: number | undefined;
}

/** The parts of a database. */
export interface DatabaseDescription {
  /** The name of its comparator. */
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
  /** The filters of each level. A lookup of an absent key reads the sum of their `wastedReads` needlessly. */
  readonly filters: readonly LevelFilters[];
  /** The logs that are part of the database, the oldest first. */
  readonly logs: readonly LogDescription[];
  /** The damaged parts that were left out so far; always empty in strict reading. */
  readonly dropped: readonly Dropped[];
}

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
        smallest: copyOf(file.smallest),
        largest: copyOf(file.largest),
        filterStatus: tables.get(file)?.table.filterStatus ?? { state: 'unopened' },
      })),
    ),
    filters: version.levels.map((files, level) => filtersOf(files, level, tables)),
    logs: logs.map(({ number, name, byteLength, memtable, tail }) => ({ number, name, byteLength, entries: memtable.count, tail })),
    dropped: [...logs.flatMap(({ dropped }) => dropped), ...damage.dropped],
  };
}

/** Decodes a copy, because the database keeps using its own array. */
function copyOf(internalKey: Uint8Array): InternalKey {
  return decodeInternalKey(new Uint8Array(internalKey))!;
}

function filtersOf(files: readonly FileMetadata[], level: number, tables: ViewTables): LevelFilters {
  let knownTables = 0;
  let filterBytes = 0;
  let knownBytes = 0;
  let rates = 0;
  for (const file of files) {
    const known = tables.get(file)?.filters;
    if (known === undefined) continue;
    // A lookup searches all tables of level 0. Of a deeper level it searches one table, and large tables more often.
    const share = level === 0 ? 1 : file.size;
    knownTables++;
    filterBytes += known.byteLength;
    knownBytes += share;
    rates += known.falsePositiveRate * share;
  }
  const rate = knownBytes === 0 ? undefined : rates / knownBytes;
  const wastedReads = files.length === 0 ? 0 : rate === undefined || level > 0 ? rate : rate * files.length;
  return { knownTables, filterBytes, wastedReads };
}
