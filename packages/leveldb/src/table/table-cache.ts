/**
 * The open tables of a database.
 *
 * Source: LevelDB, db/table_cache.cc.
 */
import { CorruptionError } from '@bloom/bytes';
import { numberOf } from '@bloom/bytes/internal';
import type { BlockCache, FileIdentity, ReadingOptions, TableOptions, TableStats } from '@bloom/sstable';
import { type MutableTableStats, newTableStats, type OpenTable, ReadGate, readOpenTable, StoredScratch } from '@bloom/sstable/internal';
import { ClosingFiles } from '../folder/closing-files.js';
import { oldTableFileName, tableFileName } from '../format/file-name.js';
import { FolderError, holdsTheSame, isSameState } from '../folder/folder.js';
import { type FolderReading, openFile, readingOf, shareReading } from '../folder/folder-reading.js';
import { SharedWork } from '../folder/shared-work.js';
import { TableHandle } from './table-handle.js';
import { WholeTable } from './whole-table.js';
import type { FileMetadata } from '../format/version-edit.js';

export function sumOf(all: readonly TableStats[]): MutableTableStats {
  const sum = newTableStats(0);
  for (const counts of all) for (const name of Object.keys(sum) as (keyof TableStats)[]) sum[name] += counts[name];
  return sum;
}

export class MissingTable extends Error {
  readonly metadata: FileMetadata;

  constructor(metadata: FileMetadata) {
    super(`${tableFileName(metadata.number)} is gone`);
    this.metadata = metadata;
  }
}

/**
 * Verifies with its index that a table is the one that the MANIFEST lists, and not another one of the same length, in which lookups would find
 * nothing.
 *
 * @throws CorruptionError `BLOOM_BAD_VERSION`.
 */
function mustHaveKeysOf({ index, comparator }: OpenTable, { smallest, largest }: FileMetadata, file: string): void {
  const last = index.length - 1;
  const compare = (i: number, key: Uint8Array): number => comparator.compare(index.separatorOf(i), key);
  // A separator is at or after the last key of its block, and before the first of the next.
  if (last >= 0 && compare(0, smallest) >= 0 && compare(last, largest) >= 0 && (last === 0 || compare(last - 1, largest) < 0)) return;
  throw new CorruptionError('BLOOM_BAD_VERSION', { structure: 'file', offset: 0, file }, 'its keys are not those that the MANIFEST lists: it is another table');
}

/** The open tables, the least recently used first. Pinned tables stay open. */
export class TableCache {
  readonly maxOpenTables: number;
  private readonly options: ReadingOptions;
  private readonly tableOptions: TableOptions;
  private readonly blockCache: BlockCache | null;
  private readonly handles = new Map<bigint, TableHandle>();
  /** All open tables, including those that are still used although the database has dropped them. */
  readonly #open = new Set<TableHandle>();
  /** Tables that could not be opened, with the errors. */
  private readonly broken = new Map<bigint, CorruptionError>();
  private readonly openings = new SharedWork<bigint>();
  private readonly gate = new ReadGate();
  private readonly scratch = new StoredScratch();
  /** The counts of closed tables. */
  #counts = newTableStats(0);
  private readonly closing = new ClosingFiles();
  private closed = false;
  /** Whether others may change the folder, so that the identity of each table must be checked. */
  private readonly isForeign: boolean;
  private readonly isPublished: boolean;
  /** The identities of the tables at the last refresh, or else when they were first opened. */
  private readonly identities = new Map<bigint, FileIdentity>();

  /**
   * @param tableOptions how to open the tables, for internal keys.
   * @param isForeign whether others may change the folder.
   * @param isPublished whether the first and last keys of tables must be exactly those of the MANIFEST.
   */
  constructor(maxOpenTables: number, options: ReadingOptions, tableOptions: TableOptions, blockCache: BlockCache | null, isForeign = false, isPublished = false) {
    this.isForeign = isForeign;
    this.isPublished = isPublished;
    this.maxOpenTables = maxOpenTables;
    this.options = options;
    this.tableOptions = tableOptions;
    this.blockCache = blockCache;
  }

  /** The table, if it is open. */
  get({ number }: FileMetadata): TableHandle | undefined {
    const handle = this.handles.get(number);
    if (handle === undefined || this.handles.size < this.maxOpenTables) return handle;
    this.handles.delete(number);
    this.handles.set(number, handle);
    return handle;
  }

  /** Records that a table cannot be opened, because of `error`. */
  giveUp({ number }: FileMetadata, error: CorruptionError): void {
    this.broken.set(number, error);
  }

