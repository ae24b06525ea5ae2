/**
 * Makes a database of whatever logs and tables a folder has, without its MANIFEST.
 *
 * Source: LevelDB, db/repair.cc. Where that puts all tables into level 0 as they are, and so decides by their numbers which
 * value of a key is the newest, tables that overlap are merged here: compactions number tables in another order than that
 * of age.
 */
import { CorruptionError, mustBeOptions, UnsupportedError } from '@bloom/bytes';
import { LogReader } from '@bloom/log';
import type { Source } from '@bloom/sstable';
import { decodeInternalKey, DELETION, type InternalKey, MAX_SEQUENCE, readRange, VALUE } from '@bloom/sstable/database';
import { type Finding, salvagedEntries, type SalvageReport, verifyTable } from '@bloom/sstable/inspect';
import { readCurrent } from '../current.js';
import { DamagePolicy, type Dropped } from '../damage.js';
import { DatabaseError } from '../database-error.js';
import { keyOrderOf } from '../database-key.js';
import type { EntryCursor } from '../entry-cursor.js';
import { CURRENT, manifestFileName, oldTableFileName, parseFileName, tableFileName } from '../file-name.js';
import { runAsync } from '../folder-reading.js';
import type { FolderFile } from '../folder.js';
import { pushAll } from '../log-memtable.js';
import { ManifestBuilder } from '../manifest.js';
import { Memtable } from '../memtable.js';
import { MergeCursor } from '../merge.js';
import { TableCache, ViewTables } from '../table-cache.js';
import { LevelEntries } from '../table-entries.js';
import { compareBigints, encodeVersionEdit, type FileMetadata, LEVEL_COUNT } from '../version-edit.js';
import type { KeyOrder } from '../version.js';
import type { WritableFolder } from '../writable-folder.js';
import { WriteBatchReader } from '../write-batch.js';
import { maxBytesOf } from './compaction.js';
import { type DatabaseOptions, type Settings, settingsOf } from './database-options.js';
import { LostFiles } from './lost-files.js';
import { lockOf } from './opening.js';
import { compareInternal, compareUser, sizeOf } from './overlap.js';
import { Pacer } from './pacer.js';
import { RecordFile } from './record-file.js';
import { type SortedTable, writeSortedTables } from './sorted-tables.js';
import { ENTRIES_PER_LOOK } from './table-file.js';
import { FILE_NUMBER_END, setCurrent } from './version-set.js';

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
  | 'lock'
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
  lock: true,
};

/** A file that a repair moved to the folder `lost`. */
export interface SetAside {
  /** Its name in the folder of the database. */
  readonly file: string;
  /** Its name in `lost`. */
  readonly as: string;
}

/** What a repair did, and what could not be saved. */
export interface RepairReport {
  /** The tables that were sound and are part of the database as they were. */
  readonly kept: readonly string[];
  /** The tables that were written, of logs, of damaged tables and of tables that overlapped. */
  readonly written: readonly string[];
  /** How many versions of keys these tables hold, deletions included. */
  readonly entries: number;
  /** The sequence of the last write that was found. */
  readonly lastSequence: bigint;
  /** The logs, the MANIFESTs and the damaged tables, which are in the folder `lost` now. */
  readonly setAside: readonly SetAside[];
  /** What could not be read, and tables that the MANIFEST lists and the folder does not have; at most 10,000 places. */
  readonly lost: readonly Dropped[];
  /** The number of places that are not listed. */
  readonly moreLost: number;
}

/** The most places of a report: a file of nothing but damage has one every few bytes. */
const MAX_LOST = 10_000;
const NO_KEY = new Uint8Array(0);

