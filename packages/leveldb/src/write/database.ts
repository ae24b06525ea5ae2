import type { Bytes, Signal } from '@bloom/bytes';
import { bytesOf, copiedOptions, mustBeBoolean, mustBeFunction, mustBeOptions, mustHaveAtMost, throwIfAborted } from '@bloom/bytes/internal';
import type { SignalOptions } from '@bloom/sstable';
import type { SequenceOptions } from '@bloom/sstable/database';
import { signalOf } from '@bloom/sstable/internal';
import { AsyncBaseReader } from '../read/async-base-reader.js';
import { beforeVersions } from '../format/database-key.js';
import { runAsync } from '../folder/folder-reading.js';
import { loadedCode } from '../folder/loaded-code.js';
import type { DatabaseKeyRange } from '../read/database-range.js';
import type { LookupExplanation } from '../read/lookup-explanation.js';
import { type DatabaseCursorOptions, type MakeOfBytes, ReadPath, type StoredVersion } from '../read/read-path.js';
import type { SyncDatabaseCursor } from '../read/sync-database-cursor.js';
import type { View } from '../read/view.js';
import { isMissing, mustBeWritable, type WritableFolder } from '../folder/writable-folder.js';
import { isSmallBatch, misfitOf } from '../memtable/batch-entries.js';
import { compareInternal } from '../format/version.js';
import { WriteBatch } from '../format/write-batch.js';
import { DATABASE_OPTIONS, type DatabaseOptions, holdSettingsOf, settingsOf } from './database-options.js';
import { destroyDatabase, isDatabase, settledNames } from './destroy.js';
import { type ClearRange, RangeClearing } from './clear-range.js';
import { inCallOrder } from './folder-hold.js';
import { loadFittedPolicy, mayBeFitted } from './load-fitted-policy.js';
import { tablesToText } from './properties.js';
import { cursorSampler } from './read-sampler.js';
import type { RefilterDatabaseOptions, RefilterReport } from './refilter.js';
import type { RepairOptions } from './repair/repair.js';
import type { RepairReport } from './repair/repair-report.js';
import { DatabaseSnapshot } from './snapshot.js';
import { OpenDatabase } from './open-database.js';

/** Options of a write. */
export interface WriteOptions {
  /** Waits until the write survives a power failure, not only a crash of the process. Default: false. */
  readonly sync?: boolean | undefined;
}

const WRITE_OPTIONS: Record<keyof WriteOptions, true> = { sync: true };

/** The most bytes of a batch, which is written as one record, unless `maxBlockBytes` allows larger entries. */
const MAX_BATCH_BYTES = 128 * 2 ** 20;

/**
 * A LevelDB database for reading and writing. LevelDB itself can open its folder.
 *
 * Reads work as in `DatabaseReader`. When the promise of a write resolves, the write is in the log and survives a crash of
 * the process; with `sync`, it also survives a power failure. After a power failure, the database has a prefix of the writes.
 *
 * When the folder fails to store a write, writing ends: that write and every later one fail with a
 * `DatabaseError` `BLOOM_WRITING_ENDED`. Everything written before can still be read.
 *
 * @example
 * ```ts
 * const database = await Database.open(new WritableNodeFolder('path/to/database'));
 * await database.put('hello', 'world');
 * await database.write(new WriteBatch().put('a', '1').delete('hello'), { sync: true });
 * await database.close();
 * ```
 */
export class Database extends AsyncBaseReader {
  readonly #path: ReadPath;
  readonly #database: OpenDatabase;
  #closing: Promise<void> | undefined;

  private constructor(opened: OpenDatabase) {
    const { background } = opened;
    let cursors = 0;
    const path = new ReadPath({ kind: 'database', className: 'Database' }, opened.folder, opened.state.view, {
      writes: opened.writes,
      onWastedSeek: (first) => background.chargeSeek(first),
      sampler: () => cursorSampler(++cursors, (key) => background.sampleRead(key)),
    });
    super(path, opened);
    this.#path = path;
    this.#database = opened;
    // The state holds a pin of its own.
    opened.state.view.pin();
    const onView = (view: View): void => {
      view.pin();
      path.show(view);
    };
    opened.state.onView = onView;
  }

