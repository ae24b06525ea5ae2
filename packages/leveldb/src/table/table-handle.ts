import type { BlockCache, FileIdentity, ReadingOptions, SyncSource } from '@bloom/sstable';
import { BlockReader, type BlockSearch, type ByteRange, dataBlockSearches, DataBlocks, type MutableTableStats, newTableStats, type OpenTable, ReadAhead, type ReadGate, readingFor, readRangeAtOnce, readRangeInto, StoredScratch, SyncReadAhead, TableLookup } from '@bloom/sstable/internal';
import type { Bytes, Signal } from '@bloom/bytes';
import { type FolderFile, withoutPromises } from '../folder/folder.js';
import { type FolderReading, noteStale, type ReadableTable, readBlock, type TableWalk } from '../folder/folder-reading.js';
import type { FileMetadata } from '../format/version-edit.js';
import { type TableFilters, tableFiltersOf } from './table-filters.js';
import { WholeTable } from './whole-table.js';

/** Whether a block may be overwritten once the walk moves to the next one. Not on backward walks, which keep an entry's value while they move on. */
function isLentTo({ reverse }: TableWalk): boolean {
  return !reverse;
}

export class TableHandle implements ReadableTable {
  readonly metadata: FileMetadata;
  readonly table: OpenTable;
  readonly blocks: DataBlocks;
  readonly stats: MutableTableStats;
  /** Finds the block to search for an internal key, and counts the outcome. */
  readonly lookup: TableLookup;
  /** The identity of the file when it was opened. */
  readonly identity: FileIdentity | undefined;
  /** Searches one block; the result is valid until the next call. */
  readonly searcher: () => BlockSearch;
  /** Whether the file is no longer the one that was opened, so that it should be opened again. */
  isStale = false;
  /** The number of views, cursors and lookups that use it. */
  pins = 0;
  private readonly file: FolderFile;
  private readonly source: FolderFile;
  /** The same source, if others may change the file. */
  private readonly watched: WholeTable | undefined;
  private readonly options: ReadingOptions;
  private readonly scratch: StoredScratch;
  private readonly gate: ReadGate | undefined;
  private syncSource: SyncSource | undefined;
  private reader: BlockReader | undefined;
  private knownFilters: TableFilters | undefined;

  /**
   * @param source the file, with the length according to the MANIFEST.
   * @param cache null for none.
   * @param scratch is shared by all tables.
   * @param gate bounds the simultaneous reads of all tables of a remote folder.
   */
  constructor(
    metadata: FileMetadata,
    table: OpenTable,
    file: FolderFile,
    source: FolderFile,
    cache: BlockCache | null,
    options: ReadingOptions,
    scratch = new StoredScratch(),
    gate?: ReadGate,
  ) {
    this.metadata = metadata;
    this.table = table;
    this.stats = newTableStats(table.bytesRead);
    this.blocks = new DataBlocks(table, cache, this.stats);
    this.searcher = dataBlockSearches(table.compare, table.file);
    this.lookup = new TableLookup(table, this.blocks, this.stats);
    this.identity = file.identity;
    this.file = file;
    this.source = source;
    this.watched = source instanceof WholeTable && source.isWatched ? source : undefined;
    this.options = options;
    this.scratch = scratch;
    this.gate = gate;
  }

  /** Whether the filter, which has not been read, should be read before the next lookup. */
  get isFilterDue(): boolean {
    return this.table.unread?.isDue === true;
  }

  /** The effect of the filters; undefined while they are unread. */
  get filters(): TableFilters | undefined {
    return (this.knownFilters ??= tableFiltersOf(this.table));
  }

  /** The estimated number of entries of the table: that of its middle block, times the number of blocks. */
  *entries(): FolderReading<number> {
    const { index } = this.table;
    if (index.length === 0) return 0;
    const middle = index.length >>> 1;
    const contents = yield* readBlock(this, middle, { reverse: false, fillsCache: false, ahead: undefined });
    const searcher = this.searcher();
    searcher.reset(contents, index.offsetOf(middle));
    let entries = 0;
    for (let more = searcher.seekToFirst(); more; more = searcher.next()) entries++;
    return entries * index.length;
  }

  /** Reads the filter, if that is due. */
  readFilter(signal?: Signal): Promise<void> {
    return this.#blockReader().readFilterIfDue(signal);
  }

