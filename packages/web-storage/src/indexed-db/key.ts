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
      if (count > reader.remaining) throw reader.bad(`an array of ${count} keys in ${reader.remaining} bytes`);
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
  const bytes = new Uint8Array(encodedLength(key, 0));
  putKey(bytes, 0, key);
  return bytes;
}

const DOUBLE_BYTES = 8;

/** The length of a key in bytes. @throws TypeError. */
function encodedLength(key: IndexedDbKey, depth: number): number {
  if (depth > MAX_DEPTH) throw new TypeError('a key must not have more than 2000 arrays within each other');
  if (typeof key === 'number' && !Number.isNaN(key)) return 1 + DOUBLE_BYTES;
  if (key instanceof Date && !Number.isNaN(key.getTime())) return 1 + DOUBLE_BYTES;
  if (typeof key === 'string') return 1 + varintLength(key.length) + key.length * 2;
  if (Array.isArray(key)) {
    let length = 1 + varintLength(key.length);
    for (const element of key as readonly IndexedDbKey[]) length += encodedLength(element, depth + 1);
    return length;
  }
  const contents = binaryOf(key);
  if (contents === undefined) throw new TypeError('key must be a number, a string, a valid Date, an ArrayBuffer or an array of these');
  return 1 + varintLength(contents.length) + contents.length;
}

/** Writes a key that {@link encodedLength} has checked. @returns the position after it. */
function putKey(bytes: Uint8Array, position: number, key: IndexedDbKey): number {
  if (typeof key === 'number') return putDouble(bytes, position, NUMBER, key);
  if (key instanceof Date) return putDouble(bytes, position, DATE, key.getTime());
  if (typeof key === 'string') {
    bytes[position] = TEXT;
    let end = putVarint(bytes, position + 1, key.length);
    for (let i = 0; i < key.length; i++) {
      bytes[end++] = key.charCodeAt(i) >> 8;
      bytes[end++] = key.charCodeAt(i) & 0xff;
    }
    return end;
  }
  if (Array.isArray(key)) {
    bytes[position] = ARRAY;
    let end = putVarint(bytes, position + 1, key.length);
    for (const element of key as readonly IndexedDbKey[]) end = putKey(bytes, end, element);
    return end;
  }
  const contents = binaryOf(key)!;
  bytes[position] = BINARY;
  const start = putVarint(bytes, position + 1, contents.length);
  bytes.set(contents, start);
  return start + contents.length;
}

/** The bytes of a buffer or a view; undefined for anything else. */
function binaryOf(key: unknown): Uint8Array | undefined {
  if (key instanceof ArrayBuffer) return new Uint8Array(key);
  return ArrayBuffer.isView(key) ? new Uint8Array(key.buffer, key.byteOffset, key.byteLength) : undefined;
}

function putDouble(bytes: Uint8Array, position: number, type: number, value: number): number {
  bytes[position] = type;
  new DataView(bytes.buffer).setFloat64(position + 1, value, true);
  return position + 1 + DOUBLE_BYTES;
}
