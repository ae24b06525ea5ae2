/**
 * The background work of a database, one task at a time: memtables become tables, tables are merged, and files that are no longer
 * needed are deleted.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::MaybeScheduleCompaction` and what it calls.
 */
import { UnsupportedError } from '@bloom/bytes';
import { MAX_SEQUENCE } from '@bloom/sstable/database';
import { isTooFull } from '../compact/level-scores.js';
import { type Compaction, compactionOf, type CompactionState, pickCompaction } from '../compact/pick-compaction.js';
import { levelForFlush, type MergeTarget } from '../compact/flush-level.js';
import { Memtable } from '../memtable/memtable.js';
import { boundsOf, type KeyBounds, sizeOf } from '../compact/overlap.js';
import { SeekBudget } from '../compact/seek-budget.js';
import { attempt } from '../folder/closing-files.js';
import type { WrittenTable } from '../folder/table-thread.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { parseFileName, tableFileName } from '../format/file-name.js';
import type { FileMetadata, VersionEdit } from '../format/version-edit.js';
import type { Version } from '../format/version.js';
import { ClosedError } from '../read/open-state.js';
import { now, turn } from '../folder/pacer.js';
import { tableMade, versionInstalled } from './database-event.js';
import type { Settings } from './database-options.js';
import type { DatabaseState } from './database-state.js';
import { deleteIfPossible } from './obsolete-files.js';
import { LiveLog } from './live-log.js';
import { BitsChoice } from './bits-by-level.js';
import { CompactionStats } from './properties.js';
import { firstOfSeveral } from './read-sampler.js';
import { TableMaker } from './table-maker.js';

/** A compaction that a caller asked for. */
interface ManualCompaction {
  readonly level: number;
  /** What is left to be compacted. */
  bounds: KeyBounds;
  done: boolean;
  /** Why it cannot be done; undefined if it can. */
  failure?: UnsupportedError;
}

/** A clear that a caller waits for. */
interface Clearing {
  /** Undefined until it has ended. */
  outcome: 'cleared' | 'held' | undefined;
}

/** Thrown to stop background work that has become pointless: the database is closed or cleared. */
class Stopped extends Error {}

/** Schedules the background work of a database, and does it. */
export class BackgroundWork {
  /** Time and bytes of flushes and compactions. */
  readonly stats = new CompactionStats();
  private readonly folder: WritableFolder;
  private readonly settings: Settings;
  private readonly state: DatabaseState;
  private readonly tables: TableMaker;
  /** Chooses bits per key if they depend on the level. */
  private readonly bits: BitsChoice | undefined;
  private readonly seeks = new SeekBudget();
  /** The table whose allowed seeks ran out. Its compaction is due only in the version in which that happened. */
  private sought: { readonly file: FileMetadata; readonly version: Version } | undefined;
  private manual: ManualCompaction | undefined;
  private clearing: Clearing | undefined;
  /** Tables with blocks of a codec that was not given, by number, with the error of their merge. */
  private readonly unmergeable = new Map<bigint, UnsupportedError>();
  private running: Promise<void> | undefined;
  /** Where the merge in progress writes. */
  private mergeTarget: MergeTarget | undefined;
  /** Callers waiting for progress. */
  private waiting: (() => void)[] = [];
  /** Total duration of all flushes, in milliseconds. A flush that interrupts a compaction is not counted as part of it. */
  private flushTime = 0;

  constructor(folder: WritableFolder, settings: Settings, state: DatabaseState) {
    this.folder = folder;
    this.settings = settings;
    this.state = state;
    this.tables = new TableMaker(folder, settings, state.versions.order);
    this.bits = settings.levelBits && new BitsChoice(settings.levelBits, (files) => state.files.filteredTables(files));
  }

  /** Why no table is merged, though a level is too full: all merges have tables of a codec that was not given. Undefined if there is another reason. */
  get cannotMerge(): UnsupportedError | undefined {
    const [error] = this.unmergeable.values();
    return this.running !== undefined || error === undefined || this.#hasWork() ? undefined : error;
  }

