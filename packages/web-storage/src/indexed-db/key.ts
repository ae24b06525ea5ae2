/**
 * The keys of records in IndexedDB, as Chromium stores them.
 *
 *     01 text: count of UTF-16 units (varint), these, big-endian · 02 date (f64) · 03 number (f64)
 *     04 array: count (varint), keys · 06 binary: length (varint), bytes
 *     00 null and 05 minimum stand in no data: they are the ends of the order
 *
 * Source: Chromium, content/browser/indexed_db/docs/leveldb_coding_scheme.md.
 */
import type { ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';

/** A key: what `IDBCursor.key` gives to a page. */
export type IndexedDbKey = number | string | Date | ArrayBuffer | readonly IndexedDbKey[];

export const NULL = 0;
const TEXT = 1;
const DATE = 2;
const NUMBER = 3;
const ARRAY = 4;
export const MINIMUM = 5;
const BINARY = 6;
/** IndexedDB itself refuses keys that are nested more deeply than about 2000; the stack lasts for more. */
const MAX_DEPTH = 2000;

/** Sorts before all keys, and after all. */
export const LEAST_KEY = Uint8Array.of(MINIMUM);
export const GREATEST_KEY = Uint8Array.of(NULL);

/** Reads a key. @throws WebStorageError BLOOM_BAD_KEY or BLOOM_TOO_DEEP. */
export function readKey(reader: ByteReader, depth = 0): IndexedDbKey {
  if (depth > MAX_DEPTH) throw new WebStorageError('BLOOM_TOO_DEEP', reader.structure, reader.position, `more than ${MAX_DEPTH} arrays are nested`);
  const type = reader.byte();
  switch (type) {
    case TEXT:
      return readText(reader);
    case DATE:
      return new Date(reader.double());
    case NUMBER:
      return reader.double();
    case BINARY:
      return reader.take(reader.varint64()).slice().buffer;
    case ARRAY: {
      const count = reader.varint64();
      if (count > reader.remaining) throw reader.bad(`an array of ${count} keys in ${reader.remaining} bytes`);
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

/** Encodes a key, to look it up. @throws TypeError for what is no valid key. */
export function encodeKey(key: IndexedDbKey): Uint8Array {
  const bytes: number[] = [];
  putKey(bytes, key, 0);
  return Uint8Array.from(bytes);
}

function putKey(bytes: number[], key: IndexedDbKey, depth: number): void {
  if (depth > MAX_DEPTH) throw new TypeError('a key must not have more than 2000 arrays within each other');
  if (typeof key === 'number' && !Number.isNaN(key)) putDouble(bytes, NUMBER, key);
  else if (key instanceof Date && !Number.isNaN(key.getTime())) putDouble(bytes, DATE, key.getTime());
  else if (typeof key === 'string') {
    bytes.push(TEXT);
    putVarint(bytes, key.length);
    for (let i = 0; i < key.length; i++) bytes.push(key.charCodeAt(i) >> 8, key.charCodeAt(i) & 0xff);
  } else if (Array.isArray(key)) {
    bytes.push(ARRAY);
    putVarint(bytes, key.length);
    for (const element of key as readonly IndexedDbKey[]) putKey(bytes, element, depth + 1);
  } else if (key instanceof ArrayBuffer || ArrayBuffer.isView(key)) {
    const contents = key instanceof ArrayBuffer ? new Uint8Array(key) : new Uint8Array(key.buffer, key.byteOffset, key.byteLength);
    bytes.push(BINARY);
    putVarint(bytes, contents.length);
    for (const byte of contents) bytes.push(byte);
  } else throw new TypeError('key must be a number, a string, a valid Date, an ArrayBuffer or an array of these');
}

function putDouble(bytes: number[], type: number, value: number): void {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value, true);
  bytes.push(type, ...new Uint8Array(view.buffer));
}

export function putVarint(bytes: number[], value: number): void {
  for (; value > 0x7f; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  bytes.push(value);
}