/** @see Database.repair */
export async function repairDatabase(folder: WritableFolder, options: RepairOptions): Promise<RepairReport> {
  mustBeOptions('Database.repair', options, REPAIR_OPTIONS);
  const settings = settingsOf(options);
  try {
    await folder.list();
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'ENOENT') throw cause;
    throw new DatabaseError('BLOOM_DATABASE_MISSING', `${folder.name ?? 'the folder'} is not there`, { cause });
  }
  const lock = settings.locks ? await lockOf(folder) : undefined;
  try {
    return await new Repair(folder, settings).run();
  } finally {
    await lock?.release();
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
  readonly #order: KeyOrder;
  readonly #damage = new DamagePolicy(true);
  readonly #tables: TableCache;
  /** Entries of logs and damaged tables, to become tables. */
  #memtable: Memtable;
  #nextFileNumber = 1n;
  #lastSequence = 0n;
  /** The tables that the database will consist of. */
  #files: SortedTable[] = [];
  /** The names of the tables that were there before. */
  readonly #names = new Map<bigint, string>();
  /** Tables that are damaged. */
  readonly #damaged: string[] = [];
  /** Sound tables whose entries are in others by now. */
  readonly #merged: string[] = [];
  readonly #written = new Set<bigint>();
  readonly #lost: Dropped[] = [];
  #moreLost = 0;

  constructor(folder: WritableFolder, settings: Settings) {
    this.#folder = folder;
    this.#settings = settings;
    this.#order = keyOrderOf(settings.comparator);
    this.#tables = new TableCache(settings.maxOpenTables, settings.reading, settings.opening, null);
    this.#memtable = new Memtable(this.#order.compareInternalKeys);
  }

  async run(): Promise<RepairReport> {
    try {
      const names = await this.#folder.list();
      const current = await this.#current();
      // CURRENT may name any file.
      const manifests = names.filter((name) => name === current || parseFileName(name)?.type === 'manifest');
      await this.#mustBeOfOrder(manifests);
      this.#takeNumbers(current === undefined ? names : [...names, current]);
      if (current !== undefined) await this.#reportMissing(current, names);
      const isData = (name: string): boolean => !manifests.includes(name);
      for (const table of numbered(names.filter(isData), 'table')) await this.#checkTable(table);
      for (const name of this.#damaged) await this.#salvage(name);
      const logs = numbered(names.filter(isData), 'log');
      for (const { name } of logs) await this.#replay(name);
      await this.#flush();
      await this.#merge();
      const setAside = await this.#install(manifests, [...logs.map(({ name }) => name), ...this.#damaged]);
      await this.#clean(names);
      return this.#report(setAside);
    } finally {
      await this.#tables.close();
    }
  }

  /** @throws UnsupportedError when a MANIFEST says that the keys are in another order: all tables would seem damaged. */
  async #mustBeOfOrder(manifests: readonly string[]): Promise<void> {
    for (const name of manifests) {
      await this.#withFile(name, async (file) => {
        const { comparator } = (await this.#readManifest(name, file)).builder;
        if (comparator === undefined || comparator === this.#settings.comparator.name) return;
        const problem = `its keys are in the order of the comparator ${JSON.stringify(comparator)}, the one given is ${JSON.stringify(this.#settings.comparator.name)}`;
        throw new UnsupportedError('BLOOM_UNKNOWN_COMPARATOR', { structure: 'MANIFEST', offset: 0, file: name }, problem);
      });
    }
  }

  /** New files get numbers that no file has, nor the one that CURRENT names. */
  #takeNumbers(names: readonly string[]): void {
    for (const name of names) {
      const file = parseFileName(name);
      if (file === undefined || !('number' in file) || file.number >= FILE_NUMBER_END) continue;
      if (file.number >= this.#nextFileNumber) this.#nextFileNumber = file.number + 1n;
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
        this.#lose({ file: name, offset: 0, byteLength, reason: 'the MANIFEST lists it, and it is not there', code: 'BLOOM_MISSING_FILE' });
      }
    });
  }

  /** What CURRENT names, if it can be read. */
  async #current(): Promise<string | undefined> {
    const file = await this.#folder.open(CURRENT);
    try {
      return await runAsync(this.#folder, readCurrent(file, this.#folder.name));
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      return undefined;
    } finally {
      await file?.close?.();
    }
  }

  async #readManifest(name: string, file: FolderFile): Promise<{ readonly builder: ManifestBuilder; readonly isDamaged: boolean }> {
    const builder = new ManifestBuilder();
    let isDamaged = false;
    const reader = new LogReader({
      drop: () => (isDamaged = true),
      record(record, offset) {
        try {
          builder.add(record, { structure: 'version edit', offset, file: name });
        } catch (error) {
          if (!(error instanceof CorruptionError)) throw error;
          isDamaged = true;
        }
      },
    });
    await runAsync(this.#folder, pushAll(reader, file, 0));
    reader.finish();
    return { builder, isDamaged };
  }

  // ---- what there is

  /** Keeps a table if nothing is wrong with it. */
  async #checkTable({ name, number }: NumberedFile): Promise<void> {
    // LevelDB finds a table by the name that its number gives, the newer one first.
    const hasItsName = name === tableFileName(number) || name === oldTableFileName(number);
    const isFound = hasItsName && number < FILE_NUMBER_END && !this.#names.has(number);
    await this.#withFile(name, async (file) => {
      const table = isFound && (await this.#isSound(name, file)) ? await this.#scan(number, file.byteLength) : undefined;
      if (table === undefined) {
        this.#damaged.push(name);
        return;
      }
      this.#names.set(number, name);
      if (table.entries > 0) this.#files.push(table);
      else this.#merged.push(name);
    });
  }

  /** @throws UnsupportedError when it has blocks of a codec that was not given: they are not damaged. */
  async #isSound(name: string, source: Source): Promise<boolean> {
    const { comparator, filterPolicies, codecs } = this.#settings.opening;
    const { findings } = await verifyTable(source, { comparator, filterPolicies, codecs });
    for (const { code, structure, offset, problem } of findings) {
      if (code === 'BLOOM_UNSUPPORTED_CODEC') throw new UnsupportedError(code, { structure, offset, file: name }, problem);
    }
    return findings.length === 0;
  }

  /** The first and the last key of a sound table, and how many there are; undefined where a key is not a database's. */
  async #scan(number: bigint, size: number): Promise<SortedTable | undefined> {
    let smallest: Uint8Array = NO_KEY;
    let largest: Uint8Array = NO_KEY;
    let entries = 0;
    let lastSequence = 0n;
    const pacer = new Pacer(ENTRIES_PER_LOOK);
    const cursor = this.#entriesOf([{ number, size, smallest, largest }]);
    try {
      for (let settled = cursor.seekToFirst(); ; settled = cursor.next()) {
        if (!settled) await runAsync(this.#folder, cursor.settle());
        if (!cursor.valid) break;
        if (pacer.isDue()) await pacer.pause();
        const { keyBytes, keyStart, keyEnd } = cursor.entry;
        largest = keyBytes.slice(keyStart, keyEnd);
        const key = internalKeyOf(largest);
        if (key === undefined) return undefined;
        if (key.sequence > lastSequence) lastSequence = key.sequence;
        if (entries++ === 0) smallest = largest;
      }
    } finally {
      cursor.close();
    }
    if (lastSequence > this.#lastSequence) this.#lastSequence = lastSequence;
    return { file: { number, size, smallest, largest }, entries };
  }

  /** Takes what can be read of a damaged table. */
  async #salvage(name: string): Promise<void> {
    const { codecs } = this.#settings.opening;
    await this.#withFile(name, async (file) => {
      const saved = salvagedEntries(file, { comparator: null, codecs });
      let report: SalvageReport;
      let badKeys = 0;
      for (;;) {
        const step = await saved.next();
        if (step.done === true) {
          report = step.value;
          break;
        }
        const [bytes, value] = step.value;
        const key = internalKeyOf(bytes);
        if (key === undefined) badKeys++;
        else await this.#add(key, value);
      }
      for (const { offset, byteLength, problem: reason } of report.lost) {
        this.#lose({ file: name, offset, byteLength, reason, code: codeAt(report.findings, offset) });
      }
      this.#moreLost += report.moreLost;
      const { entries } = report;
      if (entries === 0 && report.lost.length === 0 && file.byteLength > 0) {
        this.#lose({ file: name, offset: 0, byteLength: file.byteLength, reason: 'no entries can be found', code: 'BLOOM_NOT_A_TABLE' });
      }
      if (badKeys > 0) {
        this.#lose({ file: name, offset: 0, reason: `keys that are not a database's: ${badKeys}`, code: 'BLOOM_BAD_INTERNAL_KEY' });
      }
    });
  }

  /** Takes the operations of a log, of batches that are damaged those before the damage. */
  async #replay(name: string): Promise<void> {
    await this.#withFile(name, async (file) => {
      const reader = new LogReader({
        drop: ({ offset, byteLength, reason }) => this.#lose({ file: name, offset, byteLength, reason, code: 'BLOOM_BAD_LOG' }),
        record: (record, offset) => {
          const batch = new WriteBatchReader(record);
          const lose = (reason: string): void => this.#lose({ file: name, offset, byteLength: record.length, reason, code: 'BLOOM_BAD_WRITE_BATCH' });
          if (batch.sequence + BigInt(batch.count) > MAX_SEQUENCE) {
            lose('its sequence is too high');
            return;
          }
          let sequence = batch.sequence;
          for (; batch.next(); sequence++) {
            this.#memtable.add(sequence, batch.type, batch.bytes, batch.keyStart, batch.keyEnd, batch.valueStart, batch.valueEnd);
          }
          // As opening counts them: by the header where the batch has fewer operations, by the operations where it has more.
          const end = batch.sequence + BigInt(Math.max(batch.found, batch.problem === 'log record too small' ? 0 : batch.count));
          if (end > 0n && end - 1n > this.#lastSequence) this.#lastSequence = end - 1n;
          if (batch.problem !== undefined) lose(batch.problem);
        },
      });
      for (let position = 0; position < file.byteLength; position += CHUNK_LENGTH) {
        reader.push(await readRange(file, { offset: position, length: Math.min(CHUNK_LENGTH, file.byteLength - position) }));
        await this.#flushIfFull();
      }
      const tail = reader.finish();
      if (tail !== undefined) this.#lose({ file: name, offset: tail.offset, byteLength: tail.byteLength, reason: tail.problem, code: 'BLOOM_TRUNCATED' });
      await this.#flushIfFull();
    });
  }

  async #add({ userKey, sequence, type }: InternalKey, value: Uint8Array): Promise<void> {
    const bytes = new Uint8Array(userKey.length + value.length);
    bytes.set(userKey);
    bytes.set(value, userKey.length);
    this.#memtable.add(sequence, type, bytes, 0, userKey.length, userKey.length, bytes.length);
    if (sequence > this.#lastSequence) this.#lastSequence = sequence;
    await this.#flushIfFull();
  }

  async #flushIfFull(): Promise<void> {
    if (this.#memtable.memoryUsage > this.#settings.writeBufferSize) await this.#flush();
  }

  async #flush(): Promise<void> {
    const memtable = this.#memtable;
    this.#memtable = new Memtable(this.#order.compareInternalKeys);
    this.#files.push(...(await this.#write(memtable.cursor())));
  }

  // ---- what becomes of it

  /** Merges tables that share user keys, so that none do any more. */
  async #merge(): Promise<void> {
    const groups: SortedTable[][] = [];
    let largest: Uint8Array | undefined;
    for (const table of this.#files.sort((a, b) => compareInternal(this.#order, a.file.smallest, b.file.smallest))) {
      const { file } = table;
      if (largest !== undefined && compareUser(this.#order, file.smallest, largest) <= 0) groups.at(-1)!.push(table);
      else groups.push([table]);
      if (largest === undefined || compareUser(this.#order, file.largest, largest) > 0) ({ largest } = file);
    }
    this.#files = [];
    for (const group of groups) {
      if (group.length === 1) {
        this.#files.push(group[0]!);
        continue;
      }
      const runs = this.#runsOf(group.map(({ file }) => file));
      const sources = runs.map((run) => this.#entriesOf(run));
      this.#files.push(...(await this.#write(new MergeCursor(sources, this.#order.compareInternalKeys))));
      this.#merged.push(...group.map(({ file: { number } }) => this.#names.get(number) ?? tableFileName(number)));
    }
  }

  /** Tables, sorted by their smallest keys, as few sequences without overlap: each of them has one table open at a time. */
  #runsOf(files: readonly FileMetadata[]): FileMetadata[][] {
    const runs: FileMetadata[][] = [];
    for (const file of files) {
      const run = runs.find((others) => compareInternal(this.#order, others.at(-1)!.largest, file.smallest) < 0);
      if (run === undefined) runs.push([file]);
      else run.push(file);
    }
    return runs;
  }

  #entriesOf(files: readonly FileMetadata[]): LevelEntries {
    return new LevelEntries(files, () => 0, new ViewTables(this.#tables, files, []), this.#damage);
  }

  async #write(cursor: EntryCursor): Promise<SortedTable[]> {
    const { building, maxFileSize } = this.#settings;
    const newFileNumber = (): bigint => {
      const number = this.#nextFileNumber++;
      this.#written.add(number);
      return number;
    };
    return writeSortedTables(cursor, this.#folder, { order: this.#order, building, maxFileSize, newFileNumber });
  }

  /** Writes the MANIFEST, sets aside what it replaces, and makes CURRENT name it. */
  async #install(manifests: readonly string[], others: readonly string[]): Promise<SetAside[]> {
    const number = this.#nextFileNumber++;
    const name = manifestFileName(number);
    const level = levelFor(sizeOf(this.#files.map(({ file }) => file)));
    const manifest = new RecordFile(number, name, await this.#folder.create(name));
    try {
      await manifest.addRecord(
        encodeVersionEdit({
          comparator: this.#settings.comparator.name,
          logNumber: 0n,
          nextFileNumber: this.#nextFileNumber,
          lastSequence: this.#lastSequence,
          newFiles: this.#files.map(({ file }) => ({ level, file })),
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
    for (const name of [...this.#merged, ...temporary]) await this.#folder.delete(name);
  }

  #report(setAside: readonly SetAside[]): RepairReport {
    const byNumber = this.#files.map(({ file }) => file.number).sort(compareBigints);
    return {
      kept: byNumber.filter((number) => !this.#written.has(number)).map((number) => this.#names.get(number)!),
      written: byNumber.filter((number) => this.#written.has(number)).map(tableFileName),
      entries: this.#files.reduce((sum, { entries }) => sum + entries, 0),
      lastSequence: this.#lastSequence,
      setAside,
      lost: this.#lost,
      moreLost: this.#moreLost,
    };
  }

  #lose(dropped: Dropped): void {
    if (this.#lost.length < MAX_LOST) this.#lost.push(dropped);
    else this.#moreLost++;
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

/** Bytes of a log that are read at once. */
const CHUNK_LENGTH = 4 * 2 ** 20;

/** The key of an entry; undefined where it is not one of a database. */
function internalKeyOf(bytes: Uint8Array): InternalKey | undefined {
  const key = decodeInternalKey(bytes);
  return key !== undefined && (key.type === VALUE || key.type === DELETION) && key.sequence < MAX_SEQUENCE ? key : undefined;
}

/** The first level below 0 for which so many bytes are not too many. */
function levelFor(bytes: number): number {
  let level = 1;
  while (level < LEVEL_COUNT - 1 && bytes > maxBytesOf(level)) level++;
  return level;
}

function codeAt(findings: readonly Finding[], offset: number): string {
  return findings.find((finding) => finding.offset === offset)?.code ?? 'BLOOM_BAD_CHECKSUM';
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
