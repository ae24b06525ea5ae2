/**
 * Reads what a database folder holds, also while another process writes to it.
 *
 * The writer makes files visible in this order: a table, the edit of the MANIFEST that lists it, the deletion of the log
 * that it replaces. So the logs are opened first, then the MANIFEST is read, then the tables are opened: whatever the
 * writer does meanwhile, the result is a prefix of the writes, or a file is missing and all starts again.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Recover`, and db/version_set.cc, `VersionSet::Recover`, which need not mind
 * another writer, for they hold the lock.
 */
import { CorruptionError, type Place, UnsupportedError } from '@bloom/bytes';
import { LogReader } from '@bloom/log';
import { BlockCache, bytewiseComparator, type Comparator, type TableStats } from '@bloom/sstable';
import { DEFAULT_CACHE_BYTES, internalTableOptions } from '@bloom/sstable/database';
import { ClosingFiles } from './closing-files.js';
import { readCurrent } from './current.js';
import { DamagePolicy } from './damage.js';
import { keyOrderOf } from './database-key.js';
import { CURRENT, logFileName, parseFileName, tableFileName } from './file-name.js';
import { type Folder, FolderError, type FolderFile } from './folder.js';
import { all, type FolderReading, listFiles, openFile } from './folder-reading.js';
import { fingerprintOf, isContinued, type LogMemtable, pushAll, replayLog } from './log-memtable.js';
import { ManifestBuilder, type ManifestFields, type ManifestState } from './manifest.js';
import { DEFAULT_MAX_OPEN_TABLES, DEFAULT_MAX_RESTARTS, type ReaderOptions } from './reader-options.js';
import { MissingTable, sumOf, TableCache, ViewTables } from './table-cache.js';
import type { TableHandle } from './table-handle.js';
import { compareBigints, type FileMetadata } from './version-edit.js';
import type { KeyOrder, Version } from './version.js';
import { View } from './view.js';

/** With so many logs in a folder, those that are obsolete are found out before any is opened. */
const MANY_LOGS = 16;
/** How many numbers past the MANIFEST's next one a log is looked for, where the folder cannot be listed. */
const NUMBERS_AHEAD = 16;
/** How many numbers are tried for logs, where the folder cannot be listed. */
const MAX_LOG_NUMBERS = 1024;

/** What was seen is not one state of the folder, or one that lacks files. */
class Restart extends Error {
  /** What is wrong if the folder is not being written. */
  readonly damage: Error;
  /** The state that it was seen in: the same again means that nobody writes. */
  readonly evidence: string;

  constructor(damage: Error, evidence: string) {
    super(damage.message);
    this.damage = damage;
    this.evidence = evidence;
  }
}

/** A file that was opened for one attempt. */
interface OpenLog {
  readonly number: bigint;
  readonly file: FolderFile;
}

/** The MANIFEST, as it was in one attempt. */
interface OpenManifest {
  readonly state: ManifestState;
  /** Whether it is the one that was read before, perhaps with more edits. */
  readonly isContinued: boolean;
  readonly fields: ManifestFields;
  readonly place: Place;
  readonly byteLength: number;
}

/** A table that could not be opened. */
interface Failure {
  readonly file: FileMetadata;
  readonly error: unknown;
}

/** What was read of a folder, and can be gone on with as long as its MANIFEST is the same. */
interface Known {
  readonly comparator: Comparator;
  readonly order: KeyOrder;
  readonly tables: TableCache;
  readonly logs: Map<bigint, LogMemtable>;
  manifest: ManifestState;
}

/** Reads views of one folder. */
export class ViewReader {
  /** How often reading started again because the folder had changed. */
  restarts = 0;
  readonly #canList: boolean;
  readonly #folderName: string | undefined;
  readonly #options: ReaderOptions;
  readonly #comparators: readonly Comparator[];
  readonly #maxOpenTables: number;
  readonly #maxRestarts: number;
  readonly #isStrict: boolean;
  readonly #cache: BlockCache | null;
  readonly #closing = new ClosingFiles();
  /** What the last view was made of. */
  #known: Known | undefined;
  /** What the next view is being made of, from the reading of a new MANIFEST until that view is complete. */
  #next: Known | undefined;
  /** The tables of what was known before the database was replaced by another. */
  readonly #retired: TableCache[] = [];
  /** The highest sequence that a view shows: what is visible at it must not change. */
  #visible = 0n;

