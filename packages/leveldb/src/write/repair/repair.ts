/**
 * Makes a database from the readable parts of a folder.
 *
 * An intact MANIFEST determines which files are part of the database; only the rest is guessed. Source: LevelDB, db/repair.cc, which does not
 * read the MANIFEST and so brings deleted keys back from obsolete files. It puts all tables into level 0 unchanged, and decides by their
 * numbers which value of a key is the newest. Here, tables without a known level are merged if they overlap, because compactions do not
 * number tables in the order of their age.
 */
import { CorruptionError } from '@bloom/bytes';
import { copiedOptions, mustBeBoolean } from '@bloom/bytes/internal';
import { runClosing, runEnding, withFile } from '../../folder/closing-files.js';
import { readManifestName } from '../../folder/current-file.js';
import { DatabaseError } from '../../folder/database-error.js';
import type { FolderFile } from '../../folder/folder.js';
import { runAsync } from '../../folder/folder-reading.js';
import { LostFiles } from '../../folder/lost-files.js';
import { RecordFile } from '../../folder/record-file.js';
import { isMissing, type WritableFolder } from '../../folder/writable-folder.js';
import { type FileName, isCanonicalName, manifestFileName, type NumberedFile, numberedFiles, parseFileName, tableFileName } from '../../format/file-name.js';
import { MAX_MANIFEST_RECORDS } from '../../format/manifest.js';
import { encodeVersionEdit, hasSameBounds } from '../../format/version-edit.js';
import { type DatabaseOptions, type Settings, settingsOf } from '../database-options.js';
import { loadFittedPolicy, mayBeFitted } from '../load-fitted-policy.js';
import { holdFolder } from '../folder-hold.js';
import { mustBeLevelDb } from '../refuse-foreign-folder.js';
import { deleteIfPossible } from '../obsolete-files.js';
import { rescueLog } from './log-rescue.js';
import { settingsForRepair } from './repair-compression.js';
import { chosenManifest, type ListedTable, RepairManifest } from './repair-manifest.js';
import { LostPlaces, type RepairReport, type SetAside, type SetAsideReason } from './repair-report.js';
import { RepairedTables } from './repaired-tables.js';
import { isSound, salvageTable, scanTable } from './table-rescue.js';
import { mustBeOrderOf, setCurrent } from '../version-set.js';

/** How to repair a database. Every option has a default. */
export interface RepairOptions
  extends Pick<
    DatabaseOptions,
    | 'comparator'
    | 'filterPolicy'
    | 'filterPolicies'
    | 'compression'
    | 'codecs'
    | 'writeBufferSize'
    | 'maxFileSize'
    | 'blockSize'
    | 'blockRestartInterval'
    | 'filterRange'
    | 'maxOpenFiles'
    | 'maxBlockBytes'
    | 'lock'
    | 'onEvent'
  > {
  /**
   * Whether to merge all tables and logs of the folder, even if an intact MANIFEST says that some are obsolete: deleted keys can
   * reappear. For a MANIFEST that cannot be trusted. Default: false.
   */
  readonly fromTablesAlone?: boolean | undefined;
}

const REPAIR_OPTIONS: Record<keyof RepairOptions, true> = {
  comparator: true,
  filterPolicy: true,
  filterPolicies: true,
  compression: true,
  codecs: true,
  writeBufferSize: true,
  maxFileSize: true,
  blockSize: true,
  blockRestartInterval: true,
  filterRange: true,
  maxOpenFiles: true,
  maxBlockBytes: true,
  lock: true,
  onEvent: true,
  fromTablesAlone: true,
};

/** The types of files that are no MANIFEST, even if CURRENT names one of them, unless their contents are those of an intact one. */
const OTHER_FILES: ReadonlySet<FileName['type']> = new Set(['log', 'table', 'current', 'lock', 'info log']);

/** Why the contents of a sound table count as lost. */
const OTHER_TABLE = 'it is not the table that the MANIFEST lists: its first or last key is another one';

