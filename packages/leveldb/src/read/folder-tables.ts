/** Opens the tables of a version for a view, and decides what failures mean. */
import type { Place } from '@bloom/bytes';
import type { FileIdentity } from '@bloom/sstable';
import type { DamagePolicy } from '../folder/damage.js';
import { type Folder, FolderError } from '../folder/folder.js';
import { all, type FolderReading, identifyFile } from '../folder/folder-reading.js';
import { oldTableFileName, tableFileName } from '../format/file-name.js';
import { missingFiles, missingNumbers, missingTables } from '../format/needed-files.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { Version } from '../format/version.js';
import { MissingTable, type TableCache } from '../table/table-cache.js';
import type { TableHandle } from '../table/table-handle.js';
import { evidenceOf, Restart } from './reading-restart.js';

/** A table that could not be opened. */
export interface TableFailure {
  readonly file: FileMetadata;
  readonly error: unknown;
}

/** Opens the tables of a folder. */
export class FolderTables {
  /** Whether tables are opened when they are needed, rather than with the view. */
  readonly opensLater: boolean;
  readonly #canIdentify: boolean;
  readonly #isStrict: boolean;
  readonly #onReplaced: () => void;

  /**
   * @param isStrict whether damage is an error.
   * @param onReplaced called when a table is not the same file as at the last reading.
   */
  constructor(folder: Folder, opensLater: boolean, isStrict: boolean, onReplaced: () => void) {
    this.opensLater = opensLater;
    this.#canIdentify = folder.identityOf !== undefined && folder.isPublished !== true;
    this.#isStrict = isStrict;
    this.#onReplaced = onReplaced;
  }

  /**
   * Opens and pins all tables, unless there are too many or they are to be opened later.
   *
   * @returns the failures. In strict reading, the first failure ends the opening.
   */
  *open(tables: TableCache, { files }: Version, pinned: TableHandle[]): FolderReading<TableFailure[]> {
    tables.forgetStale();
    const isLater = this.opensLater || files.length > tables.maxOpenTables;
    // The identity of a new table is learned when it is opened here.
    if (this.#canIdentify) yield* this.#mustBeSame(tables, isLater ? files : files.filter((file) => tables.isKnown(file)));
    if (isLater) return [];
    const isStrict = this.#isStrict;
    let isOver = false;
    function* open(file: FileMetadata): FolderReading<TableFailure | undefined> {
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

  /** @throws Restart unless there is a file with each table's number, of any type: LevelDB checks it in this way. @param place of the MANIFEST. */
  mustHave(version: Version, names: readonly string[], place: Place, evidence: string): void {
    const missing = missingNumbers(version.files, names);
    if (missing.length > 0) throw new Restart(missingFiles(missing, place), evidence);
  }

  /** Decides what it means that tables could not be opened. @param names the files of the folder; undefined when it cannot be listed. */
  judge(failures: readonly TableFailure[], names: readonly string[] | undefined, tables: TableCache, damage: DamagePolicy, place: Place, seen: string): void {
    for (const { file, error } of failures) {
      if (!(error instanceof MissingTable)) {
        damage.pass(error);
        continue;
      }
      const missing = missingFiles([file], place);
      if (names === undefined || missingTables([file], names).length === 0) {
        throw new Restart(missing, `${evidenceOf(seen, names)}\n${error.message}`);
      }
      // A file of another type has its number: LevelDB opens the database, and fails when it reads the table.
      damage.pass(missing);
      tables.giveUp(file, missing);
    }
  }

  /** Updates the identities of the tables. @throws FolderError when one is another file than before: the next attempt then starts from scratch. */
  *#mustBeSame(tables: TableCache, files: readonly FileMetadata[]): FolderReading<void> {
    function* identify({ number }: FileMetadata): FolderReading<FileIdentity | undefined> {
      return (yield* identifyFile(tableFileName(number))) ?? (yield* identifyFile(oldTableFileName(number)));
    }
    const identities = yield* all(files.map(identify));
    for (const [i, file] of files.entries()) {
      if (tables.isStill(file, identities[i])) continue;
      this.#onReplaced();
      const name = tableFileName(file.number);
      throw new FolderError('BLOOM_FOLDER_CHANGED', `${name} was replaced`, { file: name });
    }
  }
}
