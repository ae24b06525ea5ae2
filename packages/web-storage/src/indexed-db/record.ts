/** Records of object stores: an entry for each, with the key after the prefix, and the value after its version. */
import type { PropertyNames } from '../value/property-names.js';
import { ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';
import { decodeExternalObjects } from './external-objects.js';
import { type KeyPrefix, readPrefix } from './key-prefix.js';
import { type IndexedDbKey, readKey } from './key.js';
import { DEFAULT_MAX_VALUE_BYTES, decodeRecordValue } from './record-value.js';

/** A record of an object store. */
export interface StoredRecord {
  /** The key that records are ordered by: that of the index, or the primary key. */
  readonly key: IndexedDbKey;
  readonly primaryKey: IndexedDbKey;
  /** What the page stored; undefined where there is an `error`. */
  readonly value: unknown;
  /** False where the value has an object that this reader does not know, behind which nothing could be read. */
  readonly isComplete: boolean;
  /** Why the value cannot be read. */
  readonly error: WebStorageError | undefined;
}

/** What is needed to decode a record, apart from its entry. */
export interface RecordContext {
  /** The entry with its blobs and files. */
  readonly externalObjects: Uint8Array | undefined;
  readonly readBlob: ((blobNumber: number) => Promise<Uint8Array>) | undefined;
  readonly names: PropertyNames;
  readonly maxValueBytes: number | undefined;
}

/** Where the key of an entry is, and what follows its prefix. */
export function readRecordKey(entryKey: Uint8Array): { readonly place: KeyPrefix; readonly encodedKey: Uint8Array } {
  const reader = new ByteReader(entryKey, 'key');
  const place = readPrefix(reader);
  return { place, encodedKey: entryKey.subarray(reader.position) };
}

/** The version of a record or of an entry of an index, and where the rest starts. */
export function readRecordVersion(bytes: Uint8Array): { readonly version: number; readonly start: number } {
  const reader = new ByteReader(bytes, 'value');
  return { version: reader.varint64(), start: reader.position };
}

/** Decodes an entry. A value that cannot be read is an `error`. @throws WebStorageError BLOOM_BAD_KEY. */
export async function decodeRecord(entryKey: Uint8Array, bytes: Uint8Array, context: RecordContext): Promise<StoredRecord> {
  const key = readKey(new ByteReader(readRecordKey(entryKey).encodedKey, 'key'));
  try {
    const { names, readBlob, maxValueBytes = DEFAULT_MAX_VALUE_BYTES } = context;
    const externalObjects = context.externalObjects === undefined ? undefined : decodeExternalObjects(context.externalObjects);
    const decoded = await decodeRecordValue(bytes.subarray(readRecordVersion(bytes).start), { externalObjects, readBlob, names }, maxValueBytes);
    return { key, primaryKey: key, value: decoded.value, isComplete: decoded.isComplete, error: undefined };
  } catch (error) {
    if (!(error instanceof WebStorageError)) throw error;
    return { key, primaryKey: key, value: undefined, isComplete: false, error };
  }
}
