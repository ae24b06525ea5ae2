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
  /** The number of filters; 0 without a filter policy. */
  readonly filters: number;
  /** Bytes of the filter block. */
  readonly filterBytes: number;
}

/** A table, and the level that it is in. */
export interface TableInLevel {
  readonly level: number;
  readonly table: string;
  readonly byteLength: number;
}

/**
 * Something that an open database did, reported when it was done. Events are plain JSON: files are given by name, and sequences as decimal
 * digits.
 */
export type DatabaseEvent =
  /**
   * The folder is locked, but not against all programs that could write to it: on Linux, programs that lock with flock are not kept out
   * where flock cannot be called or the file system lacks it. The message names the programs and the reason.
   */
  | { readonly kind: 'lock-limited'; readonly message: string }
  /** A log of an earlier process was read at opening. */
  | {
      readonly kind: 'log-replayed';
      readonly log: string;
      readonly byteLength: number;
      readonly operations: number;
      /** The sequence of the last operation, `'0'` without any. */
      readonly lastSequence: string;
      /** The tables made from it. They are in the next installed version. */
      readonly tables: readonly TableMade[];
      /** Whether further writes are appended to it, so that its operations stay in memory: see `reuseLogs`. */
      readonly isReused: boolean;
      /** The number of damaged records that were left out: see `damage`. */
      readonly dropped: number;
    }
  /** A record is in the log; its operations are put into the memtable next. Writes that are pending at the same time share a record. */
  | {
      readonly kind: 'write-logged';
      readonly log: string;
      /** The sequence of the first operation. The others follow it. */
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
   * `clear` empties the database: log and memtable start again, and the next installed version has no tables. A flush or compaction in progress
   * is abandoned. It is sent before the edit of the MANIFEST: if that fails, `writing-ended` follows, and the entries are still there. Not
   * sent by a `clear` that deletes entries individually.
   */
  | { readonly kind: 'cleared'; readonly nextLog: string }
  | { readonly kind: 'flush-began'; readonly log: string; readonly table: string; readonly entries: number }
  /** The table is in the MANIFEST, and `version-installed` follows. `table` and `level` are undefined for an empty memtable, which makes none. */
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
       * `'size'`: the level is too full. `'seeks'`: too many lookups searched the table without finding their key. `'manual'`:
       * `compactRange` requested it.
       */
      readonly reason: 'size' | 'seeks' | 'manual';
      /** Whether the only table is moved to the next level unchanged. */
      readonly isMove: boolean;
    }
  /** One of a compaction's tables is written. Tables written by a thread are reported together at the end. */
  | { readonly kind: 'compaction-output'; readonly level: number; readonly table: TableMade }
  /** The tables of a compaction are in the MANIFEST, and `version-installed` follows. Not reported for a move. */
  | {
      readonly kind: 'compaction-ended';
      /** The level of the inputs; the outputs are in the next one. */
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
  /** A change to the set of tables or logs is in the MANIFEST, and visible to readers. */
  | {
      readonly kind: 'version-installed';
      readonly manifest: string;
      readonly added: readonly TableInLevel[];
      readonly removed: readonly TableInLevel[];
      /** The number of tables in each level. */
      readonly tables: readonly number[];
      readonly lastSequence: string;
    }
  /** Files that are no longer needed were deleted. */
  | { readonly kind: 'files-deleted'; readonly files: readonly string[] }
  /** Nothing more is written: see `BLOOM_WRITING_ENDED`. */
  | { readonly kind: 'writing-ended'; readonly message: string };

/** Receives events; undefined without a listener, so that none are made. */
export type EventSink = ((event: DatabaseEvent) => void) | undefined;

/** A listener whose errors do not affect the database: the host reports them as unhandled rejections. */
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

/** The event that `after` replaces `before`. */
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
