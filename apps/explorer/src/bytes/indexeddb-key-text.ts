/** Parses keys of Chromium's IndexedDB, and ranges of them, from the text that `indexedDbKey` shows for them. */
import { putVarint } from '@bloom/bytes';
import { hexBytes } from '@bloom/report';
import { INDEXED_DB_FIELDS } from '@bloom/web-storage';

/** The keys that a text describes: a single one, or all of a database, a store or an index. */
interface IndexedDbRange {
  readonly gte: Uint8Array;
  readonly lt?: Uint8Array;
  readonly lte?: Uint8Array;
}

/** The key that a text describes, or the start of the keys; undefined for other text. */
export function typedIndexedDbKey(text: string): Uint8Array | undefined {
  return typedIndexedDbRange(text)?.gte;
}

/** The keys that a text describes; undefined for other text. The order of IndexedDB compares parts of keys, so keys that start with the same bytes are no range. */
export function typedIndexedDbRange(text: string): IndexedDbRange | undefined {
  try {
    const reader = new TextReader(text);
    const range = rangeOf(reader);
    return reader.isAtEnd ? range : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const RECORDS: Readonly<Record<string, number>> = { record: 1, exists: 2, 'blob of': 3 };

/** The order has this key behind all keys of records. */
const GREATEST_KEY = 0;

function rangeOf(reader: TextReader): IndexedDbRange {
  if (reader.take('free database id ')) return only([0, 0, 0, 0, 100, ...varint(reader.integer())]);
  if (reader.take('database of ')) {
    const origin = reader.string();
    const start = [0, 0, 0, 0, 201];
    if (reader.take(': ')) return only([...start, ...text(origin), ...text(reader.string())]);
    return before([...start, ...text(origin), ...text('')], [...start, ...text(`${origin}\0`), ...text('')]);
  }
  const type = reader.takeOneOf(INDEXED_DB_FIELDS.GLOBAL);
  if (type !== undefined) return only([0, 0, 0, 0, type]);
  reader.must('database ');
  const database = reader.integer();
  if (reader.take(': ')) return only([...prefix(database, 0, 0), ...metadata(reader)]);
  if (!reader.take(', store ')) return before(prefix(database), prefix(database + 1));
  const store = reader.integer();
  for (const [word, index] of Object.entries(RECORDS)) {
    if (!reader.take(`, ${word}`)) continue;
    const start = prefix(database, store, index);
    return reader.take(' ') ? only([...start, ...key(reader)]) : before(start, prefix(database, store, index + 1));
  }
  if (!reader.take(', index ')) return before(prefix(database, store), prefix(database, store + 1));
  const index = reader.integer();
  const start = prefix(database, store, index);
  if (!reader.take(': ')) return before(start, prefix(database, store, index + 1));
  start.push(...key(reader));
  const sequence = reader.take(', sequence ') ? reader.integer() : undefined;
  if (reader.take(' → ')) return only([...start, ...varint(sequence ?? 0), ...key(reader)]);
  // Entries with the same key lead to different records.
  return { gte: Uint8Array.from(sequence === undefined ? start : [...start, ...varint(sequence)]), lte: Uint8Array.from([...start, ...varint(sequence ?? Number.MAX_SAFE_INTEGER), GREATEST_KEY]) };
}

function only(bytes: readonly number[]): IndexedDbRange {
  return { gte: Uint8Array.from(bytes), lte: Uint8Array.from(bytes) };
}

function before(start: readonly number[], end: readonly number[]): IndexedDbRange {
  return { gte: Uint8Array.from(start), lt: Uint8Array.from(end) };
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