  /** @param options checked by {@link mustBeReaderOptions}. */
  constructor(folder: Folder, options: ReaderOptions) {
    this.#isStrict = options.damage !== 'skip';
    this.#canList = folder.list !== undefined;
    this.#folderName = folder.name;
    this.#options = options;
    this.#comparators = [...(options.comparators ?? []), bytewiseComparator];
    this.#maxOpenTables = options.maxOpenTables ?? DEFAULT_MAX_OPEN_TABLES;
    this.#maxRestarts = options.maxRestarts ?? DEFAULT_MAX_RESTARTS;
    this.#cache = options.cache === undefined ? new BlockCache(DEFAULT_CACHE_BYTES) : options.cache;
  }

  /**
   * The folder as it is now. What is the same as at the last call is not read again.
   *
   * @throws CorruptionError or UnsupportedError when it cannot be read.
   * @throws FolderError `BLOOM_FOLDER_BUSY` when it changes all the time.
   */
  *read(): FolderReading<View> {
    let evidence: string | undefined;
    for (let attempt = 0; attempt <= this.#maxRestarts; attempt++) {
      if (attempt > 0) this.restarts++;
      try {
        return yield* this.#attempt();
      } catch (error) {
        if (error instanceof FolderError && error.code === 'BLOOM_FOLDER_CHANGED') continue;
        if (!(error instanceof Restart)) throw error;
        if (error.evidence === evidence) throw error.damage;
        ({ evidence } = error);
      }
    }
    const folder = this.#folderName === undefined ? '' : ` ${this.#folderName}`;
    throw new FolderError('BLOOM_FOLDER_BUSY', `the folder${folder} changed each of ${this.#maxRestarts + 1} times that it was read`);
  }

  /** What all tables did so far. */
  get counts(): TableStats {
    return sumOf(this.#tables.map((tables) => tables.counts()));
  }

  /** Closes all files. @returns when they are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#tables.map((tables) => tables.close()), this.#closing.settled()]);
  }

  get #tables(): TableCache[] {
    return [...this.#retired, ...[this.#known, this.#next].flatMap((known) => known?.tables ?? [])];
  }

  *#attempt(): FolderReading<View> {
    const open: FolderFile[] = [];
    const pinned: TableHandle[] = [];
    let known: Known | undefined;
    try {
      const openedLogs = this.#canList ? yield* this.#openLogs(open) : undefined;
      const manifest = yield* this.#readManifest(open);
      const { state, fields, place } = manifest;
      known = this.#goOn(manifest);
      const { comparator, order, tables } = known;
      const isOrdered = comparator.name === (fields.comparator ?? comparator.name);
      const version = state.builder.files.build(order, place, isOrdered);
      const seen = `${state.name}\n${manifest.byteLength}`;
      const damage = new DamagePolicy(this.#isStrict);
      // All at the same time. The order says which failure comes before another.
      const [names, logs, failures] = yield* all([
        openedLogs === undefined ? nothing() : this.#checkedNames(openedLogs, version, fields, place, seen),
        openedLogs === undefined ? this.#findLogs(open, known, version, fields, place) : this.#replayLogs(openedLogs, known, fields),
        this.#openTables(tables, version, pinned),
      ]);
      this.#judge(failures, names, tables, damage, place, seen);
      if (names !== undefined && isBehind(logs, fields)) yield* this.#mustHaveSeen(logs, fields, names);
      if (!this.#canList) yield* this.#mustBeUnchanged(manifest);
      let { lastSequence } = fields;
      for (const log of logs) if (log.lastSequence > lastSequence) ({ lastSequence } = log);
      if (lastSequence > this.#visible) this.#visible = lastSequence;
      tables.keepOnly(version.files);
      for (const number of known.logs.keys()) if (!logs.some((log) => log.number === number)) known.logs.delete(number);
      this.#use(known);
      const viewTables = new ViewTables(tables, version.files, pinned);
      return new View({ comparator, order, fields, manifest: state.name, version, logs, lastSequence, tables: viewTables, damage });
    } catch (error) {
      for (const handle of pinned) known?.tables.unpin(handle);
      throw error;
    } finally {
      for (const file of open) this.#closing.close(file);
    }
  }

  /** What is known of the folder already, or, where its MANIFEST is another one, nothing. */
  #goOn({ state, isContinued: isSame, fields, place }: OpenManifest): Known {
    const comparator = this.#comparatorOf(fields, place);
    const known = this.#next ?? this.#known;
    if (known !== undefined && isSame && known.comparator === comparator) {
      known.manifest = state;
      return known;
    }
    if (this.#next !== undefined) this.#retire(this.#next);
    const tables = new TableCache(this.#maxOpenTables, this.#options, internalTableOptions(this.#tableOptions(comparator)), this.#cache);
    this.#next = { comparator, order: keyOrderOf(comparator), tables, logs: new Map(), manifest: state };
    return this.#next;
  }

  /** Replaces what the last view was made of. Its tables are retired only now, because until then that view may have to open more of them. */
  #use(known: Known): void {
    if (known === this.#known) return;
    if (this.#known !== undefined) this.#retire(this.#known);
    this.#known = known;
    this.#next = undefined;
  }

  #retire({ tables }: Known): void {
    tables.retire();
    this.#retired.push(tables);
  }

  #tableOptions(comparator: Comparator) {
    const { filterPolicies, codecs, maxBlockBytes, tailBytes } = this.#options;
    return { comparator, filterPolicies, codecs, maxBlockBytes, tailBytes };
  }

  /** Opens the logs, so that they are as long as they are now whatever is written from here on. */
  *#openLogs(open: FolderFile[]): FolderReading<OpenLog[]> {
    let numbers = logNumbers(yield* listFiles());
    if (numbers.length > MANY_LOGS) {
      // The log number only ever grows.
      const { fields } = yield* this.#readManifest(open);
      numbers = numbers.filter((number) => number >= fields.logNumber || number === fields.previousLogNumber);
    }
    const logs: OpenLog[] = [];
    for (const number of numbers) {
      const file = yield* this.#open(logFileName(number), open);
      // One that is gone by now is obsolete.
      if (file !== undefined) logs.push({ number, file });
    }
    return logs;
  }

