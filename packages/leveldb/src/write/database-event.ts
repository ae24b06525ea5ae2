import type { WrittenTable } from '../folder/table-thread.js';
import { tableFileName } from '../format/file-name.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { Version } from '../format/version.js';

/** A table that a flush or a compaction wrote. */
export interface TableMade {
  /** The file's name. */
  readonly table: string;
  readonly byteLength: number;
  /** Versions of keys, deletions among them. */
  readonly entries: number;
  /** How many filters it has; 0 without a filter policy. */
  readonly filters: number;
  /** Bytes of the block that has the filters. */
  readonly filterBytes: number;
}

/** A table, and the level that it is in. */
export interface TableInLevel {
  readonly level: number;
  readonly table: string;
  readonly byteLength: number;
}

/**
 * Something that an open database did, when it was done. All of it is JSON: files are named, and sequences are decimal digits.
 */
export type DatabaseEvent =
  /**
   * The folder is locked, but not against all programs that could write to it: on Linux, programs that lock with flock are not kept out
   * where flock cannot be called or the file system lacks it. The message says which programs, and why.
   */
  | { readonly kind: 'lock-limited'; readonly message: string }
  /** Opening read a log that an earlier process left. */
  | {
      readonly kind: 'log-replayed';
      readonly log: string;
      readonly byteLength: number;
      readonly operations: number;
      /** The sequence of the last operation, `'0'` without any. */
      readonly lastSequence: string;
      /** The tables that were made of it. They are in the next installed version. */
      readonly tables: readonly TableMade[];
      /** Whether it is appended to, so that its operations stay in memory: see `reuseLogs`. */
      readonly isReused: boolean;
      /** How many records were left out because they are damaged: see `damage`. */
      readonly dropped: number;
    }
  /** A record is in the log; its operations are put into the memtable next. Writes that wait at the same time share a record. */
  | {
      readonly kind: 'write-logged';
      readonly log: string;
      /** The sequence of the first operation. The others have those that follow it. */
      readonly firstSequence: string;
      readonly operations: number;
      /** Bytes of the record. */
      readonly byteLength: number;
      /** Bytes of the log with it. */
      readonly logByteLength: number;
      /** Whether the log was synced, so that the write survives a power failure. */
      readonly isSynced: boolean;
    }
  /** The memtable is to become a table. Writes go to another one, with its own log. */
  | {
      readonly kind: 'memtable-switched';
      readonly log: string;
      readonly nextLog: string;
      readonly entries: number;
      /** Bytes of the memtable, as LevelDB counts them. */
      readonly memoryUsage: number;
    }
  /**
   * `clear` has emptied the database: log and memtable begin anew, and no version from the next installed one on has tables. What
   * was being flushed or merged came to nothing.
   */
  | { readonly kind: 'cleared'; readonly nextLog: string }
  | { readonly kind: 'flush-began'; readonly log: string; readonly table: string; readonly entries: number }
  /** The table is written, and in no version yet. `table` and `level` are undefined for an empty memtable, which makes none. */
  | {
      readonly kind: 'flush-ended';
      readonly log: string;
      readonly level: number | undefined;
      readonly table: TableMade | undefined;
      readonly milliseconds: number;
    }
  | {
      readonly kind: 'compaction-chosen';
      /** The tables of this level are merged with those of the next that have keys in the same range. */
      readonly level: number;
      /** The names of both levels' tables. */
      readonly inputs: readonly [readonly string[], readonly string[]];
      /**
       * `'size'`: the level is too full. `'seeks'`: too many lookups searched the table without finding their key. `'manual'`: `compactRange` asks
       * for it.
       */
      readonly reason: 'size' | 'seeks' | 'manual';
      /** Whether the one table is moved to the next level as it is. */
      readonly isMove: boolean;
    }
  /** One of a compaction's tables is written. Those that a thread wrote are all reported when it is done. */
  | { readonly kind: 'compaction-output'; readonly level: number; readonly table: TableMade }
  /** The tables of a compaction are written, and in no version yet. Nothing is reported of a move. */
  | {
      readonly kind: 'compaction-ended';
      /** The level of the inputs; that of the outputs is the next. */
      readonly level: number;
      readonly outputs: readonly string[];
      readonly entriesRead: number;
      readonly entriesWritten: number;
      /** Versions that were dropped because a newer one hides them from every reader and snapshot. */
      readonly shadowedDropped: number;
      /** Deletions that were dropped because no deeper level has anything that they hide. */
      readonly deletionsDropped: number;
      readonly milliseconds: number;
    }
  /** The MANIFEST has a change of the tables or logs, and readers see it. */
  | {
      readonly kind: 'version-installed';
      readonly manifest: string;
      readonly added: readonly TableInLevel[];
      readonly removed: readonly TableInLevel[];
      /** How many tables each level has now. */
      readonly tables: readonly number[];
      readonly lastSequence: string;
    }
  /** Files that are no longer needed were deleted. */
  | { readonly kind: 'files-deleted'; readonly files: readonly string[] }
  /** Nothing more is written: see `BLOOM_WRITING_ENDED`. */
  | { readonly kind: 'writing-ended'; readonly message: string };

/** Takes events; undefined where nobody listens, so that none are made. */
export type EventSink = ((event: DatabaseEvent) => void) | undefined;

/** A listener whose mistakes stay its own: what it throws is reported by the host, as an unhandled rejection. */
export function guardedListener(listener: (event: DatabaseEvent) => void): (event: DatabaseEvent) => void {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      void Promise.reject(error);
    }
  };
}

export function tableMade({ file, entries, filters, filterBytes }: WrittenTable): TableMade {
  return { table: tableFileName(file.number), byteLength: file.size, entries, filters, filterBytes };
}

/** The event that `after` is seen where `before` was. */
export function versionInstalled(manifest: string, before: Version | undefined, after: Version, lastSequence: bigint): DatabaseEvent {
  return {
    kind: 'version-installed',
    manifest,
    added: tablesOnlyIn(after, before),
    removed: before === undefined ? [] : tablesOnlyIn(before, after),
    tables: after.levels.map((files) => files.length),
    lastSequence: lastSequence.toString(),
  };
}

function tablesOnlyIn({ levels }: Version, other: Version | undefined): TableInLevel[] {
  return levels.flatMap((files, level) => {
    const others = new Set(other?.levels[level]?.map(({ number }) => number));
    return files.filter(({ number }) => !others.has(number)).map((file) => inLevel(level, file));
  });
}

function inLevel(level: number, { number, size }: FileMetadata): TableInLevel {
  return { level, table: tableFileName(number), byteLength: size };
}
