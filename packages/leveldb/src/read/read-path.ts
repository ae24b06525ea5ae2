import type { Bytes, Signal } from '@bloom/bytes';
import { bytesOf, mustBeIterable, mustBeOptions } from '@bloom/bytes/internal';
import type { CursorOptions } from '@bloom/sstable';
import { type DatabaseEntry, decodeInternalKey, type SequenceOptions, VALUE } from '@bloom/sstable/database';
import { ByteCopier, compareInternalBytes, CURSOR_OPTIONS, CursorBounds, fillsCache, mustBeSequence, untilAborted } from '@bloom/sstable/internal';
import { CursorState } from './cursor-state.js';
import { type DatabaseKeyRange, DatabaseRange, inBytes, mustBeDatabaseRange, ownKey } from './database-range.js';
import type { EntryCursor } from '../cursor/entry-cursor.js';
import { afterVersions, beforeVersions, seekKey, typeOf } from '../format/database-key.js';
import { tableFileName } from '../format/file-name.js';
import type { Folder } from '../folder/folder.js';
import { Pacer, READS_PER_LOOK } from '../folder/pacer.js';
import { all, type FolderReading, runSync } from '../folder/folder-reading.js';
import { MemtableCursor } from '../memtable/memtable-cursor.js';
import type { LookupExplanation } from './lookup-explanation.js';
import { LookupTrace } from './lookup-trace.js';
import { OpenState } from './open-state.js';
import { SyncDatabaseCursor } from './sync-database-cursor.js';
import { SyncRangeIterator } from './sync-range.js';
import { type LookupCounts, ViewLookup } from './view-lookup.js';
import type { TableHandle } from '../table/table-handle.js';
import type { View } from './view.js';
import { compareBigints, type FileMetadata } from '../format/version-edit.js';
import type { ReadSampler } from '../cursor/read-samples.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

/** The options of synchronous and asynchronous reads, so that one object can be used for both. Synchronous reads ignore the signal. */
const READ_OPTIONS: Record<string, true> = { sequence: true, signal: true };
/** A cursor is made without reading: its moves take the signals. */
const DATABASE_CURSOR_OPTIONS: Record<keyof DatabaseCursorOptions, true> = { ...CURSOR_OPTIONS, sequence: true };

/** The state of the database that a cursor shows, and how it reads. */
export interface DatabaseCursorOptions extends SequenceOptions, CursorOptions {}

/** One version of a key, as a log or a table of a database holds it. */
export interface StoredEntry extends DatabaseEntry {
  readonly kind: 'value' | 'deletion';
  /** The name of the log or table. */
  readonly file: string;
}

/** One of the versions of a key. Its `key` can have other bytes than the requested one, if the comparator treats them as equal. */
export interface StoredVersion extends StoredEntry {
  /** The level of the table; undefined for a log. */
  readonly level: number | undefined;
}

/** Makes a result from `bytes[start, end)`, which are valid only during the call, and only until the call reads from a database or a table. */
export type MakeOfBytes<T> = (bytes: Uint8Array, start: number, end: number) => T;

/** The names of a reader and its class in error messages. */
export interface ReaderName {
  readonly kind: 'reader' | 'database';
  readonly className: string;
}

/** A state of a database: its files, and the sequence of the last write in it. */
export interface Moment {
  readonly view: View;
  readonly lastSequence: bigint;
}

/** The writes that were issued and have not ended. */
export interface PendingWrites {
  /** Writes queued writes until it has to wait. @returns whether the queue is empty. */
  catchUp(): boolean;
  /** Whether a queued write may change the value of `key`, compared by its bytes. */
  mayChange(key: Uint8Array): boolean;
  /** Calls `take` after the writes that are queued and before those that come later. */
  reached<T>(take: () => T): Promise<T>;
}

/** The connection of reads with a database that is also written. */
export interface ReadObserver {
  readonly writes: PendingWrites;
  /** Called when a lookup has searched more than one table: `first` was searched without success. */
  readonly onWastedSeek: (first: FileMetadata) => void;
  /** Makes the sampler of a new cursor. */
  readonly sampler: () => ReadSampler;
}

/**
 * How `DatabaseReader`, `SyncDatabaseReader` and `Database` read: the current view, lookups, cursors and ranges, and the synchronous calls of
 * the latter two (`…AtOnce`). Those pass the name of the call, for errors about its options.
 */