  /**
   * Opens a table, unless it is open.
   *
   * @throws CorruptionError when it is not a table.
   * @throws FolderError `BLOOM_FOLDER_CHANGED` when it was deleted.
   */
  *open(metadata: FileMetadata): FolderReading<TableHandle> {
    try {
      return yield* this.openAtFirst(metadata);
    } catch (error) {
      if (!(error instanceof MissingTable)) throw error;
      const file = tableFileName(metadata.number);
      throw new FolderError('BLOOM_FOLDER_CHANGED', `${error.message}: refresh the reader`, { file, cause: error });
    }
  }

  /** {@link open}, for callers that expect missing tables. @throws MissingTable when it is missing. */
  *openAtFirst(metadata: FileMetadata): FolderReading<TableHandle> {
    const { number } = metadata;
    const open = this.get(metadata);
    if (open !== undefined) return open;
    const broken = this.broken.get(number);
    if (broken !== undefined) throw broken;
    const shared = yield* shareReading(this.openings, number, () => this.#openFile(metadata));
    // The table may have been evicted before this call, which has not pinned it yet, was resumed. Nothing happens between the end of the
    // call's own opening and the pin.
    return this.#open.has(shared) ? shared : yield* this.#openFile(metadata);
  }

  *#openFile(metadata: FileMetadata): FolderReading<TableHandle> {
    const { number } = metadata;
    const name = tableFileName(number);
    const file = (yield* openFile(name)) ?? (yield* openFile(oldTableFileName(number)));
    if (file === undefined) throw new MissingTable(metadata);
    try {
      if (this.isForeign) this.#mustBeKnown(number, file.identity);
      if (file.isRemote === true && file.byteLength > metadata.size) {
        // On a disk, bytes after a table are harmless. Here, where a table may be opened long after the MANIFEST was read, they mean that it is
        // another table.
        const problem = `${name} has ${numberOf(file.byteLength, 'byte')}, the MANIFEST says ${metadata.size}: the folder was replaced`;
        throw new FolderError('BLOOM_FOLDER_CHANGED', problem, { file: name });
      }
      const source = new WholeTable(file, metadata.size, file.name ?? name, this.isForeign);
      const table = yield* readingOf(source, readOpenTable(source, this.tableOptions));
      if (this.isPublished) mustHaveKeysOf(table, metadata, name);
      // Another reading may have been faster.
      const other = this.handles.get(number);
      if (other !== undefined) {
        this.closing.close(file);
        return other;
      }
      if (this.closed) {
        throw new FolderError('BLOOM_FOLDER_CHANGED', 'the database was replaced by another, or the reader was closed', { file: name });
      }
      const handle = new TableHandle(metadata, table, file, source, this.blockCache, this.options, this.scratch, this.gate);
      this.#evict(this.maxOpenTables - 1);
      this.handles.set(number, handle);
      this.#open.add(handle);
      return handle;
    } catch (error) {
      this.closing.close(file);
      if (error instanceof CorruptionError) this.broken.set(number, error);
      throw error;
    }
  }

