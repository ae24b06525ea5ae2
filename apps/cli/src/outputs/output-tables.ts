import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Signal } from '@bloom/bytes';
import type { TableBuilderOptions, TableInfo } from '@bloom/sstable';
import { TableWriter } from '@bloom/sstable/node';

/** Digits of a table's number in its name. */
const NUMBER_DIGITS = 6;

/** Where entries are written: one table, or numbered ones and a list of their names. */
export interface OutputTables {
  /** Entries added so far. */
  readonly entries: number;
  /** Whether `drain` should be called before more is added. */
  readonly isDrainDue: boolean;
  /** @throws what `TableBuilder.addRange` does. */
  addRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): void;
  drain(): Promise<void>;
  /** Gives all tables their names. @returns what they consist of, in order. */
  finish(signal: Signal): Promise<readonly WrittenTable[]>;
  /** Removes what was written. Does nothing after `finish`. */
  abandon(): Promise<void>;
}

/** A table that was written. */
export interface WrittenTable extends TableInfo {
  readonly path: string;
}

/** @param maxTableSize after so many bytes of data another table begins; undefined for one table. */
export async function createOutput(path: string, options: TableBuilderOptions, maxTableSize: number | undefined): Promise<OutputTables> {
  return maxTableSize === undefined ? OneTable.create(path, options) : NumberedTables.create(path, options, maxTableSize);
}

class OneTable implements OutputTables {
  readonly #path: string;
  readonly #writer: TableWriter;

  private constructor(path: string, writer: TableWriter) {
    this.#path = path;
    this.#writer = writer;
  }

  static async create(path: string, options: TableBuilderOptions): Promise<OneTable> {
    return new OneTable(path, await TableWriter.create(path, options));
  }

  get entries(): number {
    return this.#writer.entries;
  }

  get isDrainDue(): boolean {
    return this.#writer.isDrainDue;
  }

  addRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): void {
    this.#writer.addRange(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd);
  }

  drain(): Promise<void> {
    return this.#writer.drain();
  }

  async finish(signal: Signal): Promise<readonly WrittenTable[]> {
    return [{ path: this.#path, ...(await this.#writer.finish(signal)) }];
  }

  abandon(): Promise<void> {
    return this.#writer.abandon();
  }
}

/**
 * Tables of limited size, `words-000001.ldb` and so on for the output `words.ldb`, and `words.list` with their names, one a
 * line. All are written to a temporary folder and get their names when the last one is complete; the list comes last.
 */
class NumberedTables implements OutputTables {
  readonly #path: string;
  readonly #options: TableBuilderOptions;
  readonly #maxTableSize: number;
  readonly #temporary: string;
  readonly #tables: WrittenTable[] = [];
  #writer: TableWriter;
  #entriesBefore = 0;
  #isFinished = false;

  private constructor(path: string, options: TableBuilderOptions, maxTableSize: number, temporary: string, writer: TableWriter) {
    this.#path = path;
    this.#options = options;
    this.#maxTableSize = maxTableSize;
    this.#temporary = temporary;
    this.#writer = writer;
  }

  static async create(path: string, options: TableBuilderOptions, maxTableSize: number): Promise<NumberedTables> {
    const temporary = join(dirname(path), `.${basename(path).slice(0, 24)}.${randomBytes(6).toString('hex')}.tmp`);
    mkdirSync(temporary);
    try {
      const writer = await TableWriter.create(join(temporary, tableName(path, 1)), options);
      return new NumberedTables(path, options, maxTableSize, temporary, writer);
    } catch (error) {
      rmSync(temporary, { recursive: true, force: true });
      throw error;
    }
  }

  get entries(): number {
    return this.#entriesBefore + this.#writer.entries;
  }

  get isDrainDue(): boolean {
    return this.#writer.isDrainDue || this.#isFull;
  }

  get #isFull(): boolean {
    return this.#writer.byteLength >= this.#maxTableSize;
  }

  addRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): void {
    this.#writer.addRange(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd);
  }

  async drain(): Promise<void> {
    if (!this.#isFull) return this.#writer.drain();
    await this.#end();
    this.#writer = await TableWriter.create(join(this.#temporary, tableName(this.#path, this.#tables.length + 1)), this.#options);
  }

  async finish(signal: Signal): Promise<readonly WrittenTable[]> {
    if (this.#writer.entries > 0 || this.#tables.length === 0) await this.#end();
    else await this.#writer.abandon();
    signal.throwIfAborted();
    const list = join(this.#temporary, 'list');
    writeFileSync(list, this.#tables.map(({ path }) => `${path}\n`).join(''));
    for (const [i, { path }] of this.#tables.entries()) renameSync(join(this.#temporary, tableName(this.#path, i + 1)), path);
    renameSync(list, listName(this.#path));
    this.#isFinished = true;
    rmSync(this.#temporary, { recursive: true, force: true });
    return this.#tables;
  }

  async abandon(): Promise<void> {
    if (this.#isFinished) return;
    await this.#writer.abandon();
    rmSync(this.#temporary, { recursive: true, force: true });
  }

  async #end(): Promise<void> {
    this.#entriesBefore += this.#writer.entries;
    const info = await this.#writer.finish();
    this.#tables.push({ path: join(dirname(this.#path), tableName(this.#path, this.#tables.length + 1)), ...info });
  }
}

/** `words-000001.ldb` for the output `words.ldb`. */
function tableName(path: string, number: number): string {
  const extension = extname(path);
  return `${basename(path, extension)}-${String(number).padStart(NUMBER_DIGITS, '0')}${extension}`;
}

/** `words.list` for the output `words.ldb`. */
export function listName(path: string): string {
  return join(dirname(path), `${basename(path, extname(path))}.list`);
}
