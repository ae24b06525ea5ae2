/** Opens, finds and replays the logs of a database for a view. */
import { CorruptionError, type Place } from '@bloom/bytes';
import type { ClosingFiles } from '../folder/closing-files.js';
import type { DamagePolicy } from '../folder/damage.js';
import { type Folder, FolderError, type FolderFile } from '../folder/folder.js';
import { all, type FolderReading, identifyFile, listFiles, openFile } from '../folder/folder-reading.js';
import { startsWith } from '../folder/known-prefix.js';
import { logFileName } from '../format/file-name.js';
import type { ManifestFields } from '../format/manifest.js';
import { isLogNeeded, listedLogs, neededLogs } from '../format/needed-files.js';
import type { KeyOrder, Version } from '../format/version.js';
import { type LogMemtable, replayLog } from '../memtable/log-memtable.js';
import { lostEnds } from '../memtable/log-ends.js';
import type { OpenedFiles } from './opened-files.js';
import { Restart } from './reading-restart.js';

/** With more logs than this in a folder, obsolete ones are excluded before any is opened. */
const MANY_LOGS = 16;
/** In a folder that cannot be listed: how many numbers after the MANIFEST's next one to try for logs. */
const NUMBERS_AHEAD = 16;
/** In a folder that cannot be listed: the most numbers to try for logs. */
const MAX_LOG_NUMBERS = 1024;

/** A log that was opened for one attempt. */
export interface OpenLog {
  readonly number: bigint;
  readonly file: FolderFile;
}

/** The logs that a folder listed. */
export interface ListedLogs {
  readonly opened: readonly OpenLog[];
  /** The numbers of those that could not be opened. */
  readonly unopened: readonly bigint[];
}

/** The logs that were replayed for the last view. */
export interface KnownLogs {
  readonly logs: Map<bigint, LogMemtable>;
  readonly order: KeyOrder;
  /** The highest sequence that a view shows: entries that are visible at it must not change. */
  readonly visible: bigint;
}

export class FolderLogs {
  readonly #folderName: string | undefined;
  readonly #isStrict: boolean;
  readonly #closing: ClosingFiles;
  readonly #onReplaced: () => void;

  /**
   * @param isStrict whether damage is an error.
   * @param onReplaced called when a log is not the same file as at the last reading.
   */
  constructor(folder: Folder, isStrict: boolean, closing: ClosingFiles, onReplaced: () => void) {
    this.#folderName = folder.name;
    this.#isStrict = isStrict;
    this.#closing = closing;
    this.#onReplaced = onReplaced;
  }

  /**
   * Opens the listed logs, which fixes their lengths: later writes are not seen.
   *
   * @param readManifest called only if there are many logs.
   */
  *open(open: OpenedFiles, readManifest: () => FolderReading<{ readonly fields: ManifestFields }>): FolderReading<ListedLogs> {
    let numbers = listedLogs(yield* listFiles());
    if (numbers.length > MANY_LOGS) {
      // The log number only ever grows.
      const { fields } = yield* readManifest();
      numbers = numbers.filter((number) => isLogNeeded(number, fields));
    }
    const opened: OpenLog[] = [];
    const unopened: bigint[] = [];
    for (const number of numbers) {
      const file = yield* open.open(logFileName(number));
      if (file === undefined) unopened.push(number);
      else opened.push({ number, file });
    }
    return { opened, unopened };
  }

  /**
   * Looks for the logs of a folder that cannot be listed, and opens them.
   *
   * @param place of the MANIFEST.
   * @throws FolderError when a log has grown although a newer one exists.
   */
  *find(open: OpenedFiles, version: Version, fields: ManifestFields, place: Place): FolderReading<OpenLog[]> {
    const taken = new Set(version.files.map(({ number }) => number));
    const numbers: bigint[] = fields.previousLogNumber > 0n && fields.previousLogNumber < fields.logNumber ? [fields.previousLogNumber] : [];
    const last = fields.nextFileNumber + BigInt(NUMBERS_AHEAD);
    for (let number = fields.logNumber; number < last; number++) {
      if (taken.has(number) || number === 0n) continue;
      numbers.push(number);
      if (numbers.length > MAX_LOG_NUMBERS) {
        const problem = `more than ${MAX_LOG_NUMBERS} file numbers may belong to logs: pass the names of the files`;
        throw new CorruptionError('BLOOM_TOO_LARGE', place, problem);
      }
    }
    const files = yield* all(numbers.map((number) => open.open(logFileName(number))));
    const logs = numbers.flatMap((number, i) => (files[i] === undefined ? [] : [{ number, file: files[i] }]));
    // A log is complete once there is a newer one, but these may have been opened before the newest was created.
    for (const { number, file } of logs.slice(0, -1)) {
      const name = logFileName(number);
      const now = yield* open.open(name);
      if (now?.byteLength === file.byteLength) continue;
      throw new FolderError('BLOOM_FOLDER_CHANGED', `${name} was written while the folder was read`, { file: name });
    }
    return logs;
  }