  *#readManifest(open: FolderFile[]): FolderReading<OpenManifest> {
    const name = yield* readCurrent(yield* this.#open(CURRENT, open), this.#folderName);
    const file = yield* this.#open(name, open);
    if (file === undefined) {
      const problem = `it points to ${JSON.stringify(name)}, which is not there`;
      const damage = new CorruptionError('BLOOM_BAD_CURRENT', { structure: 'CURRENT', offset: 0, file: this.#folderName }, problem);
      throw new Restart(damage, name);
    }
    const last = (this.#next ?? this.#known)?.manifest;
    const before = last?.name === name && (yield* isContinued(file, last)) ? last : undefined;
    const place: Place = { structure: 'MANIFEST', offset: 0, file: file.name ?? name };
    const { byteLength } = file;
    const builder = before?.builder.copy() ?? new ManifestBuilder();
    const reader = new LogReader(
      {
        record: (record, offset) => builder.add(record, { structure: 'version edit', offset, file: place.file }),
        drop({ offset, byteLength: length, reason }) {
          throw new CorruptionError('BLOOM_BAD_LOG', { structure: 'log record', offset, file: place.file }, `${reason} (${length} bytes)`);
        },
      },
      before?.resumeOffset ?? 0,
    );
    const piece = yield* pushAll(reader, file, before?.resumeOffset ?? 0);
    reader.finish();
    const { resumeOffset } = reader;
    const fingerprint = yield* fingerprintOf(file, resumeOffset, piece);
    const state: ManifestState = { name, builder, resumeOffset, fingerprint };
    return { state, isContinued: before !== undefined, fields: builder.fields(place), place, byteLength };
  }

  #comparatorOf(fields: ManifestFields, place: Place): Comparator {
    const name = fields.comparator ?? bytewiseComparator.name;
    let comparator = this.#comparators.find((given) => given.name === name);
    if (comparator === undefined && this.#options.insistOnBytewise === true) comparator = bytewiseComparator;
    if (comparator === undefined) {
      const problem =
        `its keys are in the order of the comparator ${JSON.stringify(name)}, which was not given. Give it in comparators; or list what ` +
        'each log and table holds, unmerged, with storedEntries; or set insistOnBytewise, which is wrong for some keys';
      throw new UnsupportedError('BLOOM_UNKNOWN_COMPARATOR', place, problem);
    }
    return comparator;
  }

  /** The names of all files, listed after the MANIFEST was read. @throws Restart when a log or a table is not what it should be. */
  *#checkedNames(logs: readonly OpenLog[], version: Version, fields: ManifestFields, place: Place, seen: string): FolderReading<readonly string[]> {
    const names = yield* listFiles();
    const evidence = evidenceOf(seen, names);
    this.#mustHaveRead(logs, fields, names, evidence);
    this.#mustHaveTables(version, names, place, evidence);
    return names;
  }

  /** Replays the logs that are part of the database. */
  *#replayLogs(logs: readonly OpenLog[], { logs: known, order }: Known, fields: ManifestFields): FolderReading<LogMemtable[]> {
    const replayed: LogMemtable[] = [];
    for (const { number, file } of logs) {
      if (number < fields.logNumber && number !== fields.previousLogNumber) continue;
      const before = known.get(number);
      // A replay that fails may have added to the memtable: then the log is replayed from its start.
      known.delete(number);
      const log = yield* replayLog(number, file, order, this.#isStrict, before, this.#visible);
      known.set(number, log);
      replayed.push(log);
    }
    return replayed;
  }

  /**
   * Looks for writes that the view would miss. Called when the MANIFEST's last sequence is later than that of every log that
   * was read: the writes between are in tables, or in a log that was created, extended or deleted after the logs were opened.
   * In the second case the view would have the last sequence of a write that it does not show.
   *
   * @throws FolderError when there is such a log.
   */
  *#mustHaveSeen(logs: readonly LogMemtable[], { logNumber }: ManifestFields, names: readonly string[]): FolderReading<void> {
    const read = new Map(logs.map(({ number, byteLength }) => [number, byteLength]));
    // Of the logs that were read, only the newest can have become longer.
    const newest = logs.at(-1)?.number;
    const suspects = logNumbers(names).filter((number) => number >= logNumber && !read.has(number));
    if (newest !== undefined && newest >= logNumber) suspects.push(newest);
    for (const number of suspects) {
      const name = logFileName(number);
      const file = yield* openFile(name);
      this.#closing.close(file);
      const isChanged =
        file === undefined
          ? // It may have grown before it was deleted. A name that is still listed cannot be opened as a file: a folder, for example.
            !(yield* listFiles()).includes(name)
          : file.byteLength > (read.get(number) ?? -1);
      if (isChanged) throw new FolderError('BLOOM_FOLDER_CHANGED', `${name} was written while the folder was read`, { file: name });
    }
  }

  /** @throws Restart when a log is needed that was not there, or not listed, when the logs were opened. */
  #mustHaveRead(logs: readonly OpenLog[], { logNumber, previousLogNumber }: ManifestFields, names: readonly string[], evidence: string): void {
    const newest = logs.at(-1)?.number;
    if (newest === undefined) return;
    const read = new Set(logs.map(({ number }) => number));
    const missed = logNumbers(names).find((number) => {
      return (number >= logNumber || number === previousLogNumber) && number < newest && !read.has(number);
    });
    if (missed === undefined) return;
    const problem = `${logFileName(missed)} is listed and cannot be opened`;
    const damage = new CorruptionError('BLOOM_MISSING_FILE', { structure: 'folder', offset: 0, file: this.#folderName }, problem);
    throw new Restart(damage, evidence);
  }

  /** @throws Restart unless there is a file of each table's number, whatever its type: so LevelDB checks it. */
  #mustHaveTables(version: Version, names: readonly string[], place: Place, evidence: string): void {
    const numbers = new Set<bigint>();
    for (const name of names) {
      const file = parseFileName(name);
      if (file !== undefined && 'number' in file) numbers.add(file.number);
    }
    const missing = version.files.filter(({ number }) => !numbers.has(number)).sort((a, b) => compareBigints(a.number, b.number));
    if (missing.length > 0) throw new Restart(missingFiles(missing.length, missing[0]!, place), evidence);
  }

  /** Finds and replays the logs of a folder that cannot be listed. */
  *#findLogs(open: FolderFile[], known: Known, version: Version, fields: ManifestFields, place: Place): FolderReading<LogMemtable[]> {
    const taken = new Set(version.files.map(({ number }) => number));
    const numbers: bigint[] = fields.previousLogNumber > 0n && fields.previousLogNumber < fields.logNumber ? [fields.previousLogNumber] : [];
    const last = fields.nextFileNumber + BigInt(NUMBERS_AHEAD);
    for (let number = fields.logNumber; number < last; number++) {
      if (taken.has(number) || number === 0n) continue;
      numbers.push(number);
      if (numbers.length > MAX_LOG_NUMBERS) {
        const problem = `any of more than ${MAX_LOG_NUMBERS} numbers may be that of a log: say which files there are`;
        throw new CorruptionError('BLOOM_TOO_LARGE', place, problem);
      }
    }
    const files = yield* all(numbers.map((number) => this.#open(logFileName(number), open)));
    const logs = numbers.flatMap((number, i) => (files[i] === undefined ? [] : [{ number, file: files[i] }]));
    return yield* this.#replayLogs(logs, known, fields);
  }

  /** Opens and pins all tables, if they are not too many. @returns why tables could not be opened; where no damage is passed over, one failure ends it. */
  *#openTables(tables: TableCache, { files }: Version, pinned: TableHandle[]): FolderReading<Failure[]> {
    tables.forgetStale();
    if (files.length > tables.maxOpenTables) return [];
    const isStrict = this.#isStrict;
    let isOver = false;
    function* open(file: FileMetadata): FolderReading<Failure | undefined> {
      if (isOver) return undefined;
      try {
        const handle = yield* tables.openAtFirst(file);
        tables.pin(handle);
        pinned.push(handle);
        return undefined;
      } catch (error) {
        isOver = isStrict;
        return { file, error };
      }
    }
    const failures = yield* all(files.map(open));
    return failures.filter((failure) => failure !== undefined);
  }

  /** Says what tables that could not be opened mean. @param names those that the folder has; undefined where it cannot be listed. */
  #judge(failures: readonly Failure[], names: readonly string[] | undefined, tables: TableCache, damage: DamagePolicy, place: Place, seen: string): void {
    for (const { file, error } of failures) {
      if (!(error instanceof MissingTable)) {
        damage.pass(error);
        continue;
      }
      const missing = missingFiles(1, file, place);
      if (names === undefined || names.some((name) => parseFileName(name)?.type === 'table' && BigInt(name.slice(0, -4)) === file.number)) {
        throw new Restart(missing, `${evidenceOf(seen, names)}\n${error.message}`);
      }
      // A file of another type bears its number: LevelDB opens the database, and misses the table when it reads it.
      damage.pass(missing);
      tables.giveUp(file, missing);
    }
  }

