/**
 * The start of every key in a folder of IndexedDB.
 *
 *     sizes (u8)                                   database id bytes - 1 << 5 | object store id bytes - 1 << 2 | index id bytes - 1
 *     database id, object store id, index id       little-endian
 *
 * Database 0 is about all databases, store 0 about one database, and indexes 1 to 3 are about the records of a store.
 *
 * Source: Chromium, content/browser/indexed_db/docs/leveldb_coding_scheme.md.
 */
import { joinedBytes } from '@bloom/bytes/internal';
import type { ByteReader } from '../value/byte-reader.js';

/** The part of the folder that a key is in. */
export interface KeyPrefix {
  readonly database: number;
  readonly store: number;
  readonly index: number;
}

/** Index ids with a special meaning; those of pages' indexes start at 30. */
export const RECORDS = 1;
export const EXISTENCE = 2;
export const EXTERNAL_OBJECTS = 3;
export const FIRST_INDEX = 30;

/** Reads a prefix. @throws WebStorageError BLOOM_BAD_KEY. */
export function readPrefix(reader: ByteReader): KeyPrefix {
  const sizes = reader.byte();
  return {
    database: littleEndian(reader.take((sizes >> 5) + 1)),
    store: littleEndian(reader.take(((sizes >> 2) & 7) + 1)),
    index: littleEndian(reader.take((sizes & 3) + 1)),
  };
}

/** A prefix, and the rest of the key. */
export function encodePrefix({ database, store, index }: KeyPrefix, ...rest: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const ids = [littleEndianBytes(database), littleEndianBytes(store), littleEndianBytes(index)] as const;
  const parts = [[((ids[0].length - 1) << 5) | ((ids[1].length - 1) << 2) | (ids[2].length - 1)], ...ids, ...rest];
  return joinedBytes(parts);
}

/** Exact up to 2^53. */
export function littleEndian(bytes: Uint8Array): number {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
}

function littleEndianBytes(value: number): number[] {
  const bytes: number[] = [];
  do {
    bytes.push(value % 256);
    value = Math.floor(value / 256);
  } while (value > 0);
  return bytes;
}
