/**
 * Reads the state of a database folder, even while another process writes to it.
 *
 * The writer makes files visible in this order: a table, the edit of the MANIFEST that lists it, the deletion of the log that it replaces. So
 * the logs are opened first, then the MANIFEST is read, then the tables are opened. Whatever the writer does in the meantime, the result is a
 * prefix of the writes, or a file is missing and the reading is restarted.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Recover`, and db/version_set.cc, `VersionSet::Recover`. They hold the lock, so
 * that no other process writes while they read.
 */
import { type Place, UnsupportedError } from '@bloom/bytes';
import { quotedName } from '@bloom/bytes/internal';
import { BlockCache, bytewiseComparator, type Comparator, type TableStats } from '@bloom/sstable';
import { internalTableOptions } from '@bloom/sstable/database';
import { checkedComparator, DEFAULT_CACHE_BYTES } from '@bloom/sstable/internal';
import { ClosingFiles } from '../folder/closing-files.js';
import { DamagePolicy } from '../folder/damage.js';
import { keyOrderOf } from '../format/database-key.js';
import { LOCK } from '../format/file-name.js';
import { type Folder, FolderError } from '../folder/folder.js';
import { mustNotBeForeign, orForeignEngine } from '../folder/detect-foreign-engine.js';
import { all, type FolderReading, identifyFile, listFiles } from '../folder/folder-reading.js';
import type { LogMemtable } from '../memtable/log-memtable.js';
import type { ManifestFields } from '../format/manifest.js';
import { isLogNeeded } from '../format/needed-files.js';
import { FolderLogs, isBehind, isOneLog, type ListedLogs, type OpenLog } from './folder-logs.js';
import { FolderManifest, type OpenManifest } from './folder-manifest.js';
import { FolderTables } from './folder-tables.js';
import { isSameDatabase, type KnownDatabase } from './known-database.js';
import { OpenedFiles } from './opened-files.js';
import { DEFAULT_MAX_RESTARTS, openTablesFor, type ReaderOptions } from './reader-options.js';
import { evidenceOf, Restart, restartFor } from './reading-restart.js';
import { sumOf, TableCache, ViewTables } from '../table/table-cache.js';
import type { TableHandle } from '../table/table-handle.js';
import type { Version } from '../format/version.js';
import { View } from './view.js';

/** The least number of restarts after missing, truncated or damaged files: one confirms that logs are damaged, another one that tables are. */
const CONFIRMING_RESTARTS = 2;

export class ViewReader {
  /** How often reading was restarted because the folder had changed. */
  restarts = 0;
  private readonly canList: boolean;
  private readonly isPublished: boolean;
  private readonly canIdentify: boolean;
  private readonly folder: Folder;
  private readonly options: ReaderOptions;
  private readonly comparators: readonly Comparator[];
  private readonly maxOpenTables: number;
  private readonly maxRestarts: number;
  private readonly isStrict: boolean;
  private readonly cache: BlockCache | null;
  private readonly closing = new ClosingFiles();
  private readonly manifest: FolderManifest;
  private readonly logs: FolderLogs;
  private readonly tables: FolderTables;
  /** The files and states from which the last view was made. */
  private known: KnownDatabase | undefined;
  /** Those of the next view, from the reading of a new MANIFEST until that view is complete. */
  private next: KnownDatabase | undefined;
  /** The tables that were known before the database was replaced by another. */
  private readonly retired: TableCache[] = [];
  /** Whether a table or log is not the file that was there before, although the MANIFEST is the same: nothing that is known is used then. */
  private isReplaced = false;
  /** Whether logs in which damage was skipped were examined, and no other engine wrote them. */
  private isOwn = false;
  /** The states in which earlier attempts failed. What is found again in one of them is damage, not the work of a writer. */
  private evidence = new Set<string>();

  /** @param options checked by {@link mustBeReaderOptions}. */
  constructor(folder: Folder, options: ReaderOptions) {
    this.isStrict = options.damage !== 'skip';
    this.isPublished = folder.isPublished === true;
    this.canList = folder.list !== undefined && !this.isPublished;
    this.canIdentify = folder.identityOf !== undefined && !this.isPublished;
    this.folder = folder;
    this.options = options;
    this.comparators = [...(options.comparators ?? []).map(checkedComparator), bytewiseComparator];
    this.maxOpenTables = openTablesFor(options.maxOpenFiles);
    this.maxRestarts = options.maxRestarts ?? DEFAULT_MAX_RESTARTS;
    this.cache = options.cache === undefined ? new BlockCache(DEFAULT_CACHE_BYTES) : options.cache;
    const onReplaced = (): void => {
      this.isReplaced = true;
    };
    const opensTablesLater = (options.openTables ?? (folder.isRemote === true ? 'when-needed' : 'at-opening')) === 'when-needed';
    this.manifest = new FolderManifest(folder, this.closing);
    this.logs = new FolderLogs(folder, this.isStrict, this.closing, onReplaced);
    this.tables = new FolderTables(folder, opensTablesLater, this.isStrict, onReplaced);
  }

