import { bytesOf } from '@bloom/bytes/internal';
import type { FilterStatus, TableStats } from '@bloom/sstable';
import { type DatabaseDescription, describe } from './description.js';
import type { ReadPath } from './read-path.js';
import type { LookupCounts } from './view-lookup.js';

/** Counts of a reader's work so far, with those of its opening: restarts, and the bytes that opened tables. */
export interface ReaderStats extends Readonly<LookupCounts>, TableStats {
  /** How often reading the folder was restarted because another process had changed it. */
  readonly restarts: number;
}

/**
 * Whether the filters of a database's tables are in use:
 *
 * - the status that all open tables have in common, `{ state: 'absent' }` if there is no table
 * - `unopened`: no table is open yet
 * - `mixed`: tables differ, and `statuses` has each status once
 */
export type DatabaseFilterStatus = FilterStatus | { readonly state: 'unopened' } | { readonly state: 'mixed'; readonly statuses: readonly FilterStatus[] };

/** The work of a database with its files so far. */
export interface TableFiles {
  /** The counts of all tables so far. */
  readonly counts: TableStats;
  /** How often reading the folder was restarted because another process had changed it. */
  readonly restarts: number;
}

/** The members that `DatabaseReader`, `SyncDatabaseReader` and `Database` share and that read no files. */
export abstract class BaseReader {
  readonly #path: ReadPath;
  readonly #files: TableFiles;

  /** @internal */
  constructor(path: ReadPath, files: TableFiles) {
    this.#path = path;
    this.#files = files;
  }

  /** The sequence of the last write that is visible. */
  get lastSequence(): bigint {
    return this.#path.lastSequence;
  }

  /** The parts of the database, and the parts that were left out because they are damaged. */
  describe(): DatabaseDescription {
    this.#path.mustBeOpen();
    return describe(this.#path.view);
  }

  /** Whether filters are in use. `describe` has the status of each table. */
  get filterStatus(): DatabaseFilterStatus {
    const { version, tables } = this.#path.view;
    const statuses = new Map<string, FilterStatus>();
    for (const file of version.files) {
      const status = tables.get(file)?.table.filterStatus;
      if (status !== undefined) statuses.set(keyOf(status), status);
    }
    const [status = { state: version.files.length > 0 ? 'unopened' : 'absent' }] = statuses.values();
    return statuses.size > 1 ? { state: 'mixed', statuses: [...statuses.values()] } : status;
  }

  /** The counts of the reader's work so far, as a copy. */
  get stats(): ReaderStats {
    return { ...this.#path.counts, ...this.#files.counts, restarts: this.#files.restarts };
  }

  /** Compares two keys by the database's order. */
  compare(a: Uint8Array | string, b: Uint8Array | string): number {
    return this.#path.view.comparator.compare(bytesOf('a', a), bytesOf('b', b));
  }
}

/** Equal for statuses that are the same. Errors do not count, because each table has its own. */
function keyOf(status: FilterStatus): string {
  return JSON.stringify({ ...status, error: undefined });
}
