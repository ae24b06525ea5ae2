/** Records of object stores: an entry for each, with the key after the prefix, and the value after its version. */
import type { PropertyNames } from '../value/property-names.js';
import { ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';
import { decodeExternalObjects } from './external-objects.js';
import { type KeyPrefix, readPrefix } from './key-prefix.js';
import { type IndexedDbKey, readKey } from './key.js';
import { decodeRecordValue } from './wrapped-value.js';

/** A record of an object store. */
export interface StoredRecord {
  /** The key that records are ordered by: that of the index, or the primary key. Undefined where it cannot be read. */
  readonly key: IndexedDbKey | undefined;
  /** Undefined where it cannot be read. */
  readonly primaryKey: IndexedDbKey | undefined;
  /** What the page stored; undefined where there is an `error`. */
  readonly value: unknown;
  /** False if the value has an object that this reader does not know, after which nothing could be read. */
  readonly isComplete: boolean;
  /** Why the key or the value cannot be read. */
  readonly error: WebStorageError | undefined;
}

/** The data that is needed to decode a record, apart from its entry. */
export interface RecordContext {
  /** The entry with its blobs and files. */
  readonly externalObjects: Uint8Array | undefined;
  /** The version of the folder's schema when that entry was written. */
  readonly schema: number;
  readonly readBlob: ((blobNumber: number) => Promise<Uint8Array>) | undefined;
  readonly names: PropertyNames;
  readonly maxValueBytes: number | undefined;
}

/** The place of an entry's key, and the rest after its prefix. */
export function readRecordKey(entryKey: Uint8Array): { readonly place: KeyPrefix; readonly encodedKey: Uint8Array } {
  const reader = new ByteReader(entryKey, 'key');
  const place = readPrefix(reader);
  return { place, encodedKey: entryKey.subarray(reader.position) };
}

/** The same for an entry about a record; undefined for one with another index id than `index`, and for any other entry. */
export function recordAt(entryKey: Uint8Array, index: number): ReturnType<typeof readRecordKey> | undefined {
  try {
    const record = readRecordKey(entryKey);
    const { place } = record;
    return place.database > 0 && place.store > 0 && place.index === index ? record : undefined;
  } catch (error) {
    if (error instanceof WebStorageError) return undefined;
    throw error;
  }
}

/** The version of a record or of an entry of an index, and the start of the rest. */
export function readRecordVersion(bytes: Uint8Array): { readonly version: number; readonly start: number } {
  const reader = new ByteReader(bytes, 'value');
  return { version: reader.varint64(), start: reader.position };
}

/** The key of a record, in the key of its entry. @throws WebStorageError BLOOM_BAD_KEY or BLOOM_TOO_DEEP. */
export function recordKeyOf(entryKey: Uint8Array): IndexedDbKey {
  const reader = new ByteReader(entryKey, 'key');
  readPrefix(reader);
  const key = readKey(reader);
  reader.mustBeAtEnd();
  return key;
}

/** Decodes an entry. A key or a value that cannot be read is an `error`. */
export async function decodeRecord(entryKey: Uint8Array, bytes: Uint8Array, context: RecordContext): Promise<StoredRecord> {
  let key: IndexedDbKey | undefined;
  try {
    key = recordKeyOf(entryKey);
    const { names, readBlob, maxValueBytes } = context;
    const external = context.externalObjects === undefined ? undefined : decodeExternalObjects(context.externalObjects, context.schema);
    const valueContext = { externalObjects: external?.objects, externalObjectsError: external?.error, readBlob, names, maxValueBytes };
    const decoded = await decodeRecordValue(bytes.subarray(readRecordVersion(bytes).start), valueContext);
    return { key, primaryKey: key, value: decoded.value, isComplete: decoded.isComplete, error: undefined };
  } catch (error) {
    return unreadable(key, key, error);
  }
}

/** The record of a deletion: it has a key, and no value. */
export function deletedRecord(entryKey: Uint8Array): StoredRecord {
  try {
    const key = recordKeyOf(entryKey);
    return { key, primaryKey: key, value: undefined, isComplete: true, error: undefined };
  } catch (error) {
    return unreadable(undefined, undefined, error);
  }
}

/** A record with an error. Throws what is none of the record. */
export function unreadable(key: IndexedDbKey | undefined, primaryKey: IndexedDbKey | undefined, error: unknown): StoredRecord {
  if (!(error instanceof WebStorageError)) throw error;
  return { key, primaryKey, value: undefined, isComplete: false, error };
}
