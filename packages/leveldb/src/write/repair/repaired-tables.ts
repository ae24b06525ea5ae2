import { type InternalKey, INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { maxBytesOf } from '../../compact/level-scores.js';
import { sizeOf } from '../../compact/overlap.js';
import { type SortedTable, writeSortedTables } from '../../compact/sorted-tables.js';
import type { EntryCursor } from '../../cursor/entry-cursor.js';
import { MergeCursor } from '../../cursor/merge-cursor.js';
import { DamagePolicy } from '../../folder/damage.js';
import { Pacer } from '../../folder/pacer.js';
import type { WritableFolder } from '../../folder/writable-folder.js';
import { keyOrderOf } from '../../format/database-key.js';
import { parseFileName, tableFileName } from '../../format/file-name.js';
import { compareBigints, type FileMetadata, LEVEL_COUNT, type VersionEdit } from '../../format/version-edit.js';
import { compareInternal, compareUser, type KeyOrder, overlap } from '../../format/version.js';
import { Memtable } from '../../memtable/memtable.js';
import { MemtableCursor } from '../../memtable/memtable-cursor.js';
import { TableCache, ViewTables } from '../../table/table-cache.js';
import { LevelEntries } from '../../table/table-cursor.js';
import type { Settings } from '../database-options.js';
import { WRITING_END } from '../file-numbers.js';
import type { ListedTable } from './repair-manifest.js';

/** A table with this number or a higher one is rewritten with a lower one. */
const LAST_KEPT_NUMBER = WRITING_END - 2n ** 32n;

/** A table of the repaired database. */
interface RepairedTable extends SortedTable {
  /** Its level; undefined while it is unknown. Only sequences then show which entries are newer than those of other tables. */
  readonly level: number | undefined;
}

/**
 * The tables of the repaired database: those that are kept unchanged, and those that are written from entries saved elsewhere.
 *
 * Call order: (keep | add | replace)* flush place.
 */
export class RepairedTables {
  /** The highest sequence found. */
  lastSequence = 0n;
  /** The number that the next file will have. */
  nextFileNumber = 1n;
  /** Saved entries that will become tables; `flushIfFull` is called between them. */
  memtable: Memtable;
  /** The names of sound tables that are empty, or whose entries are now in other tables. */
  readonly superseded: string[] = [];
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #order: KeyOrder;
  readonly #damage = new DamagePolicy(true);
  readonly #cache: TableCache;
  #tables: RepairedTable[] = [];
  /** The names of the existing tables. */
  readonly #names = new Map<bigint, string>();
  readonly #written = new Set<bigint>();

  constructor(folder: WritableFolder, settings: Settings) {
    this.#folder = folder;
    this.#settings = settings;
    this.#order = keyOrderOf(settings.comparator);
    this.#cache = new TableCache(settings.maxOpenTables, settings.reading, settings.opening, null);
    this.memtable = new Memtable(this.#order.compareInternalKeys);
  }

  /**
   * Makes new files get numbers that none of `names` has. Numbers that are too high for later files are ignored: tables with such numbers
   * are rewritten, and all other files are moved or deleted.
   */
  takeNumbers(names: readonly string[]): void {
    for (const name of names) {
      const file = parseFileName(name);
      if (file !== undefined && 'number' in file) this.takeNumber(file.number);
    }
  }

  /** Makes new files get numbers above `number`, unless that is too high for later files. */
  takeNumber(number: bigint): void {
    if (number < LAST_KEPT_NUMBER && number >= this.nextFileNumber) this.nextFileNumber = number + 1n;
  }

  newFileNumber(): bigint {
    return this.nextFileNumber++;
  }

  /** Records the sequence of an operation. */
  sawSequence(sequence: bigint): void {
    if (sequence > this.lastSequence) this.lastSequence = sequence;
  }

  mayKeep(number: bigint): boolean {
    return number < LAST_KEPT_NUMBER && !this.#names.has(number);
  }

  isKept(number: bigint): boolean {
    return this.#names.has(number);
  }

  /** Keeps a table as it is, unless it has no entries. @param level its level in the database; undefined when that is unknown. */
  keep(name: string, table: SortedTable, level: number | undefined): void {
    this.#names.set(table.file.number, name);
    if (table.entries > 0) this.#tables.push({ ...table, level });
    else this.superseded.push(name);
  }

  async add({ userKey, sequence, type }: InternalKey, value: Uint8Array): Promise<void> {
    const bytes = new Uint8Array(userKey.length + value.length);
    bytes.set(userKey);
    bytes.set(value, userKey.length);
    this.memtable.add(sequence, type, bytes, 0, userKey.length, userKey.length, bytes.length);
    this.sawSequence(sequence);
    await this.flushIfFull();
  }

  async flushIfFull(): Promise<void> {
    if (this.memtable.memoryUsage > this.#settings.writeBufferSize) await this.flush();
  }

  /** Turns the added entries into tables. */
  async flush(): Promise<void> {
    const memtable = this.memtable;
    this.memtable = new Memtable(this.#order.compareInternalKeys);
    this.#tables.push(...(await this.#write(new MemtableCursor(memtable))));
  }

  /**
   * Turns the entries that `save` adds into tables that replace a damaged one. In level 0 the number of a table
   * determines its age, so tables that replace one of level 0 get no level.
   */
  async replace({ file, level }: ListedTable, save: () => Promise<void>): Promise<void> {
    await this.flush();
    const first = this.#tables.length;
    await save();
    await this.flush();
    if (level === undefined || level === 0 || Math.min(file.smallest.length, file.largest.length) < INTERNAL_KEY_TRAILER_LENGTH) return;
    const order = this.#order;
    this.#tables = this.#tables.map((table, i) => {
      const isWithin = i >= first && compareUser(order, table.file.smallest, file.smallest) >= 0 && compareUser(order, table.file.largest, file.largest) <= 0;
      return isWithin ? { ...table, level } : table;
    });
  }

  /**
   * Gives each table a level at which lookups find the newest value of each key first, and merges tables for which there is none.
   *
   * @returns the names of kept tables that do not fit their level.
   */
  async place(): Promise<string[]> {
    const misplaced = this.#takeMisplaced();
    const known = this.#tables.filter(({ level }) => level !== undefined);
    const found: RepairedTable[] = [];
    for (const group of this.#groupsOf(this.#tables.filter(({ level }) => level === undefined))) found.push(...(await this.#merged(group)));
    // Found tables no longer overlap each other, except in a user key, so each is compared only with tables whose level is known.
    const free = levelFor(sizeOf(found.map(({ file }) => file)));
    const placed: RepairedTable[] = [];
    const pacer = new Pacer(1);
    for (const group of this.#groupsOf([...known, ...found])) {
      const others = group.filter(({ level }) => level !== undefined);
      const levels = new Map<RepairedTable, number>();
      let isPlaced = true;
      for (const table of group) {
        const level = table.level ?? this.#levelAbove(table, others, free);
        if (level === undefined) isPlaced = false;
        else levels.set(table, level);
        if (pacer.isDue()) await pacer.pause();
        if (!isPlaced) break;
      }
      if (isPlaced && !this.#isDivided(group, levels)) {
        for (const [table, level] of levels) placed.push({ ...table, level });
        continue;
      }
      const merged = await this.#merged(group);
      // The group contains all overlapping tables, so its entries can be at any level.
      const deepest = Math.max(levelFor(sizeOf(merged.map(({ file }) => file))), ...others.map(({ level }) => level!));
      for (const table of merged) placed.push({ ...table, level: deepest });
    }
    this.#tables = placed;
    return misplaced;
  }

  /** A cursor over tables that do not overlap. */
  entriesOf(files: readonly FileMetadata[]): LevelEntries {
    return new LevelEntries(files, () => 0, new ViewTables(this.#cache, files, []), this.#damage);
  }

  /** The tables and their levels, once they are placed. */
  get placed(): NonNullable<VersionEdit['newFiles']> {
    return this.#tables.map(({ level, file }) => ({ level: level!, file }));
  }

  get entries(): number {
    return this.#tables.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** The names of the tables that are kept, and of those that were written. */
  get names(): { readonly kept: readonly string[]; readonly written: readonly string[] } {
    const numbers = this.#tables.map(({ file }) => file.number).sort(compareBigints);
    return {
      kept: numbers.filter((number) => !this.#written.has(number)).map((number) => this.#names.get(number)!),
      written: numbers.filter((number) => this.#written.has(number)).map(tableFileName),
    };
  }

  /** The names of all tables that were begun, including unfinished ones. */
  get begun(): string[] {
    return [...this.#written].map(tableFileName);
  }

  close(): Promise<void> {
    return this.#cache.close();
  }

  /**
   * Removes the level of tables that overlap others in it, and in level 0 of those that are not numbered in the order of their writes.
   *
   * @returns the names of those that were kept.
   */
  #takeMisplaced(): string[] {
    const misplaced = new Set<bigint>();
    const byNumber = this.#tables.filter(({ level }) => level === 0).sort((a, b) => compareBigints(a.file.number, b.file.number));
    for (const [i, table] of byNumber.entries()) {
      for (const later of byNumber.slice(i + 1)) {
        if (table.newest > later.oldest && overlap(table.file, later.file, this.#order)) misplaced.add(table.file.number).add(later.file.number);
      }
    }
    for (let level = 1; level < LEVEL_COUNT; level++) {
      let last: RepairedTable | undefined;
      for (const table of this.#sorted(this.#tables.filter((one) => one.level === level))) {
        if (last !== undefined && compareInternal(this.#order, last.file.largest, table.file.smallest) >= 0) {
          misplaced.add(last.file.number).add(table.file.number);
        }
        if (last === undefined || compareInternal(this.#order, table.file.largest, last.file.largest) > 0) last = table;
      }
    }
    this.#tables = this.#tables.map((table) => (misplaced.has(table.file.number) ? { ...table, level: undefined } : table));
    return [...misplaced].flatMap((number) => this.#names.get(number) ?? []);
  }

  /** The level for a table that is newer than all tables that it overlaps; undefined for others. @param free the level if it overlaps none. */
  #levelAbove(table: RepairedTable, others: readonly RepairedTable[], free: number): number | undefined {
    let highest = LEVEL_COUNT;
    for (const { level, file, newest } of others) {
      if (!overlap(file, table.file, this.#order)) continue;
      if (newest >= table.oldest || (level === 0 && file.number > table.file.number)) return undefined;
      highest = Math.min(highest, level!);
    }
    return highest === LEVEL_COUNT ? free : Math.max(highest - 1, 0);
  }

  /** Whether two of the tables, sorted by their smallest keys, share a user key but not a level below 0: then a lookup might find an old version. */
  #isDivided(group: readonly RepairedTable[], levels: ReadonlyMap<RepairedTable, number>): boolean {
    const found = group.filter(({ level }) => level === undefined);
    return found.some((table, i) => {
      const before = found[i - 1];
      if (before === undefined || compareUser(this.#order, before.file.largest, table.file.smallest) < 0) return false;
      return levels.get(table) === 0 || levels.get(before) !== levels.get(table);
    });
  }

  /** Tables sorted by their smallest keys. */
  #sorted(tables: readonly RepairedTable[]): RepairedTable[] {
    return [...tables].sort((a, b) => compareInternal(this.#order, a.file.smallest, b.file.smallest));
  }

  /** Tables, sorted by their smallest keys, in groups that share no user keys. */
  #groupsOf(tables: readonly RepairedTable[]): RepairedTable[][] {
    const groups: RepairedTable[][] = [];
    let largest: Uint8Array | undefined;
    for (const table of this.#sorted(tables)) {
      const { file } = table;
      if (largest !== undefined && compareUser(this.#order, file.smallest, largest) <= 0) groups.at(-1)!.push(table);
      else groups.push([table]);
      if (largest === undefined || compareUser(this.#order, file.largest, largest) > 0) ({ largest } = file);
    }
    return groups;
  }

  /** Merges tables, sorted by their smallest keys, into tables without a level that do not overlap. */
  async #merged(group: readonly RepairedTable[]): Promise<RepairedTable[]> {
    if (group.length === 1) return [...group];
    const runs = this.#runsOf(group.map(({ file }) => file));
    const sources = runs.map((run) => this.entriesOf(run));
    const merged = await this.#write(new MergeCursor(sources, this.#order.compareInternalKeys));
    this.superseded.push(...group.map(({ file: { number } }) => this.#names.get(number) ?? tableFileName(number)));
    return merged;
  }

  /** Splits tables, sorted by their smallest keys, into few runs without overlap: each run has one table open at a time. */
  #runsOf(files: readonly FileMetadata[]): FileMetadata[][] {
    const runs: FileMetadata[][] = [];
    for (const file of files) {
      const run = runs.find((others) => compareInternal(this.#order, others.at(-1)!.largest, file.smallest) < 0);
      if (run === undefined) runs.push([file]);
      else run.push(file);
    }
    return runs;
  }

  async #write(cursor: EntryCursor): Promise<RepairedTable[]> {
    const { building, maxFileSize } = this.#settings;
    const newFileNumber = (): bigint => {
      const number = this.newFileNumber();
      this.#written.add(number);
      return number;
    };
    const written = await writeSortedTables(cursor, this.#folder, { order: this.#order, building, maxFileSize, newFileNumber });
    return written.map((table) => ({ ...table, level: undefined }));
  }
}

/** The first level below level 0 whose limit is at least `bytes`. */
function levelFor(bytes: number): number {
  let level = 1;
  while (level < LEVEL_COUNT - 1 && bytes > maxBytesOf(level)) level++;
  return level;
}