  /**
   * Opens the database in a folder, or creates one. The contents of its logs become tables. While the database of the folder is being closed,
   * deleted, repaired or refiltered in this thread, opening waits for that.
   *
   * @throws TypeError or RangeError for an option that is wrong.
   * @throws CorruptionError when CURRENT, the MANIFEST or a log is damaged, even where LevelDB opens the database without the damaged
   *   part: opening it for writing would lose that part for good. Damage in a table is found when it is read.
   * @throws UnsupportedError `BLOOM_UNKNOWN_COMPARATOR` when the database has another comparator; `BLOOM_UNSUPPORTED_CODEC` when its
   *   tables need a codec that was not given, or the codec for new tables can only decompress; `BLOOM_UNSUPPORTED_FORMAT` when another
   *   engine wrote it, such as RocksDB (see `foreignEngine`). The folder is then unchanged.
   * @throws DatabaseError when it is locked, when it is missing, or when `errorIfExists` forbids it; `BLOOM_NOT_LOADED` when the code of fitted
   *   filters cannot be loaded.
   */
  static async open(folder: WritableFolder, options: DatabaseOptions = {}): Promise<Database> {
    mustHaveAtMost('Database.open', 'a folder and options', 2, arguments.length);
    mustBeWritable(folder);
    const own = copiedOptions('Database.open', options, DATABASE_OPTIONS);
    const settings = mayBeFitted(own) ? () => loadFittedPolicy().then(() => settingsOf(own)) : settingsOf(own);
    return new Database(await OpenDatabase.open(folder, settings));
  }

  /**
   * Deletes the files of a database, and the folder if nothing else is in it. A folder without a database, that is, with neither
   * CURRENT nor a MANIFEST, is left unchanged without an error. Files whose names LevelDB would not write are kept.
   *
   * @throws DatabaseError `BLOOM_LOCKED` when the database is open or being created.
   * @throws UnsupportedError `BLOOM_UNSUPPORTED_FORMAT` when another engine wrote it, such as RocksDB (see `foreignEngine`). The folder is
   *   then unchanged.
   * @throws the folder's error when a file cannot be deleted. All other tables and logs are deleted nevertheless; MANIFEST and CURRENT are kept, so
   *   that the call can be repeated.
   */
  static async destroy(folder: WritableFolder, options: Pick<DatabaseOptions, 'lock' | 'onEvent'> = {}): Promise<void> {
    mustHaveAtMost('Database.destroy', 'a folder and options', 2, arguments.length);
    mustBeWritable(folder);
    mustBeOptions('Database.destroy', options, { lock: true, onEvent: true });
    const settings = holdSettingsOf(options);
    await inCallOrder(folder, async (earlier) => {
      await earlier;
      try {
        let names = await folder.list();
        if (!isDatabase(names)) names = await settledNames(folder, names, settings);
        if (isDatabase(names)) await destroyDatabase(folder, names, settings);
      } catch (error) {
        // The folder no longer exists.
        if (!isMissing(error)) throw error;
      }
    });
  }

