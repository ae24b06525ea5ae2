import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Signal } from '@bloom/bytes';
import type { TableBuilderOptions, TableInfo } from '@bloom/sstable';
import { TableWriter } from '@bloom/sstable/node';
import { listName, mustBeWritable } from './writable-output.js';

/** Digits of a table's number in its name. */
const NUMBER_DIGITS = 6;

/** A table that was written. */
export interface WrittenTable extends TableInfo {
  readonly path: string;
}

/**
 * Where entries are written: one table, or tables of limited size, `words-000001.ldb` and so on for the output `words.ldb`, and
 * `words.list` with their names, one per line. Numbered tables are written to a temporary folder and get their names when the last one is
 * complete; the list comes last.
 */
export class OutputTables {
  readonly #path: string;
  readonly #options: TableBuilderOptions;
  readonly #maxTableSize: number;
  /** Undefined for one table. */
  readonly #temporary: string | undefined;
  readonly #tables: WrittenTable[] = [];
  #writer!: TableWriter;
  #entriesBefore = 0;
  #isFinished = false;

  private constructor(path: string, options: TableBuilderOptions, maxTableSize: number, temporary: string | undefined) {
    this.#path = path;
    this.#options = options;
    this.#maxTableSize = maxTableSize;
    this.#temporary = temporary;
  }

  /** @param maxTableSize the number of bytes of data after which another table begins; undefined for one table. */
  static async create(path: string, options: TableBuilderOptions, maxTableSize: number | undefined): Promise<OutputTables> {
    const temporary = maxTableSize === undefined ? undefined : join(dirname(path), `.${basename(path).slice(0, 24)}.${randomBytes(6).toString('hex')}.tmp`);
    if (temporary !== undefined) mkdirSync(temporary);
    const tables = new OutputTables(path, options, maxTableSize ?? Infinity, temporary);
    try {
      await tables.#begin();
      return tables;
    } catch (error) {
      tables.#removeTemporary();
      throw error;
    }
  }

  /** Entries added so far. */
  get entries(): number {
    return this.#entriesBefore + this.#writer.entries;
  }

  /** Whether `drain` should be called before more is added. */
  get isDrainDue(): boolean {
    return this.#writer.isDrainDue || this.#isFull;
  }

  get #isFull(): boolean {
    return this.#writer.byteLength >= this.#maxTableSize;
  }

  /** @throws as `TableBuilder.addRange`. */
  addRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): void {
    this.#writer.addRange(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd);
  }

  async drain(): Promise<void> {
    if (!this.#isFull) return this.#writer.drain();
    await this.#end();
    await this.#begin();
  }

  /** Gives all tables their names. @returns the tables in order. */
  async finish(signal: Signal): Promise<readonly WrittenTable[]> {
    const temporary = this.#temporary;
    if (temporary === undefined) return [{ path: this.#path, ...(await this.#writer.finish(signal)) }];
    if (this.#writer.entries > 0 || this.#tables.length === 0) await this.#end();
    else await this.#writer.abandon();
    signal.throwIfAborted();
    const list = join(temporary, 'list');
    writeFileSync(list, this.#tables.map(({ path }) => `${path}\n`).join(''));
    // Nothing gets its name unless all names can be taken.
    for (const path of [...this.#tables.map((table) => table.path), listName(this.#path)]) mustBeWritable(path);
    for (const [i, { path }] of this.#tables.entries()) renameSync(join(temporary, tableName(this.#path, i + 1)), path);
    renameSync(list, listName(this.#path));
    this.#isFinished = true;
    this.#removeTemporary();
    return this.#tables;
  }

  /** Deletes the written tables. Does nothing after `finish`. */
  async abandon(): Promise<void> {
    if (this.#isFinished) return;
    await this.#writer.abandon();
    this.#removeTemporary();
  }

  async #begin(): Promise<void> {
    const path = this.#temporary === undefined ? this.#path : join(this.#temporary, tableName(this.#path, this.#tables.length + 1));
    this.#writer = await TableWriter.create(path, this.#options);
  }

  async #end(): Promise<void> {
    this.#entriesBefore += this.#writer.entries;
    const info = await this.#writer.finish();
    this.#tables.push({ path: join(dirname(this.#path), tableName(this.#path, this.#tables.length + 1)), ...info });
  }

  #removeTemporary(): void {
    if (this.#temporary !== undefined) rmSync(this.#temporary, { recursive: true, force: true });
  }
}

/** `words-000001.ldb` for the output `words.ldb`. */
function tableName(path: string, number: number): string {
  const extension = extname(path);
  return `${basename(path, extension)}-${String(number).padStart(NUMBER_DIGITS, '0')}${extension}`;
}
