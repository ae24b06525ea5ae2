import { mustBeBoolean, mustBeBytes, mustBeIterable, mustBeOptions, mustHaveMethods } from '@bloom/bytes';
import { bytewiseComparator } from '@bloom/sstable';
import { AsyncReaderFace } from '../async-reader-face.js';
import { beforeVersions } from '../database-key.js';
import { parseFileName } from '../file-name.js';
import { runAsync, runSync } from '../folder-reading.js';
import type { Lookup } from '../lookup.js';
import type { SequenceOptions } from '../reader-face.js';
import type { View } from '../view.js';
import type { VisibleCursor } from '../visible-cursor.js';
import type { WritableFolder } from '../writable-folder.js';
import { WriteBatch, WriteBatchReader } from '../write-batch.js';
import { type DatabaseOptions, mustBeLockMode, settingsOf } from './database-options.js';
import { lockOf } from './opening.js';
import { compareInternal } from './overlap.js';
import { tablesToText } from './properties.js';
import { CursorSampler } from './read-sample.js';
import type { RepairOptions, RepairReport } from './repair.js';
import { DatabaseSnapshot } from './snapshot.js';
import { Store } from './store.js';

/** Options of a write. */
export interface WriteOptions {
  /** Waits until the write survives a power failure, not only a crash of the program. Default: false. */
  readonly sync?: boolean | undefined;
}

const WRITE_OPTIONS: Record<keyof WriteOptions, true> = { sync: true };

/**
 * The most bytes of a batch, which is written as one record: half of the limit for a block, so that every entry fits into a block.
 */
const MAX_BATCH_BYTES = 128 * 2 ** 20;

const FOLDER_METHODS = ['list', 'open', 'create', 'openForAppend', 'rename', 'delete', 'syncFolder', 'createFolder', 'removeFolder', 'lostFolder', 'moveToLost'];

/**
 * A LevelDB database that is read and written, in a folder that LevelDB opens too.
 *
 * Reads work as in `DatabaseReader`. When the promise of a write settles, the write is in the log and survives a crash of
 * the process; with `sync`, it also survives a power failure. After a power failure, the database has a prefix of the writes.
 *
 * When the folder fails to store a write, writing ends: that write and every later one fail with a
 * `DatabaseError` `BLOOM_WRITING_ENDED`. What was written can still be read.
 *
 * @example
 * ```ts
 * const database = await Database.open(new WritableNodeFolder('path/to/database'));
 * await database.put(utf8('hello'), utf8('world'));
 * await database.write(new WriteBatch().put(utf8('a'), utf8('1')).delete(utf8('hello')), { sync: true });
 * await database.close();
 * ```
 */
export class Database extends AsyncReaderFace {
  protected override readonly kind = 'database';
  readonly #store: Store;
  /** How many cursors were made. */
  #cursors = 0;
  /** Batches that were written, whose memory later writes use again. */
  readonly #spares: WriteBatch[] = [];
  #closing: Promise<void> | undefined;

  private constructor(store: Store) {
    super(store.folder, store, store.view);
    this.#store = store;
    // The store holds a pin of its own.
    store.view.pin();
    store.onView = (view) => {
      view.pin();
      this.show(view);
    };
  }

  /**
   * Opens the database in a folder, or creates one. The contents of its logs become tables.
   *
   * @throws TypeError or RangeError for an option that is wrong.
   * @throws CorruptionError when CURRENT, the MANIFEST or a log is damaged, also where LevelDB would go on without what is
   *   lost: opening for writing would lose it for good. Damage in a table is found when it is read.
   * @throws UnsupportedError `BLOOM_UNKNOWN_COMPARATOR` when the database has another comparator.
   * @throws DatabaseError when it is locked, when it is missing, or when `errorIfExists` forbids it.
   */
  static async open(folder: WritableFolder, options: DatabaseOptions = {}): Promise<Database> {
    mustBeWritable(folder);
    return new Database(await Store.open(folder, settingsOf(options)));
  }

