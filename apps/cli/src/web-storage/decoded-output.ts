/**
 * Decoded entries as lines of text.
 *
 *     tsv      place TAB key TAB value, with the escapes of tsv; a place is database/store, an origin, or an origin and a map
 *     jsonl    {"database":"todo","store":"items","key":1,"value":{"done":false}}
 *
 * Keys and values that are not strings are JSON with the tags of `taggedJson`.
 */
import { entryJson, jsonText, taggedJson, WebStorageError } from '@bloom/web-storage';
import { EXIT } from '../exit-codes.js';
import { ByteBuffer } from '../formats/byte-buffer.js';
import { drain, flush, note } from '../outputs/output.js';
import { type ReadEntry, VERSION_FACTS, versionOf } from './read-entry.js';

const TAB = 9;
const LF = 10;

/** The formats for decoded entries. */
export const DECODED_FORMATS = ['tsv', 'jsonl'] as const;

export type DecodedFormat = (typeof DECODED_FORMATS)[number];

/** The parts of an entry to print. */
export interface DecodedColumns {
  readonly key: boolean;
  readonly value: boolean;
  /** Whether to print place and facts. */
  readonly place: boolean;
}

/** Prints decoded entries. Entries that cannot be decoded are noted, and set the exit code. */
export class DecodedOutput {
  readonly #format: DecodedFormat;
  readonly #columns: DecodedColumns;
  readonly #out = new ByteBuffer();
  #left: number;

  constructor(format: DecodedFormat, columns: DecodedColumns, limit = Infinity) {
    this.#format = format;
    this.#columns = columns;
    this.#left = limit;
  }

  /** Whether the limit has been reached. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** Prints the entries of one input, up to the limit. */
  async print(path: string, entries: AsyncIterable<ReadEntry> | Iterable<ReadEntry>): Promise<void> {
    if (this.isFull) return;
    for await (const read of entries) {
      const entry = this.#printed(read);
      if (entry.error !== undefined) {
        // Set now: the program ends while it prints if nobody reads on.
        process.exitCode = EXIT.no;
        if (this.#format === 'tsv') note(`${path}: ${placeText(entry)}, ${entry.key === undefined ? 'a key' : `key ${textOf(entry.key)}`}: ${entry.error.message}`);
      }
      await drain(this.#out);
      if (--this.#left <= 0) return;
    }
  }

  /** Writes the remaining output. */
  flush(): Promise<void> {
    return flush(this.#out);
  }

  /** Prints an entry. @returns the entry, with an error if its value cannot be written as JSON. */
  #printed(entry: ReadEntry): ReadEntry {
    try {
      this.#print(entry);
      return entry;
    } catch (error) {
      if (!(error instanceof WebStorageError) || entry.error !== undefined) throw error;
      const unprinted = { ...entry, value: undefined, isComplete: false, error };
      this.#print(unprinted);
      return unprinted;
    }
  }

  #print(entry: ReadEntry): void {
    if (this.#format === 'jsonl') this.#printJson(entry);
    else this.#printTsv(entry);
  }

  #printJson(entry: ReadEntry): void {
    const { key, value, place } = this.#columns;
    const shown = { ...entry, ...(place ? { version: versionOf(entry) } : { place: undefined }), ...(!key && { key: undefined }) };
    this.#out.utf8(`${entryJson(shown, { omitValue: !value || isDeletion(entry.facts) })}\n`);
  }

  #printTsv(entry: ReadEntry): void {
    const { place, key, value } = this.#columns;
    const fields = [
      ...(place ? [placeText(entry), ...entry.facts] : []),
      ...(key ? [entry.error !== undefined && entry.key === undefined ? '' : textOf(entry.key)] : []),
      ...(value ? [entry.error !== undefined || isDeletion(entry.facts) ? '' : textOf(entry.value)] : []),
    ];
    for (const [i, field] of fields.entries()) {
      if (i > 0) this.#out.byte(TAB);
      this.#out.escaped(Buffer.from(field, 'utf8'));
    }
    this.#out.byte(LF);
  }
}

function isDeletion(facts: readonly string[]): boolean {
  return facts[VERSION_FACTS.indexOf('type')] === 'deletion';
}

/** The place of an entry, in one column. */
export function placeText({ place }: ReadEntry): string {
  // The origin of Session Storage ends with a slash.
  return Object.entries(place).map(([name, part]) => (name === 'origin' ? String(part).replace(/\/$/, '') : part)).join('/');
}

/** A key or a value as text: a string unchanged, everything else as JSON, including a string that UTF-8 cannot represent. */
export function textOf(value: unknown): string {
  const json = taggedJson(value);
  return typeof json === 'string' ? json : jsonText(json);
}
