/**
 * A database that is written: the queue of writes, the log and the memtable, and the work in the background that makes
 * tables of memtables and merges tables.
 *
 * Source: LevelDB, db/db_impl.cc.
 */
import { CorruptionError } from '@bloom/bytes';
import type { TableStats } from '@bloom/sstable';
import { DatabaseError } from '../database-error.js';
import { runAsync } from '../folder-reading.js';
import type { Memtable } from '../memtable.js';
import type { TableFiles } from '../reader-face.js';
import type { FileMetadata, VersionEdit } from '../version-edit.js';
import type { View } from '../view.js';
import type { FolderLock, WritableFolder } from '../writable-folder.js';
import { type WriteBatch, WriteBatchReader } from '../write-batch.js';
import { writeCompactedTables } from './compacted-tables.js';
import { boundsOfUserKeys, type Compaction, compactionOf, type CompactionState, fullestLevel, levelForFlush, pickCompaction } from './compaction.js';
import type { Settings } from './database-options.js';
import { LiveFiles } from './live-files.js';
import { LiveLog } from './live-log.js';
import { lockOf, mustHaveDatabase, type OpenedVersions, openVersions } from './opening.js';
import { type KeyBounds, overlapsLevel, sizeOf } from './overlap.js';
import { delay, Pacer, turn } from './pacer.js';
import { CompactionStats } from './properties.js';
import { firstOfSeveral } from './read-sample.js';
import { SeekBudget } from './seek-budget.js';
import { HeldSequences } from './snapshot.js';
import { ENTRIES_PER_LOOK, writeMemtable } from './table-file.js';
import { type CompactionRequest, packedEntries, type TableThread } from './table-thread.js';
import type { VersionSet } from './version-set.js';
import { type RecordTarget, WriteQueue } from './write-queue.js';

/** The number of tables in level 0 from which each write is delayed by a millisecond, and from which it waits for a compaction. */
const SLOWDOWN_TABLES = 8;
const STOP_TABLES = 12;

/** Less is merged or written here: to start a thread takes as long as to write a table of this size. */
const THREAD_MIN_BYTES = 2 ** 20;

/** A compaction that a caller asked for. */
interface ManualCompaction {
  readonly level: number;
  /** What is left to be compacted. */
  bounds: KeyBounds;
  done: boolean;
}

/** Thrown to stop background work when the database is closed. */
class CutOff extends Error {}

/** The implementation of {@link Database}, without its public methods. */
export class Store implements TableFiles, RecordTarget {
  readonly settings: Settings;
  readonly restarts = 0;
  /** The current view, on which the store holds a pin. */
  view: View;
  /** Called when `view` is replaced. */
  onView: (view: View) => void = () => undefined;
  readonly #folder: WritableFolder;
  readonly #lock: FolderLock | undefined;
  readonly #versions: VersionSet;
  readonly #files: LiveFiles;
  readonly #held = new HeldSequences();
  readonly #seeks = new SeekBudget();
  readonly #stats = new CompactionStats();
  /** Total duration of all flushes, in milliseconds. A flush that interrupts a compaction is not counted as part of it. */
  #flushTime = 0;
  #sought: FileMetadata | undefined;
  #log: LiveLog;
  /** The previous log, until its memtable has become a table. */
  #flushing: LiveLog | undefined;
  /** Whether the folder was synced since the log was created, so that its name survives a power failure. */
  #isLogNamed = false;
  readonly #queue = new WriteQueue(this);
  #background: Promise<void> | undefined;
  #manual: ManualCompaction | undefined;
  /** Callers that wait for progress in the background. */
  #waiting: (() => void)[] = [];
  #thread: TableThread | undefined;
  /** The insertion of the last batch, if it took more than a time slice. */
  #inserting: Promise<void> | undefined;
  /** Tells a compaction that runs on the thread that there is something else to do. */
  #nudge: () => void = () => undefined;
  #isClosing = false;
  /** Why nothing more is written. */
  #failure: DatabaseError | undefined;

  private constructor(folder: WritableFolder, settings: Settings, lock: FolderLock | undefined, { versions, log, isLogReused, change, dropped }: OpenedVersions) {
    this.settings = settings;
    this.#folder = folder;
    this.#lock = lock;
    this.#versions = versions;
    this.#files = new LiveFiles(folder, settings, dropped);
    this.#log = log;
    this.#isLogNamed = isLogReused;
    for (const { level, file } of change?.newFiles ?? []) this.#stats.add(level, { milliseconds: 0, bytesRead: 0, bytesWritten: file.size });
    this.view = this.#newView();
  }

