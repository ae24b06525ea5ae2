/**
 * Gives the tables of a database other filters; the data blocks stay as they are.
 *
 * Each table is rewritten under a new number, and an edit of the MANIFEST replaces the old one, as after a compaction. So a crash or a power
 * failure at any moment leaves a database with the same entries.
 */
import type { Signal } from '@bloom/bytes';
import { copiedOptions, mustBeFunction, mustBeSignal, throwIfAborted } from '@bloom/bytes/internal';
import { FittedBloomFilterPolicy } from '@bloom/policy';
import { internalKeyPolicy } from '@bloom/sstable/database';
import { type RefilteredTable, refilterTable } from '@bloom/sstable/inspect';
import { sizeOf } from '../compact/overlap.js';
import { closeRead, runEnding } from '../folder/closing-files.js';
import type { FolderFile } from '../folder/folder.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { manifestFileName, numberedFiles, oldTableFileName, tableFileName } from '../format/file-name.js';
import { missingFiles } from '../format/needed-files.js';
import { compareBigints, type FileMetadata, type VersionEdit } from '../format/version-edit.js';
import { keyOrderOf } from '../format/database-key.js';
import { WholeTable } from '../table/whole-table.js';
import { type DatabaseOptions, settingsOf } from './database-options.js';
import { mustLeaveNumbers } from './file-numbers.js';
import { provideFittedPolicy } from './load-fitted-policy.js';
import { holdFolder } from './folder-hold.js';
import { deleteIfPossible } from './obsolete-files.js';
import { mustHaveDatabase, mustHaveTables } from './recovery.js';
import { VersionSet } from './version-set.js';

/** How to make the new filters. Every option has a default. */
export interface RefilterDatabaseOptions extends Pick<DatabaseOptions, 'comparator' | 'codecs' | 'filterRange' | 'maxBlockBytes' | 'lock'> {
  /**
   * Makes the filters, from user keys; null for none. Must be given if the comparator treats different bytes as equal. Default:
   * `new FittedBloomFilterPolicy(10)`, whose filters LevelDB reads.
   */
  readonly filterPolicy?: DatabaseOptions['filterPolicy'];
  /** Called after each table. */
  readonly onProgress?: ((progress: RefilterProgress) => void) | undefined;
  /** Aborts the work between two reads or writes: it rejects with the signal's reason. Tables finished before have the new filters. */
  readonly signal?: Signal | undefined;
}

const REFILTER_OPTIONS: Record<keyof RefilterDatabaseOptions, true> = {
  comparator: true,
  codecs: true,
  filterPolicy: true,
  filterRange: true,
  maxBlockBytes: true,
  lock: true,
  onProgress: true,
  signal: true,
};

/** The progress of the work. */
export interface RefilterProgress {
  /** Bytes of the finished tables, and of all tables. */
  readonly done: number;
  readonly total: number;
}

/** The outcome of refiltering. */
export interface RefilterReport {
  /** The number of tables that were rewritten. */
  readonly written: number;
  /** The number of tables that already had these filters. */
  readonly kept: number;
  /** The number of tables whose filters would need a block of more than `maxBlockBytes`: as when the database writes them, they have none. */
  readonly unfiltered: number;
  /** The number of entries of all tables, including old versions and deletions. */
  readonly entries: number;
  /** Bytes of the filter blocks of all tables. */
  readonly filterBytes: number;
  /** Bytes of all tables, before and after. */
  readonly byteLengthBefore: number;
  readonly byteLength: number;
}

/** @see Database.refilter */
export async function refilterDatabase(folder: WritableFolder, options: RefilterDatabaseOptions, earlier: Promise<unknown> | undefined): Promise<RefilterReport> {
  const { filterPolicy = new FittedBloomFilterPolicy(10), onProgress, signal, ...others } = copiedOptions('Database.refilter', options, REFILTER_OPTIONS);
  if (onProgress !== undefined) mustBeFunction('onProgress', onProgress);
  if (signal !== undefined) mustBeSignal('signal', signal);
  provideFittedPolicy(FittedBloomFilterPolicy);
  const settings = settingsOf({ ...others, filterPolicy });
  await earlier;
  await mustHaveDatabase(folder, `the database of ${folder.name ?? 'the folder'} does not exist: there is no CURRENT`);
  const hold = await holdFolder(folder, settings);
  const work = async (): Promise<RefilterReport> => {
    const { comparator, opening, maxBlockBytes } = settings;
    const versions = await VersionSet.read(hold.folder, comparator, keyOrderOf(comparator), 0);
    const rewrite = async (): Promise<RefilterReport> => {
      await mustHaveTables(versions.current, await hold.folder.list(), hold.folder);
      const refilter = (table: WholeTable): Promise<RefilteredTable> =>
        refilterTable(table, { filterPolicy: filterPolicy && internalKeyPolicy(filterPolicy), filterRange: others.filterRange, codecs: opening.codecs, maxBlockBytes, omitLargeFilters: true, signal });
      return await new Refiltering(hold.folder, versions, filterPolicy !== null, refilter, { onProgress, signal }).run();
    };
    return runEnding(rewrite, () => versions.close());
  };
  return runEnding(work, () => hold.release());
}

/** A table of the version, and the one that replaces it. */
interface Replacement {
  readonly old: FileMetadata;
  /** The name of the old table's file. */
  readonly name: string;
  readonly file: FileMetadata;
}

