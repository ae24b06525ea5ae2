import type { Source, SyncSource } from '@bloom/sstable';
import {
  type BlockCursor,
  BlockReader,
  DEFAULT_GAP_BYTES,
  DEFAULT_READ_AHEAD_BYTES,
  type OpenTable,
  type ReadAhead,
  readRangeSync,
} from '@bloom/sstable/database';
import type { FolderFile } from './folder.js';
import type { ReaderOptions } from './reader-options.js';
import type { FileMetadata } from './version-edit.js';

/** What a walk through a table's blocks keeps from one to the next. */
export interface BlockWalk {
  readonly reverse: boolean;
  ahead: ReadAhead | undefined;
}

/** A table of a database, open. */
export class TableHandle {
  readonly metadata: FileMetadata;
  readonly table: OpenTable;
  /** Searches one block at a time. */
  readonly searcher: BlockCursor;
  /** How many views, cursors and lookups use it. */
  pins = 0;
  /** Lookups that the filter let pass, by whether the key was there. */
  truePositives = 0;
  falsePositives = 0;
  readonly #file: FolderFile;
  readonly #source: Source;
  readonly #readAheadBytes: number;
  readonly #gapBytes: number;
  #reader: BlockReader | undefined;

  /** @param source the file, as long as the MANIFEST says it is. */
  constructor(metadata: FileMetadata, table: OpenTable, file: FolderFile, source: Source, options: ReaderOptions) {
    this.metadata = metadata;
    this.table = table;
    this.searcher = table.newBlockCursor();
    this.#file = file;
    this.#source = source;
    this.#readAheadBytes = options.readAheadBytes ?? DEFAULT_READ_AHEAD_BYTES;
    this.#gapBytes = options.gapBytes ?? DEFAULT_GAP_BYTES;
  }

  /** The contents of data block `i`. */
  block(i: number, walk?: BlockWalk, signal?: AbortSignal): Promise<Uint8Array> {
    this.#reader ??= new BlockReader(this.table, this.#source, this.#readAheadBytes, this.#gapBytes);
    if (walk === undefined) return this.#reader.read(i, signal);
    walk.ahead ??= this.#reader.ahead(walk.reverse, signal);
    return walk.ahead.block(i);
  }

  /** The contents of data block `i`, which is not in the cache, from a source that answers at once. */
  blockSync(i: number): Uint8Array {
    return this.table.decode(i, readRangeSync(this.#source as SyncSource, this.table.rangeOf(i)));
  }

  /** Drops the table's blocks from the cache, and closes the file. */
  close(): void | Promise<void> {
    this.table.close();
    return this.#file.close?.();
  }
}