/** @see Database.repair */
export async function repairDatabase(folder: WritableFolder, options: RepairOptions, earlier: Promise<unknown> | undefined): Promise<RepairReport> {
  const { fromTablesAlone = false, ...rest } = copiedOptions('Database.repair', options, REPAIR_OPTIONS);
  mustBeBoolean('fromTablesAlone', fromTablesAlone);
  if (mayBeFitted(rest)) await loadFittedPolicy();
  const settings = settingsOf(rest);
  let mayBeMissing = true;
  try {
    await earlier;
    // Some folders list no files if they are missing; creating a file in them then fails.
    const names = await folder.list();
    mayBeMissing = names.length === 0;
    await mustBeLevelDb(folder, names);
    const hold = await holdFolder(folder, settings);
    const repair = async (): Promise<RepairReport> => new Repair(hold.folder, await settingsForRepair(hold.folder, settings), fromTablesAlone).run();
    return await runEnding(repair, () => hold.release());
  } catch (cause) {
    if (!mayBeMissing || !isMissing(cause)) throw cause;
    throw new DatabaseError('BLOOM_DATABASE_MISSING', `${folder.name ?? 'the folder'} cannot be repaired: no such file or directory`, { cause });
  }
}

/** @throws CorruptionError `BLOOM_TOO_LARGE` when a MANIFEST with this record could not be read again. */
function mustFitManifest({ length }: Uint8Array, number: bigint): void {
  if (length <= MAX_MANIFEST_RECORDS) return;
  const problem = `the new MANIFEST would have ${length} bytes, the limit is ${MAX_MANIFEST_RECORDS}: pass a larger maxFileSize, so that there are fewer tables`;
  throw new CorruptionError('BLOOM_TOO_LARGE', { structure: 'MANIFEST', offset: 0, file: manifestFileName(number) }, problem);
}

/** A table that is damaged, or is no file. */
interface DamagedTable extends NumberedFile {
  /** Its entry in the MANIFEST. */
  readonly listed: ListedTable | undefined;
}

/**
 * A repair that was interrupted can be started again, because of the order of its changes. Until the first MANIFEST is set aside,
 * the database is unchanged, except for additional tables. From then on, CURRENT names a missing file, so nobody can open the
 * database or delete files from it until CURRENT names the new MANIFEST. A repair that is started in between uses the new MANIFEST,
 * which is the newest and is on disk with all its tables. All logs are older and obsolete according to it, so no entry is read twice.
 */
class Repair {
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #isFromTablesAlone: boolean;
  readonly #tables: RepairedTables;
  readonly #lost = new LostPlaces();
  readonly #damaged: DamagedTable[] = [];
  /** Tables that are listed, but are not files. */
  readonly #unreadable: DamagedTable[] = [];
  /** The MANIFEST that lists the tables and their sizes. With `fromTablesAlone` too, it tells what is missing. Undefined if all are damaged. */
  #whole: RepairManifest | undefined;
  /** The names of the files whose place in the database is not in any MANIFEST. */
  readonly #guessed = new Set<string>();
  /** The files that move to the folder `lost`, other than MANIFESTs. */
  readonly #replaced = new Map<string, SetAsideReason>();

  constructor(folder: WritableFolder, settings: Settings, isFromTablesAlone: boolean) {
    this.#folder = folder;
    this.#settings = settings;
    this.#isFromTablesAlone = isFromTablesAlone;
    this.#tables = new RepairedTables(folder, settings);
  }