export class ReadPath {
  readonly #name: ReaderName;
  readonly #observer: ReadObserver | undefined;
  readonly folder: Folder;
  view: View;
  readonly counts: LookupCounts = { lookups: 0, memtablesAsked: 0, tablesAsked: 0 };
  readonly copier = new ByteCopier();
  readonly copyOf: MakeOfBytes<Bytes> = (bytes, start, end) => this.copier.copy(bytes.subarray(start, end));
  readonly state: OpenState;
  /** Counts the lookups and moves of asynchronous calls. It is shared: a loop may make a new cursor each time, whose data is in memory. */
  readonly pacer = new Pacer(READS_PER_LOOK);
  /** A lookup that has ended, for the next one to reuse. */
  #lookup: ViewLookup | undefined;

  constructor(name: ReaderName, folder: Folder, view: View, observer?: ReadObserver) {
    this.#name = name;
    this.#observer = observer;
    this.folder = folder;
    this.view = view;
    this.state = new OpenState(name.kind);
  }

  /** @throws TypeError when the reader is closed. */
  mustBeOpen(): void {
    this.state.mustBeOpen();
  }

  /** Shows another state of the folder. @returns whether anything was written since the last state, or the files may be those of another database. */
  show(view: View): boolean {
    const before = this.view;
    this.view = view;
    // It would keep memtables that are no longer needed.
    this.#lookup = undefined;
    before.unpin();
    return view.lastSequence !== before.lastSequence || view.origin !== before.origin;
  }

  /** The sequence of the last write that is visible to a read called now, unless it `isBehind`. */
  get lastSequence(): bigint {
    this.#observer?.writes.catchUp();
    return this.view.lastSequence;
  }

  /** The state as it is now. Its view is not pinned. */
  get present(): Moment {
    const { lastSequence, view } = this;
    return { view, lastSequence };
  }

  /**
   * Whether `view` lacks writes that were issued earlier, so that a read must wait for the `moment`.
   *
   * @param key the only key that is read; undefined for several.
   */
  isBehind(key?: Uint8Array | string): boolean {
    const writes = this.#observer?.writes;
    if (writes === undefined || writes.catchUp()) return false;
    const isBytewise = this.view.order.compareInternalKeys === compareInternalBytes;
    return !(isBytewise && key instanceof Uint8Array) || writes.mayChange(key);
  }

