import { mustBeBytes, mustBeOptions } from '@bloom/bytes';
import type { FilterStatus, TableStats } from '@bloom/sstable';
import { ByteCopier, decodeInternalKey, VALUE } from '@bloom/sstable/database';
import { type DatabaseDescription, describe } from './description.js';
import type { EntryCursor } from './entry-cursor.js';
import { afterVersions, beforeVersions, typeOf } from './database-key.js';
import { tableFileName } from './file-name.js';
import { all, type FolderReading } from './folder-reading.js';
import { type LookupCounts, Lookup } from './lookup.js';
import type { View } from './view.js';
import type { VisibleCursor } from './visible-cursor.js';

/** Which state of the database to look at. */
export interface SequenceOptions {
  /** What was written with a higher sequence is not seen. Default: the newest. */
  readonly sequence?: bigint | undefined;
}

/** The names for reads with promises and without, so that one object can be used for both. Those without ignore the signal. */
const READ_OPTIONS: Record<string, true> = { sequence: true, signal: true };
/** A cursor is made without reading: its moves take the signals. */
export const CURSOR_OPTIONS: Record<string, true> = { sequence: true };

/** What a reader did so far. All counts start at 0 when it is opened. */
export interface ReaderStats extends Readonly<LookupCounts>, TableStats {
  /** How often reading the folder started again because another process had changed it. */
  readonly restarts: number;
}

/** One of the versions that are stored of a key. */
export interface StoredVersion {
  readonly kind: 'value' | 'deletion';
  readonly sequence: bigint;
  /** The key as it is stored: other bytes than those asked for where the comparator calls them equal. */
  readonly key: Uint8Array;
  /** Empty for a deletion. */
  readonly value: Uint8Array;
  /** The name of the log or table. */
  readonly file: string;
  /** The level of the table; undefined for a log. */
  readonly level: number | undefined;
}

/** Where views come from. */
export interface TableFiles {
  /** What all tables did so far. */
  readonly counts: TableStats;
  /** How often reading the folder started again because another process had changed it. */
  readonly restarts: number;
}

/** The members that `DatabaseReader`, `SyncDatabaseReader` and `Database` share and that read no files. */
export abstract class ReaderFace {
  readonly #files: TableFiles;
  protected view: View;
  protected readonly counts: LookupCounts = { lookups: 0, memtablesAsked: 0, tablesAsked: 0 };
  protected readonly copier = new ByteCopier();
  /** Its name in error messages. */
  protected readonly kind: string = 'reader';
  /** A lookup that is over, for the next one to use. */
  #lookup: Lookup | undefined;
  #closed = false;

  constructor(files: TableFiles, view: View) {
    this.#files = files;
    this.view = view;
  }

  /** The sequence of the last write that is seen. */
  get lastSequence(): bigint {
    return this.view.lastSequence;
  }

  /** What the database consists of, and what was left out because it is damaged. */
  describe(): DatabaseDescription {
    this.mustBeOpen();
    return describe(this.view);
  }

  /**
   * Whether filters are in use: the state that all tables which are open have in common, `'mixed'` where they differ, and
   * `'absent'` where there are none. `describe` has that of each.
   */
  get filterStatus(): FilterStatus['state'] | 'mixed' {
    const { version, tables } = this.view;
    const states = new Set(version.files.flatMap((file) => tables.get(file)?.table.filterStatus.state ?? []));
    const [state = 'absent'] = states;
    return states.size > 1 ? 'mixed' : state;
  }