  async run(): Promise<RepairReport> {
    const tables = this.#tables;
    let isMade = false;
    try {
      const names = await this.#folder.list();
      const current = await this.#current();
      const manifests = await this.#manifests(names, current);
      const intact = chosenManifest(manifests);
      // In another order than theirs, all tables would seem damaged. A MANIFEST that is not in use may be that of another database.
      for (const one of manifests) {
        const { comparator, isCurrent, name: file } = one;
        if (intact === undefined || one === intact || isCurrent) mustBeOrderOf(comparator, this.#settings.comparator, { structure: 'MANIFEST', offset: 0, file });
      }
      const manifest = this.#isFromTablesAlone ? undefined : intact;
      // CURRENT may name a file that is not listed.
      tables.takeNumbers(current === undefined ? names : [...names, current]);
      if (manifest !== undefined) {
        // No new table may get the number of a missing one: a second repair would take it for the missing one.
        tables.takeNumber(manifest.lastFileNumber);
        tables.sawSequence(manifest.lastSequence);
      }
      this.#whole = intact ?? manifests.find(({ isCurrent, isDamaged }) => isCurrent && !isDamaged);
      this.#reportMissing(this.#whole);
      const data = names.filter((name) => !manifests.some((one) => one.name === name));
      for (const table of numberedFiles(data, 'table')) await this.#takeTable(table, manifest);
      for (const table of this.#damaged) await this.#salvage(table);
      for (const table of this.#unreadable) this.#giveUp(table);
      for (const log of numberedFiles(data, 'log')) await this.#takeLog(log, manifest);
      await tables.flush();
      for (const name of await tables.place()) this.#guessed.add(name);
      const number = tables.newFileNumber();
      const record = this.#record(number);
      mustFitManifest(record, number);
      isMade = true;
      const setAside = await this.#install(number, record, manifests.map(({ name }) => name).filter((name) => names.includes(name)));
      await this.#clean(names);
      const { entries, lastSequence } = tables;
      const { listed: lost, more: moreLost } = this.#lost;
      return { manifest: manifest?.name, guessed: [...this.#guessed], ...tables.names, entries, lastSequence, setAside, lost, moreLost };
    } finally {
      await tables.close();
      // No MANIFEST lists the tables of a failed repair.
      if (!isMade) for (const name of tables.begun) await deleteIfPossible(this.#folder, name);
    }
  }

  /** All MANIFESTs of the folder, and the file that CURRENT names. */
  async #manifests(names: readonly string[], current: string | undefined): Promise<RepairManifest[]> {
    const manifests: RepairManifest[] = [];
    for (const name of new Set(current === undefined ? names : [...names, current])) {
      const type = parseFileName(name)?.type;
      if (name !== current && type !== 'manifest') continue;
      await this.#withFile(name, async (file) => {
        const manifest = await runAsync(this.#folder, RepairManifest.read(name, file, names, name === current));
        // A damaged CURRENT can name any file. Nothing that a log or a table holds may be lost for that.
        if (type !== undefined && OTHER_FILES.has(type) && !manifest.isIntact) return;
        manifests.push(manifest);
      });
    }
    return manifests;
  }

  /** Reports tables that the MANIFEST lists but that are missing. A damaged MANIFEST may list tables that later edits deleted. */
  #reportMissing(manifest: RepairManifest | undefined): void {
    for (const { number, size: byteLength } of manifest?.missing ?? []) {
      this.#lost.add({ file: tableFileName(number), offset: 0, byteLength, reason: 'the MANIFEST lists it, but it is missing', code: 'BLOOM_MISSING_FILE' });
    }
  }

  /** The file that CURRENT names, which can be any, if it exists. */
  async #current(): Promise<string | undefined> {
    const name = await runClosing(this.#folder, (closing) => readManifestName(this.#folder.name, closing));
    return name !== undefined && (await this.#withFile(name, () => Promise.resolve())) ? name : undefined;
  }

  /** Keeps a table if it is sound. */
  async #takeTable({ name, number }: NumberedFile, manifest: RepairManifest | undefined): Promise<void> {
    if (manifest?.stateOfTable(number) === 'obsolete') {
      this.#replaced.set(name, 'obsolete');
      return;
    }
    const listed = manifest?.tableOf(number);
    // LevelDB opens a table under a name made from its number, and tries `.ldb` before `.sst`.
    const isFound = isCanonicalName(name) && this.#tables.mayKeep(number) && !this.#damaged.some((one) => one.number === number);
    const isFile = await this.#withFile(name, async (file) => {
      const isKept = isFound && (await isSound(name, file, this.#settings));
      const table = isKept ? await scanTable(this.#folder, number, file.byteLength, this.#tables) : undefined;
      if (table === undefined) {
        this.#damaged.push({ name, number, listed });
        return;
      }
      const isAsListed = listed !== undefined && hasSameBounds(listed.file, table.file);
      const expected = (listed ?? this.#whole?.tableOf(number))?.file;
      if (expected !== undefined && !hasSameBounds(expected, table.file)) {
        this.#lost.add({ file: name, offset: 0, byteLength: expected.size, reason: OTHER_TABLE, code: 'BLOOM_BAD_VERSION' });
      }
      const level = isAsListed ? listed.level : undefined;
      if (level === undefined) this.#guessed.add(name);
      this.#tables.keep(name, table, level);
    });
    if (!isFile) this.#unreadable.push({ name, number, listed });
  }

  /** Saves the readable entries of a damaged table. */
  async #salvage({ name, number, listed }: DamagedTable): Promise<void> {
    if (listed !== undefined && this.#tables.isKept(number)) {
      // Another file with this number is sound.
      this.#replaced.set(name, 'obsolete');
      return;
    }
    this.#replaced.set(name, 'damaged');
    if (listed === undefined) this.#guessed.add(name);
    await this.#withFile(name, async (file) => {
      const size = (listed ?? this.#whole?.tableOf(number))?.file.size;
      const save = (): Promise<void> => salvageTable(name, file, size, this.#settings, this.#tables, this.#lost);
      await (listed === undefined ? save() : this.#tables.replace(listed, save));
    });
  }

  /** Reports the entries of a table as lost, unless another file with its number is sound. */
  #giveUp({ name, number, listed }: DamagedTable): void {
    if (this.#tables.isKept(number)) this.#replaced.set(name, 'obsolete');
    else this.#reportUnreadable(name, listed?.file.size);
  }

  #reportUnreadable(name: string, byteLength?: number): void {
    this.#replaced.set(name, 'damaged');
    this.#lost.add({ file: name, offset: 0, ...(byteLength !== undefined && { byteLength }), reason: 'it is listed but cannot be opened', code: 'BLOOM_MISSING_FILE' });
  }

  async #takeLog({ name, number }: NumberedFile, manifest: RepairManifest | undefined): Promise<void> {
    const isObsolete = manifest?.stateOfLog(name, number) === 'obsolete';
    this.#replaced.set(name, isObsolete ? 'obsolete' : 'replayed');
    if (isObsolete) return;
    const isFile = await this.#withFile(name, async (file) => {
      if (manifest === undefined) this.#guessed.add(name);
      await rescueLog(this.#folder, name, file, this.#settings, this.#tables, this.#lost);
    });
    if (!isFile) this.#reportUnreadable(name);
  }

  /** The record of the new MANIFEST, which has this number. */
  #record(number: bigint): Uint8Array {
    const { placed, lastSequence, nextFileNumber } = this.#tables;
    // Each log has a lower number, and is obsolete.
    return encodeVersionEdit({ comparator: this.#settings.comparator.name, logNumber: number, nextFileNumber, lastSequence, newFiles: placed });
  }

  /** Writes the MANIFEST, sets aside what it replaces, and makes CURRENT name it. */
  async #install(number: bigint, record: Uint8Array, manifests: readonly string[]): Promise<SetAside[]> {
    const name = manifestFileName(number);
    // All tables of the MANIFEST must exist before it does: the next repair may rely on it.
    await this.#folder.syncFolder();
    const manifest = new RecordFile(number, name, await this.#folder.create(name));
    await runEnding(async () => {
      await manifest.addRecord(record);
      await manifest.sync();
    }, () => manifest.close());
    await this.#folder.syncFolder();
    const setAside: SetAside[] = [];
    if (manifests.length + this.#replaced.size > 0) {
      const lost = await LostFiles.open(this.#folder);
      const steps: Iterable<readonly [string, SetAsideReason]>[] = [manifests.map((file) => [file, 'replaced'] as const), this.#replaced];
      // MANIFESTs are moved first, so that nobody can open the database while it lacks the contents of the logs.
      for (const files of steps) {
        for (const [file, reason] of files) setAside.push({ file, as: await lost.move(file), reason });
        await lost.sync();
      }
    }
    await setCurrent(this.#folder, number);
    return setAside;
  }

  /** Deletes files that are no longer of use. */
  async #clean(names: readonly string[]): Promise<void> {
    const temporary = names.filter((name) => parseFileName(name)?.type === 'temporary');
    for (const name of [...this.#tables.superseded, ...temporary]) await deleteIfPossible(this.#folder, name);
  }

  /** @returns false if there is no file of this name: it may be that of a folder, or of a link to a missing file. */
  #withFile(name: string, use: (file: FolderFile) => Promise<void>): Promise<boolean> {
    return withFile(this.#folder, name, async (file) => {
      if (file !== undefined) await use(file);
      return file !== undefined;
    });
  }
}