  /** Opens or creates a database. */
  static async open(folder: WritableFolder, settings: Settings): Promise<Store> {
    if (settings.createIfMissing) await folder.createFolder();
    else await mustHaveDatabase(folder);
    const lock = settings.locks ? await lockOf(folder) : undefined;
    try {
      const opened = await openVersions(folder, settings);
      const store = new Store(folder, settings, lock, opened);
      await store.#start(opened.change);
      return store;
    } catch (error) {
      await lock?.release();
      throw error;
    }
  }

  /** Writes the changes that opening made, and starts the background work. */
  async #start(change: VersionEdit | undefined): Promise<void> {
    try {
      if (change !== undefined) {
        await this.#versions.apply(change);
        this.#isLogNamed = true;
        this.#show();
      }
      await this.#removeObsoleteFiles();
      this.#schedule();
    } catch (error) {
      await Promise.allSettled([this.#versions.close(), this.#log.file.close(), this.#files.close()]);
      throw error;
    }
  }

  get counts(): TableStats {
    return this.#files.counts;
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

  /** Protects the current state from compaction. @returns its sequence. */
  hold(): bigint {
    const { lastSequence } = this.#versions;
    this.#held.add(lastSequence);
    return lastSequence;
  }

  /** Ends the protection of a sequence. */
  letGo(sequence: bigint): void {
    this.#held.remove(sequence);
  }

  /** Charges a table of `view` for a lookup that had to search it in vain. */
  chargeSeek(file: FileMetadata): void {
    if (!this.#seeks.charge(file) || this.#sought !== undefined || !this.#versions.current.files.includes(file)) return;
    this.#sought = file;
    this.#schedule();
  }

  /** Charges the first table for a sampled read of a cursor, if a lookup of that key would have to search several. */
  sampleRead(internalKey: Uint8Array): void {
    const file = firstOfSeveral(this.#versions.current, internalKey);
    if (file !== undefined) this.chargeSeek(file);
  }

  /** Time and bytes of flushes and compactions. */
  get compactionStats(): CompactionStats {
    return this.#stats;
  }

  /** Writes a batch, which must not be changed any more; without one, makes a table of the memtable. */
  write(batch: WriteBatch | undefined, sync: boolean): Promise<void> {
    return this.#queue.push(batch, sync);
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

  /** Stops the background work, and closes all files. */
  async close(): Promise<void> {
    await this.#queue.settled();
    this.#isClosing = true;
    this.#wake();
    this.#nudge();
    const ending = this.#thread?.close();
    await this.idle();
    await ending;
    const closings = [this.#log.file.close(), this.#versions.close(), this.#files.close()];
    const outcomes = await Promise.allSettled(closings);
    await this.#lock?.release();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  // ---- writing

  hasRoom(force: boolean): boolean {
    return (
      !force &&
      this.#failure === undefined &&
      this.#log.memtable.memoryUsage <= this.settings.writeBufferSize &&
      this.#versions.current.levels[0]!.length < SLOWDOWN_TABLES
    );
  }

  /** Source: `DBImpl::MakeRoomForWrite`. */
  async makeRoom(force: boolean): Promise<void> {
    let mayDelay = !force;
    for (;;) {
      this.#mustWrite();
      const level0 = this.#versions.current.levels[0]!.length;
      if (mayDelay && level0 >= SLOWDOWN_TABLES) {
        // Delaying each write a little avoids delaying a single one for long.
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
      // A record in the new log must not survive a power failure that loses an earlier one.
      if (!before.file.isSynced) await before.file.sync();
      this.#log = await LiveLog.create(this.#folder, number, this.#versions.order);
    } catch (error) {
      this.#versions.reuseFileNumber(number);
      throw this.#fail(error);
    }
    this.#isLogNamed = false;
    this.#flushing = before;
    this.#show();
    this.#schedule();
    this.#nudge();
    // Its contents are synced already, so a failure to close it loses nothing.
    await Promise.allSettled([before.file.close()]);
  }

  /** Adds a record to the log, and its operations to the memtable. */
  append(batch: WriteBatch, sync: boolean): Promise<void> | undefined {
    const record = batch.encode(this.#versions.lastSequence + 1n);
    let appending: void | Promise<void>;
    try {
      appending = this.#log.file.addRecord(record);
    } catch (error) {
      throw this.#fail(error);
    }
    if (appending !== undefined || sync) return this.#appendLater(appending, record, sync);
    return this.#insert(record);
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
      // The log may now end with part of the record, or with a record that was reported as failed.
      throw this.#fail(error);
    }
    await this.#insert(record);
  }

  #insert(record: Uint8Array): Promise<void> | undefined {
    return (this.#inserting = this.#insertRest(new WriteBatchReader(record), new Pacer(ENTRIES_PER_LOOK)));
  }

  /** Inserts for one time slice, and then schedules the rest. Readers see the batch only when all of it is inserted. */
  #insertRest(reader: WriteBatchReader, pacer: Pacer): Promise<void> | undefined {
    const { memtable } = this.#log;
    try {
      while (reader.next()) {
        const sequence = reader.sequence + BigInt(reader.found - 1);
        memtable.add(sequence, reader.type, reader.bytes, reader.keyStart, reader.keyEnd, reader.valueStart, reader.valueEnd);
        if (pacer.isDue()) return pacer.pause().then(() => this.#insertRest(reader, pacer));
      }
    } catch (error) {
      // A comparator that throws: the log has the record already, and the memtable may have part of it.
      throw this.#fail(error, 'an entry that is in the log could not be put into the memtable');
    }
    this.#versions.lastSequence = this.view.lastSequence = reader.sequence + BigInt(reader.found) - 1n;
    return undefined;
  }

  // ---- the background

  /** Source: `DBImpl::MaybeScheduleCompaction`. */
  #schedule(): void {
    if (this.#background !== undefined || !this.#hasWork()) return;
    this.#background = this.#work();
  }

  #hasWork(): boolean {
    if (this.#isClosing || this.#failure !== undefined) return false;
    if (this.#flushing !== undefined || this.#manual !== undefined || this.#sought !== undefined) return true;
    return fullestLevel(this.#versions.current).score >= 1;
  }

  async #work(): Promise<void> {
    // Lets the write that started this finish first, because others may be queued behind it. Otherwise the last
    // sequence in the MANIFEST would depend on how busy the machine is.
    await turn();
    await this.#inserting?.catch(() => undefined);
    while (this.#hasWork()) {
      try {
        if (this.#flushing !== undefined) await this.#flush(this.#flushing);
        else await this.#compact();
      } catch (error) {
        if (!(error instanceof CutOff)) this.#fail(error);
      }
      this.#wake();
    }
    // No await may come between the check for work and this line, or work scheduled in between would be lost.
    this.#background = undefined;
    this.#wake();
  }

  /** Waits for the next step of the background work. */
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
    const start = performance.now();
    this.#files.keep(number);
    try {
      const file = (await this.#flushOnThread(log.memtable, number)) ?? (await this.#flushHere(log.memtable, number));
      if (file !== undefined) await this.#files.openTables([file]);
      if (this.#isClosing) throw new CutOff();
      const level = file && levelForFlush(base, this.#versions.order, file, this.settings.maxFileSize);
      const newFiles = file === undefined ? [] : [{ level: level!, file }];
      const milliseconds = performance.now() - start;
      this.#stats.add(level ?? 0, { milliseconds, bytesRead: 0, bytesWritten: file?.size ?? 0 });
      this.#flushTime += milliseconds;
      await this.#versions.apply({ previousLogNumber: 0n, logNumber: this.#log.number, newFiles });
    } finally {
      this.#files.unkeep(number);
    }
    this.#isLogNamed = true;
    this.#flushing = undefined;
    this.#show();
    await this.#removeObsoleteFiles();
  }

  #flushHere(memtable: Memtable, number: bigint): Promise<FileMetadata | undefined> {
    return writeMemtable(memtable, this.#folder, number, this.settings.building, new Pacer(ENTRIES_PER_LOOK));
  }

  async #flushOnThread(memtable: Memtable, number: bigint): Promise<FileMetadata | undefined> {
    const thread = this.#threadFor(memtable.memoryUsage);
    if (thread === undefined || memtable.count === 0) return undefined;
    try {
      return await thread.flush(await packedEntries(memtable, new Pacer(ENTRIES_PER_LOOK)), number);
    } catch {
      // The caller repeats the work on this thread, where an error that persists has its type.
      return undefined;
    }
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
          // A copy, so that its seek count starts again.
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

  async #merge(compaction: Compaction): Promise<void> {
    const { view } = this;
    const numbers: bigint[] = [];
    const start = performance.now() - this.#flushTime;
    const oldestSequence = this.#held.oldest ?? this.#versions.lastSequence;
    const newFileNumber = (): bigint => {
      const number = this.#versions.newFileNumber();
      numbers.push(number);
      this.#files.keep(number);
      return number;
    };
    view.pin();
    try {
      const outputs =
        (await this.#mergeOnThread({ plan: compaction, oldestSequence, newFileNumber })) ??
        (await writeCompactedTables(compaction, {
          folder: this.#folder,
          read: (reading) => runAsync(this.#folder, reading),
          readsAtOnce: false,
          order: this.#versions.order,
          tables: view.tables,
          damage: view.damage,
          building: this.settings.building,
          maxFileSize: this.settings.maxFileSize,
          oldestSequence,
          newFileNumber,
          interlude: () => this.#interlude(),
        }));
      await this.#files.openTables(outputs);
      if (this.#isClosing) throw new CutOff();
      const { level, inputs, pointer } = compaction;
      const milliseconds = performance.now() - this.#flushTime - start;
      this.#stats.add(level + 1, { milliseconds, bytesRead: sizeOf(inputs.flat()), bytesWritten: sizeOf(outputs) });
      await this.#versions.apply({
        compactPointers: [{ level, key: pointer }],
        deletedFiles: inputs.flatMap((files, i) => files.map(({ number }) => ({ level: level + i, number }))),
        newFiles: outputs.map((file) => ({ level: level + 1, file })),
      });
      this.#show();
    } finally {
      view.unpin();
      for (const number of numbers) this.#files.unkeep(number);
    }
    await this.#removeObsoleteFiles();
  }

  /** Merges on the worker thread. @returns undefined if there is none, or if it failed for any reason. */
  async #mergeOnThread(request: CompactionRequest): Promise<FileMetadata[] | undefined> {
    const thread = this.#threadFor(sizeOf(request.plan.inputs.flat()));
    if (thread === undefined) return undefined;
    const job: { isSettled: boolean; outputs?: FileMetadata[] } = { isSettled: false };
    void thread
      .compact(request)
      .then((files) => void (job.outputs = files))
      // The caller repeats the work on this thread, where an error that persists has its type.
      .catch(() => undefined)
      .then(() => {
        job.isSettled = true;
        this.#nudge();
      });
    for (;;) {
      const interlude = this.#interlude();
      if (interlude !== undefined) await interlude;
      else if (job.isSettled) return job.outputs;
      else await new Promise<void>((resolve) => (this.#nudge = resolve));
    }
  }

  /** The worker thread, if there is one and `byteLength` is enough work to be worth sending. */
  #threadFor(byteLength: number): TableThread | undefined {
    const { thread: settings } = this.settings;
    if (settings === undefined || byteLength < THREAD_MIN_BYTES || this.#thread?.hasEnded === true) return undefined;
    return (this.#thread ??= this.#folder.startTableThread?.(settings));
  }

  /** Work that must not wait for the end of a compaction: flushing a full memtable. */
  #interlude(): Promise<void> | undefined {
    if (this.#isClosing) throw new CutOff();
    // Writers may be blocked until it is flushed.
    return this.#flushing && this.#flush(this.#flushing).then(() => this.#wake());
  }

  /** Deletes files that are no longer needed. What cannot be deleted is tried again the next time. */
  async #removeObsoleteFiles(): Promise<void> {
    // After a failure, the files on disk may differ from the state in memory.
    if (this.#failure !== undefined) return;
    try {
      await this.#files.removeObsolete(this.#versions);
    } catch {
      // A leftover file does no harm.
    }
  }

  // ---- shared by writes and the background

  /** Records that writing has ended. @returns the error to throw. */
  #fail(cause: unknown, what = cause instanceof CorruptionError ? 'a table that is merged is damaged' : 'the folder failed to take what was written'): DatabaseError {
    if (cause instanceof DatabaseError) return cause;
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
    // A table is due for compaction only in the version in which its seeks ran out.
    if (before.version !== this.view.version) this.#sought = undefined;
    this.onView(this.view);
    before.unpin();
  }

  #newView(): View {
    return this.#files.viewOf(this.#versions, this.#flushing === undefined ? [this.#log] : [this.#flushing, this.#log]);
  }
}