  /**
   * Rebuilds, from its logs and tables, a database that can no longer be opened, and writes a new MANIFEST.
   *
   * An intact MANIFEST, the one that CURRENT names or otherwise the newest, defines which tables belong to the database and at which level, and
   * which logs and tables are obsolete. Without one, or with `fromTablesAlone`, this is guessed: all tables and logs are merged, and the newest
   * version of each key wins. Deleted keys can then reappear from obsolete files. The report names the MANIFEST and the files that were
   * guessed.
   *
   * Every checksum is verified. Logs, damaged and obsolete tables and old MANIFESTs move to the folder `lost`. If damage interrupts a batch,
   * its first part is applied, as in LevelDB's repair. A repair needs space for a second copy of the tables that it merges, and memory for a
   * memtable and for one block of each of several tables; more if a table has lost its index, as in `salvageTable`.
   *
   * A repair that fails or is interrupted can be repeated without further loss. The report of the second one lists only the
   * damage that the first one had not handled.
   *
   * @returns the tables that were kept, written and set aside, and the data that could not be read.
   * @throws TypeError or RangeError for an option that is wrong.
   * @throws UnsupportedError `BLOOM_UNKNOWN_COMPARATOR` or `BLOOM_UNSUPPORTED_CODEC` when the database's order or compression was
   *   not given, or the codec for new tables can only decompress; `BLOOM_UNSUPPORTED_FORMAT` when another engine wrote the database,
   *   such as RocksDB (see `foreignEngine`). The folder is then unchanged.
   * @throws CorruptionError `BLOOM_TOO_LARGE` when the new MANIFEST would be too large to be read again: pass a larger `maxFileSize`.
   * @throws DatabaseError when it is locked, there is no folder, or the code of repairs cannot be loaded. Errors of the folder are passed on unchanged.
   * @example
   * ```ts
   * const { lost, setAside } = await Database.repair(new WritableNodeFolder('path/to/database'));
   * for (const { file, offset, reason } of lost) console.log(`${file} at ${offset}: ${reason}`);
   * ```
   */
  static async repair(folder: WritableFolder, options: RepairOptions = {}): Promise<RepairReport> {
    mustHaveAtMost('Database.repair', 'a folder and options', 2, arguments.length);
    mustBeWritable(folder);
    // Loaded on demand: few programs need it.
    return inCallOrder(folder, async (earlier) => {
      const { repairDatabase } = await loadedCode(import('./repair/repair.js'));
      return repairDatabase(folder, options, earlier);
    });
  }

  /**
   * Gives the tables of a database other filters, and leaves everything else as it is, so that the program that owns the database reads
   * fewer blocks for absent keys. LevelDB can use the filters that are made by default.
   *
   * The data blocks are copied byte for byte. Each table gets a new number, and the MANIFEST lists it in place of the old one, so a crash or a
   * power failure at any moment leaves a database with the same entries. Logs stay as they are. It takes the time to read and write all tables
   * once, space on disk for the largest table and those of level 0, and as much memory as `refilterTable`. If it fails or its `signal` is
   * aborted, the tables written before have the new filters, and no unfinished table is left.
   *
   * @returns how many tables were written, and how many already had these filters.
   * @throws TypeError or RangeError for an option that is wrong.
   * @throws CorruptionError when CURRENT, the MANIFEST or a table is damaged.
   * @throws UnsupportedError `BLOOM_UNKNOWN_COMPARATOR` or `BLOOM_UNSUPPORTED_CODEC` when the database's order or compression was not
   *   given, `BLOOM_UNSUPPORTED_FORMAT` when another engine wrote the database.
   * @throws DatabaseError when it is open for writing, there is none, or the code for this cannot be loaded. Errors of the folder are passed on unchanged.
   * @example
   * ```ts
   * const { written, filterBytes } = await Database.refilter(new WritableNodeFolder('path/to/database'));
   * ```
   */
  static async refilter(folder: WritableFolder, options: RefilterDatabaseOptions = {}): Promise<RefilterReport> {
    mustHaveAtMost('Database.refilter', 'a folder and options', 2, arguments.length);
    mustBeWritable(folder);
    return inCallOrder(folder, async (earlier) => {
      const { refilterDatabase } = await loadedCode(import('./refilter.js'));
      return refilterDatabase(folder, options, earlier);
    });
  }

  /** Writes an entry. Strings are stored as UTF-8, and are read back as bytes. */
  put(key: Uint8Array | string, value: Uint8Array | string, options?: WriteOptions): Promise<void> {
    if (arguments.length > 3) return tooMany('Database.put', 'a key, a value and options', 3, arguments.length);
    return this.#write('Database.put', (batch) => batch.put(key, value), options);
  }

  /** Deletes an entry, if there is one. */
  delete(key: Uint8Array | string, options?: WriteOptions): Promise<void> {
    if (arguments.length > 2) return tooMany('Database.delete', 'a key and options', 2, arguments.length);
    return this.#write('Database.delete', (batch) => batch.delete(key), options);
  }