class Refiltering {
  readonly #folder: WritableFolder;
  readonly #versions: VersionSet;
  readonly #hasPolicy: boolean;
  readonly #refilter: (table: WholeTable) => Promise<RefilteredTable>;
  readonly #onProgress: RefilterDatabaseOptions['onProgress'];
  readonly #signal: Signal | undefined;
  readonly #report = { written: 0, kept: 0, unfiltered: 0, entries: 0, filterBytes: 0, byteLengthBefore: 0, byteLength: 0 };

  constructor(folder: WritableFolder, versions: VersionSet, hasPolicy: boolean, refilter: (table: WholeTable) => Promise<RefilteredTable>, { onProgress, signal }: Pick<RefilterDatabaseOptions, 'onProgress' | 'signal'>) {
    this.#folder = folder;
    this.#versions = versions;
    this.#hasPolicy = hasPolicy;
    this.#refilter = refilter;
    this.#onProgress = onProgress;
    this.#signal = signal;
  }

  async run(): Promise<RefilterReport> {
    const versions = this.#versions;
    const names = await this.#folder.list();
    mustLeaveNumbers(numberedFiles(names, 'log').map(({ number }) => number));
    // The MANIFEST may not know the number of a log, or of tables that a crash left behind.
    for (const { number } of numberedFiles(names, 'log', 'table')) versions.markFileNumberUsed(number);
    const { levels, files } = versions.current;
    const total = sizeOf(files);
    let done = 0;
    for (const [level, tables] of levels.entries()) {
      // Of two tables of level 0, the one with the higher number is newer. So they get their numbers in order, and all at once.
      const steps = level === 0 ? [[...tables].sort((a, b) => compareBigints(a.number, b.number))] : tables.map((table) => [table]);
      for (const step of steps) {
        await this.#rewrite(level, step);
        done += sizeOf(step);
        if (step.length > 0) this.#onProgress?.({ done, total });
      }
    }
    return { ...this.#report };
  }

  /** Rewrites tables of one level, unless all of them already have the filters. */
  async #rewrite(level: number, tables: readonly FileMetadata[]): Promise<void> {
    const created: string[] = [];
    const opened: { readonly table: FileMetadata; readonly name: string; readonly file: FolderFile; readonly refiltered: RefilteredTable }[] = [];
    const report = this.#report;
    try {
      for (const table of tables) {
        const { name, file } = await this.#open(table);
        try {
          opened.push({ table, name, file, refiltered: await this.#refilter(new WholeTable(file, table.size, name)) });
        } catch (error) {
          await closeRead(file);
          throw error;
        }
      }
      const isChanged = opened.some(({ refiltered }) => refiltered.isChanged);
      const replacements: Replacement[] = [];
      for (const { table, name, refiltered } of opened) {
        report.entries += refiltered.entries;
        report.filterBytes += refiltered.filterBytes;
        if (this.#hasPolicy && refiltered.filters === 0 && refiltered.entries > 0) report.unfiltered++;
        report.byteLengthBefore += table.size;
        report.byteLength += refiltered.fileBytes;
        if (!isChanged) {
          report.kept++;
          continue;
        }
        const number = this.#versions.newFileNumber();
        // Java's ports of LevelDB know only the older name.
        const newName = name === oldTableFileName(table.number) ? oldTableFileName(number) : tableFileName(number);
        created.push(newName);
        await this.#write(newName, refiltered);
        report.written++;
        replacements.push({ old: table, name, file: { ...table, number, size: refiltered.fileBytes } });
      }
      throwIfAborted(this.#signal);
      // From here on, the MANIFEST may list the new tables, even if writing it fails.
      created.length = 0;
      if (isChanged) await this.#replace(level, replacements);
    } finally {
      for (const name of created) await deleteIfPossible(this.#folder, name);
      for (const { file } of opened) await closeRead(file);
    }
  }

  async #open(table: FileMetadata): Promise<{ readonly name: string; readonly file: FolderFile }> {
    for (const name of [tableFileName(table.number), oldTableFileName(table.number)]) {
      const file = await this.#folder.open(name);
      if (file !== undefined) return { name, file };
    }
    throw missingFiles([table], { file: this.#folder.name });
  }

  async #write(name: string, refiltered: RefilteredTable): Promise<void> {
    const file = await this.#folder.create(name);
    await runEnding(async () => {
      for await (const piece of refiltered.file()) {
        throwIfAborted(this.#signal);
        await file.append(piece);
      }
      await file.sync();
    }, () => file.close());
  }

  /** Makes the MANIFEST list the new tables, and deletes the old ones. */
  async #replace(level: number, replacements: readonly Replacement[]): Promise<void> {
    const versions = this.#versions;
    const edit: VersionEdit = {
      deletedFiles: replacements.map(({ old: { number } }) => ({ level, number })),
      newFiles: replacements.map(({ file }) => ({ level, file })),
    };
    await versions.apply(edit);
    for (const { name } of replacements) await deleteIfPossible(this.#folder, name);
    for (const { name, number } of numberedFiles(await this.#folder.list(), 'manifest')) {
      if (name === manifestFileName(number) && number < versions.manifestNumber) await deleteIfPossible(this.#folder, name);
    }
  }
}