  /** The synchronous variant. @throws TypeError when the source only returns promises. */
  readFilterSync(): void {
    const { unread } = this.table;
    if (unread !== undefined) this.blocks.readFilterSync(unread, this.#withoutPromises());
  }

  /** The contents of data block `i`, synchronously when they are in memory. */
  block(i: number, walk?: TableWalk, signal?: Signal): Uint8Array | Promise<Uint8Array> {
    const reader = this.#blockReader();
    if (walk === undefined) return reader.read(i, signal);
    walk.ahead ??= reader.ahead(walk.reverse, isLentTo(walk), walk.fillsCache);
    return (walk.ahead as ReadAhead).block(i, signal, walk.isBorrowing);
  }

  /**
   * The contents of data block `i`, which is not in the cache, if they are in memory: for callers like those of `DataBlocks.borrowed`.
   *
   * @param isUnsure whether the caller calls `mustBeSure` before it returns a result.
   */
  borrowAtOnce(i: number, signal?: Signal, isUnsure = false): Uint8Array | undefined {
    if (this.source.readAtOnce === undefined) return undefined;
    if (!isUnsure || this.watched === undefined) return this.#blockReader().borrowAtOnce(i, signal);
    return this.#withoutCheck(this.watched, () => this.#blockReader().borrowAtOnce(i, signal));
  }

  /** As {@link blockSync}, for callers like those of {@link borrowAtOnce}. */
  borrowSync(i: number, isUnsure = false): Uint8Array {
    if (!isUnsure || this.watched === undefined) return this.blocks.readSync(i, this.#withoutPromises(), this.scratch, true);
    return this.#withoutCheck(this.watched, () => this.blocks.readSync(i, this.#withoutPromises(), this.scratch, true));
  }

  /** Whether others may change the file, so that reads check whether they have. */
  get isWatched(): boolean {
    return this.watched !== undefined;
  }

  /**
   * Checks whether the file has changed since it was opened, if a block was read without checking.
   *
   * @throws FolderError `BLOOM_FOLDER_CHANGED` when it has.
   */
  mustBeSure(): void {
    const isUnsure = this.blocks.mustBeSure !== undefined;
    this.blocks.mustBeSure = undefined;
    try {
      this.watched?.mustBeUnchanged(isUnsure);
    } catch (error) {
      // Some of the blocks may be another table's.
      this.blocks.forget();
      noteStale(this, error);
      throw error;
    }
  }

  /** Reads a block without checking whether the file has changed. */
  #withoutCheck<T>(watched: WholeTable, read: () => T): T {
    if (this.blocks.mustBeSure === undefined) {
      const mustBeSure = (): void => this.mustBeSure();
      this.blocks.mustBeSure = mustBeSure;
    }
    watched.isDeferring = true;
    try {
      return read();
    } finally {
      // It was not read after all.
      watched.isDeferring = false;
    }
  }

  /** The contents of data block `i`, which is not in the cache. @throws TypeError when the source only returns promises. */
  blockSync(i: number, walk?: TableWalk): Uint8Array {
    const source = this.#withoutPromises();
    if (walk === undefined) return this.blocks.readSync(i, source, this.scratch);
    walk.ahead ??= new SyncReadAhead(this.blocks, source, readingFor(this.options).readAheadBytes, isLentTo(walk), walk.fillsCache);
    return (walk.ahead as SyncReadAhead).block(i, walk.isBorrowing);
  }

  /** Does `readStored` of `DataBlocks`, if the file has bytes at hand, and they can be read. */
  readStored(i: number, step: 1 | -1, into: Uint8Array, take: (start: number, length: number) => void, most: number): number {
    const { readAheadBytes } = readingFor(this.options);
    if (readAheadBytes === 0) return 0;
    try {
      return this.blocks.readStored(i, step, into.subarray(0, readAheadBytes), (range, bytes) => this.#readInto(range, bytes), take, most);
    } catch {
      // Those who read the block alone get the error.
      return 0;
    }
  }

  #readInto(range: ByteRange, into: Uint8Array): boolean {
    const { source } = this;
    if (source.readAtOnce !== undefined) {
      const bytes = readRangeAtOnce(source, range, into as Bytes);
      if (bytes !== undefined && (bytes.buffer !== into.buffer || bytes.byteOffset !== into.byteOffset)) into.set(bytes);
      return bytes !== undefined;
    }
    const { readInto } = source as Partial<SyncSource>;
    if (readInto === undefined) return false;
    readRangeInto(source as SyncSource, range, into);
    return true;
  }

  /** Ends the reads ahead of a walk. */
  endWalk(walk: TableWalk): void {
    if (walk.ahead instanceof ReadAhead) walk.ahead.end();
  }

  #withoutPromises(): SyncSource {
    return (this.syncSource ??= withoutPromises(this.source));
  }

  #blockReader(): BlockReader {
    return (this.reader ??= this.#newBlockReader());
  }

  #newBlockReader(): BlockReader {
    const { readAheadBytes, gapBytes } = readingFor(this.options);
    return new BlockReader(this.blocks, this.source, readAheadBytes, gapBytes, this.gate, this.scratch);
  }

  /** Drops the table's blocks from the cache, ends all reads under way, and closes the file. */
  close(): void | Promise<void> {
    try {
      if (this.blocks.mustBeSure !== undefined) this.mustBeSure();
    } catch {
      // Reads that have not checked yet will notice it.
    }
    this.blocks.close();
    this.reader?.close(new TypeError('the table was closed'));
    return this.file.close?.();
  }
}