  /**
   * The folder as it is now. Whatever is the same as at the last call is not read again.
   *
   * @throws CorruptionError or UnsupportedError when it cannot be read; the latter also when it is the database of another engine.
   * @throws FolderError `BLOOM_FOLDER_BUSY` when it changes all the time.
   */
  *read(): FolderReading<View> {
    try {
      return yield* this.#readUnchanged();
    } catch (error) {
      throw yield* orForeignEngine({ name: this.folder.name, canList: this.canList }, error);
    }
  }

  /** Reads until the folder does not change during the reading. */
  *#readUnchanged(): FolderReading<View> {
    this.evidence = new Set();
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) this.restarts++;
      let most = this.maxRestarts;
      try {
        return yield* this.#attempt();
      } catch (error) {
        if (!(error instanceof FolderError && error.code === 'BLOOM_FOLDER_CHANGED')) {
          const restart = error instanceof Restart ? error : restartFor(error, 'BLOOM_TRUNCATED', 'BLOOM_BAD_LOG');
          if (restart === undefined) throw error;
          if (this.evidence.has(restart.evidence)) throw restart.damage;
          this.evidence.add(restart.evidence);
          most = Math.max(most, CONFIRMING_RESTARTS);
        }
      }
      if (attempt < most) continue;
      const folder = this.folder.name === undefined ? '' : ` ${this.folder.name}`;
      throw new FolderError('BLOOM_FOLDER_BUSY', `the folder${folder} changed during each of ${attempt + 1} attempts to read it`);
    }
  }

  get counts(): TableStats {
    return sumOf(this.#caches.map((tables) => tables.counts()));
  }

  /** Closes all files. @returns when they are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#caches.map((tables) => tables.close()), this.closing.settled()]);
  }

  get #caches(): TableCache[] {
    return [...this.retired, ...[this.known, this.next].flatMap((known) => known?.tables ?? [])];
  }

  *#attempt(): FolderReading<View> {
    const open = new OpenedFiles(this.closing);
    const pinned: TableHandle[] = [];
    let known: KnownDatabase | undefined;
    try {
      const listed = this.canList ? yield* this.logs.open(open, () => this.#readManifest(open)) : undefined;
      const manifest = yield* this.#readManifest(open);
      const { state, fields, place } = manifest;
      known = this.#knownFor(manifest);
      const { comparator, order, tables } = known;
      const isOrdered = comparator.name === (fields.comparator ?? comparator.name);
      const isShown = this.isPublished && known.shown?.manifest === state.name;
      const version = isShown ? known.shown!.version : state.builder.files.build(order, place, isOrdered);
      const seen = `${state.name}\n${manifest.byteLength}`;
      const damage = new DamagePolicy(this.isStrict);
      // All are checked at the same time. Their order decides which failure is reported.
      const [names, { opened, logs }, failures] = yield* all([
        this.#checkedNames(listed, manifest, version, damage, seen),
        this.#replayLogs(listed, open, known, manifest, version),
        this.tables.open(tables, version, pinned),
      ]);
      this.tables.judge(failures, names, tables, damage, place, seen, this.evidence);
      this.logs.mustBeWhole(logs, damage);
      const damaged = this.isOwn ? [] : logs.filter(({ dropped }) => dropped.length > 0);
      if (damaged.length > 0) {
        yield* mustNotBeForeign(damaged.map(({ name }) => name), { name: this.folder.name, canList: this.canList });
        this.isOwn = true;
      }
      if (names !== undefined && isBehind(logs, fields)) yield* this.logs.mustHaveSeen(logs, fields, names);
      // A writer may have added to logs.
      if (this.canIdentify) yield* this.logs.mustBeSame(opened.filter(({ number }) => isLogNeeded(number, fields)));
      if (!this.canList && !this.isPublished && !isOneLog(logs, fields)) yield* this.manifest.mustBeUnchanged(manifest);
      else if (this.canIdentify) yield* this.manifest.mustBeSame(manifest);
      let { lastSequence } = fields;
      for (const log of logs) if (log.lastSequence > lastSequence) ({ lastSequence } = log);
      if (lastSequence > known.visible) known.visible = lastSequence;
      tables.keepOnly(version.files);
      for (const number of known.logs.keys()) if (!logs.some((log) => log.number === number)) known.logs.delete(number);
      const lock = this.canIdentify ? yield* identifyFile(LOCK) : undefined;
      known.shown = { manifest: state.name, version, logs, fields, lock };
      known.damage.addAll(damage);
      this.#use(known);
      const viewTables = new ViewTables(tables, version.files, pinned, this.tables.opensLater && version.files.length <= this.maxOpenTables);
      return new View({ comparator, order, fields, manifest: state.name, version, logs, lastSequence, tables: viewTables, damage: known.damage, origin: known.origin });
    } catch (error) {
      for (const handle of pinned) known?.tables.unpin(handle);
      throw error;
    } finally {
      open.close();
    }
  }

  /** What is already known of the folder, or nothing if its MANIFEST is another one. */
  #knownFor({ state, isContinued: isSame, fields, place }: OpenManifest): KnownDatabase {
    const comparator = this.#comparatorOf(fields, place);
    const known = this.next ?? this.known;
    if (known !== undefined && (isSame || this.isPublished) && known.comparator === comparator) {
      // Tables with the same numbers are the same. Everything else may have changed.
      if (!isSame) known.origin = {};
      known.manifest = state;
      return known;
    }
    if (this.next !== undefined) this.#retire(this.next);
    const tables = new TableCache(this.maxOpenTables, this.options, internalTableOptions(this.#tableOptions(comparator)), this.cache, true, this.isPublished);
    this.next = { comparator, order: keyOrderOf(comparator), tables, logs: new Map(), damage: new DamagePolicy(this.isStrict), manifest: state, visible: 0n, origin: {}, shown: undefined };
    this.isReplaced = false;
    return this.next;
  }

  /** Replaces the parts of the last view. Its tables are closed only now, because until then that view may have to open more of them. */
  #use(known: KnownDatabase): void {
    if (known === this.known) return;
    if (this.known !== undefined) {
      if (isSameDatabase(this.known, known)) {
        known.origin = this.known.origin;
        known.damage.addAll(this.known.damage);
      }
      this.#retire(this.known);
    }
    this.known = known;
    this.next = undefined;
  }

  #retire({ tables }: KnownDatabase): void {
    tables.retire();
    this.retired.push(tables);
  }

  #tableOptions(comparator: Comparator) {
    const { filterPolicies, filters, codecs, maxBlockBytes, tailBytes } = this.options;
    return { comparator, filterPolicies, filters, codecs, maxBlockBytes, tailBytes };
  }

  /** Replays the logs. They are looked for if the folder cannot be listed. */
  *#replayLogs(
    listed: ListedLogs | undefined,
    open: OpenedFiles,
    known: KnownDatabase,
    { fields, place }: OpenManifest,
    version: Version,
  ): FolderReading<{ readonly opened: readonly OpenLog[]; readonly logs: LogMemtable[] }> {
    const opened = listed?.opened ?? (this.isPublished ? [] : yield* this.logs.find(open, version, fields, place));
    return { opened, logs: yield* this.logs.replay(opened, known, fields) };
  }

  *#readManifest(open: OpenedFiles): FolderReading<OpenManifest> {
    return yield* this.manifest.read(open, this.isReplaced ? undefined : (this.next ?? this.known)?.manifest);
  }

  #comparatorOf(fields: ManifestFields, place: Place): Comparator {
    const name = fields.comparator ?? bytewiseComparator.name;
    let comparator = this.comparators.find((given) => given.name === name);
    if (comparator === undefined && this.options.insistOnBytewise === true) comparator = bytewiseComparator;
    if (comparator === undefined) {
      const problem =
        `its keys are sorted by the comparator ${quotedName(name)}, which was not given. Pass it in comparators; or list the entries ` +
        'of each log and table, unmerged, with storedEntries; or set insistOnBytewise, which may miss keys';
      throw new UnsupportedError('BLOOM_UNKNOWN_COMPARATOR', place, problem);
    }
    return comparator;
  }

  /**
   * The names of all files, listed after the MANIFEST was read; undefined when the folder cannot be listed.
   *
   * @throws Restart when a log or a table is not the expected file.
   */
  *#checkedNames(listed: ListedLogs | undefined, { fields, place }: OpenManifest, version: Version, damage: DamagePolicy, seen: string): FolderReading<readonly string[] | undefined> {
    if (listed === undefined) return undefined;
    const names = yield* listFiles();
    const evidence = evidenceOf(seen, names);
    this.logs.mustHaveRead(listed, fields, names, damage, evidence, this.evidence);
    this.tables.mustHave(version, names, place, evidence);
    return names;
  }
}