  /**
   * Deletes the files of a database, and the folder if nothing else is in it. A folder without a database is no error.
   *
   * @throws DatabaseError `BLOOM_LOCKED` when the database is open.
   */
  static async destroy(folder: WritableFolder, options: Pick<DatabaseOptions, 'lock'> = {}): Promise<void> {
    mustBeWritable(folder);
    mustBeOptions('Database.destroy', options, { lock: true });
    if (options.lock !== undefined) mustBeLockMode(options.lock);
    let names: readonly string[];
    try {
      names = await folder.list();
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === 'ENOENT') return;
      throw error;
    }
    const known = names.filter((name) => parseFileName(name) !== undefined);
    if (known.length > 0) {
      const lock = options.lock === 'none' ? undefined : await lockOf(folder);
      try {
        for (const name of known) if (name !== LOCK) await folder.delete(name);
      } finally {
        await lock?.release();
      }
      await folder.delete(LOCK);
    }
    await folder.removeFolder();
  }

  /**
   * Rebuilds a database that can no longer be opened from its logs and tables. It does not need the MANIFEST, and writes a
   * new one.
   *
   * Every checksum is compared. Logs, damaged tables and old MANIFESTs move to the folder `lost`; what can be read of them
   * is part of the database. Deleted keys can reappear where files were left behind that the database no longer used, and
   * of a batch that is cut in two by damage the first part is applied, as in LevelDB's repair. It needs room for a second
   * copy of the tables that overlap, and memory for a memtable, for a block of some tables at a time, and about 130 MiB where
   * a table has lost its index.
   *
   * A repair that fails or is interrupted can be repeated without further loss.
   *
   * @returns what was kept, written and set aside, and what could not be read.
   * @throws TypeError or RangeError for an option that is wrong.
   * @throws UnsupportedError `BLOOM_UNKNOWN_COMPARATOR` or `BLOOM_UNSUPPORTED_CODEC` when the database's order or compression was
   *   not given: nothing has changed then.
   * @throws DatabaseError when it is locked, or there is no folder. Errors of the folder pass unchanged.
   * @example
   * ```ts
   * const { lost, setAside } = await Database.repair(new WritableNodeFolder('path/to/database'));
   * for (const { file, offset, reason } of lost) console.log(`${file} at ${offset}: ${reason}`);
   * ```
   */
  static async repair(folder: WritableFolder, options: RepairOptions = {}): Promise<RepairReport> {
    mustBeWritable(folder);
    // Loaded on demand: it is a quarter of the package's code, and few programs need it.
    const { repairDatabase } = await import('./repair.js');
    return repairDatabase(folder, options);
  }

  /** Writes an entry. */
  put(key: Uint8Array, value: Uint8Array, options?: WriteOptions): Promise<void> {
    return this.#write((batch) => batch.put(key, value), options);
  }

  /** Deletes an entry, if there is one. */
  delete(key: Uint8Array, options?: WriteOptions): Promise<void> {
    return this.#write((batch) => batch.delete(key), options);
  }

  /** Writes all operations of a batch, or none. The batch is copied. */
  write(batch: WriteBatch, options?: WriteOptions): Promise<void> {
    return this.#write((copy) => {
      if (!(batch instanceof WriteBatch)) throw new TypeError('batch must be a WriteBatch');
      copy.append(batch);
    }, options);
  }

  /**
   * `get` without a promise. It takes about a microsecond from memory; otherwise it blocks while the file is read.
   *
   * @throws TypeError when the folder can only read asynchronously.
   * @throws CorruptionError when what may hold the key is damaged.
   */
  getSync(key: Uint8Array, options?: SequenceOptions): Uint8Array | undefined {
    const lookup = this.lookup(key, options);
    if (!lookup.run()) runSync(this.#store.folder, lookup.settle());
    return this.valueOf(lookup);
  }

  /** `getSync` for each of `keys`, in their order. */
  getManySync(keys: Iterable<Uint8Array>, options?: SequenceOptions): (Uint8Array | undefined)[] {
    this.mustBeOpen();
    mustBeIterable('keys', keys, 'Uint8Arrays');
    return Array.from(keys, (key) => this.getSync(key, options));
  }

  /** Keeps the current state readable: pass the snapshot's sequence to reads. */
  snapshot(): DatabaseSnapshot {
    this.mustBeOpen();
    const sequence = this.#store.hold();
    return new DatabaseSnapshot(sequence, () => this.#store.letGo(sequence));
  }

  /**
   * Merges the tables of a range of keys, both ends included, so that deleted and overwritten entries no longer take
   * space. An omitted bound stands for that end of the database.
   */
  async compactRange(begin?: Uint8Array, end?: Uint8Array): Promise<void> {
    this.mustBeOpen();
    if (begin !== undefined) mustBeBytes('begin', begin);
    if (end !== undefined) mustBeBytes('end', end);
    await this.#store.compactRange(begin, end);
  }

  /** Writes the memtable to a table, and waits until it is done. */
  async flush(): Promise<void> {
    this.mustBeOpen();
    await this.#store.flush();
  }

  /** The approximate number of bytes that the keys from `start` up to, but not including, `limit` take in tables. Entries in memory do not count. */
  async approximateSize(start: Uint8Array, limit: Uint8Array): Promise<number> {
    this.mustBeOpen();
    mustBeBytes('start', start);
    mustBeBytes('limit', limit);
    const { view } = this;
    // Copied before anything is awaited, because the caller may change the keys then.
    const startKey = beforeVersions(start);
    const limitKey = beforeVersions(limit);
    view.pin();
    try {
      const from = await this.#approximateOffset(view, startKey);
      return Math.max(0, (await this.#approximateOffset(view, limitKey)) - from);
    } finally {
      view.unpin();
    }
  }

  /**
   * A property in LevelDB's text form; undefined for an unknown name.
   *
   * - `leveldb.num-files-at-level<N>`: how many tables a level has
   * - `leveldb.stats`: tables and megabytes of each level, and the time and the megabytes of flushes and compactions into it
   *   since the database was opened
   * - `leveldb.sstables`: number, bytes, first and last key of each table, by levels
   * - `leveldb.approximate-memory-usage`: bytes of the memtables and the block cache
   */
  property(name: string): string | undefined {
    this.mustBeOpen();
    const { version } = this.view;
    switch (name) {
      case 'leveldb.stats':
        return this.#store.compactionStats.toText(version);
      case 'leveldb.sstables':
        return tablesToText(version);
      case 'leveldb.approximate-memory-usage':
        return String((this.#store.settings.cache?.byteLength ?? 0) + this.#store.memoryUsage);
    }
    const [, level] = /^leveldb\.num-files-at-level([0-9]{1,20})$/.exec(name) ?? [];
    return level === undefined ? undefined : version.levels[Number(level)]?.length.toString();
  }

  /** Waits until no table is being written in the background. */
  async idle(): Promise<void> {
    this.mustBeOpen();
    await this.#store.idle();
  }

  /** Waits for pending writes, and closes all files. Further calls return the promise of the first. */
  close(): Promise<void> {
    if (this.markClosed()) this.#closing = this.#store.close();
    return this.#closing!;
  }

  /** Closes the database, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override isFound(lookup: Lookup): boolean {
    if (lookup.askedTables > 1 && lookup.isOf(this.view)) this.#store.chargeSeek(lookup.firstTable!);
    return super.isFound(lookup);
  }

  protected override cursorOf(view: View, sequence: bigint): VisibleCursor {
    return view.cursor(sequence, new CursorSampler(++this.#cursors, (key) => this.#store.sampleRead(key)));
  }

  // Async, so that a caller's mistake is a rejection like any other.
  async #write(fill: (batch: WriteBatch) => void, options: WriteOptions | undefined): Promise<void> {
    this.mustBeOpen();
    if (options !== undefined) {
      mustBeOptions('Database.write', options, WRITE_OPTIONS);
      if (options.sync !== undefined) mustBeBoolean('sync', options.sync);
    }
    const batch = this.#spares.pop() ?? new WriteBatch();
    fill(batch);
    this.#mustBeOrdered(batch);
    if (batch.byteLength > MAX_BATCH_BYTES) {
      throw new RangeError(`a batch must have at most ${MAX_BATCH_BYTES} bytes, got ${batch.byteLength}`);
    }
    await this.#store.write(batch, options?.sync ?? false);
    if (this.#spares.length < MAX_SPARES && batch.byteLength <= MAX_SPARE_BYTES) this.#spares.push(batch.clear());
  }

  /** @throws what the comparator throws for a key, before the key is in the log: a log with such a key could not be replayed. */
  #mustBeOrdered(batch: WriteBatch): void {
    const { comparator } = this.#store.settings;
    if (comparator === bytewiseComparator) return;
    for (const reader = new WriteBatchReader(batch.encode(0n)); reader.next(); ) {
      const { key } = reader;
      comparator.compare(key, key);
    }
  }

  /** Source: LevelDB, db/version_set.cc, `VersionSet::ApproximateOffsetOf`. */
  async #approximateOffset({ version, tables, order }: View, key: Uint8Array): Promise<number> {
    let offset = 0;
    for (const file of version.files) {
      if (compareInternal(order, file.largest, key) <= 0) offset += file.size;
      else if (compareInternal(order, file.smallest, key) <= 0) {
        const handle = await runAsync(this.#store.folder, tables.open(file));
        offset += handle.approximateOffset(key);
      }
    }
    return offset;
  }
}

const LOCK = 'LOCK';

/** How many batches are kept for later writes, and the most bytes of one. */
const MAX_SPARES = 4;
const MAX_SPARE_BYTES = 256 * 2 ** 10;

function mustBeWritable(folder: unknown): asserts folder is WritableFolder {
  mustHaveMethods('folder', folder, 'a folder that can be written to', FOLDER_METHODS);
}