  /** Replays the logs that are part of the database. Unchanged parts that are in `known` are not read again. */
  *replay(logs: readonly OpenLog[], { logs: known, order, visible }: KnownLogs, fields: ManifestFields): FolderReading<LogMemtable[]> {
    const replayed: LogMemtable[] = [];
    for (const { number, file } of logs) {
      if (!isLogNeeded(number, fields)) continue;
      const before = known.get(number);
      // A replay that fails may have added entries to the memtable: the log is then replayed from its start.
      known.delete(number);
      if (before !== undefined && !(yield* startsWith(file, before.prefix))) {
        // Logs only grow, so the tables may not be the same either.
        this.#onReplaced();
        throw new FolderError('BLOOM_FOLDER_CHANGED', `${logFileName(number)} was replaced`, { file: logFileName(number) });
      }
      const log = yield* replayLog(number, file, order, this.#isStrict, before, visible);
      known.set(number, log);
      replayed.push(log);
    }
    return replayed;
  }

  /**
   * Checks for logs that the view needs, but that could not be opened, or were not listed when the logs were opened.
   *
   * @param names listed after that.
   * @param earlier the evidence of earlier attempts.
   * @throws Restart when there are any, unless they are missing again and damage is left out.
   */
  mustHaveRead(
    { opened, unopened }: ListedLogs,
    fields: ManifestFields,
    names: readonly string[],
    damage: DamagePolicy,
    evidence: string,
    earlier: ReadonlySet<string>,
  ): void {
    const newest = opened.at(-1)?.number ?? -1n;
    const read = new Set(opened.map(({ number }) => number));
    // One that is newer than all others may have been created since, unless it was listed before. One that was deleted since is obsolete.
    const missed = neededLogs(names, fields).filter((number) => !read.has(number) && (number < newest || unopened.includes(number)));
    if (missed.length === 0) return;
    const code = 'BLOOM_MISSING_FILE';
    const problem = 'is listed but cannot be opened';
    if (this.#isStrict || !earlier.has(evidence)) {
      const place: Place = { structure: 'folder', offset: 0, file: this.#folderName };
      throw new Restart(new CorruptionError(code, place, `${logFileName(missed[0]!)} ${problem}`), evidence);
    }
    for (const number of missed) damage.add({ file: logFileName(number), offset: 0, reason: `it ${problem}`, code });
  }

  /** @throws CorruptionError when a log lacks its end although a later one has records, unless damage is left out. */
  mustBeWhole(logs: readonly LogMemtable[], damage: DamagePolicy): void {
    for (const error of lostEnds(logs)) damage.pass(error);
  }

  /**
   * Checks for writes that the view would miss. Called when the MANIFEST's last sequence is later than that of every log that
   * was read: the writes between are in tables, or in a log that was created, extended or deleted after the logs were opened.
   * In the second case the view would have the last sequence of a write that it does not show.
   *
   * @throws FolderError when there is such a log.
   */
  *mustHaveSeen(logs: readonly LogMemtable[], { logNumber }: ManifestFields, names: readonly string[]): FolderReading<void> {
    const read = new Map(logs.map(({ number, byteLength }) => [number, byteLength]));
    // Of the logs that were read, only the newest can have become longer.
    const newest = logs.at(-1)?.number;
    const suspects = listedLogs(names).filter((number) => number >= logNumber && !read.has(number));
    if (newest !== undefined && newest >= logNumber) suspects.push(newest);
    for (const number of suspects) {
      const name = logFileName(number);
      const file = yield* openFile(name);
      this.#closing.close(file);
      const isChanged =
        file === undefined
          ? // It may have grown before it was deleted. A listed name that cannot be opened as a file is a folder, for example.
            !(yield* listFiles()).includes(name)
          : file.byteLength > (read.get(number) ?? -1);
      if (isChanged) throw new FolderError('BLOOM_FOLDER_CHANGED', `${name} was written while the folder was read`, { file: name });
    }
  }

  /** @throws FolderError when one of the `logs` that were read was deleted or replaced while the folder was read. A writer may have added to it. */
  *mustBeSame(logs: readonly OpenLog[]): FolderReading<void> {
    for (const { number, file } of logs) {
      const name = logFileName(number);
      const now = yield* identifyFile(name);
      if (file.identity === undefined || (now !== undefined && Object.is(now.file, file.identity.file))) continue;
      throw new FolderError('BLOOM_FOLDER_CHANGED', `${name} was replaced while the folder was read`, { file: name });
    }
  }
}

/**
 * Whether the only log is the one that the MANIFEST names, and has the MANIFEST's last write. If so, the view is a prefix of the writes even if
 * the folder has changed since the MANIFEST was read: the writes that the log lacks come after all that it has.
 */
export function isOneLog(logs: readonly LogMemtable[], fields: ManifestFields): boolean {
  return logs.length === 1 && logs[0]!.number === fields.logNumber && fields.previousLogNumber === 0n && !isBehind(logs, fields);
}

/** Whether the MANIFEST has a later last sequence than the logs. */
export function isBehind(logs: readonly LogMemtable[], { lastSequence }: ManifestFields): boolean {
  return logs.every((log) => log.lastSequence < lastSequence);
}
