/**
 * A database that is written: the queue of writes, the log and the memtable, and the work in the background that makes
 * tables of memtables and merges tables.
 *
 * Source: LevelDB, db/db_impl.cc.
 */
import { CorruptionError } from '@bloom/bytes';
import type { TableStats } from '@bloom/sstable';
import { decodeInternalKey, INTERNAL_KEY_TRAILER_LENGTH, MAX_SEQUENCE, VALUE, DELETION } from '@bloom/sstable/database';
import { DamagePolicy } from '../damage.js';
import { DatabaseError } from '../database-error.js';
import { keyOrderOf } from '../database-key.js';
import type { EntryCursor } from '../entry-cursor.js';
import { CURRENT, logFileName, parseFileName } from '../file-name.js';
import { runAsync } from '../folder-reading.js';
import { Memtable } from '../memtable.js';
import { MergeCursor } from '../merge.js';
import type { TableFiles } from '../reader-face.js';
import { TableCache, ViewTables } from '../table-cache.js';
import { LevelEntries } from '../table-entries.js';
import type { FileMetadata } from '../version-edit.js';
import { View } from '../view.js';
import type { FolderLock, WritableFolder } from '../writable-folder.js';
import { type WriteBatch, WriteBatchReader } from '../write-batch.js';
import { boundsOfUserKeys, type Compaction, compactionOf, type CompactionState, fullestLevel, levelForFlush, pickCompaction } from './compaction.js';
import type { Settings } from './database-options.js';
import { LiveLog } from './live-log.js';
import { type KeyBounds, overlapsLevel } from './overlap.js';
import { delay, Pacer } from './pacer.js';
import { RecordFile } from './record-file.js';
import { mustHaveTables, recoverLogs } from './recovery.js';
import { SeekBudget } from './seek-budget.js';
import { ENTRIES_PER_LOOK, TableFile, writeMemtable } from './table-file.js';
import { createDatabase, VersionSet } from './version-set.js';
import { groupLength, merged, type Writer } from './write-queue.js';

/** With so many tables in level 0 each write waits a millisecond, and with so many it waits for a compaction. */
const SLOWDOWN_TABLES = 8;
const STOP_TABLES = 12;

/** A compaction that a caller asked for. */
interface ManualCompaction {
  readonly level: number;
  /** What is left to be compacted. */
  bounds: KeyBounds;
  done: boolean;
}

/** Thrown within work that closing the database cuts off. */
class CutOff extends Error {}

/** Everything of a {@link Database} but its face. */
export class Store implements TableFiles {
  readonly settings: Settings;
  readonly restarts = 0;
  /** What is there now: a pin of it is the store's. */
  view: View;
  /** Told when another view takes the place of `view`. */
  onView: (view: View) => void = () => undefined;
  readonly #folder: WritableFolder;
  readonly #lock: FolderLock | undefined;
  readonly #versions: VersionSet;
  readonly #tables: TableCache;
  readonly #damage = new DamagePolicy(true);
  /** Views that may still be used: their files stay. */
  readonly #views = new Set<View>();
  /** The numbers of tables that are being written. */
  readonly #pending = new Set<bigint>();
  /** Sequences that are held by snapshots, and how many hold them; the oldest first. */
  readonly #snapshots = new Map<bigint, number>();
  readonly #seeks = new SeekBudget();
  #sought: FileMetadata | undefined;
  #log: LiveLog;
  /** The log before, until its memtable is a table. */
  #flushing: LiveLog | undefined;
  /** Whether the name of the log survives the loss of power. */
  #isLogNamed = false;
  readonly #writers: Writer[] = [];
  #draining: Promise<void> | undefined;
  readonly #writePacer = new Pacer(1);
  #background: Promise<void> | undefined;
  #manual: ManualCompaction | undefined;
  /** Who waits for the background to have done something. */
  #waiting: (() => void)[] = [];
  #isClosing = false;
  /** Why nothing more is written. */
  #failure: DatabaseError | undefined;

  private constructor(folder: WritableFolder, settings: Settings, lock: FolderLock | undefined, versions: VersionSet, log: LiveLog) {
    this.settings = settings;
    this.#folder = folder;
    this.#lock = lock;
    this.#versions = versions;
    this.#tables = new TableCache(settings.maxOpenTables, settings.reading, settings.opening, settings.cache);
    this.#log = log;
    this.view = this.#newView();
  }

