/**
 * A MANIFEST as a repair uses it: it defines which tables are live and at which level, and which logs and tables are obsolete.
 *
 * Obsolete files hold deleted keys and old values, and the tombstones that hid them may be gone, so a repair must not merge them.
 */
import { MAX_SEQUENCE } from '@bloom/sstable/database';
import type { FolderFile } from '../folder/folder.js';
import { type FolderReading } from '../folder/folder-reading.js';
import { manifestPlace, readManifest } from '../folder/manifest-file.js';
import { isCanonicalName, logFileName, numberedFiles, parseFileName } from '../format/file-name.js';
import { MAX_MANIFEST_LENGTH, type ManifestFields } from '../format/manifest.js';
import { isLogNeeded, missingTables } from '../format/needed-files.js';
import type { FileMetadata } from '../format/version-edit.js';
import { OPENING_END } from './file-numbers.js';

/** The number of sequences that a repair leaves for later writes. */
const SEQUENCE_RESERVE = 2n ** 32n;

/** A table of the MANIFEST's last version. */
export interface ListedTable {
  readonly file: FileMetadata;
  /** Undefined when it is listed at several levels. */
  readonly level: number | undefined;
}

/** The state of a file of the folder according to a MANIFEST. An `unknown` file may be part of the database. */
export type FileState = 'listed' | 'obsolete' | 'unknown';

/** A MANIFEST as a repair reads it. */
export class RepairManifest {
  readonly name: string;
  /** Whether CURRENT names it. */
  readonly isCurrent: boolean;
  /** The name of the comparator, if it can be read. */
  readonly comparator: string | undefined;
  /** Whether a part of it cannot be read, except for an unfinished last record. */
  readonly isDamaged: boolean;
  /** The tables of its last version that have no file in the folder. */
  readonly missing: readonly FileMetadata[];
  readonly #fields: ManifestFields | undefined;
  readonly #listed: ReadonlyMap<bigint, ListedTable>;
  /** The numbers of tables in the folder that an edit deleted. */
  readonly #deleted: ReadonlySet<bigint>;
  readonly #isComplete: boolean;

  private constructor(
    name: string,
    { isCurrent, comparator, isDamaged, fields, listed, deleted, names }: {
      readonly isCurrent: boolean;
      readonly comparator: string | undefined;
      readonly isDamaged: boolean;
      readonly fields: ManifestFields | undefined;
      readonly listed: ReadonlyMap<bigint, ListedTable>;
      readonly deleted: ReadonlySet<bigint>;
      readonly names: readonly string[];
    },
  ) {
    this.name = name;
    this.isCurrent = isCurrent;
    this.comparator = comparator;
    this.isDamaged = isDamaged;
    this.#fields = fields;
    this.#listed = listed;
    this.#deleted = deleted;
    this.missing = missingTables([...listed.values()].map(({ file }) => file), names);
    this.#isComplete = this.missing.length === 0 && fields !== undefined && names.includes(logFileName(fields.logNumber));
  }

  /**
   * Reads a MANIFEST as far as it can be read. Only the start of a file that is too large for a MANIFEST is read.
   *
   * @param names the files of the folder.
   * @param isCurrent whether CURRENT names it.
   */
  static *read(name: string, file: FolderFile, names: readonly string[], isCurrent: boolean): FolderReading<RepairManifest> {
    const numbers = new Set(numberedFiles(names, 'table').map(({ number }) => number));
    const deleted = new Set<bigint>();
    let isDamaged = file.byteLength > MAX_MANIFEST_LENGTH;
    const { builder } = yield* readManifest(file, name, {
      isStartEnough: true,
      onDamage: () => (isDamaged = true),
      onEdit: ({ deletedFiles = [] }) => {
        for (const { number } of deletedFiles) if (numbers.has(number)) deleted.add(number);
      },
    });
    const listed = new Map<bigint, ListedTable>();
    for (const [level, files] of builder.files.levels.entries()) {
      for (const one of files) listed.set(one.number, { file: one, level: listed.has(one.number) ? undefined : level });
    }
    let fields: ManifestFields | undefined;
    try {
      fields = builder.fields(manifestPlace(file, name));
    } catch {
      // It lacks fields that a database needs.
    }
    return new RepairManifest(name, { isCurrent, comparator: builder.comparator, isDamaged, fields, listed, deleted, names });
  }

  /** Whether all of it can be read, up to its last whole record, and its counters are those of a database. */
  get isIntact(): boolean {
    const fields = this.#fields;
    if (this.isDamaged || fields === undefined) return false;
    return fields.nextFileNumber < OPENING_END && fields.logNumber < OPENING_END && fields.lastSequence < MAX_SEQUENCE;
  }

  /** The last sequence that it contains; 0 if that would leave too few for later writes, because no writer reaches it. */
  get lastSequence(): bigint {
    const { lastSequence = 0n } = this.#fields ?? {};
    return lastSequence < MAX_SEQUENCE - SEQUENCE_RESERVE ? lastSequence : 0n;
  }

  /** The highest number that it allocated or lists. */
  get lastFileNumber(): bigint {
    let last = (this.#fields?.nextFileNumber ?? 1n) - 1n;
    for (const number of this.#listed.keys()) if (number > last) last = number;
    return last;
  }

  /** The table of that number in the last version. */
  tableOf(number: bigint): ListedTable | undefined {
    return this.#listed.get(number);
  }

  /** The state of a table in the folder. */
  stateOfTable(number: bigint): FileState {
    if (this.#listed.has(number)) return 'listed';
    if (this.#deleted.has(number)) return 'obsolete';
    // Files are deleted only after the edit that replaces them is on disk. So if each listed table and the log exist, no later
    // edit counts: a table that is not listed belongs to a flush or a compaction that never ended, and what it was made of is
    // still there. A torn edit changes nothing of that.
    if (this.#isComplete && (this.isCurrent || number < this.#fields!.nextFileNumber)) return 'obsolete';
    // Otherwise edits are missing, which may have added the table: it may have the only copy of an entry.
    if (number >= this.#fields!.nextFileNumber) return 'unknown';
    const own = parseFileName(this.name);
    // What was not listed when the MANIFEST was begun was obsolete then.
    return own?.type === 'manifest' && number < own.number ? 'obsolete' : 'unknown';
  }

  /** What a log in the folder is. Under another name than that of its number nobody reads it. */
  stateOfLog(name: string, number: bigint): FileState {
    return isCanonicalName(name) && isLogNeeded(number, this.#fields!) ? 'listed' : 'obsolete';
  }
}

/** The MANIFEST that a repair goes by: the one that CURRENT names, or else the newest; undefined when none is intact. */
export function chosenManifest(manifests: readonly RepairManifest[]): RepairManifest | undefined {
  const numberOf = ({ name }: RepairManifest): bigint => {
    const file = parseFileName(name);
    return file?.type === 'manifest' ? file.number : -1n;
  };
  const intact = manifests.filter(({ isIntact }) => isIntact);
  const named = intact.find(({ isCurrent }) => isCurrent);
  if (named !== undefined) return named;
  return intact.reduce<RepairManifest | undefined>((newest, one) => (newest === undefined || numberOf(one) > numberOf(newest) ? one : newest), undefined);
}