  /**
   * Deletes all entries that exist when it is called, or those of a range.
   *
   * Without a range, one edit of the MANIFEST removes all tables and logs from the database. That frees their space, and after a crash
   * either all entries are there or none. Once the promise resolves, the database stays empty after a power failure too. With `sync: false`,
   * a few entries that are all in the memtable are deleted by one record of the log instead, which is faster and survives a crash of the process
   * only.
   *
   * With a range, or while a snapshot needs the entries, each entry is deleted individually, in writes of about 64 KiB: that takes as
   * long as a scan and as many deletions, and a crash may leave some of the entries. Writes made in the meantime wait, and their
   * entries are kept.
   *
   * @param range which entries; `clear()` and `clear({})` delete all of them.
   * @throws TypeError or RangeError for a range that is wrong. An undefined range or bound is wrong, and deletes nothing.
   * @throws DatabaseError when the folder fails to store it, and CorruptionError when an entry that is deleted individually is damaged.
   * @example
   * ```ts
   * await database.clear({ prefix: 'session:' });
   * await database.clear({ lt: '2024-01-01', limit: 1000 });
   * ```
   */
  // eslint-disable-next-line @typescript-eslint/unified-signatures -- an optional parameter can be undefined, which is refused
  clear(range: ClearRange): Promise<void>;
  clear(): Promise<void>;
  async clear(...given: [] | [range: ClearRange]): Promise<void> {
    this.#path.mustBeOpen();
    mustHaveAtMost('Database.clear', 'a range', 1, given.length);
    const [range] = given.length === 0 ? [{}] : given;
    if ((range as unknown) === undefined) throw new TypeError('the range of Database.clear is undefined: call clear() without arguments to delete all entries');
    await this.#database.clear(new RangeClearing(range, this.#path.view.order));
  }