  /** Opens or makes a database. */
  static async open(folder: WritableFolder, settings: Settings): Promise<Store> {
    if (settings.createIfMissing) await folder.createFolder();
    const lock = settings.locks ? await lockOf(folder) : undefined;
    try {
      return await Store.#recover(folder, settings, lock);
    } catch (error) {
      await lock?.release();
      throw error;
    }
  }

  /** Source: `DB::Open`. */
  static async #recover(folder: WritableFolder, settings: Settings, lock: FolderLock | undefined): Promise<Store> {
    const where = folder.name ?? 'the folder';
    let names = await folder.list();
    if (!names.includes(CURRENT)) {
      if (!settings.createIfMissing) throw new DatabaseError('BLOOM_DATABASE_MISSING', `${where} has no database, and createIfMissing is false`);
      mustBeNew(names, folder.name);
      await createDatabase(folder, settings.comparator);
    } else if (settings.errorIfExists) {
      throw new DatabaseError('BLOOM_DATABASE_EXISTS', `${where} has a database, and errorIfExists is true`);
    }
    const order = keyOrderOf(settings.comparator);
    const versions = await VersionSet.read(folder, settings.comparator, order, settings.reuseLogs ? settings.maxFileSize : undefined);
    let store: Store | undefined;
    let log: LiveLog | undefined;
    try {
      names = await folder.list();
      mustHaveTables(versions.current, names, folder.name);
      const { files, isChanged, log: reused } = await recoverLogs(folder, names, versions, settings);
      log = reused ?? (await newLog(folder, versions.newFileNumber(), order));
      store = new Store(folder, settings, lock, versions, log);
      store.#isLogNamed = reused !== undefined;
      if (isChanged || !versions.isManifestReused) {
        await versions.apply({ previousLogNumber: 0n, logNumber: log.number, newFiles: files.map((file) => ({ level: 0, file })) });
        store.#isLogNamed = true;
        store.#show();
      }
      await store.#removeObsoleteFiles();
      store.#schedule();
      return store;
    } catch (error) {
      await Promise.allSettled([versions.close(), log?.file.close(), store === undefined ? undefined : store.#tables.close()]);
      throw error;
    }
  }

  get counts(): TableStats {
    return this.#tables.counts();
  }

  /** Why nothing more is written, if that is so. */
  get failure(): DatabaseError | undefined {
    return this.#failure;
  }

  get folder(): WritableFolder {
    return this.#folder;
  }

  /** Bytes of the memtables, as LevelDB counts them. */
  get memoryUsage(): number {
    return this.#log.memtable.memoryUsage + (this.#flushing?.memtable.memoryUsage ?? 0);
  }

  /** Holds what is visible now. @returns its sequence. */
  hold(): bigint {
    const { lastSequence } = this.#versions;
    this.#snapshots.set(lastSequence, (this.#snapshots.get(lastSequence) ?? 0) + 1);
    return lastSequence;
  }

  /** Lets go of what was held at a sequence. */
  letGo(sequence: bigint): void {
    const holders = this.#snapshots.get(sequence)!;
    if (holders > 1) this.#snapshots.set(sequence, holders - 1);
    else this.#snapshots.delete(sequence);
  }

  /** Counts a lookup that a table of `view` cost without deciding it. */
  chargeSeek(file: FileMetadata): void {
    if (!this.#seeks.charge(file) || this.#sought !== undefined || !this.#versions.current.files.includes(file)) return;
    this.#sought = file;
    this.#schedule();
  }

  /** Writes a batch, which must not be changed any more; without one, makes a table of the memtable. */
  write(batch: WriteBatch | undefined, sync: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writers.push({ batch, sync, resolve, reject });
      this.#draining ??= this.#drain().finally(() => (this.#draining = undefined));
    });
  }

  /** Source: `DBImpl::CompactRange`. */
  async compactRange(begin: Uint8Array | undefined, end: Uint8Array | undefined): Promise<void> {
    const bounds = boundsOfUserKeys(begin, end);
    const { current, order } = this.#versions;
    let deepest = 1;
    for (let level = 1; level < current.levels.length; level++) if (overlapsLevel(current, level, order, bounds)) deepest = level;
    await this.flush();
    for (let level = 0; level < deepest; level++) await this.#compactLevel({ level, bounds, done: false });
  }

