/**
 * Makes a database of whatever logs and tables a folder has, without its MANIFEST.
 *
 * Source: LevelDB, db/repair.cc. Where that puts all tables into level 0 as they are, and so decides by their numbers which
 * value of a key is the newest, tables that overlap are merged here: compactions number tables in another order than that
 * of age.
 */
import { CorruptionError, mustBeOptions, quotedName, UnsupportedError } from '@bloom/bytes';
import { maxBytesOf } from '../compact/compaction.js';
import { sizeOf } from '../compact/overlap.js';
import { readCurrent } from '../folder/current-file.js';
import { DatabaseError } from '../folder/database-error.js';
import type { FolderFile } from '../folder/folder.js';
import { runAsync } from '../folder/folder-reading.js';
import { LostFiles } from '../folder/lost-files.js';
import { RecordFile } from '../folder/record-file.js';
import { readManifest } from '../folder/manifest-file.js';
import { isMissing, type WritableFolder } from '../folder/writable-folder.js';
import { CURRENT, isCanonicalName, manifestFileName, oldTableFileName, parseFileName, tableFileName } from '../format/file-name.js';
import { type ManifestBuilder, MAX_MANIFEST_LENGTH } from '../format/manifest.js';
import { compareBigints, encodeVersionEdit, LEVEL_COUNT } from '../format/version-edit.js';
import { type DatabaseOptions, type Settings, settingsOf } from './database-options.js';
import { holdFolder } from './folder-hold.js';
import { deleteIfPossible } from './live-files.js';
import { rescueLog } from './log-rescue.js';
import { LostPlaces, type RepairReport, type SetAside } from './repair-report.js';
import { RepairedTables } from './repaired-tables.js';
import { isSound, salvageTable, scanTable } from './table-rescue.js';
import { setCurrent } from './version-set.js';

/** How to repair a database. Every option has a default. */
export type RepairOptions = Pick<
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
>;

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
};

/** @see Database.repair */
export async function repairDatabase(folder: WritableFolder, options: RepairOptions): Promise<RepairReport> {
  mustBeOptions('Database.repair', options, REPAIR_OPTIONS);
  const settings = settingsOf(options);
  try {
    await folder.list();
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    throw new DatabaseError('BLOOM_DATABASE_MISSING', `${folder.name ?? 'the folder'} cannot be repaired: no such file or directory`, { cause });
  }
  const hold = await holdFolder(folder, settings);
  try {
    return await new Repair(hold.folder, settings).run();
  } finally {
    await hold.release();
  }
}

/** A log or a table of the folder. */
interface NumberedFile {
  readonly name: string;
  readonly number: bigint;
}

/**
 * The order of changes makes a repair that is interrupted one that can be begun again: until the MANIFEST is set aside the
 * database is what it was, with tables too many; from then on CURRENT names a file that is not there, and nobody opens the
 * database or deletes files from it, until CURRENT names the new MANIFEST.
 */
class Repair {
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #tables: RepairedTables;
  readonly #lost = new LostPlaces();
  /** The names of tables that are damaged. */
  readonly #damaged: string[] = [];

  constructor(folder: WritableFolder, settings: Settings) {
    this.#folder = folder;
    this.#settings = settings;
    this.#tables = new RepairedTables(folder, settings);
  }