  /** @throws Restart when CURRENT or the MANIFEST is no longer what was read. */
  *#mustBeUnchanged({ state, byteLength, place }: OpenManifest): FolderReading<void> {
    const open: FolderFile[] = [];
    try {
      const name = yield* readCurrent(yield* this.#open(CURRENT, open), this.#folderName);
      const file = name === state.name ? yield* this.#open(name, open) : undefined;
      if (file?.byteLength === byteLength) return;
      const damage = new CorruptionError('BLOOM_BAD_CURRENT', place, 'it is not the same each time that it is read');
      throw new Restart(damage, `${name}\n${file?.byteLength ?? -1}`);
    } finally {
      for (const file of open) this.#closing.close(file);
    }
  }

  /** Opens a file, which is closed with the others of `open`. */
  *#open(name: string, open: FolderFile[]): FolderReading<FolderFile | undefined> {
    const file = yield* openFile(name);
    if (file !== undefined) open.push(file);
    return file;
  }
}

/** Whether the MANIFEST knows of later writes than the logs. */
function isBehind(logs: readonly LogMemtable[], { lastSequence }: ManifestFields): boolean {
  return logs.every((log) => log.lastSequence < lastSequence);
}

/** The numbers of the logs among `names`, ascending. */
function logNumbers(names: readonly string[]): bigint[] {
  const numbers = new Set<bigint>();
  for (const name of names) {
    const file = parseFileName(name);
    // LevelDB opens a log by the name that its number gives: one with other zeros in front is not found.
    if (file?.type === 'log' && name === logFileName(file.number)) numbers.add(file.number);
  }
  return [...numbers].sort(compareBigints);
}

/** What a state of a folder is told from others by. @param seen the name and the length of the MANIFEST. */
function evidenceOf(seen: string, names: readonly string[] | undefined): string {
  return names === undefined ? seen : `${seen}\n${[...names].sort().join('\n')}`;
}

// eslint-disable-next-line require-yield -- there is nothing to read
function* nothing(): FolderReading<undefined> {
  return undefined;
}

function missingFiles(count: number, { number }: FileMetadata, { file }: Place): CorruptionError {
  const problem = `${count} missing ${count === 1 ? 'table' : 'tables'}, ${count === 1 ? '' : 'such as '}${tableFileName(number)}`;
  return new CorruptionError('BLOOM_MISSING_FILE', { structure: 'MANIFEST', offset: 0, file }, problem);
}