  /** Writes all operations of a batch atomically. The batch is copied. */
  write(batch: WriteBatch, options?: WriteOptions): Promise<void> {
    if (arguments.length > 2) return tooMany('Database.write', 'a batch and options', 2, arguments.length);
    return this.#write('Database.write', (copy) => {
      if (!(batch instanceof WriteBatch)) throw new TypeError('batch must be a WriteBatch');
      copy.append(batch);
    }, options);
  }

  /**
   * Synchronous `get`. It blocks while a block that is not in the cache is read from the file. Unlike `get`, it does not wait: it misses
   * earlier writes that still wait for a sync, for room, or for the rest of a long batch.
   *
   * @throws TypeError when the folder can only read asynchronously.
   * @throws CorruptionError when the block or log that may hold the key is damaged.
   */
  getSync(key: Uint8Array | string, options?: SequenceOptions): Bytes | undefined {
    return this.#path.getAtOnce('getSync', key, options);
  }

  /**
   * Synchronous `getAs`. Like {@link getSync}, it does not wait for writes.
   *
   * @throws as {@link getSync}, what `make` throws, and a TypeError when it is no function.
   * @example
   * ```ts
   * const text = database.getAsSync('hello', (bytes, start, end) => decoder.decode(bytes.subarray(start, end)));
   * ```
   */
  getAsSync<T>(key: Uint8Array | string, make: MakeOfBytes<T>, options?: SequenceOptions): T | undefined {
    mustBeFunction('make', make);
    return this.#path.makeAtOnce('getAsSync', key, make, options);
  }

  /** Synchronous `has`. Like {@link getSync}, it does not wait for writes. @throws as {@link getSync}. */
  hasSync(key: Uint8Array | string, options?: SequenceOptions): boolean {
    return this.#path.hasAtOnce('hasSync', key, options);
  }

  /** `getSync` for each of `keys`, in their order. */
  getManySync(keys: Iterable<Uint8Array | string>, options?: SequenceOptions): (Bytes | undefined)[] {
    return this.#path.getManyAtOnce('getManySync', keys, options);
  }

  /** `hasSync` for each of `keys`, in their order. */
  hasManySync(keys: Iterable<Uint8Array | string>, options?: SequenceOptions): boolean[] {
    return this.#path.hasManyAtOnce('hasManySync', keys, options);
  }

  /** Synchronous `entries`. Like {@link getSync}, it does not wait for writes. @throws as {@link getSync}, when a step has to read. */
  entriesSync(range: DatabaseKeyRange = {}): IterableIterator<[Bytes, Bytes]> {
    return this.#path.iterateAtOnce('entriesSync', range, (cursor) => this.#path.copyPair(cursor));
  }

  /** Synchronous `keys`. Like {@link getSync}, it does not wait for writes. @throws as {@link entriesSync}. */
  keysSync(range: DatabaseKeyRange = {}): IterableIterator<Bytes> {
    return this.#path.iterateAtOnce('keysSync', range, (cursor) => this.#path.copyKey(cursor));
  }

  /** Synchronous `values`. Like {@link getSync}, it does not wait for writes. @throws as {@link entriesSync}. */
  valuesSync(range: DatabaseKeyRange = {}): IterableIterator<Bytes> {
    return this.#path.iterateAtOnce('valuesSync', range, (cursor) => this.#path.copyValue(cursor));
  }

  /** Synchronous `cursor`. Like {@link getSync}, it does not wait for writes. Its moves throw as {@link getSync}. */
  cursorSync(options?: DatabaseCursorOptions): SyncDatabaseCursor {
    return this.#path.cursorAtOnce('cursorSync', options);
  }

  /** Synchronous `explain`. Like {@link getSync}, it does not wait for writes. */
  explainSync(key: Uint8Array | string, options?: SequenceOptions): LookupExplanation {
    return this.#path.explainAtOnce('explainSync', key, options);
  }

  /** Synchronous `versions`. Like {@link getSync}, it does not wait for writes. @throws as {@link getSync}. */
  versionsSync(key: Uint8Array | string, options?: SequenceOptions): StoredVersion[] {
    return this.#path.versionsAtOnce('versionsSync', key, options);
  }

  /**
   * Keeps the current state readable: pass the snapshot's sequence to reads. It includes the writes that were issued before. While `clear`
   * waits or is running, it may include none or only some of its deletions, and misses the writes that wait for it: see {@link writtenSnapshot}.
   */
  snapshot(): DatabaseSnapshot {
    this.#path.mustBeOpen();
    const { writes } = this.#database;
    writes.catchUp();
    return this.#hold(writes.reserveQueued());
  }

  /** Takes a `snapshot` once the writes that were issued before are visible, including all deletions of `clear` and the writes that wait for it. */
  async writtenSnapshot(): Promise<DatabaseSnapshot> {
    this.#path.mustBeOpen();
    if (!this.#path.isBehind()) return this.snapshot();
    return this.#database.writes.reached(() => this.#hold(this.#path.view.lastSequence));
  }

  #hold(sequence: bigint): DatabaseSnapshot {
    const { held } = this.#database.state;
    held.add(sequence);
    return new DatabaseSnapshot(sequence, () => held.remove(sequence));
  }

  /**
   * Waits until the writes that were issued before are visible.
   *
   * @returns the sequence of the last of them.
   */
  async written(): Promise<bigint> {
    this.#path.mustBeOpen();
    return this.#path.isBehind() ? this.#database.writes.reached(() => this.#path.view.lastSequence) : this.#path.view.lastSequence;
  }

  /**
   * Writes the memtable to a table, and merges the tables of a range of keys, both ends included, down to the deepest level that had keys of
   * the range when it was called. A merge drops deleted and overwritten entries that no snapshot needs. As in LevelDB, the tables of that deepest
   * level are not merged by themselves, and neither is that of the memtable if it gets to that level or a deeper one: entries that are deleted or
   * overwritten within such a table keep their space until a later merge. An omitted bound means that end of the database. A range that ends
   * before it begins has no keys.
   */
  async compactRange(begin?: Uint8Array | string, end?: Uint8Array | string): Promise<void> {
    this.#path.mustBeOpen();
    mustHaveAtMost('Database.compactRange', 'begin and end', 2, arguments.length);
    const bytesIfGiven = (name: string, key: typeof begin): Uint8Array | undefined => (key === undefined ? undefined : bytesOf(name, key));
    await this.#database.compactRange(bytesIfGiven('begin', begin), bytesIfGiven('end', end));
  }

  /** Writes the memtable to a table, and waits for it. */
  async flush(): Promise<void> {
    this.#path.mustBeOpen();
    await this.#database.flush();
  }

  /** The approximate number of bytes that the keys from `start` up to, but not including, `limit` take in tables, without entries in memory. */
  async approximateSize(start: Uint8Array | string, limit: Uint8Array | string, options?: SignalOptions): Promise<number> {
    this.#path.mustBeOpen();
    const signal = signalOf('Database.approximateSize', options);
    // Copied before anything is awaited: the caller may change the keys afterwards.
    const startKey = beforeVersions(bytesOf('start', start));
    const limitKey = beforeVersions(bytesOf('limit', limit));
    const isBehind = this.#path.isBehind();
    const { view } = isBehind ? await this.#path.moment(signal) : this.#path;
    if (!isBehind) view.pin();
    try {
      this.#path.mustBeOpen();
      const from = await this.#approximateOffset(view, startKey, signal);
      const to = await this.#approximateOffset(view, limitKey, signal);
      // A loop of calls whose tables are open would let no other work run.
      if (this.#path.pacer.isDue()) await this.#path.pacer.pause();
      // A table that was opened is returned even if the call was aborted, or the database closed, in the meantime.
      this.#path.mustBeOpen();
      throwIfAborted(signal);
      return Math.max(0, to - from);
    } catch (error) {
      // If the database was closed meanwhile, that is the error, not the failed read of a closed file.
      this.#path.mustBeOpen();
      throw error;
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
    this.#path.mustBeOpen();
    const { version } = this.#path.view;
    switch (name) {
      case 'leveldb.stats':
        return this.#database.background.stats.toText(version);
      case 'leveldb.sstables':
        return tablesToText(version);
      case 'leveldb.approximate-memory-usage':
        return String((this.#database.settings.cache?.byteLength ?? 0) + this.#database.state.memoryUsage);
    }
    const [, level] = /^leveldb\.num-files-at-level([0-9]{1,20})$/.exec(name) ?? [];
    return level === undefined ? undefined : version.levels[Number(level)]?.length.toString();
  }

  /** Waits for the background work: flushes and compactions. */
  async idle(): Promise<void> {
    this.#path.mustBeOpen();
    await this.#database.background.idle();
  }

  /** Waits for pending writes, and closes all files. Further calls return the promise of the first. */
  close(): Promise<void> {
    if (this.#path.state.close()) this.#closing = this.#database.close();
    return this.#closing!;
  }

  /** Closes the database, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #write(call: string, fill: (batch: WriteBatch) => void, options: WriteOptions | undefined): Promise<void> {
    const { writes } = this.#database;
    try {
      this.#path.mustBeOpen();
      if (options !== undefined) {
        mustBeOptions(call, options, WRITE_OPTIONS);
        if (options.sync !== undefined) mustBeBoolean('sync', options.sync);
      }
      const batch = writes.emptyBatch();
      fill(batch);
      this.#mustFit(batch);
      return writes.push(batch, options?.sync ?? false);
    } catch (error) {
      // A wrong argument rejects the promise. An async function would do the same, but makes more garbage.
      return Promise.reject(error);
    }
  }

  /** @throws RangeError for a batch that does not fit into a table, before it is in the log: a log with such a batch could not be replayed. */
  #mustFit(batch: WriteBatch): void {
    const { settings } = this.#database;
    const maxBatchBytes = Math.max(MAX_BATCH_BYTES, settings.maxBlockBytes / 2);
    if (batch.byteLength > maxBatchBytes) throw new RangeError(`a batch can be at most ${maxBatchBytes} bytes, got ${batch.byteLength}`);
    // Checked before the record is made, since nearly every batch is small.
    if (isSmallBatch(batch.byteLength, settings)) return;
    const problem = misfitOf(batch.encode(0n), settings);
    if (problem !== undefined) throw new RangeError(problem);
  }

  /** Source: LevelDB, db/version_set.cc, `VersionSet::ApproximateOffsetOf`. */
  async #approximateOffset({ version, tables, order }: View, key: Uint8Array, signal: Signal | undefined): Promise<number> {
    let offset = 0;
    for (const file of version.files) {
      if (compareInternal(order, file.largest, key) <= 0) offset += file.size;
      else if (compareInternal(order, file.smallest, key) <= 0) {
        const handle = await runAsync(this.#database.folder, tables.open(file), signal);
        offset += handle.lookup.approximateOffset(key);
      }
    }
    return offset;
  }
}

/** A rejection for arguments that the call does not take. */
function tooMany(...given: Parameters<typeof mustHaveAtMost>): Promise<void> {
  return Promise.resolve().then(() => mustHaveAtMost(...given));
}