  /** What the reader did so far: a copy of the counts. */
  get stats(): ReaderStats {
    return { ...this.counts, ...this.#files.counts, restarts: this.#files.restarts };
  }

  /** Compares two keys by the database's order. */
  compare(a: Uint8Array, b: Uint8Array): number {
    return this.view.comparator.compare(a, b);
  }

  /** @throws TypeError when the reader is closed. */
  mustBeOpen(): void {
    if (this.#closed) throw new TypeError(`the ${this.kind} is closed`);
  }

  /** @returns whether it was open until now. */
  protected markClosed(): boolean {
    const wasOpen = !this.#closed;
    this.#closed = true;
    return wasOpen;
  }

  /** Shows another state of the folder. @returns whether anything was written since the last. */
  protected show(view: View): boolean {
    const before = this.view;
    this.view = view;
    // It would keep the memtables of what is no longer seen.
    this.#lookup = undefined;
    before.unpin();
    return view.lastSequence !== before.lastSequence;
  }

  /** Begins a lookup, which `valueOf` or `isFound` ends. */
  protected lookup(key: Uint8Array, options: SequenceOptions | undefined): Lookup {
    return this.lookupAt(key, this.sequenceOf(options), this.view);
  }

  /** Begins a lookup of what `view` has at `sequence`. */
  protected lookupAt(key: Uint8Array, sequence: bigint, view: View): Lookup {
    this.mustBeOpen();
    mustBeBytes('key', key);
    const lookup = this.#lookup ?? new Lookup(view, this.counts);
    this.#lookup = undefined;
    lookup.start(view, key, sequence);
    return lookup;
  }

  protected valueOf(lookup: Lookup): Uint8Array | undefined {
    const { valueBytes, valueStart, valueEnd } = lookup;
    return this.isFound(lookup) ? this.copier.copy(valueBytes.subarray(valueStart, valueEnd)) : undefined;
  }

  protected isFound(lookup: Lookup): boolean {
    if (lookup.isOf(this.view)) this.#lookup = lookup;
    return lookup.found;
  }

  /** A cursor over what is visible in `view` at `sequence`. */
  protected cursorOf(view: View, sequence: bigint): VisibleCursor {
    return view.cursor(sequence);
  }

  protected copyKey({ keyBytes, keyLength }: VisibleCursor): Uint8Array {
    return this.copier.copyStart(keyBytes, keyLength);
  }

  protected copyValue({ valueBytes, valueStart, valueEnd }: VisibleCursor): Uint8Array {
    return this.copier.copy(valueBytes.subarray(valueStart, valueEnd));
  }

  /** The sequence at which a call reads. @throws TypeError for options that reads do not have. */
  protected sequenceOf(options: SequenceOptions | undefined, known = READ_OPTIONS): bigint {
    if (options !== undefined) mustBeOptions('a read of a database', options, known);
    return this.visibleAt(options?.sequence);
  }

  /** The sequence at which a call reads that asks for `sequence`. */
  protected visibleAt(sequence: bigint | undefined): bigint {
    if (sequence === undefined) return this.view.lastSequence;
    if (typeof sequence !== 'bigint') throw new TypeError(`sequence must be a bigint, got ${typeof sequence}`);
    if (sequence < 0n) throw new RangeError(`sequence must be at least 0, got ${sequence}`);
    return sequence < this.view.lastSequence ? sequence : this.view.lastSequence;
  }

  /** All versions of a key, the newest first, also those that are not visible. */
  protected *allVersions(view: View, key: Uint8Array): FolderReading<StoredVersion[]> {
    const { version, newestLogs, order } = view;
    // The caller may change the key before the last table is reached.
    const start = beforeVersions(key);
    const end = afterVersions(key);
    const sources: { readonly cursor: EntryCursor; readonly file: string; readonly level: number | undefined }[] = [];
    for (const { memtable, name } of newestLogs) sources.push({ cursor: memtable.cursor(), file: name, level: undefined });
    for (const [level, files] of version.levels.entries()) {
      for (const file of files) {
        if (!version.mayHold(file, start)) continue;
        sources.push({ cursor: view.entriesOf(file), file: tableFileName(file.number), level });
      }
    }
    function* versionsIn({ cursor, file, level }: (typeof sources)[number]): FolderReading<StoredVersion[]> {
      const versions: StoredVersion[] = [];
      try {
        for (let settled = cursor.seek(start, 'at-or-after'); ; settled = cursor.next()) {
          if (!settled) yield* cursor.settle();
          if (!cursor.valid) return versions;
          const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = cursor.entry;
          if (order.compareInternalKeys(keyBytes, keyStart, keyEnd, end, 0, end.length) > 0) return versions;
          try {
            const kind = typeOf(keyBytes, keyStart, keyEnd, file) === VALUE ? 'value' : 'deletion';
            const { userKey, sequence } = decodeInternalKey(keyBytes.slice(keyStart, keyEnd))!;
            versions.push({ kind, sequence, key: userKey, value: valueBytes.slice(valueStart, valueEnd), file, level });
          } catch (error) {
            view.damage.pass(error);
          }
        }
      } finally {
        cursor.close();
      }
    }
    const found = yield* all(sources.map(versionsIn));
    return found.flat().sort((a, b) => (a.sequence > b.sequence ? -1 : a.sequence < b.sequence ? 1 : 0));
  }
}
