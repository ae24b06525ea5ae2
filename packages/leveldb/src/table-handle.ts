import type { BlockCache } from '@bloom/sstable';
import {
  BlockReader,
  BlockSearch,
  DataBlocks,
  Lookup,
  type MutableTableStats,
  newTableStats,
  type OpenTable,
  ReadAhead,
  readingFor,
  readRangeSync,
  SyncReadAhead,
} from '@bloom/sstable/database';
import type { Signal } from '@bloom/bytes';
import { type FolderFile, withoutPromises } from './folder.js';
import type { ReaderOptions } from './reader-options.js';
import type { FileMetadata } from './version-edit.js';

/** What a walk through a table's blocks keeps from one to the next. */
export interface BlockWalk {
  readonly reverse: boolean;
  ahead: ReadAhead | SyncReadAhead | undefined;
}

/** Whether a block may be overwritten once the walk moves to the next one. Not on backward walks, which keep an entry's value while they move on. */
function isLentTo({ reverse }: BlockWalk): boolean {
  return !reverse;
}

/** A table of a database, open. */
export class TableHandle {
  readonly metadata: FileMetadata;
  readonly table: OpenTable;
  readonly blocks: DataBlocks;
  readonly stats: MutableTableStats;
  /** Searches one block at a time. */
  readonly searcher: BlockSearch;
  /** Whether the file is no longer the one that was opened, so that it should be opened again. */
  isStale = false;
  /** How many views, cursors and lookups use it. */
  pins = 0;
  readonly #lookup: Lookup;
  readonly #file: FolderFile;
  readonly #source: FolderFile;
  readonly #options: ReaderOptions;
  #reader: BlockReader | undefined;

  /**
   * @param source the file, as long as the MANIFEST says it is.
   * @param cache null: none.
   */
  constructor(metadata: FileMetadata, table: OpenTable, file: FolderFile, source: FolderFile, cache: BlockCache | null, options: ReaderOptions) {
    this.metadata = metadata;
    this.table = table;
    this.stats = newTableStats(table.bytesRead);
    this.blocks = new DataBlocks(table, cache, this.stats);
    this.searcher = new BlockSearch(table.compare, 'data block', table.file);
    this.#lookup = new Lookup(table, this.blocks, this.stats);
    this.#file = file;
    this.#source = source;
    this.#options = options;
  }

  /** The data block to search for an internal key; `ABSENT` when index or filter say that it is in none. */
  locate(key: Uint8Array): number {
    return this.#lookup.locate(key);
  }

  /** The approximate offset in the file at which an internal key is, or would be. */
  approximateOffset(key: Uint8Array): number {
    return this.#lookup.approximateOffset(key);
  }

  /** Counts what came of a lookup that the filter let pass. */
  count(found: boolean): void {
    if (this.table.filter === undefined) return;
    if (found) this.stats.filterTruePositives++;
    else this.stats.filterFalsePositives++;
  }

  /** The contents of data block `i`. */
  block(i: number, walk?: BlockWalk, signal?: Signal): Promise<Uint8Array> {
    const { readAheadBytes, gapBytes } = readingFor(this.#options);
    this.#reader ??= new BlockReader(this.blocks, this.#source, readAheadBytes, gapBytes);
    if (walk === undefined) return this.#reader.read(i, signal);
    walk.ahead ??= this.#reader.ahead(walk.reverse, isLentTo(walk));
    return (walk.ahead as ReadAhead).block(i, signal);
  }

  /** The contents of data block `i`, which is not in the cache. @throws TypeError where the source returns promises alone. */
  blockSync(i: number, walk?: BlockWalk): Uint8Array {
    const source = withoutPromises(this.#source);
    if (walk === undefined) return this.blocks.decode(i, readRangeSync(source, this.blocks.rangeOf(i)));
    walk.ahead ??= new SyncReadAhead(this.blocks, source, readingFor(this.#options).readAheadBytes, isLentTo(walk));
    return (walk.ahead as SyncReadAhead).block(i);
  }

  /** Ends what a walk reads ahead. */
  endWalk(walk: BlockWalk): void {
    if (walk.ahead instanceof ReadAhead) walk.ahead.end();
  }

  /** Drops the table's blocks from the cache, ends all reads under way, and closes the file. */
  close(): void | Promise<void> {
    this.blocks.close();
    this.#reader?.close(new TypeError('the table was closed'));
    return this.#file.close?.();
  }
}
