/** The keys of a folder of IndexedDB in words, such as `database 1, store 2, record "a"`. */
import { ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';
import { type IndexedDbKey, MINIMUM, NULL, readKey, readText } from './key.js';
import { EXISTENCE, EXTERNAL_OBJECTS, FIRST_INDEX, readPrefix, RECORDS } from './key-prefix.js';

const GLOBAL: Readonly<Record<number, string>> = {
  0: 'schema version', 1: 'highest database id', 2: 'data version', 3: 'recovery journal', 4: 'active journal', 5: 'earliest sweep',
  6: 'earliest compaction', 7: 'scopes',
};
const DATABASE: Readonly<Record<number, string>> = {
  0: 'origin name', 1: 'name', 2: 'version text', 3: 'highest object store id', 4: 'version', 5: 'blob number generator', 6: 'blob number generator',
};
const STORE: readonly string[] = ['name', 'key path', 'auto-increment', 'evictable', 'last version', 'highest index id', 'has key path', 'key generator'];
const INDEX: readonly string[] = ['name', 'unique', 'key path', 'multi-entry'];

/** The subjects of metadata keys, by their type. */
export const INDEXED_DB_FIELDS = { GLOBAL, DATABASE, STORE, INDEX } as const;

/** A key of a folder of IndexedDB in words; undefined for any other key. */
export function indexedDbKey(key: Uint8Array): string | undefined {
  try {
    return describe(new ByteReader(key, 'key'));
  } catch (error) {
    if (error instanceof WebStorageError) return undefined;
    throw error;
  }
}

function describe(reader: ByteReader): string {
  const { database, store, index } = readPrefix(reader);
  let text: string;
  if (database === 0) text = global(reader);
  else if (store === 0) text = `database ${database}: ${databaseMetadata(reader)}`;
  else text = `database ${database}, store ${store}${indexEntry(reader, index)}`;
  if (!reader.isAtEnd) throw reader.bad('more bytes than the key has');
  return text;
}

function global(reader: ByteReader): string {
  const type = reader.byte();
  if (type === 100) return `free database id ${reader.varint64()}`;
  if (type === 201) return `database of ${quoted(reader)}: ${quoted(reader)}`;
  if (type === 50) {
    reader.take(reader.remaining);
    return 'scope';
  }
  return named(reader, GLOBAL, type);
}

function databaseMetadata(reader: ByteReader): string {
  const type = reader.byte();
  switch (type) {
    case 50:
      return `store ${reader.varint64()}, ${named(reader, STORE, reader.byte())}`;
    case 100:
      return `store ${reader.varint64()}, index ${reader.varint64()}, ${named(reader, INDEX, reader.byte())}`;
    case 150:
      return `free store id ${reader.varint64()}`;
    case 151:
      return `store ${reader.varint64()}, free index id ${reader.varint64()}`;
    case 200:
      return `store named ${quoted(reader)}`;
    case 201:
      return `store ${reader.varint64()}, index named ${quoted(reader)}`;
    default:
      return named(reader, DATABASE, type);
  }
}

function indexEntry(reader: ByteReader, index: number): string {
  switch (index) {
    case RECORDS:
      return `, record ${keyText(reader)}`;
    case EXISTENCE:
      return `, exists ${keyText(reader)}`;
    case EXTERNAL_OBJECTS:
      return `, blob of ${keyText(reader)}`;
  }
  if (index < FIRST_INDEX) throw reader.bad('no such index');
  const key = keyText(reader);
  const start = `, index ${index}: ${key}`;
  if (reader.remaining === 0) return start;
  const sequence = reader.varint64();
  // The primary key to which an index leads, if there is one.
  const primary = reader.remaining === 0 ? '' : ` → ${keyText(reader)}`;
  return `${start}${sequence === 0 ? '' : `, sequence ${sequence}`}${primary}`;
}

function named(reader: ByteReader, names: Readonly<Record<number, string>>, type: number): string {
  const name = names[type];
  if (name === undefined) throw reader.bad(`no such type ${type}`);
  return name;
}

/** A key, or one of the two ends of the order. */
function keyText(reader: ByteReader): string {
  const type = reader.bytes[reader.position];
  if (type !== NULL && type !== MINIMUM) return textOf(readKey(reader));
  reader.position++;
  return type === NULL ? 'null' : 'minimum';
}

function textOf(key: IndexedDbKey): string {
  if (typeof key === 'string') return JSON.stringify(key);
  if (typeof key === 'number') return String(key);
  if (key instanceof Date) return dateText(key);
  if (key instanceof ArrayBuffer) return `bytes ${[...new Uint8Array(key)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return `[${key.map(textOf).join(', ')}]`;
}

function quoted(reader: ByteReader): string {
  return JSON.stringify(readText(reader));
}

function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'invalid date' : date.toISOString();
}