  /** Starts pending work, or makes a running merge check for it. */
  schedule(): void {
    if (this.running !== undefined) this.tables.lookUp();
    else if (this.#hasWork()) this.running = this.#work();
  }

  /** Waits for the next step of the work. */
  progress(): Promise<void> {
    if (this.running === undefined) this.schedule();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Waits until there is nothing to do. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  /** Stops the work of a database that is closing. */
  async close(): Promise<void> {
    this.#wake();
    this.tables.lookUp();
    const ending = this.tables.close();
    while (this.running !== undefined) await this.running;
    await ending;
  }

  /** Charges a table of the current view for a lookup that searched it without finding the key. */
  chargeSeek(file: FileMetadata): void {
    const { current } = this.state.versions;
    if (!this.seeks.charge(file) || this.#dueFile !== undefined || !current.files.includes(file)) return;
    this.sought = { file, version: current };
    this.schedule();
  }

  /** Charges the first table for a sampled read of a cursor, if a lookup of that key would have to search several. */
  sampleRead(internalKey: Uint8Array): void {
    const file = firstOfSeveral(this.state.versions.current, internalKey);
    if (file !== undefined) this.chargeSeek(file);
  }

  /** Merges the tables of a level that have keys within the bounds into the next level. */
  async compactLevel(level: number, bounds: KeyBounds): Promise<void> {
    const manual: ManualCompaction = { level, bounds, done: false };
    while (!manual.done) {
      this.state.mustWrite();
      if (this.manual === undefined) {
        this.manual = manual;
        this.schedule();
      }
      await this.progress();
      if (manual.failure !== undefined) throw manual.failure;
      if (this.state.isClosing) throw new ClosedError('the database is closed');
    }
  }

  /**
   * Removes all tables and memtables from the database, while nothing is written.
   *
   * @returns false if a snapshot needs them, in which case nothing is removed.
   */
  async clear(): Promise<boolean> {
    this.state.mustWrite();
    if (this.state.held.oldest !== undefined) return false;
    const clearing: Clearing = { outcome: undefined };
    this.clearing = clearing;
    while (clearing.outcome === undefined) {
      this.state.mustWrite();
      this.schedule();
      await this.progress();
    }
    return clearing.outcome === 'cleared';
  }

  /**
   * Deletes files that are no longer needed. A file that cannot be deleted is tried again the next time.
   *
   * @param names of the files, if they are known.
   */
  async removeObsoleteFiles(names?: readonly string[]): Promise<void> {
    // After a failure, the files on disk may differ from the state in memory.
    if (this.state.failure !== undefined) return;
    try {
      const files = await this.state.files.removeObsolete(this.state.versions, names);
      if (files.length > 0) this.settings.onEvent?.({ kind: 'files-deleted', files });
    } catch {
      // The folder could not be listed. A leftover file does no harm.
    }
  }

  get #dueFile(): FileMetadata | undefined {
    return this.sought?.version === this.state.versions.current ? this.sought.file : undefined;
  }

  #hasWork(): boolean {
    const { isClosing, failure, flushing, versions } = this.state;
    if (isClosing || failure !== undefined) return false;
    if (this.clearing !== undefined || flushing !== undefined || this.manual !== undefined) return true;
    if (this.#dueFile === undefined && !isTooFull(versions.current)) return false;
    try {
      return this.unmergeable.size === 0 || this.#dueCompaction() !== undefined;
    } catch (error) {
      // The comparator threw.
      this.state.fail(error);
      return false;
    }
  }

  get #compactionState(): CompactionState {
    const { current: version, order, compactPointers } = this.state.versions;
    return { version, order, maxFileSize: this.settings.maxFileSize, compactPointers };
  }

  #dueCompaction(): Compaction | undefined {
    const isMergeable = ({ number }: FileMetadata): boolean => !this.unmergeable.has(number);
    // A table is moved unchanged.
    return pickCompaction(this.#compactionState, this.#dueFile, (compaction) => compaction.isTrivialMove || compaction.inputs.flat().every(isMergeable));
  }

  async #work(): Promise<void> {
    // Lets the write that started this finish first, because others may be queued behind it. Otherwise the last
    // sequence in the MANIFEST would depend on how busy the machine is.
    await turn();
    await this.state.inserting?.catch(() => undefined);
    while (this.#hasWork()) {
      try {
        const { flushing } = this.state;
        if (this.clearing !== undefined) await this.#clear(this.clearing);
        else if (flushing !== undefined) await this.#flush(flushing);
        else await this.#compact();
      } catch (error) {
        if (!(error instanceof Stopped)) this.state.fail(error);
      }
      this.#wake();
    }
    // It would keep an old version in memory.
    if (this.#dueFile === undefined) this.sought = undefined;
    // No await may come between the check for work and this line, or work scheduled in between would be lost.
    this.running = undefined;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  /**
   * One edit of the MANIFEST removes all tables from the version and makes all older logs obsolete, so that a database which is opened after a
   * crash has either all of the entries or none.
   */
  async #clear(clearing: Clearing): Promise<void> {
    const { versions, held, log: before } = this.state;
    this.clearing = undefined;
    const log = await LiveLog.create(this.folder, versions.newFileNumber(), new Memtable(versions.order.compareInternalKeys));
    // No await may come between this check and the next step. A snapshot that is made after it sees an empty database.
    if (held.oldest !== undefined) {
      clearing.outcome = 'held';
      await attempt(() => log.close());
      await deleteIfPossible(this.folder, log.name);
      return;
    }
    const takeBack = this.state.empty(log);
    // No two states have the same sequence, so that a program can tell by it whether the database is still in the state that it knows.
    if (versions.lastSequence + 1n < MAX_SEQUENCE) this.state.skip(1n);
    const deletedFiles = versions.current.levels.flatMap((files, level) => files.map(({ number }) => ({ level, number })));
    try {
      this.settings.onEvent?.({ kind: 'cleared', nextLog: log.name });
      await this.#install({ previousLogNumber: 0n, logNumber: log.number, deletedFiles });
    } catch (error) {
      takeBack();
      await attempt(() => log.close());
      throw error;
    }
    log.isNamed = true;
    clearing.outcome = 'cleared';
    this.unmergeable.clear();
    // Its entries are gone.
    await attempt(() => before.close());
    await this.removeObsoleteFiles();
  }

  /** Source: `DBImpl::CompactMemTable`. */
  async #flush(flushed: LiveLog): Promise<void> {
    const { memtable, name } = flushed;
    const { versions, files, log } = this.state;
    const { onEvent } = this.settings;
    const base = versions.current;
    const number = versions.newFileNumber();
    const start = now();
    files.pending.add(number);
    onEvent?.({ kind: 'flush-began', log: name, table: tableFileName(number), entries: memtable.count });
    let isListed = false;
    try {
      const level = memtable.count === 0 ? undefined : levelForFlush(base, versions.order, memtable.bounds, this.settings.maxFileSize, this.mergeTarget);
      const bitsPerKey = level === undefined ? undefined : this.bits && (await this.bits.ofMemtable(level, memtable, base));
      const written = await this.tables.flush(memtable, number, bitsPerKey);
      const file = written?.file;
      if (file !== undefined) await files.openTables([file]);
      await flushed.lastSynced();
      this.#mustGoOn();
      const newFiles = file === undefined ? [] : [{ level: level!, file }];
      const milliseconds = now() - start;
      this.stats.add(level ?? 0, { milliseconds, bytesRead: 0, bytesWritten: file?.size ?? 0 });
      this.flushTime += milliseconds;
      isListed = true;
      await this.#install({ previousLogNumber: 0n, logNumber: log.number, newFiles }, () => {
        // The folder was synced before the edit was written.
        log.isNamed = true;
        this.state.endFlush();
        onEvent?.({ kind: 'flush-ended', log: name, level, table: written && tableMade(written), milliseconds });
      });
    } finally {
      files.pending.delete(number);
      if (!isListed) await this.#discard([number]);
    }
    await this.removeObsoleteFiles();
  }

  /** Source: `DBImpl::BackgroundCompaction`. */
  async #compact(): Promise<void> {
    const manual = this.manual;
    const compaction = manual === undefined ? this.#dueCompaction() : compactionOf(this.#compactionState, manual.level, manual.bounds);
    let isStopped = false;
    try {
      if (compaction === undefined) {
        if (manual === undefined) this.sought = undefined;
      } else {
        const isMove = manual === undefined && compaction.isTrivialMove;
        this.#tellChosen(compaction, manual !== undefined ? 'manual' : isTooFull(this.state.versions.current) ? 'size' : 'seeks', isMove);
        await (isMove ? this.#move(compaction) : this.#merge(compaction));
      }
    } catch (error) {
      isStopped = error instanceof Stopped;
      // The tables are sound, and everything that needs no such block can be written and read.
      if (!(error instanceof UnsupportedError)) throw error;
      if (manual === undefined) this.#avoid(compaction!, error);
      else manual.failure = error;
    } finally {
      // A stopped compaction is chosen again.
      if (manual !== undefined && !isStopped) {
        const { begin } = manual.bounds;
        const last = compaction?.inputs[0].at(-1)?.largest;
        manual.bounds = { begin: last ?? begin, end: manual.bounds.end };
        manual.done = compaction === undefined;
        this.manual = undefined;
      }
    }
  }

  /** Makes no further merge of the table at which a merge failed. */
  #avoid({ inputs }: Compaction, error: UnsupportedError): void {
    const named = parseFileName(error.file?.split(/[/\\]/).at(-1) ?? '');
    const files = inputs.flat();
    const failed = files.filter(({ number }) => named?.type === 'table' && named.number === number);
    for (const { number } of failed.length > 0 ? failed : files) this.unmergeable.set(number, error);
  }

  #tellChosen({ level, inputs: [upper, lower] }: Compaction, reason: 'size' | 'seeks' | 'manual', isMove: boolean): void {
    const namesOf = (files: readonly FileMetadata[]): string[] => files.map(({ number }) => tableFileName(number));
    this.settings.onEvent?.({ kind: 'compaction-chosen', level, inputs: [namesOf(upper), namesOf(lower)], reason, isMove });
  }

  /** Moves the only table of a compaction that overlaps no other. */
  async #move({ level, inputs: [[file]], pointer }: Compaction): Promise<void> {
    await this.#install({
      compactPointers: [{ level, key: pointer }],
      deletedFiles: [{ level, number: file!.number }],
      // A copy, so that its seek count starts again.
      newFiles: [{ level: level + 1, file: { ...file! } }],
    });
  }

  async #merge(compaction: Compaction): Promise<void> {
    const { versions, files, held } = this.state;
    const { onEvent } = this.settings;
    const outputLevel = compaction.level + 1;
    const numbers: bigint[] = [];
    const start = now() - this.flushTime;
    const oldestSequence = held.oldest ?? versions.lastSequence;
    const newFileNumber = (): bigint => {
      const number = versions.newFileNumber();
      numbers.push(number);
      files.pending.add(number);
      return number;
    };
    // Without memtables: those that are flushed during the merge would stay in memory until its end.
    const view = files.viewOf(versions, []);
    const { begin: smallest, end: largest } = boundsOf(compaction.inputs.flat(), versions.order);
    this.mergeTarget = { level: outputLevel, smallest, largest };
    let isListed = false;
    try {
      const onTable = onEvent && ((table: WrittenTable) => onEvent({ kind: 'compaction-output', level: outputLevel, table: tableMade(table) }));
      const bitsPerKey = this.bits && (await this.bits.ofCompaction(compaction, versions.current));
      const made = await this.tables.merge({ plan: compaction, oldestSequence, newFileNumber, bitsPerKey }, view, onTable, () => this.#interlude());
      const outputs = made.tables.map(({ file }) => file);
      await files.openTables(outputs);
      this.#mustGoOn();
      const { level, inputs, pointer } = compaction;
      const milliseconds = now() - this.flushTime - start;
      this.stats.add(outputLevel, { milliseconds, bytesRead: sizeOf(inputs.flat()), bytesWritten: sizeOf(outputs) });
      const ended = {
        kind: 'compaction-ended' as const,
        level,
        outputs: outputs.map(({ number }) => tableFileName(number)),
        entriesRead: made.entriesRead,
        entriesWritten: made.tables.reduce((sum, { entries }) => sum + entries, 0),
        shadowedDropped: made.shadowedDropped,
        deletionsDropped: made.deletionsDropped,
        milliseconds,
      };
      const change: VersionEdit = {
        compactPointers: [{ level, key: pointer }],
        deletedFiles: inputs.flatMap((tables, i) => tables.map(({ number }) => ({ level: level + i, number }))),
        newFiles: outputs.map((file) => ({ level: outputLevel, file })),
      };
      isListed = true;
      await this.#install(change, () => {
        this.state.show();
        onEvent?.(ended);
      });
    } finally {
      this.mergeTarget = undefined;
      view.unpin();
      for (const number of numbers) files.pending.delete(number);
      if (!isListed) await this.#discard(numbers);
    }
    await this.removeObsoleteFiles();
  }

  /** Deletes the files of a flush or a compaction that ended before its edit. No edit was begun that lists the tables. */
  async #discard(numbers: readonly bigint[]): Promise<void> {
    for (const number of numbers) await deleteIfPossible(this.folder, tableFileName(number));
  }

  /** Makes a change in the MANIFEST, and then `show`s it to readers. */
  async #install(change: VersionEdit, show = () => this.state.show()): Promise<void> {
    const { versions } = this.state;
    const before = versions.current;
    await versions.apply(change);
    show();
    this.settings.onEvent?.(versionInstalled(versions.manifestName, before, versions.current, versions.lastSequence));
  }

  /** Work that must not wait for the end of a compaction: flushing a full memtable. */
  #interlude(): Promise<void> | undefined {
    this.#mustGoOn();
    const { flushing } = this.state;
    // Writers may be blocked until it is flushed.
    return flushing && this.#flush(flushing).then(() => this.#wake());
  }

  /** @throws Stopped when the result is no longer needed. */
  #mustGoOn(): void {
    if (this.state.isClosing || this.clearing !== undefined) throw new Stopped();
  }
}