  /** The state with the writes that were issued earlier. Its view is pinned. @throws the signal's reason at once when it is aborted. */
  moment(signal?: Signal): Promise<Moment> {
    const coming = this.#observer!.writes.reached(() => {
      const { view } = this;
      view.pin();
      return { view, lastSequence: view.lastSequence };
    });
    if (signal === undefined) return coming;
    return untilAborted(coming, signal).catch((error: unknown) => {
      void coming.then(({ view }) => view.unpin(), () => undefined);
      throw error;
    });
  }

  /** Begins a lookup, which `valueOf` or `isFound` ends. */
  lookup(call: string, key: Uint8Array | string, options: SequenceOptions | undefined): ViewLookup {
    const sequence = this.sequenceOf(call, options);
    return this.lookupAt(key, sequence, this.view);
  }

  /** Begins a lookup in `view` at `sequence`. */
  lookupAt(key: Uint8Array | string, sequence: bigint, view: View, trace?: LookupTrace): ViewLookup {
    this.mustBeOpen();
    const bytes = bytesOf('key', key);
    const lookup = this.#lookup ?? new ViewLookup(view, this.counts);
    this.#lookup = undefined;
    lookup.start(view, bytes, sequence, trace);
    return lookup;
  }

  /** Looks up a key as `get` does, and explains the steps. It yields the reads that it needs. */
  *explained(view: View, call: string, key: Uint8Array | string, options: SequenceOptions | undefined, last?: bigint): FolderReading<LookupExplanation> {
    this.mustBeOpen();
    const own = ownKey(key);
    const sequence = this.sequenceOf(call, options, last);
    const trace = new LookupTrace(view, own, sequence);
    const lookup = this.lookupAt(own, sequence, view, trace);
    try {
      if (!lookup.run('at hand')) yield* lookup.settle();
      return trace.explain(this.valueOf(lookup));
    } catch (error) {
      return trace.explainFailure(error);
    }
  }

  valueOf(lookup: ViewLookup): Bytes | undefined {
    return this.madeOf(lookup, this.copyOf);
  }

  /** The result of `make` for the value that was found; undefined when there is none. */
  madeOf<T>(lookup: ViewLookup, make: MakeOfBytes<T>): T | undefined {
    const { valueBytes, valueStart, valueEnd } = lookup;
    return this.isFound(lookup) ? make(valueBytes, valueStart, valueEnd) : undefined;
  }

  isFound(lookup: ViewLookup): boolean {
    if (this.#observer !== undefined && lookup.askedTables > 1 && lookup.isOf(this.view)) this.#observer.onWastedSeek(lookup.firstTable!);
    if (lookup.isOf(this.view)) this.#lookup = lookup;
    return lookup.found;
  }

  /** A cursor over the entries that are visible in `view` at `sequence`. Given a prefix without bounds, it may show others too. */
  cursorOf(view: View, sequence: bigint, fillsCache: boolean, prefix?: Uint8Array, bounds?: CursorBounds): VisibleCursor {
    return view.cursor(sequence, fillsCache, this.#observer?.sampler(), prefix, bounds);
  }

  copyPair(cursor: VisibleCursor): [Bytes, Bytes] {
    return cursor.pair(this.copier);
  }

  copyKey({ keyBytes, keyStart, keyLength }: VisibleCursor): Bytes {
    return this.copier.copyRange(keyBytes, keyStart, keyStart + keyLength);
  }

  copyValue({ valueBytes, valueStart, valueEnd }: VisibleCursor): Bytes {
    return this.copier.copyRange(valueBytes, valueStart, valueEnd);
  }

  getAtOnce(call: string, key: Uint8Array | string, options: SequenceOptions | undefined): Bytes | undefined {
    return this.valueOf(this.#lookUpAtOnce(call, key, options));
  }

  makeAtOnce<T>(call: string, key: Uint8Array | string, make: MakeOfBytes<T>, options: SequenceOptions | undefined): T | undefined {
    return this.madeOf(this.#lookUpAtOnce(call, key, options), make);
  }

  hasAtOnce(call: string, key: Uint8Array | string, options: SequenceOptions | undefined): boolean {
    return this.isFound(this.#lookUpAtOnce(call, key, options));
  }

  getManyAtOnce(call: string, keys: Iterable<Uint8Array | string>, options: SequenceOptions | undefined): (Bytes | undefined)[] {
    return this.#manyAtOnce(call, keys, options, (lookup) => this.valueOf(lookup));
  }

  hasManyAtOnce(call: string, keys: Iterable<Uint8Array | string>, options: SequenceOptions | undefined): boolean[] {
    return this.#manyAtOnce(call, keys, options, (lookup) => this.isFound(lookup));
  }

  #manyAtOnce<T>(call: string, keys: Iterable<Uint8Array | string>, options: SequenceOptions | undefined, take: (lookup: ViewLookup) => T): T[] {
    this.mustBeOpen();
    mustBeIterable('keys', keys, 'Uint8Arrays or strings');
    // There may be no key.
    this.sequenceOf(call, options);
    return withSureTables((unsure) =>
      Array.from(keys, (key, i) => take(this.#lookUpAtOnce(call, keyAt(key, i), options, unsure))),
    );
  }

  #lookUpAtOnce(call: string, key: Uint8Array | string, options: SequenceOptions | undefined, unsure?: Set<TableHandle>): ViewLookup {
    const lookup = this.lookup(call, key, options);
    if (!lookup.run('sync', undefined, unsure)) runSync(this.folder, lookup.settle());
    return lookup;
  }

  /** `entries`, or a part of each of them, synchronously. */
  iterateAtOnce<T>(call: string, given: DatabaseKeyRange, pick: (cursor: VisibleCursor) => T): IterableIterator<T> {
    this.mustBeOpen();
    const range = inBytes(given);
    mustBeDatabaseRange(this.nameOf(call), range);
    const sequence = this.visibleAt(range.sequence);
    const { view } = this;
    const walk = new DatabaseRange(this.cursorOf(view, sequence, range.fillCache ?? true, range.prefix), view.order, range);
    return new SyncRangeIterator(walk, view, pick, this.state, (reading) => runSync(this.folder, reading));
  }

  cursorAtOnce(call: string, options: DatabaseCursorOptions | undefined): SyncDatabaseCursor {
    this.mustBeOpen();
    const { view } = this;
    return new SyncDatabaseCursor(new CursorState(view, this.cursorFor(call, options), this.state), (reading) => runSync(this.folder, reading));
  }

  explainAtOnce(call: string, key: Uint8Array | string, options: SequenceOptions | undefined): LookupExplanation {
    return runSync(this.folder, this.explained(this.view, call, key, options));
  }

  versionsAtOnce(call: string, key: Uint8Array | string, options: SequenceOptions | undefined): StoredVersion[] {
    this.mustBeOpen();
    return runSync(this.folder, this.versionsIn(this.present.view, call, key, options));
  }

  /** A call as error messages name it. */
  nameOf(call: string): string {
    return `${this.#name.className}.${call}`;
  }

  /** The sequence at which a call reads. @throws TypeError for options that the call does not have. */
  sequenceOf(call: string, options: SequenceOptions | undefined, last?: bigint): bigint {
    if (options !== undefined) mustBeOptions(this.nameOf(call), options, READ_OPTIONS);
    return this.visibleAt(options?.sequence, last);
  }

  /** The cursor that a call makes. @throws TypeError for options that the call does not have. */
  cursorFor(call: string, given: DatabaseCursorOptions = {}, { view, lastSequence }: Moment = this.present): VisibleCursor {
    const options = inBytes(given);
    const fills = fillsCache(this.nameOf(call), options, DATABASE_CURSOR_OPTIONS);
    const bounds = CursorBounds.of(options, view.order.compareUserKeys);
    return this.cursorOf(view, this.visibleAt(options.sequence, lastSequence), fills, options.prefix, bounds);
  }

  /** The sequence at which a call with the option `sequence` reads. */
  visibleAt(sequence: bigint | undefined, last = this.lastSequence): bigint {
    if (sequence === undefined) return last;
    mustBeSequence(sequence);
    return sequence < last ? sequence : last;
  }

  /**
   * All versions of a key in `view`, the newest first, including those that are not visible.
   *
   * @param last the last sequence to show; undefined for no limit.
   * @throws TypeError or RangeError for a wrong argument of `call`.
   */
  versionsIn(view: View, call: string, key: Uint8Array | string, options: SequenceOptions | undefined, last?: bigint): FolderReading<StoredVersion[]> {
    if (options !== undefined) mustBeOptions(this.nameOf(call), options, READ_OPTIONS);
    const bytes = bytesOf('key', key);
    const given = options?.sequence;
    if (given !== undefined) mustBeSequence(given);
    const sequence = last === undefined || (given !== undefined && given < last) ? given : last;
    // Copies: the caller may change the key before the last table is reached.
    return this.#versionsBetween(view, sequence === undefined ? beforeVersions(bytes) : seekKey(bytes, sequence), afterVersions(bytes));
  }

  /** The versions from one internal key to another, both included. */
  *#versionsBetween(view: View, start: Uint8Array, end: Uint8Array): FolderReading<StoredVersion[]> {
    const { version, newestLogs, order } = view;
    const sources: { readonly cursor: EntryCursor; readonly file: string; readonly level: number | undefined }[] = [];
    for (const { memtable, name } of newestLogs) sources.push({ cursor: new MemtableCursor(memtable), file: name, level: undefined });
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
            const kind = typeOf(keyBytes, keyStart, keyEnd, cursor.file ?? file) === VALUE ? 'value' : 'deletion';
            const { userKey, sequence } = decodeInternalKey(keyBytes.slice(keyStart, keyEnd))!;
            versions.push({ kind, key: userKey, sequence, value: valueBytes.slice(valueStart, valueEnd), file, level });
          } catch (error) {
            view.damage.pass(error);
          }
        }
      } finally {
        cursor.close();
      }
    }
    const found = yield* all(sources.map(versionsIn));
    return found.flat().sort((a, b) => compareBigints(b.sequence, a.sequence));
  }
}

/** Key `i` of several, as bytes. @throws TypeError unless it is bytes or a string. */
export function keyAt(key: Uint8Array | string, i: number): Uint8Array {
  // The name is made only for an error.
  if (key instanceof Uint8Array && key.length > 0) return key;
  return bytesOf(`keys[${i}]`, key);
}

/**
 * Does many lookups that check once for each table whether its file has changed, instead of after each read: the check takes as long as
 * the read.
 *
 * @throws what `lookUp` throws, unless a changed file may be the cause.
 */
export function withSureTables<T>(lookUp: (unsure: Set<TableHandle>) => T): T {
  const unsure = new Set<TableHandle>();
  try {
    return lookUp(unsure);
  } finally {
    for (const table of unsure) table.mustBeSure();
  }
}
