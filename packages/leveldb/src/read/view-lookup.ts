/**
 * Finds the newest version of a user key at or below a sequence: in the memtables, then in level 0 from the newest table to the oldest, then in
 * one table of each deeper level. The first source that has the key decides.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Get`, and db/version_set.cc, `Version::ForEachOverlapping`.
 */
import type { Signal } from '@bloom/bytes';
import { INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
import { ABSENT, SAME, UNKNOWN } from '@bloom/sstable/internal';
import { seekKey, typeOf } from '../format/database-key.js';
import { type FolderReading, noteStale, readBlock, readFilter } from '../folder/folder-reading.js';
import type { TableHandle } from '../table/table-handle.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { LookupTrace } from './lookup-trace.js';
import type { View } from './view.js';

/** The counts of lookups so far. */
export interface LookupCounts {
  lookups: number;
  memtablesAsked: number;
  tablesAsked: number;
}

/** How a lookup reads a block that the cache does not have: only if it is in memory, or by waiting for the host. */
export type BlockReads = 'at hand' | 'sync';

const NO_BYTES = new Uint8Array(0);
/** Up to this many bytes, a loop copies faster than set(). */
const FEW_BYTES = 32;

/**
 * Looks up one key at a time: `start`, `run`, and `settle` if that returns false. It is reused for other keys, because making one takes as long
 * as searching a table.
 */
export class ViewLookup {
  /** Whether the key has a value, once the lookup has ended. */
  found = false;
  /** The value is `valueBytes[valueStart, valueEnd)`, lent until anything is read. */
  valueBytes: Uint8Array = NO_BYTES;
  valueStart = 0;
  valueEnd = 0;

  /** Whether it has read a block without `settle`. */
  hasRead = false;

  /** The number of tables that were searched, and the first of them. */
  askedTables = 0;
  firstTable: FileMetadata | undefined;

  private view: View;
  /** The internal key to search for; its trailer encodes `sequence`. */
  private key: Uint8Array = NO_BYTES;
  private sequence = -1n;
  private readonly counts: LookupCounts;
  private trace: LookupTrace | undefined;
  /** The next of the tables of level 0, then the next level. */
  private newest = 0;
  private level = 1;
  /** The next thing to read: the table, or a block of it. */
  private file: FileMetadata | undefined;
  private handle: TableHandle | undefined;
  private block = ABSENT;
  private reads: BlockReads = 'at hand';
  private signal: Signal | undefined;
  private unsure: Set<TableHandle> | undefined;

  constructor(view: View, counts: LookupCounts) {
    this.view = view;
    this.counts = counts;
  }

  /** Begins to look up a key, which is copied. @param trace records each step. */
  start(view: View, userKey: Uint8Array, sequence: bigint, trace?: LookupTrace): void {
    this.view = view;
    this.trace = trace;
    this.newest = 0;
    this.level = 1;
    this.file = this.handle = undefined;
    this.found = this.hasRead = false;
    this.askedTables = 0;
    const { length } = userKey;
    if (this.key.length !== length + INTERNAL_KEY_TRAILER_LENGTH || this.sequence !== sequence) {
      this.key = seekKey(userKey, sequence);
      this.sequence = sequence;
    } else if (length > FEW_BYTES) {
      this.key.set(userKey);
    } else {
      for (let i = 0; i < length; i++) this.key[i] = userKey[i]!;
    }
  }

  isOf(view: View): boolean {
    return this.view === view;
  }

  /**
   * @param reads how to read blocks here: a block that is read here needs no generator and no request, which are a tenth of a synchronous
   *   lookup.
   * @param signal was not aborted when the lookup began.
   * @param unsure receives the tables of which blocks are read without checking whether their files have changed. The caller checks it before
   *   it returns the result; if omitted, each read checks it.
   * @returns whether the lookup has ended; if not, something must be read.
   */
  run(reads: BlockReads, signal?: Signal, unsure?: Set<TableHandle>): boolean {
    this.counts.lookups++;
    this.reads = reads;
    this.signal = signal;
    this.unsure = unsure;
    for (const log of this.view.newestLogs) {
      const { memtable } = log;
      this.trace?.memtable(log);
      if (memtable.count === 0) continue;
      this.counts.memtablesAsked++;
      const node = memtable.find(this.key);
      if (node === 0) continue;
      const { arena } = memtable;
      const start = memtable.keyStart(node);
      const end = start + memtable.keyLength(node);
      if (this.#decide(arena, start, end, arena, end, end + memtable.valueLength(node), undefined)) return true;
    }
    return this.#askTables();
  }

  *settle(): FolderReading<void> {
    const { tables } = this.view;
    do {
      if (this.handle === undefined) {
        const asked = yield* tables.open(this.file!);
        if (asked.isFilterDue) yield* this.#readFilter(asked);
        if (this.#ask(asked)) break;
      }
      const handle = this.#takeHandle();
      if (handle === undefined) continue;
      if (yield* this.#readAndSearch(handle)) break;
    } while (!this.#askTables());
    this.keepValue();
  }

  /** Copies the value into the lookup's own memory if other lookups may read, and use its memory, before it is copied for the caller. */
  keepValue(): void {
    if (!this.found) return;
    this.valueBytes = this.valueBytes.slice(this.valueStart, this.valueEnd);
    this.valueEnd -= this.valueStart;
    this.valueStart = 0;
  }

  *#readFilter(handle: TableHandle): FolderReading<void> {
    const { tables } = this.view;
    tables.pin(handle);
    try {
      yield* readFilter(handle);
    } finally {
      tables.unpin(handle);
    }
  }

  /** @returns whether the block decides the lookup. */
  *#readAndSearch(handle: TableHandle): FolderReading<boolean> {
    const { tables } = this.view;
    const settle = handle.lookup.countUnread(this.block);
    let isNeeded = true;
    tables.pin(handle);
    try {
      this.trace?.table?.takes(false);
      const contents = yield* readBlock(handle, this.block);
      isNeeded = this.#search(handle, contents);
      return isNeeded;
    } finally {
      tables.unpin(handle);
      settle?.(isNeeded);
    }
  }

  /** The table of which a block must be read, if one must. */
  #takeHandle(): TableHandle | undefined {
    const handle = this.handle;
    this.handle = undefined;
    return handle;
  }

  /** @returns whether the lookup has ended. */
  #askTables(): boolean {
    const { tables } = this.view;
    for (let file = this.#nextFile(); file !== undefined; file = this.#nextFile()) {
      this.counts.tablesAsked++;
      if (this.askedTables++ === 0) this.firstTable = file;
      const handle = tables.get(file);
      // The levels below 0 are counted before their table is searched.
      this.trace?.askTable(file, this.level - 1, handle !== undefined);
      this.file = file;
      if (handle === undefined || handle.isFilterDue) return false;
      if (this.#ask(handle)) return true;
      if (this.handle !== undefined) return false;
    }
    return true;
  }

  /** Searches a table. @returns whether it decides; `this.handle` is set when one of its blocks must be read first. */
  #ask(handle: TableHandle): boolean {
    const i = handle.lookup.locate(this.key, this.trace?.table);
    if (i === ABSENT) return false;
    this.block = i;
    const contents = handle.blocks.borrowed(i);
    this.trace?.table?.takes(contents !== undefined);
    if (contents !== undefined) return this.#search(handle, contents);
    const read = this.#read(handle, i);
    if (read !== undefined) return this.#search(handle, read);
    this.handle = handle;
    return false;
  }

  /** Block `i`, if it can be read here; undefined if `settle` must read it, which also counts it. */
  #read(handle: TableHandle, i: number): Uint8Array | undefined {
    if (handle.table.unread !== undefined) return undefined;
    const isUnsure = this.unsure !== undefined && handle.isWatched;
    if (isUnsure) this.unsure!.add(handle);
    try {
      const contents = this.reads === 'sync' ? handle.borrowSync(i, isUnsure) : handle.borrowAtOnce(i, this.signal, isUnsure);
      this.hasRead ||= contents !== undefined;
      return contents;
    } catch (error) {
      noteStale(handle, error);
      throw error;
    }
  }

  #search(handle: TableHandle, contents: Uint8Array): boolean {
    const { table } = handle;
    const searcher = handle.searcher();
    const { entries } = searcher;
    const outcome = entries.search(contents, this.key, 0, this.key.length);
    let decided = outcome === SAME;
    if (outcome === UNKNOWN) {
      searcher.reset(contents, table.index.offsetOf(this.block));
      const isThere = searcher.seek(this.key);
      this.trace?.searched(handle, contents, searcher, outcome);
      decided = isThere && this.#decide(searcher.keyBytes, 0, searcher.keyLength, contents, searcher.valueStart, searcher.valueEnd, table.file);
    } else {
      this.trace?.searched(handle, contents, searcher, outcome);
      if (decided) {
        const { valueStart, valueEnd } = entries;
        this.#take(contents, valueStart - INTERNAL_KEY_TRAILER_LENGTH, valueStart, contents, valueStart, valueEnd, table.file);
      }
    }
    handle.lookup.count(decided);
    return decided;
  }

  /** Takes an entry at or after the key as the result if its user key is the requested one. */
  #decide(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueBytes: Uint8Array,
    valueStart: number,
    valueEnd: number,
    file: string | undefined,
  ): boolean {
    const key = this.key;
    const end = keyEnd - INTERNAL_KEY_TRAILER_LENGTH;
    if (end >= keyStart) {
      const { compareUserKeys } = this.view.order;
      if (compareUserKeys(keyBytes, keyStart, end, key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH) !== 0) return false;
    }
    this.#take(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd, file);
    return true;
  }

  /** Takes an entry as the result. @throws CorruptionError when its type is invalid. */
  #take(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueBytes: Uint8Array,
    valueStart: number,
    valueEnd: number,
    file: string | undefined,
  ): void {
    const type = typeOf(keyBytes, keyStart, keyEnd, file);
    this.trace?.take(type, keyBytes, keyEnd, valueEnd - valueStart);
    this.found = type === VALUE;
    this.valueBytes = valueBytes;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
  }

  #nextFile(): FileMetadata | undefined {
    const { version } = this.view;
    while (this.newest < version.newestFirst.length) {
      const file = version.newestFirst[this.newest++]!;
      if (version.mayHold(file, this.key)) return file;
      this.trace?.passTable(file);
    }
    while (this.level < version.levels.length) {
      const level = this.level++;
      const file = version.fileFor(level, this.key);
      if (file !== undefined) return file;
      this.trace?.passLevel(level);
    }
    return undefined;
  }
}
