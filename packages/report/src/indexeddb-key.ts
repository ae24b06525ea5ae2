/**
 * Keys of Chromium's IndexedDB.
 *
 *     sizes (u8: database bytes - 1 << 5 | store bytes - 1 << 2 | index bytes - 1) | database | object store | index | rest
 *
 * The ids are little-endian. What the rest is depends on which of them are 0.
 *
 * Source: Chromium, content/browser/indexed_db/docs/leveldb_coding_scheme.md.
 */
import { VarintReader } from '@bloom/bytes';
import { hexDigits } from './hexadecimal.js';

const GLOBAL: Readonly<Record<number, string>> = {
  0: 'schema version', 1: 'highest database id', 2: 'data version', 3: 'recovery journal', 4: 'active journal', 5: 'earliest sweep',
  6: 'earliest compaction', 7: 'scopes',
};
const DATABASE: Readonly<Record<number, string>> = {
  0: 'origin name', 1: 'name', 2: 'version text', 3: 'highest object store id', 4: 'version', 5: 'blob number generator', 6: 'blob number generator',
};
const STORE: readonly string[] = ['name', 'key path', 'auto-increment', 'evictable', 'last version', 'highest index id', 'has key path', 'key generator'];
const INDEX: readonly string[] = ['name', 'unique', 'key path', 'multi-entry'];

/** What keys of metadata are about, by their type. */
export const INDEXED_DB_FIELDS = { GLOBAL, DATABASE, STORE, INDEX } as const;

/** A key in words; undefined when it is none of these. */
export function indexedDbKey(key: Uint8Array): string | undefined {
  try {
    return describe(new KeyReader(key));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function describe(reader: KeyReader): string {
  const sizes = reader.byte();
  const database = reader.integer((sizes >> 5) + 1);
  const store = reader.integer(((sizes >> 2) & 7) + 1);
  const index = reader.integer((sizes & 3) + 1);
  let text: string;
  if (database === 0) text = global(reader);
  else if (store === 0) text = `database ${database}: ${databaseMetadata(reader)}`;
  else text = `database ${database}, store ${store}${indexEntry(reader, index)}`;
  if (!reader.isAtEnd) throw new RangeError('more bytes than the key has');
  return text;
}

function global(reader: KeyReader): string {
  const type = reader.byte();
  if (type === 100) return `free database id ${reader.varint()}`;
  if (type === 201) return `database of ${reader.text()}: ${reader.text()}`;
  if (type === 50) {
    reader.rest();
    return 'scope';
  }
  return named(GLOBAL, type);
}

function databaseMetadata(reader: KeyReader): string {
  const type = reader.byte();
  switch (type) {
    case 50:
      return `store ${reader.varint()}, ${named(STORE, reader.byte())}`;
    case 100:
      return `store ${reader.varint()}, index ${reader.varint()}, ${named(INDEX, reader.byte())}`;
    case 150:
      return `free store id ${reader.varint()}`;
    case 151:
      return `store ${reader.varint()}, free index id ${reader.varint()}`;
    case 200:
      return `store named ${reader.text()}`;
    case 201:
      return `store ${reader.varint()}, index named ${reader.text()}`;
    default:
      return named(DATABASE, type);
  }
}

function indexEntry(reader: KeyReader, index: number): string {
  switch (index) {
    case 1:
      return `, record ${reader.key()}`;
    case 2:
      return `, exists ${reader.key()}`;
    case 3:
      return `, blob of ${reader.key()}`;
  }
  if (index < 30) throw new RangeError('no such index');
  const key = reader.key();
  const start = `, index ${index}: ${key}`;
  if (reader.isAtEnd) return start;
  const sequence = reader.varint();
  return `${start}${sequence === 0 ? '' : `, sequence ${sequence}`}${reader.restKey()}`;
}

function named(names: Readonly<Record<number, string>>, type: number): string {
  const name = names[type];
  if (name === undefined) throw new RangeError('no such type');
  return name;
}

/** The deepest that arrays may lie in arrays. */
const MAX_DEPTH = 20;

/** Reads the parts of a key. Throws RangeError where they are not what they must be. */
class KeyReader {
  readonly #bytes: Uint8Array;
  readonly #varints: VarintReader;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#varints = new VarintReader(bytes);
  }

  get isAtEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  /** The primary key that an index leads to, if there is one. */
  restKey(): string {
    return this.isAtEnd ? '' : ` → ${this.key()}`;
  }

  rest(): void {
    this.#position = this.#bytes.length;
  }

  /** Little-endian. */
  integer(length: number): number {
    return this.#take(length).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }

  varint(): number {
    this.#varints.position = this.#position;
    const value = this.#varints.varint64();
    if (value < 0) throw new RangeError('not a varint');
    this.#position = this.#varints.position;
    return value;
  }

  /** A count of UTF-16 units, and those, big-endian. */
  text(): string {
    const bytes = this.#take(this.varint() * 2);
    let text = '';
    for (let i = 0; i < bytes.length; i += 2) text += String.fromCharCode(bytes[i]! * 256 + bytes[i + 1]!);
    return JSON.stringify(text);
  }

  key(depth = 0): string {
    if (depth > MAX_DEPTH) throw new RangeError('arrays too deep');
    const type = this.byte();
    switch (type) {
      case 0:
        return 'null';
      case 1:
        return this.text();
      case 2:
        return dateText(this.#double());
      case 3:
        return String(this.#double());
      case 4: {
        const count = this.varint();
        if (count > this.#bytes.length) throw new RangeError('more elements than bytes');
        return `[${Array.from({ length: count }, () => this.key(depth + 1)).join(', ')}]`;
      }
      case 5:
        return 'minimum';
      case 6:
        return `bytes ${hexDigits(this.#take(this.varint()))}`;
      default:
        throw new RangeError('no such type');
    }
  }

  #double(): number {
    const bytes = this.#take(8);
    return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#position) throw new RangeError('the key ends early');
    this.#position += length;
    return this.#bytes.subarray(this.#position - length, this.#position);
  }
}

function dateText(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? `date ${milliseconds}` : date.toISOString();
}
