/**
 * A MANIFEST as a repair uses it: it defines which tables are live and at which level, and which logs and tables are obsolete.
 *
 * Obsolete files hold deleted keys and old values, and the tombstones that hid them may be gone, so a repair must not merge them.
 */
import { MAX_SEQUENCE } from '@bloom/sstable/database';
import type { FolderFile } from '../../folder/folder.js';
import type { FolderReading } from '../../folder/folder-reading.js';
import { readManifest } from '../../folder/manifest-file.js';
import { isCanonicalName, logFileName, numberedFiles, parseFileName } from '../../format/file-name.js';
import { type ManifestBuilder, MAX_MANIFEST_LENGTH, type ManifestFields } from '../../format/manifest.js';
import { isLogNeeded, missingTables } from '../../format/needed-files.js';
import { compareBigints, type FileMetadata } from '../../format/version-edit.js';
import { OPENING_END } from '../file-numbers.js';

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
  /** Whether a part of it cannot be read, other than an unfinished last record. */
  readonly isDamaged: boolean;
  /** The tables of its last version that have no file in the folder. */
  readonly missing: readonly FileMetadata[];
  readonly #fields: ManifestFields | undefined;
  readonly #listed = new Map<bigint, ListedTable>();
  /** The numbers of tables in the folder that an edit deleted. */
  readonly #deleted: ReadonlySet<bigint>;
  readonly #isComplete: boolean;

  private constructor(name: string, isCurrent: boolean, isDamaged: boolean, builder: ManifestBuilder, deleted: ReadonlySet<bigint>, names: readonly string[]) {
    this.name = name;
    this.isCurrent = isCurrent;
    this.comparator = builder.comparator;
    this.isDamaged = isDamaged;
    this.#deleted = deleted;
    for (const [level, files] of builder.files.levels.entries()) {
      for (const file of files) this.#listed.set(file.number, { file, level: this.#listed.has(file.number) ? undefined : level });
    }
    this.missing = missingTables([...this.#listed.values()].map(({ file }) => file), names);
    try {
      this.#fields = builder.fields({ structure: 'MANIFEST', offset: 0 });
    } catch {
      // It lacks fields that a database needs.
    }
    this.#isComplete = this.missing.length === 0 && this.#fields !== undefined && names.includes(logFileName(this.#fields.logNumber));
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
    return new RepairManifest(name, isCurrent, isDamaged, builder, deleted, names);
  }

  /** Whether it can be read up to its last whole record, and its counters are valid. */
  get isIntact(): boolean {
    const fields = this.#fields;
    if (this.isDamaged || fields === undefined) return false;
    return fields.nextFileNumber < OPENING_END && fields.logNumber < OPENING_END && fields.lastSequence < MAX_SEQUENCE;
  }

  /** Its last sequence; 0 if that leaves too few for later writes: no writer reaches such a sequence, so it is wrong. */
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

  tableOf(number: bigint): ListedTable | undefined {
    return this.#listed.get(number);
  }

  stateOfTable(number: bigint): FileState {
    if (this.#listed.has(number)) return 'listed';
    if (this.#deleted.has(number)) return 'obsolete';
    // Files are deleted only after the edit that replaces them is on disk. So if all listed tables and the log exist, no later edit
    // took effect, not even a torn one. A table that is not listed then belongs to an unfinished flush or compaction, and the files
    // that it was made from still exist.
    if (this.#isComplete && (this.isCurrent || number < this.#fields!.nextFileNumber)) return 'obsolete';
    // Otherwise edits are missing. One of them may have added the table, which may then have the only copy of an entry.
    if (number >= this.#fields!.nextFileNumber) return 'unknown';
    const own = parseFileName(this.name);
    // A table that is older than the MANIFEST and is not listed in it was obsolete when the MANIFEST was created.
    return own?.type === 'manifest' && number < own.number ? 'obsolete' : 'unknown';
  }

  /** The state of a log in the folder. A log whose name is not the one made from its number is never read, so it is obsolete. */
  stateOfLog(name: string, number: bigint): FileState {
    return isCanonicalName(name) && isLogNeeded(number, this.#fields!) ? 'listed' : 'obsolete';
  }
}

/** The MANIFEST that a repair uses: the one that CURRENT names, or else the newest; undefined when none is intact. */
export function chosenManifest(manifests: readonly RepairManifest[]): RepairManifest | undefined {
  const numberOf = ({ name }: RepairManifest): bigint => {
    const file = parseFileName(name);
    return file?.type === 'manifest' ? file.number : -1n;
  };
  const intact = manifests.filter(({ isIntact }) => isIntact);
  return intact.find(({ isCurrent }) => isCurrent) ?? intact.sort((a, b) => compareBigints(numberOf(b), numberOf(a)))[0];
}
