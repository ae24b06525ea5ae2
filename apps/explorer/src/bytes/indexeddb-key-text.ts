/** Parses keys of Chromium's IndexedDB, or their beginnings, from the text that `indexedDbKey` shows for them. */
import { putVarint } from '@bloom/bytes';
import { hexBytes } from '@bloom/report';
import { INDEXED_DB_FIELDS } from '@bloom/web-storage';

/** The key, or the beginning of a key; undefined for other text. */
export function typedIndexedDbKey(text: string): Uint8Array | undefined {
  try {
    const reader = new TextReader(text);
    const bytes = keyOf(reader);
    return reader.isAtEnd ? Uint8Array.from(bytes) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const RECORDS: Readonly<Record<string, number>> = { record: 1, exists: 2, 'blob of': 3 };

function keyOf(reader: TextReader): number[] {
  if (reader.take('free database id ')) return [0, 0, 0, 0, 100, ...varint(reader.integer())];
  if (reader.take('database of ')) {
    const origin = text(reader.string());
    return [0, 0, 0, 0, 201, ...origin, ...(reader.take(': ') ? text(reader.string()) : [])];
  }
  const type = reader.takeOneOf(INDEXED_DB_FIELDS.GLOBAL);
  if (type !== undefined) return [0, 0, 0, 0, type];
  reader.must('database ');
  const database = reader.integer();
  if (reader.take(': ')) return [...prefix(database, 0, 0), ...metadata(reader)];
  // The beginning of all keys of a database: without the ids of store and index, which are a byte each in what is left out.
  if (!reader.take(', store ')) return prefix(database).slice(0, -2);
  const store = reader.integer();
  for (const [word, index] of Object.entries(RECORDS)) {
    if (reader.take(`, ${word}`)) return [...prefix(database, store, index), ...(reader.take(' ') ? key(reader) : [])];
  }
  if (!reader.take(', index ')) return prefix(database, store).slice(0, -1);
  const start = prefix(database, store, reader.integer());
  if (!reader.take(': ')) return start;
  start.push(...key(reader));
  const sequence = reader.take(', sequence ') ? reader.integer() : 0;
  if (reader.take(' → ')) return [...start, ...varint(sequence), ...key(reader)];
  return sequence === 0 ? start : [...start, ...varint(sequence)];
}

function metadata(reader: TextReader): number[] {
  if (reader.take('store named ')) return [200, ...text(reader.string())];
  if (reader.take('free store id ')) return [150, ...varint(reader.integer())];
  const type = reader.takeOneOf(INDEXED_DB_FIELDS.DATABASE);
  if (type !== undefined) return [type];
  reader.must('store ');
  const store = varint(reader.integer());
  if (reader.take(', free index id ')) return [151, ...store, ...varint(reader.integer())];
  if (reader.take(', index named ')) return [201, ...store, ...text(reader.string())];
  if (reader.take(', index ')) {
    const index = varint(reader.integer());
    reader.must(', ');
    return [100, ...store, ...index, reader.mustOneOf(INDEXED_DB_FIELDS.INDEX)];
  }
  reader.must(', ');
  return [50, ...store, reader.mustOneOf(INDEXED_DB_FIELDS.STORE)];
}

function key(reader: TextReader): number[] {
  if (reader.take('null')) return [0];
  if (reader.take('minimum')) return [5];
  if (reader.take('bytes ')) {
    const digits = reader.match(/(?:[0-9a-f]{2})*/iy);
    return [6, ...varint(digits.length / 2), ...hexBytes(digits)!];
  }
  if (reader.take('[')) {
    const items: number[][] = [];
    while (!reader.take(']')) {
      if (items.length > 0) reader.must(', ');
      items.push(key(reader));
    }
    return [4, ...varint(items.length), ...items.flat()];
  }
  if (reader.isAt('"')) return [1, ...text(reader.string())];
  if (reader.take('date ')) return [2, ...double(Number(reader.match(/\S+/y)))];
  const date = reader.tryMatch(/[+-]?\d{4,6}-\d\d-\d\dT[\d:.]+Z/y);
  if (date !== undefined) return [2, ...double(Date.parse(date))];
  return [3, ...double(Number(reader.match(/-?(?:Infinity|NaN|[\d.]+(?:e[+-]?\d+)?)/y)))];
}

/** The prefix of a key: the sizes of the ids, and the ids. */
function prefix(database: number, store = 0, index = 0): number[] {
  const ids = [database, store, index].map(littleEndian);
  return [((ids[0]!.length - 1) << 5) | ((ids[1]!.length - 1) << 2) | (ids[2]!.length - 1), ...ids.flat()];
}

function littleEndian(number: number): number[] {
  const bytes: number[] = [];
  for (let rest = number; rest > 0 || bytes.length === 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  return bytes;
}

function varint(number: number): number[] {
  const bytes = new Uint8Array(10);
  return [...bytes.subarray(0, putVarint(bytes, 0, number))];
}

/** A count of UTF-16 units, and those, big-endian. */
function text(string: string): number[] {
  return [...varint(string.length), ...Array.from({ length: string.length }, (_, i) => [string.charCodeAt(i) >> 8, string.charCodeAt(i) & 0xff]).flat()];
}

function double(number: number): number[] {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, number, true);
  return [...bytes];
}

/** Parses text. Its methods throw a SyntaxError if the text does not match. */
class TextReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#text.length;
  }

  isAt(word: string): boolean {
    return this.#text.startsWith(word, this.#position);
  }

  take(word: string): boolean {
    if (!this.isAt(word)) return false;
    this.#position += word.length;
    return true;
  }

  must(word: string): void {
    if (!this.take(word)) throw new SyntaxError(word);
  }

  /** The number of the name that the rest of the text equals. */
  takeOneOf(names: Readonly<Record<number, string>> | readonly string[]): number | undefined {
    const rest = this.#text.slice(this.#position);
    const found = Object.entries(names).find(([, name]) => name === rest);
    if (found === undefined) return undefined;
    this.must(found[1]);
    return Number(found[0]);
  }

  mustOneOf(names: Readonly<Record<number, string>> | readonly string[]): number {
    const number = this.takeOneOf(names);
    if (number === undefined) throw new SyntaxError('no such name');
    return number;
  }

  integer(): number {
    return Number(this.match(/\d{1,15}/y));
  }

  string(): string {
    return JSON.parse(this.match(/"(?:[^"\\]|\\.)*"/y)) as string;
  }

  match(pattern: RegExp): string {
    const found = this.tryMatch(pattern);
    if (found === undefined) throw new SyntaxError(String(pattern));
    return found;
  }

  /** @param pattern a sticky regular expression. */
  tryMatch(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#position += found.length;
    return found;
  }
}