  /** @throws FolderError `BLOOM_FOLDER_CHANGED` when another file has the table's name. */
  #mustBeKnown(number: bigint, identity: FileIdentity | undefined): void {
    const known = this.identities.get(number);
    if (known === undefined) {
      if (identity !== undefined) this.identities.set(number, identity);
    } else if (!isSameState(known, identity)) {
      const file = tableFileName(number);
      throw new FolderError('BLOOM_FOLDER_CHANGED', `${file} was replaced: refresh the reader`, { file });
    }
  }

  /** Whether these tables can be the same as those of `other` with their numbers, as far as their identities show. */
  mayBe(other: TableCache): boolean {
    for (const [number, identity] of this.identities) {
      const another = other.identities.get(number);
      if (another !== undefined && !isSameState(identity, another)) return false;
    }
    return true;
  }

  /** Whether a table was opened or identified before. */
  isKnown({ number }: FileMetadata): boolean {
    return this.identities.has(number) || this.handles.has(number);
  }

  /**
   * Checks whether a table is still the same file, and closes it if the host gives no identity.
   *
   * @param identity its identity now.
   * @returns false when it is another file, or has changed.
   */
  isStill({ number }: FileMetadata, identity: FileIdentity | undefined): boolean {
    const known = this.identities.get(number);
    if (identity === undefined) return known === undefined;
    if (known !== undefined && !isSameState(known, identity)) return false;
    this.identities.set(number, identity);
    const handle = this.handles.get(number);
    if (handle !== undefined && !holdsTheSame(handle.identity, identity)) this.#forget(handle);
    return true;
  }

  pin(handle: TableHandle): void {
    handle.pins++;
  }

  unpin(handle: TableHandle): void {
    if (--handle.pins === 0 && (this.closed || this.handles.get(handle.metadata.number) !== handle)) this.#close(handle);
  }

  /** Closes all tables except `files`, as soon as they are no longer used. */
  keepOnly(files: Iterable<FileMetadata>): void {
    if (this.handles.size + this.broken.size + this.identities.size === 0) return;
    const kept = new Set<bigint>();
    for (const { number } of files) kept.add(number);
    this.closeUnless((number) => kept.has(number));
  }

  /** Closes all tables except those whose numbers are kept, as soon as they are no longer used. */
  closeUnless(isKept: (number: bigint) => boolean): void {
    for (const [number, handle] of this.handles) if (!isKept(number)) this.#forget(handle);
    for (const number of this.broken.keys()) if (!isKept(number)) this.broken.delete(number);
    for (const number of this.identities.keys()) if (!isKept(number)) this.identities.delete(number);
  }

  /** Forgets tables whose files were replaced, or could not be opened, so that they are opened again when they are next needed. */
  forgetStale(): void {
    this.broken.clear();
    for (const handle of [...this.handles.values()]) if (handle.isStale) this.#forget(handle);
  }

  counts(): TableStats {
    return sumOf([this.#counts, ...[...this.#open].map(({ stats }) => stats)]);
  }

  /** Closes each table as soon as it is no longer used, and opens no further ones. */
  retire(): void {
    this.closed = true;
    for (const handle of [...this.handles.values()]) this.#forget(handle);
  }

  /** Closes all tables, used or not. @returns when they are closed. */
  close(): Promise<void> {
    this.retire();
    this.openings.abort(() => new TypeError('the reader was closed'));
    for (const handle of [...this.#open]) this.#close(handle);
    return this.closing.settled();
  }

  /** Closes unused tables until at most `count` are open. */
  #evict(count: number): void {
    if (this.handles.size <= count) return;
    for (const handle of this.handles.values()) {
      if (handle.pins === 0) this.#forget(handle);
      if (this.handles.size <= count) return;
    }
  }

  #forget(handle: TableHandle): void {
    this.handles.delete(handle.metadata.number);
    if (handle.pins === 0) this.#close(handle);
  }

  #close(handle: TableHandle): void {
    if (!this.#open.delete(handle)) return;
    this.#counts = sumOf([this.#counts, handle.stats]);
    this.closing.close(handle);
  }
}

/** The tables of a view. Those that it has pinned stay available even when the database has dropped them. */
export class ViewTables {
  readonly #cache: TableCache;
  readonly #pinned: TableHandle[];
  /** Whether tables that are opened later are pinned as well. */
  readonly #pinsLater: boolean;
  #released = false;
  /** Keyed by the version's objects: with their numbers as keys, which are bigints, a lookup would take several times as long. */
  readonly #handles: Map<FileMetadata, TableHandle>;

  /**
   * @param files the tables of the view's version, of which `pinned` are open.
   * @param pinsLater whether tables that are opened later are pinned too: only if all of them may be open at once.
   */
  constructor(cache: TableCache, files: readonly FileMetadata[], pinned: readonly TableHandle[], pinsLater = false) {
    this.#cache = cache;
    this.#pinned = [...pinned];
    this.#pinsLater = pinsLater;
    const byNumber = new Map(pinned.map((handle) => [handle.metadata.number, handle]));
    const handles = new Map<FileMetadata, TableHandle>();
    for (const file of files) {
      const handle = byNumber.get(file.number);
      if (handle !== undefined) handles.set(file, handle);
    }
    this.#handles = handles;
  }

  /** The table, if it is open. */
  get(file: FileMetadata): TableHandle | undefined {
    const handle = this.#handles.get(file);
    if (handle !== undefined) return handle;
    const opened = this.#cache.get(file);
    if (opened !== undefined) this.#keep(file, opened);
    return opened;
  }

  /** As {@link TableCache.open}. */
  *open(file: FileMetadata): FolderReading<TableHandle> {
    const handle = this.#handles.get(file);
    if (handle !== undefined) return handle;
    const opened = yield* this.#cache.open(file);
    this.#keep(file, opened);
    return opened;
  }

  pin(handle: TableHandle): void {
    this.#cache.pin(handle);
  }

  unpin(handle: TableHandle): void {
    this.#cache.unpin(handle);
  }

  /** Unpins what the view has pinned. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    for (const handle of this.#pinned) this.#cache.unpin(handle);
  }

  #keep(file: FileMetadata, handle: TableHandle): void {
    if (!this.#pinsLater || this.#released || this.#handles.has(file)) return;
    this.#cache.pin(handle);
    this.#pinned.push(handle);
    this.#handles.set(file, handle);
  }
}
