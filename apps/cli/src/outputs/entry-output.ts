import type { EntryBatch, SyncCursor } from '@bloom/sstable';
import { ByteBuffer } from '../formats/byte-buffer.js';
import { OutputError } from '../formats/entry.js';
import { Failure } from '../failure.js';
import { standardStreams } from '../standard-streams.js';
import type { Columns, Format, Printer } from '../formats/format-contract.js';
import { type FormatName, formats } from '../formats/format.js';
import { drain, flush } from './output.js';

/** An entry with facts other than key and value. */
export interface PrintedEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** In the order of the columns. */
  readonly facts: readonly string[];
}

/** The number of entries that are printed between two checks whether to write. */
const ENTRIES_AT_ONCE = 512;

export const NO_FACTS: readonly string[] = [];

/** Prints the entries of one input after another in a format. If one fails, those before it are printed. */
export class EntryOutput {
  readonly #format: FormatName;
  readonly #out = new ByteBuffer();
  /** The number of entries that may still be printed. */
  #left: number;
  readonly #decodeKey: ((key: Uint8Array) => Uint8Array) | undefined;
  #printer: Printer | undefined;
  #columns = '';

  /**
   * @param limit the most entries to print.
   * @param decodeKey returns the text to print instead of a key.
   * @throws Failure when the format is not for a terminal, and standard output is one.
   */
  constructor(format: FormatName, limit = Infinity, decodeKey?: (key: Uint8Array) => Uint8Array) {
    const { isBinary }: Format = formats[format];
    if (isBinary && standardStreams().stdout.isTTY) {
      throw new Failure(`stdout is a terminal and ${format} is binary: redirect it to a file or a pipe, or use --format tsv`);
    }
    this.#format = format;
    this.#left = limit;
    this.#decodeKey = decodeKey;
  }

  /** Whether the limit has been reached. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** The number of entries to read from an input; undefined for all. */
  get limit(): number | undefined {
    return this.#left === Infinity ? undefined : this.#left;
  }

  /**
   * Prints entries.
   *
   * @param path the input, for errors.
   * @param entryOf returns the entry to print for one of `steps`; undefined to skip it.
   */
  async print<T>(path: string, columns: Columns, steps: Iterable<T> | AsyncIterable<T>, entryOf: (step: T) => PrintedEntry | undefined): Promise<void> {
    const { print } = this.#begin(path, columns);
    await this.#each(path, steps, (step) => {
      if (this.#left <= 0) return;
      const entry = entryOf(step);
      if (entry === undefined) return;
      this.#out.begin();
      print(entry.key, entry.value, this.#out, entry.facts);
      this.#left--;
    });
  }

  /**
   * Prints the entries from the cursor's position to the end without creating views of them.
   *
   * @returns false if the format does not support this, and nothing was printed.
   */
  async printRest(path: string, columns: Columns, cursor: SyncCursor, move: () => boolean): Promise<boolean> {
    const { printRange } = this.#begin(path, columns);
    if (printRange === undefined) return false;
    const out = this.#out;
    let more = move();
    const steps = {
      *[Symbol.iterator]() {
        while (more) yield;
      },
    };
    await this.#each(path, steps, () => {
      for (let i = 0; more && i < ENTRIES_AT_ONCE && this.#left > 0; i++) {
        printRange(cursor.keyBytes, cursor.keyLength, cursor.valueBytes, cursor.valueStart, cursor.valueStart + cursor.valueLength, out);
        this.#left--;
        // If the next entry cannot be read, this one is still printed.
        out.begin();
        more = cursor.next();
      }
    });
    return true;
  }

  /** Prints batches of entries, all or those whose keys are kept. @param path the input, for errors. */
  async printBatches(path: string, columns: Columns, batches: Iterable<EntryBatch> | AsyncIterable<EntryBatch>, keeps?: (key: Uint8Array) => boolean): Promise<void> {
    const { print } = this.#begin(path, columns);
    const out = this.#out;
    await this.#each(path, batches, (batch) => {
      const { length } = batch;
      for (let i = 0; i < length && this.#left > 0; i++) {
        const key = batch.key(i);
        if (keeps?.(key) === false) continue;
        out.begin();
        print(key, batch.value(i), out, NO_FACTS);
        this.#left--;
      }
    });
  }

  /** Writes the remaining output. */
  flush(): Promise<void> {
    return flush(this.#out);
  }

  /** The printer for these columns. The first one prints its head. @throws Failure when a head would have to name other columns. */
  #begin(path: string, columns: Columns): Printer {
    const name = JSON.stringify(columns);
    if (this.#printer !== undefined && this.#columns === name) return this.#printer;
    if (this.#printer?.head !== undefined) {
      throw new Failure(`${path}: its columns are not those of the inputs before it, and ${this.#format} names them only once: scan it separately, or use --format jsonl`);
    }
    const { printer }: Format = formats[this.#format];
    this.#columns = name;
    this.#printer = this.#decoding(printer(columns));
    this.#out.begin();
    this.#out.utf8(this.#printer.head ?? '');
    return this.#printer;
  }

  /** A printer that prints decoded keys. */
  #decoding(printer: Printer): Printer {
    const decodeKey = this.#decodeKey;
    if (decodeKey === undefined) return printer;
    const { head, print } = printer;
    const decoding: Printer = { print: (key, value, out, facts) => print(decodeKey(key), value, out, facts) };
    return head === undefined ? decoding : { ...decoding, head };
  }

  async #each<T>(path: string, steps: Iterable<T> | AsyncIterable<T>, print: (step: T) => void): Promise<void> {
    const out = this.#out;
    const take = (step: T): Promise<void> | undefined => {
      try {
        print(step);
      } catch (error) {
        out.dropEntry();
        throw this.#failure(path, error);
      }
      return drain(out);
    };
    try {
      if (Symbol.asyncIterator in steps) {
        for await (const step of steps) {
          await take(step);
          if (this.isFull) return;
        }
        return;
      }
      for (const step of steps) {
        const written = take(step);
        if (written !== undefined) await written;
        if (this.isFull) return;
      }
    } finally {
      // Output from before an error is written before the error's message.
      await flush(out);
    }
  }

  #failure(path: string, error: unknown): unknown {
    const format = this.#format;
    // A JSON line is created as one string, and strings have a maximum length.
    if (error instanceof RangeError) return new Failure(`${path}: an entry is too long for one line of ${format}: use --format kv`);
    if (!(error instanceof OutputError)) return error;
    return new Failure(`${path}: ${error.message}, which ${format} cannot represent: use --format tsv, which escapes it`);
  }
}
