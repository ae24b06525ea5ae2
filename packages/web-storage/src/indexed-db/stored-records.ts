import { copiedOptions, sameBytes } from '@bloom/bytes/internal';
import type { Folder } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { STORED_VERSIONS_OPTIONS, type StoredVersionsOptions, storedVersionsOptions } from '../stored-versions-options.js';
import { PropertyNames } from '../value/property-names.js';
import { type BlobFolder, blobReader } from './external-objects.js';
import { EXTERNAL_OBJECTS, type KeyPrefix, RECORDS } from './key-prefix.js';
import { SCHEMA_KEY, schemaVersion } from './metadata.js';
import { decodeRecord, deletedRecord, recordAt, type StoredRecord } from './record.js';

/** How to list the versions of records. */
export interface StoredRecordsOptions extends StoredVersionsOptions {
  /** The source of blobs, files and large values. Without it, reading them fails with `BLOOM_MISSING_BLOB`. */
  readonly blobs?: BlobFolder | undefined;
  /** The most bytes that a compressed value may have when it is decompressed. A value may have one object for every 16 of these bytes. Default: 128 MiB. */
  readonly maxValueBytes?: number | undefined;
}

const STORED_RECORDS_OPTIONS: Record<keyof StoredRecordsOptions, true> = { ...STORED_VERSIONS_OPTIONS, blobs: true, maxValueBytes: true };

/** A stored version of a record, current or not. */
export interface StoredRecordVersion extends StoredRecord {
  readonly kind: 'value' | 'deletion';
  /** The key of its entry in the folder, with which `DatabaseReader` finds it. */
  readonly entryKey: Uint8Array;
  /** The id of its database. */
  readonly database: number;
  /** The id of its object store. */
  readonly store: number;
  /** Counts the writes to the folder: of two versions of a record, the one with the larger sequence is newer. */
  readonly sequence: bigint;
  /** The log or table that holds it. */
  readonly file: string;
}

/**
 * All versions of records that a folder still holds, overwritten and deleted ones too: log by log and table by table.
 *
 * It reads the folder twice, three times if records have blobs, and needs neither a MANIFEST nor all of the tables. The blobs of deleted
 * records are usually gone; their records then have an `error`. A browser leaves truncated tables behind when it is closed, so damage is
 * skipped, unless `damage` is `'strict'`; `onDropped` receives what was skipped.
 *
 * @example
 * ```ts
 * for await (const { kind, key, value } of storedRecords(new NodeFolder('https_example.com_0.indexeddb.leveldb'))) console.log(kind, key, value);
 * ```
 */
export async function* storedRecords(folder: Folder, options: StoredRecordsOptions = {}): AsyncGenerator<StoredRecordVersion, void, undefined> {
  const { blobs, maxValueBytes, ...given } = copiedOptions('storedRecords', options, STORED_RECORDS_OPTIONS);
  const entriesOptions = storedVersionsOptions('storedRecords', given);
  /** The writes to the blob entries of each record, and to the record itself: only of records that have a blob entry. */
  const writes = new Map<string, Write[]>();
  const schemas: { readonly sequence: bigint; readonly value: Uint8Array }[] = [];
  for await (const { kind, key, value, sequence } of storedEntries(folder, { ...entriesOptions, onDropped: undefined })) {
    given.signal?.throwIfAborted();
    const isDeletion = kind === 'deletion';
    if (!isDeletion && sameBytes(key, SCHEMA_KEY)) schemas.push({ sequence, value });
    const name = recordName(key, EXTERNAL_OBJECTS);
    if (name === undefined) continue;
    const known = writes.get(name.text) ?? [];
    known.push({ sequence, externalObjects: isDeletion ? undefined : value });
    writes.set(name.text, known);
  }
  if (writes.size > 0) {
    for await (const { key, sequence } of storedEntries(folder, { ...entriesOptions, onDropped: undefined })) {
      given.signal?.throwIfAborted();
      const name = recordName(key, RECORDS);
      if (name !== undefined) writes.get(name.text)?.push({ sequence, externalObjects: undefined });
    }
  }
  for (const each of [...writes.values(), schemas]) each.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
  // An entry from before the first one that is left was rewritten with it.
  const schemaAt = (sequence: bigint): number => schemaVersion((schemas.filter((version) => version.sequence < sequence).at(-1) ?? schemas[0])?.value);
  const names = new PropertyNames();
  for await (const { kind, key: entryKey, value: bytes, sequence, file } of storedEntries(folder, entriesOptions)) {
    given.signal?.throwIfAborted();
    const name = recordName(entryKey, RECORDS);
    if (name === undefined) continue;
    const { database, store } = name.place;
    const isDeletion = kind === 'deletion';
    // The blobs of a version are written after it, and before the next version.
    const next = writes.get(name.text)?.find((write) => write.sequence > sequence);
    const record = isDeletion
      ? deletedRecord(entryKey)
      : await decodeRecord(entryKey, bytes, {
          externalObjects: next?.externalObjects,
          schema: schemaAt(next?.externalObjects === undefined ? sequence : next.sequence),
          readBlob: blobReader(blobs, database),
          names,
          maxValueBytes,
        });
    yield { ...record, kind: isDeletion ? 'deletion' : 'value', entryKey, database, store, sequence, file };
  }
}

/** A write to a record or to its blob entry. */
interface Write {
  readonly sequence: bigint;
  /** Undefined for a write to the record, and for a deletion. */
  readonly externalObjects: Uint8Array | undefined;
}

/** The record that an entry is about, if it has the index id `index`. */
function recordName(key: Uint8Array, index: number): { readonly place: KeyPrefix; readonly text: string } | undefined {
  const record = recordAt(key, index);
  return record && { place: record.place, text: `${record.place.database} ${record.place.store} ${record.encodedKey.join(' ')}` };
}