  async run(): Promise<RepairReport> {
    const tables = this.#tables;
    try {
      const names = await this.#folder.list();
      const current = await this.#current();
      const manifests = names.filter((name) => name === current || parseFileName(name)?.type === 'manifest');
      await this.#mustBeOfOrder(manifests);
      // CURRENT may name a file that is not listed.
      tables.takeNumbers(current === undefined ? names : [...names, current]);
      if (current !== undefined) await this.#reportMissing(current, names);
      const data = names.filter((name) => !manifests.includes(name));
      for (const table of numbered(data, 'table')) await this.#keepIfSound(table);
      for (const name of this.#damaged) await this.#withFile(name, (file) => salvageTable(name, file, this.#settings, tables, this.#lost));
      const logs = numbered(data, 'log').map(({ name }) => name);
      for (const name of logs) await this.#withFile(name, (file) => rescueLog(this.#folder, name, file, this.#settings, tables, this.#lost));
      await tables.flush();
      await tables.mergeOverlapping();
      const setAside = await this.#install(manifests, [...logs, ...this.#damaged]);
      await this.#clean(names);
      const { entries, lastSequence } = tables;
      return { ...tables.names, entries, lastSequence, setAside, lost: this.#lost.listed, moreLost: this.#lost.more };
    } finally {
      await tables.close();
    }
  }

  /** @throws UnsupportedError when a MANIFEST says that the keys are in another order: all tables would seem damaged. */
  async #mustBeOfOrder(manifests: readonly string[]): Promise<void> {
    for (const name of manifests) {
      await this.#withFile(name, async (file) => {
        const { comparator } = (await this.#readManifest(name, file)).builder;
        if (comparator === undefined || comparator === this.#settings.comparator.name) return;
        const problem = `its keys are in the order of the comparator ${quotedName(comparator)}, the one given is ${quotedName(this.#settings.comparator.name)}`;
        throw new UnsupportedError('BLOOM_UNKNOWN_COMPARATOR', { structure: 'MANIFEST', offset: 0, file: name }, problem);
      });
    }
  }

  /** Tables that the MANIFEST lists and that are gone. One that cannot be read to its end may list any. */
  async #reportMissing(manifest: string, names: readonly string[]): Promise<void> {
    await this.#withFile(manifest, async (file) => {
      const { builder, isDamaged } = await this.#readManifest(manifest, file);
      if (isDamaged) return;
      for (const { number, size: byteLength } of builder.files.levels.flat()) {
        const name = tableFileName(number);
        if (names.includes(name) || names.includes(oldTableFileName(number))) continue;
        this.#lost.add({ file: name, offset: 0, byteLength, reason: 'the MANIFEST lists it, and it is not there', code: 'BLOOM_MISSING_FILE' });
      }
    });
  }

  /** The file that CURRENT names, which may be any, if there is one. */
  async #current(): Promise<string | undefined> {
    const file = await this.#folder.open(CURRENT);
    try {
      const name = await runAsync(this.#folder, readCurrent(file, this.#folder.name));
      const named = await this.#folder.open(name);
      await named?.close?.();
      return named && name;
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      return undefined;
    } finally {
      await file?.close?.();
    }
  }

  async #readManifest(name: string, file: FolderFile): Promise<{ readonly builder: ManifestBuilder; readonly isDamaged: boolean }> {
    let isDamaged = file.byteLength > MAX_MANIFEST_LENGTH;
    // Only for what the comparator is, and which tables are missing: of a file that is no MANIFEST the start is enough.
    const reading = readManifest(file, name, { isStartEnough: true, onDamage: () => (isDamaged = true) });
    const { builder } = await runAsync(this.#folder, reading);
    return { builder, isDamaged };
  }

  /** Keeps a table if nothing is wrong with it. */
  async #keepIfSound({ name, number }: NumberedFile): Promise<void> {
    // LevelDB finds a table by the name that its number gives, the newer one first.
    const isFound = isCanonicalName(name) && this.#tables.mayKeep(number);
    await this.#withFile(name, async (file) => {
      const isKept = isFound && (await isSound(name, file, this.#settings));
      const table = isKept ? await scanTable(this.#folder, number, file.byteLength, this.#tables) : undefined;
      if (table === undefined) this.#damaged.push(name);
      else this.#tables.keep(name, table);
    });
  }

  /** Writes the MANIFEST, sets aside what it replaces, and makes CURRENT name it. */
  async #install(manifests: readonly string[], others: readonly string[]): Promise<SetAside[]> {
    const { files, lastSequence } = this.#tables;
    const number = this.#tables.newFileNumber();
    const name = manifestFileName(number);
    const level = levelFor(sizeOf(files));
    const manifest = new RecordFile(number, name, await this.#folder.create(name));
    try {
      await manifest.addRecord(
        encodeVersionEdit({
          comparator: this.#settings.comparator.name,
          logNumber: 0n,
          nextFileNumber: this.#tables.nextFileNumber,
          lastSequence,
          newFiles: files.map((file) => ({ level, file })),
        }),
      );
      await manifest.sync();
    } finally {
      await manifest.close();
    }
    await this.#folder.syncFolder();
    const setAside: SetAside[] = [];
    if (manifests.length + others.length > 0) {
      const lost = await LostFiles.open(this.#folder);
      // From the first of these on, the database cannot be opened: it would be without what is in the logs.
      for (const files of [manifests, others]) {
        for (const file of files) setAside.push({ file, as: await lost.move(file) });
        await lost.sync();
      }
    }
    await setCurrent(this.#folder, number);
    return setAside;
  }

  /** Deletes what is of no use any more. */
  async #clean(names: readonly string[]): Promise<void> {
    const temporary = names.filter((name) => parseFileName(name)?.type === 'temporary');
    for (const name of [...this.#tables.superseded, ...temporary]) await deleteIfPossible(this.#folder, name);
  }

  /** Does nothing where a folder has the name. */
  async #withFile(name: string, use: (file: FolderFile) => Promise<void>): Promise<void> {
    const file = await this.#folder.open(name);
    if (file === undefined) return;
    try {
      await use(file);
    } finally {
      await file.close?.();
    }
  }
}

/** The first level below 0 for which so many bytes are not too many. */
function levelFor(bytes: number): number {
  let level = 1;
  while (level < LEVEL_COUNT - 1 && bytes > maxBytesOf(level)) level++;
  return level;
}

/** The files of a type, by their numbers; a table's newer name before its older. */
function numbered(names: readonly string[], type: 'log' | 'table'): NumberedFile[] {
  const files: NumberedFile[] = [];
  for (const name of [...names].sort()) {
    const file = parseFileName(name);
    if (file?.type === type) files.push({ name, number: file.number });
  }
  return files.sort((a, b) => compareBigints(a.number, b.number));
}
