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
import { evidenceOf, Restart, restartFor } from './reading-restart.js';

export interface TableFailure {
  readonly file: FileMetadata;
  readonly error: unknown;
}

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
   * @returns the failures; in strict reading only the first, which ends the opening.
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
    const failures = (yield* all(files.map(open))).filter((failure) => failure !== undefined);
    // How many other tables fail before the opening ends depends on timing.
    return isStrict ? failures.slice(0, 1) : failures;
  }

  /** @throws Restart unless there is a file with each table's number, of any type: LevelDB checks it in this way. @param place of the MANIFEST. */
  mustHave(version: Version, names: readonly string[], place: Place, evidence: string): void {
    const missing = missingNumbers(version.files, names);
    if (missing.length > 0) throw new Restart(missingFiles(missing, place), evidence);
  }

  /**
   * Decides what it means that tables could not be opened.
   *
   * @param names the files of the folder; undefined when it cannot be listed.
   * @param earlier the evidence of earlier attempts. If theirs is the same, no writer is the cause of truncated tables.
   * @throws Restart when a writer may be the cause, or a table is missing.
   */
  judge(
    failures: readonly TableFailure[],
    names: readonly string[] | undefined,
    tables: TableCache,
    damage: DamagePolicy,
    place: Place,
    seen: string,
    earlier: ReadonlySet<string>,
  ): void {
    const restarts = failures.flatMap((failure) => this.#restartFor(failure, names, place, seen) ?? []);
    // One for all: otherwise each of two tables would be the reason for another attempt, again and again.
    const evidence = restarts.map((restart) => restart.evidence).join('\n');
    const reason = earlier.has(evidence) ? restarts.find(({ damage: found }) => restartFor(found, 'BLOOM_TRUNCATED') === undefined) : restarts[0];
    if (reason !== undefined) throw new Restart(reason.damage, evidence);
    for (const { file, error } of failures) {
      if (!(error instanceof MissingTable)) {
        damage.pass(error);
        continue;
      }
      // A file of another type has its number: LevelDB opens the database, and fails when it reads the table.
      const missing = missingFiles([file], place);
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

  /** The reason to read the folder again if a table could not be opened because of a writer; undefined if something else is the cause. */
  #restartFor({ file, error }: TableFailure, names: readonly string[] | undefined, place: Place, seen: string): Restart | undefined {
    if (error instanceof MissingTable) {
      const isGone = names === undefined || missingTables([file], names).length === 0;
      return isGone ? new Restart(missingFiles([file], place), `${evidenceOf(seen, names)}\n${error.message}`) : undefined;
    }
    // Where files can be identified, the next attempt looks for replaced ones, and may find another each time.
    const isChanged = error instanceof FolderError && error.code === 'BLOOM_FOLDER_CHANGED' && !this.#canIdentify;
    return isChanged ? new Restart(error, error.message) : restartFor(error, 'BLOOM_TRUNCATED');
  }
}
