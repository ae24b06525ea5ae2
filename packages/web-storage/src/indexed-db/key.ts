/**
 * The keys of records in IndexedDB, as Chromium stores them.
 *
 *     01 text: count of UTF-16 units (varint), these, big-endian · 02 date (f64) · 03 number (f64)
 *     04 array: count (varint), keys · 06 binary: length (varint), bytes
 *     00 null and 05 minimum are never stored: they are the ends of the order
 *
 * Source: Chromium, content/browser/indexed_db/docs/leveldb_coding_scheme.md.
 */
import { putVarint, varintLength } from '@bloom/bytes';
import { joinedBytes, numberOf } from '@bloom/bytes/internal';
import { BUFFER_WEIGHT, type ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';

/** A key, as `IDBCursor.key` returns it to a page. */
export type IndexedDbKey = number | string | Date | ArrayBuffer | readonly IndexedDbKey[];

export const NULL = 0;
const TEXT = 1;
const DATE = 2;
const NUMBER = 3;
const ARRAY = 4;
export const MINIMUM = 5;
const BINARY = 6;
/** IndexedDB itself refuses keys that are nested more deeply than about 2000; the stack allows more. */
const MAX_DEPTH = 2000;

/** Sort before and after all keys. */
export const LEAST_KEY = Uint8Array.of(MINIMUM);
export const GREATEST_KEY = Uint8Array.of(NULL);

/** Reads a key. @throws WebStorageError BLOOM_BAD_KEY, BLOOM_TOO_DEEP or BLOOM_TOO_LARGE. */
export function readKey(reader: ByteReader, depth = 0): IndexedDbKey {
  if (depth > MAX_DEPTH) throw new WebStorageError('BLOOM_TOO_DEEP', reader.structure, reader.position, `more than ${MAX_DEPTH} arrays are nested`);
  const type = reader.byte();
  switch (type) {
    case TEXT:
      return readText(reader);
    case DATE:
      reader.countObject();
      return new Date(reader.double());
    case NUMBER:
      return reader.double();
    case BINARY:
      reader.countObject(BUFFER_WEIGHT);
      return reader.take(reader.varint64()).slice().buffer;
    case ARRAY: {
      const count = reader.varint64();
      if (count > reader.remaining) throw reader.bad(`an array of ${numberOf(count, 'key')} does not fit in ${numberOf(reader.remaining, 'byte')}`);
      reader.countObject();
      const keys: IndexedDbKey[] = [];
      for (let i = 0; i < count; i++) keys.push(readKey(reader, depth + 1));
      return keys;
    }
    default:
      throw reader.bad(`unknown type of key ${type}`, reader.position - 1);
  }
}

/** A count of UTF-16 units, and these, big-endian. */
export function readText(reader: ByteReader): string {
  return reader.utf16(reader.varint64() * 2, false);
}

/** Encodes a key, to look it up. @throws TypeError for an invalid key. */
export function encodeKey(key: IndexedDbKey): Uint8Array {
  const parts: Uint8Array[] = [];
  addKey(parts, key, 0);
  return joinedBytes(parts);
}

/** Adds the encoded key to `parts`. @throws TypeError. */
function addKey(parts: Uint8Array[], key: IndexedDbKey, depth: number): void {
  if (depth > MAX_DEPTH) throw new TypeError('a key must not nest arrays more than 2000 deep');
  if (typeof key === 'number' && !Number.isNaN(key)) parts.push(encodedDouble(NUMBER, key));
  else if (key instanceof Date && !Number.isNaN(key.getTime())) parts.push(encodedDouble(DATE, key.getTime()));
  else if (typeof key === 'string') parts.push(start(TEXT, key.length), utf16(key));
  else if (Array.isArray(key)) {
    parts.push(start(ARRAY, key.length));
    for (const element of key as readonly IndexedDbKey[]) addKey(parts, element, depth + 1);
  } else {
    const contents = binaryOf(key);
    if (contents === undefined) throw new TypeError('key must be a number, a string, a valid Date, an ArrayBuffer or an array of these');
    parts.push(start(BINARY, contents.length), contents);
  }
}

/** A type, and a count or a length. */
function start(type: number, count: number): Uint8Array {
  const bytes = new Uint8Array(1 + varintLength(count));
  bytes[0] = type;
  putVarint(bytes, 1, count);
  return bytes;
}

/** The UTF-16 units of a text, big-endian. */
function utf16(text: string): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i));
  return new Uint8Array(view.buffer);
}

function encodedDouble(type: number, value: number): Uint8Array {
  const bytes = new Uint8Array(9);
  bytes[0] = type;
  new DataView(bytes.buffer).setFloat64(1, value, true);
  return bytes;
}

/** The bytes of a buffer or a view; undefined for anything else. */
function binaryOf(key: unknown): Uint8Array | undefined {
  if (key instanceof ArrayBuffer) return new Uint8Array(key);
  return ArrayBuffer.isView(key) ? new Uint8Array(key.buffer, key.byteOffset, key.byteLength) : undefined;
}