  /** Makes a table of the memtable, and waits for it. */
  async flush(): Promise<void> {
    await this.write(undefined, false);
    while (this.#flushing !== undefined) {
      this.#mustWrite();
      await this.#wait();
    }
  }

  /** Waits until there is nothing to do in the background. */
  async idle(): Promise<void> {
    while (this.#background !== undefined) await this.#background;
  }

  /** Ends work in the background where it is, and closes everything. */
  async close(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
    this.#isClosing = true;
    this.#wake();
    await this.idle();
    const closings = [this.#log.file.close(), this.#versions.close(), this.#tables.close()];
    const outcomes = await Promise.allSettled(closings);
    await this.#lock?.release();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  // ---- writing

  async #drain(): Promise<void> {
    // Calls that are made at the same time are written as one record.
    await Promise.resolve();
    const writers = this.#writers;
    while (writers.length > 0) {
      const first = writers[0]!;
      let count = 1;
      try {
        if (!this.#hasRoom(first.batch === undefined)) await this.#makeRoom(first.batch === undefined);
        if (first.batch !== undefined) {
          count = groupLength(writers);
          const writing = this.#append(merged(writers.slice(0, count)), first.sync);
          if (writing !== undefined) await writing;
        }
      } catch (error) {
        for (const writer of writers.splice(0, count)) writer.reject(error);
        continue;
      }
      for (const writer of writers.splice(0, count)) writer.resolve();
      // Where the log takes its bytes at once, callers that write one after another would keep all else waiting.
      if (this.#writePacer.isDue()) await this.#writePacer.pause();
    }
  }

  #hasRoom(force: boolean): boolean {
    return (
      !force &&
      this.#failure === undefined &&
      this.#log.memtable.memoryUsage <= this.settings.writeBufferSize &&
      this.#versions.current.levels[0]!.length < SLOWDOWN_TABLES
    );
  }

  /** Source: `DBImpl::MakeRoomForWrite`. */
  async #makeRoom(force: boolean): Promise<void> {
    let mayDelay = !force;
    for (;;) {
      this.#mustWrite();
      const level0 = this.#versions.current.levels[0]!.length;
      if (mayDelay && level0 >= SLOWDOWN_TABLES) {
        // Rather each write a little than one for long.
        await delay(1);
        mayDelay = false;
      } else if (!force && this.#log.memtable.memoryUsage <= this.settings.writeBufferSize) {
        return;
      } else if (this.#flushing !== undefined || level0 >= STOP_TABLES) {
        await this.#wait();
      } else {
        await this.#switchLogs();
        force = false;
      }
    }
  }

  async #switchLogs(): Promise<void> {
    const before = this.#log;
    const number = this.#versions.newFileNumber();
    try {
      // What comes in the new log must not survive what came before it.
      if (!before.file.isSynced) await before.file.sync();
      this.#log = await newLog(this.#folder, number, this.#versions.order);
    } catch (error) {
      this.#versions.reuseFileNumber(number);
      throw this.#fail(error);
    }
    this.#isLogNamed = false;
    this.#flushing = before;
    this.#show();
    this.#schedule();
    // All of it is on disk.
    await Promise.allSettled([before.file.close()]);
  }

  /** Adds a record to the log, and its operations to the memtable. */
  #append(batch: WriteBatch, sync: boolean): Promise<void> | undefined {
    const record = batch.encode(this.#versions.lastSequence + 1n);
    let appending: void | Promise<void>;
    try {
      appending = this.#log.file.addRecord(record);
    } catch (error) {
      throw this.#fail(error);
    }
    if (appending !== undefined || sync) return this.#appendLater(appending, record, sync);
    this.#insert(record);
    return undefined;
  }

  async #appendLater(appending: void | Promise<void>, record: Uint8Array, sync: boolean): Promise<void> {
    try {
      await appending;
      if (sync) {
        await this.#log.file.sync();
        if (!this.#isLogNamed) await this.#folder.syncFolder();
        this.#isLogNamed = true;
      }
    } catch (error) {
      // The log may end in a part of the record, or in one that its caller was told had failed.
      throw this.#fail(error);
    }
    this.#insert(record);
  }

  #insert(record: Uint8Array): void {
    const { memtable } = this.#log;
    const reader = new WriteBatchReader(record);
    let next = reader.sequence;
    for (; reader.next(); next++) {
      memtable.add(next, reader.type, reader.bytes, reader.keyStart, reader.keyEnd, reader.valueStart, reader.valueEnd);
    }
    this.#versions.lastSequence = this.view.lastSequence = next - 1n;
  }

