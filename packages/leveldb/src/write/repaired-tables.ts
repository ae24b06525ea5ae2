import type { InternalKey } from '@bloom/sstable/database';
import { compareInternal, compareUser } from '../compact/overlap.js';
import { type SortedTable, writeSortedTables } from '../compact/sorted-tables.js';
import type { EntryCursor } from '../cursor/entry-cursor.js';
import { MergeCursor } from '../cursor/merge-cursor.js';
import { DamagePolicy } from '../folder/damage.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { keyOrderOf } from '../format/database-key.js';
import { parseFileName, tableFileName } from '../format/file-name.js';
import { compareBigints, type FileMetadata } from '../format/version-edit.js';
import type { KeyOrder } from '../format/version.js';
import { Memtable } from '../memtable/memtable.js';
import { MemtableCursor } from '../memtable/memtable-cursor.js';
import { TableCache, ViewTables } from '../table/table-cache.js';
import { LevelEntries } from '../table/table-cursor.js';
import type { Settings } from './database-options.js';
import { WRITING_END } from './file-numbers.js';

/** A table with this number or a higher one is written again under a lower one. */
const LAST_KEPT_NUMBER = WRITING_END - 2n ** 32n;

/**
 * The tables that a repaired database will consist of: those that are kept as they are, and those that are written of entries
 * that were saved elsewhere.
 */
export class RepairedTables {
  /** The last sequence that was found. */
  lastSequence = 0n;
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #order: KeyOrder;
  readonly #damage = new DamagePolicy(true);
  readonly #cache: TableCache;
  /** Entries that were saved, to become tables. */
  #memtable: Memtable;
  #nextFileNumber = 1n;
  #tables: SortedTable[] = [];
  /** The names of the tables that were there before. */
  readonly #names = new Map<bigint, string>();
  readonly #superseded: string[] = [];
  readonly #written = new Set<bigint>();

  constructor(folder: WritableFolder, settings: Settings) {
    this.#folder = folder;
    this.#settings = settings;
    this.#order = keyOrderOf(settings.comparator);
    this.#cache = new TableCache(settings.maxOpenTables, settings.reading, settings.opening, null);
    this.#memtable = new Memtable(this.#order.compareInternalKeys);
  }

  /**
   * New files get numbers that none of `names` has. Numbers that leave none for later files are not counted from: tables that have
   * them are written again, and all other files are moved or deleted.
   */
  takeNumbers(names: readonly string[]): void {
    for (const name of names) {
      const file = parseFileName(name);
      if (file === undefined || !('number' in file) || file.number >= LAST_KEPT_NUMBER) continue;
      if (file.number >= this.#nextFileNumber) this.#nextFileNumber = file.number + 1n;
    }
  }

  /** Takes the next number for a file. */
  newFileNumber(): bigint {
    return this.#nextFileNumber++;
  }

  /** The number that the next file will have. */
  get nextFileNumber(): bigint {
    return this.#nextFileNumber;
  }

  /** Notes that an operation has this sequence. */
  sawSequence(sequence: bigint): void {
    if (sequence > this.lastSequence) this.lastSequence = sequence;
  }

  /** Whether a table of this number may be kept. */
  mayKeep(number: bigint): boolean {
    return number < LAST_KEPT_NUMBER && !this.#names.has(number);
  }

  /** Keeps a table as it is, unless it has no entries. */
  keep(name: string, table: SortedTable): void {
    this.#names.set(table.file.number, name);
    if (table.entries > 0) this.#tables.push(table);
    else this.#superseded.push(name);
  }

  /** The memtable that takes entries; `flushIfFull` is called between them. */
  get memtable(): Memtable {
    return this.#memtable;
  }

  /** Adds an entry. */
  async add({ userKey, sequence, type }: InternalKey, value: Uint8Array): Promise<void> {
    const bytes = new Uint8Array(userKey.length + value.length);
    bytes.set(userKey);
    bytes.set(value, userKey.length);
    this.#memtable.add(sequence, type, bytes, 0, userKey.length, userKey.length, bytes.length);
    this.sawSequence(sequence);
    await this.flushIfFull();
  }

  async flushIfFull(): Promise<void> {
    if (this.#memtable.memoryUsage > this.#settings.writeBufferSize) await this.flush();
  }

  /** Makes tables of the entries that were added. */
  async flush(): Promise<void> {
    const memtable = this.#memtable;
    this.#memtable = new Memtable(this.#order.compareInternalKeys);
    this.#tables.push(...(await this.#write(new MemtableCursor(memtable))));
  }

  /** Merges tables that share user keys, so that none do any more. */
  async mergeOverlapping(): Promise<void> {
    const groups: SortedTable[][] = [];
    let largest: Uint8Array | undefined;
    for (const table of this.#tables.sort((a, b) => compareInternal(this.#order, a.file.smallest, b.file.smallest))) {
      const { file } = table;
      if (largest !== undefined && compareUser(this.#order, file.smallest, largest) <= 0) groups.at(-1)!.push(table);
      else groups.push([table]);
      if (largest === undefined || compareUser(this.#order, file.largest, largest) > 0) ({ largest } = file);
    }
    this.#tables = [];
    for (const group of groups) {
      if (group.length === 1) {
        this.#tables.push(group[0]!);
        continue;
      }
      const runs = this.#runsOf(group.map(({ file }) => file));
      const sources = runs.map((run) => this.entriesOf(run));
      this.#tables.push(...(await this.#write(new MergeCursor(sources, this.#order.compareInternalKeys))));
      this.#superseded.push(...group.map(({ file: { number } }) => this.#names.get(number) ?? tableFileName(number)));
    }
  }

  /** A cursor over tables that do not overlap. */
  entriesOf(files: readonly FileMetadata[]): LevelEntries {
    return new LevelEntries(files, () => 0, new ViewTables(this.#cache, files, []), this.#damage);
  }

  get files(): FileMetadata[] {
    return this.#tables.map(({ file }) => file);
  }

  /** How many entries the tables have. */
  get entries(): number {
    return this.#tables.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** The names of the tables that are kept, and of those that were written. */
  get names(): { readonly kept: readonly string[]; readonly written: readonly string[] } {
    const numbers = this.files.map(({ number }) => number).sort(compareBigints);
    return {
      kept: numbers.filter((number) => !this.#written.has(number)).map((number) => this.#names.get(number)!),
      written: numbers.filter((number) => this.#written.has(number)).map(tableFileName),
    };
  }

  /** The names of sound tables whose entries are in others by now, or that have none. */
  get superseded(): readonly string[] {
    return this.#superseded;
  }

  close(): Promise<void> {
    return this.#cache.close();
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

  #write(cursor: EntryCursor): Promise<SortedTable[]> {
    const { building, maxFileSize } = this.#settings;
    const newFileNumber = (): bigint => {
      const number = this.newFileNumber();
      this.#written.add(number);
      return number;
    };
    return writeSortedTables(cursor, this.#folder, { order: this.#order, building, maxFileSize, newFileNumber });
  }
}