  // ---- the background

  /** Source: `DBImpl::MaybeScheduleCompaction`. */
  #schedule(): void {
    if (this.#background !== undefined || !this.#hasWork()) return;
    this.#background = this.#work().finally(() => {
      this.#background = undefined;
      this.#wake();
    });
  }

  #hasWork(): boolean {
    if (this.#isClosing || this.#failure !== undefined) return false;
    if (this.#flushing !== undefined || this.#manual !== undefined || this.#sought !== undefined) return true;
    return fullestLevel(this.#versions.current).score >= 1;
  }

  async #work(): Promise<void> {
    // The write that started the work goes first: others may be waiting behind it.
    await delay(0);
    while (this.#hasWork()) {
      try {
        if (this.#flushing !== undefined) await this.#flush(this.#flushing);
        else await this.#compact();
      } catch (error) {
        if (error instanceof CutOff) return;
        this.#fail(error);
      }
      this.#wake();
    }
  }

  /** Waits until the background has done something. */
  #wait(): Promise<void> {
    if (this.#background === undefined) this.#schedule();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Source: `DBImpl::CompactMemTable`. */
  async #flush(log: LiveLog): Promise<void> {
    const base = this.#versions.current;
    const number = this.#versions.newFileNumber();
    this.#pending.add(number);
    try {
      const file = await writeMemtable(log.memtable, this.#folder, number, this.settings.building, this.#pacer());
      if (file !== undefined) await this.#mustBeUsable(file);
      if (this.#isClosing) throw new CutOff();
      const level = file && levelForFlush(base, this.#versions.order, file, this.settings.maxFileSize);
      const newFiles = file === undefined ? [] : [{ level: level!, file }];
      await this.#versions.apply({ previousLogNumber: 0n, logNumber: this.#log.number, newFiles });
    } finally {
      this.#pending.delete(number);
    }
    this.#isLogNamed = true;
    this.#flushing = undefined;
    this.#show();
    await this.#removeObsoleteFiles();
  }

  async #compactLevel(manual: ManualCompaction): Promise<void> {
    while (!manual.done) {
      this.#mustWrite();
      if (this.#manual === undefined) {
        this.#manual = manual;
        this.#schedule();
      }
      await this.#wait();
      if (this.#isClosing) throw new TypeError('the database is closed');
    }
  }

  /** Source: `DBImpl::BackgroundCompaction`. */
  async #compact(): Promise<void> {
    const manual = this.#manual;
    const state: CompactionState = {
      version: this.#versions.current,
      order: this.#versions.order,
      maxFileSize: this.settings.maxFileSize,
      compactPointers: this.#versions.compactPointers,
    };
    const compaction = manual === undefined ? pickCompaction(state, this.#sought) : compactionOf(state, manual.level, manual.bounds);
    try {
      if (compaction === undefined) {
        if (manual === undefined) this.#sought = undefined;
      } else if (manual === undefined && compaction.isTrivialMove) {
        const [file] = compaction.inputs[0];
        const { level, pointer } = compaction;
        await this.#versions.apply({
          compactPointers: [{ level, key: pointer }],
          deletedFiles: [{ level, number: file!.number }],
          // A copy: its lookups are counted anew.
          newFiles: [{ level: level + 1, file: { ...file! } }],
        });
        this.#show();
      } else {
        await this.#merge(compaction);
      }
    } finally {
      if (manual !== undefined) {
        const { begin } = manual.bounds;
        const last = compaction?.inputs[0].at(-1)?.largest;
        manual.bounds = { begin: last ?? begin, end: manual.bounds.end };
        manual.done = compaction === undefined;
        this.#manual = undefined;
      }
    }
  }

  /** Source: `DBImpl::DoCompactionWork`. */
  async #merge(compaction: Compaction): Promise<void> {
    const { order } = this.#versions;
    const { view } = this;
    const [oldest = this.#versions.lastSequence] = this.#snapshots.keys();
    const sources = compactionSources(compaction, view);
    const cursor = new MergeCursor(sources, order.compareInternalKeys);
    const outputs: FileMetadata[] = [];
    const numbers: bigint[] = [];
    let table: TableFile | undefined;
    const pacer = this.#pacer();
    view.pin();
    /** The user key of the last entry, and the sequence of that entry. */
    let userKey: Uint8Array | undefined;
    let newer = MAX_SEQUENCE;
    const finish = async (): Promise<void> => {
      const file = await table!.finish();
      table = undefined;
      await this.#mustBeUsable(file);
      outputs.push(file);
    };
    try {
      for (let settled = cursor.seekToFirst(); ; settled = cursor.next()) {
        if (!settled) await runAsync(this.#folder, cursor.settle());
        if (!cursor.valid) break;
        if (pacer.isDue()) await pacer.pause();
        if (this.#isClosing) throw new CutOff();
        if (this.#flushing !== undefined) {
          // Writers may be waiting for it.
          await this.#flush(this.#flushing);
          this.#wake();
        }
        const key = cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd);
        if (compaction.stopsBefore(key) && table !== undefined) await finish();
        const internal = decodeInternalKey(key);
        let isDropped = false;
        if (internal === undefined || (internal.type !== VALUE && internal.type !== DELETION)) {
          // It is not for a compaction to hide that the key is damaged.
          userKey = undefined;
          newer = MAX_SEQUENCE;
        } else {
          if (userKey === undefined || order.compareUserKeys(key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH, userKey, 0, userKey.length) !== 0) {
            userKey = internal.userKey.slice();
            newer = MAX_SEQUENCE;
          }
          isDropped = newer <= oldest || (internal.type === DELETION && internal.sequence <= oldest && compaction.isBaseLevelFor(key));
          newer = internal.sequence;
        }
        if (isDropped) continue;
        if (table === undefined) {
          const number = this.#versions.newFileNumber();
          numbers.push(number);
          this.#pending.add(number);
          // The key and the value are lent until the cursor moves.
          table = await TableFile.create(this.#folder, number, this.settings.building);
        }
        table.add(key, cursor.valueBytes.subarray(cursor.valueStart, cursor.valueEnd));
        if (table.byteLength >= this.settings.maxFileSize) await finish();
        else if (table.isFull) await table.drain();
      }
      if (table !== undefined) await finish();
      if (this.#isClosing) throw new CutOff();
      const { level, inputs, pointer } = compaction;
      await this.#versions.apply({
        compactPointers: [{ level, key: pointer }],
        deletedFiles: inputs.flatMap((files, i) => files.map(({ number }) => ({ level: level + i, number }))),
        newFiles: outputs.map((file) => ({ level: level + 1, file })),
      });
      this.#show();
    } finally {
      cursor.close();
      view.unpin();
      await table?.abandon();
      for (const number of numbers) this.#pending.delete(number);
    }
    await this.#removeObsoleteFiles();
  }

  /** Opens a table that was written, and keeps it open. */
  async #mustBeUsable(file: FileMetadata): Promise<void> {
    await runAsync(this.#folder, this.#tables.openAtFirst(file));
  }

  /** Deletes what is no longer needed, as far as that goes: the rest is for the next time. */
  async #removeObsoleteFiles(): Promise<void> {
    // What is on disk may not be what is known here.
    if (this.#failure !== undefined) return;
    try {
      await this.#deleteObsolete(await this.#folder.list());
    } catch {
      // A file too many does no harm.
    }
  }

  /** Source: `DBImpl::RemoveObsoleteFiles`. */
  async #deleteObsolete(names: readonly string[]): Promise<void> {
    const { logNumber, previousLogNumber, manifestNumber, current } = this.#versions;
    const live = new Set([...this.#pending, ...current.files.map(({ number }) => number)]);
    const files = [...current.files];
    for (const view of this.#views) {
      if (view.isReleased) {
        this.#views.delete(view);
        continue;
      }
      for (const file of view.version.files) {
        if (live.has(file.number)) continue;
        live.add(file.number);
        files.push(file);
      }
    }
    this.#tables.keepOnly(files);
    for (const name of names) {
      const file = parseFileName(name);
      if (file === undefined || !('number' in file)) continue;
      const { type, number } = file;
      const isKept =
        type === 'log'
          ? number >= logNumber || number === previousLogNumber
          : type === 'manifest'
            ? number >= manifestNumber
            : live.has(number);
      if (!isKept) await this.#folder.delete(name);
    }
  }

  // ---- what both need

  #pacer(): Pacer {
    return new Pacer(ENTRIES_PER_LOOK);
  }

  /** Ends writing. @returns what to throw. */
  #fail(cause: unknown): DatabaseError {
    if (cause instanceof DatabaseError) return cause;
    const what = cause instanceof CorruptionError ? 'a table that is merged is damaged' : 'the folder failed to take what was written';
    this.#failure ??= new DatabaseError('BLOOM_WRITING_ENDED', `nothing more is written: ${what}: ${String(cause)}`, { cause });
    return this.#failure;
  }

  /** @throws DatabaseError when writing has ended. */
  #mustWrite(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isClosing) throw new TypeError('the database is closed');
  }

  #show(): void {
    const before = this.view;
    this.view = this.#newView();
    // A table is only due in the version in which it became due.
    if (before.version !== this.view.version) this.#sought = undefined;
    this.onView(this.view);
    before.unpin();
  }

  #newView(): View {
    const { current: version, order } = this.#versions;
    const { files } = version;
    const areAllOpen = files.length <= this.settings.maxOpenTables;
    const pinned = areAllOpen ? files.flatMap((file) => this.#tables.get(file) ?? []) : [];
    for (const handle of pinned) this.#tables.pin(handle);
    const view = new View({
      comparator: this.settings.comparator,
      order,
      fields: this.#versions,
      manifest: this.#versions.manifestName,
      version,
      logs: this.#flushing === undefined ? [this.#log] : [this.#flushing, this.#log],
      lastSequence: this.#versions.lastSequence,
      tables: new ViewTables(this.#tables, files, pinned, areAllOpen),
      damage: this.#damage,
    });
    this.#views.add(view);
    return view;
  }
}

/** Locks a folder. */
export async function lockOf(folder: WritableFolder): Promise<FolderLock> {
  if (folder.lock === undefined) throw new DatabaseError('BLOOM_NO_LOCK', "the folder cannot be locked: make sure that nobody else writes to it, and give lock: 'none'");
  return folder.lock();
}

/**
 * LevelDB makes a new database of a folder without CURRENT, and deletes what is left of the old one.
 *
 * @throws CorruptionError `BLOOM_NOT_A_DATABASE` when there are logs or tables.
 */
function mustBeNew(names: readonly string[], folder: string | undefined): void {
  const kept = names.find((name) => ['log', 'table'].includes(parseFileName(name)?.type ?? ''));
  if (kept === undefined) return;
  const problem = `it has no CURRENT, and has ${kept}: a new database would take the place of one that is damaged`;
  throw new CorruptionError('BLOOM_NOT_A_DATABASE', { structure: 'folder', offset: 0, file: folder }, problem);
}

async function newLog(folder: WritableFolder, number: bigint, order: ReturnType<typeof keyOrderOf>): Promise<LiveLog> {
  const name = logFileName(number);
  return new LiveLog(new RecordFile(number, name, await folder.create(name)), new Memtable(order.compareInternalKeys));
}

/** The entries of a compaction's inputs. Source: `VersionSet::MakeInputIterator`. */
function compactionSources({ level, inputs: [upper, lower] }: Compaction, view: View): EntryCursor[] {
  const whole = (files: readonly FileMetadata[]): EntryCursor => new LevelEntries(files, () => 0, view.tables, view.damage);
  const sources = level === 0 ? upper.map((file) => whole([file])) : [whole(sortedAs(upper, view, level))];
  if (lower.length > 0) sources.push(whole(lower));
  return sources;
}

/** Tables of a level in the order of their keys: those that were added at the boundary come last. */
function sortedAs(files: readonly FileMetadata[], { version }: View, level: number): FileMetadata[] {
  return version.levels[level]!.filter((file) => files.includes(file));
}
