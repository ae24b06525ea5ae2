/**
 * The blobs, files and file handles of a record, in a separate entry.
 *
 *     type (u8)                            0 blob · 1 file · 2 handle
 *     blob                                 blob number (varint), MIME type (text), size (varint)
 *     file                                 blob number (varint), MIME type (text), size (varint), name (text),
 *                                          last modified (varint, microseconds since 1601)
 *     handle                               length (varint), token
 *
 * Before version 4 of the folder's schema, which Chromium 83 has, files were without size and date.
 *
 * Source: Chromium, content/browser/indexed_db/docs/leveldb_coding_scheme.md; which epoch: base::Time::ToInternalValue.
 */
import { ByteReader } from '../value/byte-reader.js';
import type { ExternalObject } from '../value/host-object.js';
import { WebStorageError } from '../web-storage-error.js';
import { readText } from './key.js';

const BLOB = 0;
const FILE = 1;
const HANDLE = 2;

/** The first version of the schema that has size and date of files. */
const DESCRIBES_FILES = 4;

/** Milliseconds from 1601 to 1970. */
const EPOCH = 11_644_473_600_000;

/** Milliseconds since 1970 of Chromium's microseconds since 1601. */
export function unixMilliseconds(microseconds: number): number {
  return microseconds / 1000 - EPOCH;
}

/** What an entry says, up to its end or to the first damage. */
export interface ExternalObjects {
  readonly objects: readonly ExternalObject[];
  /** Why what follows the last of them cannot be read. */
  readonly error: WebStorageError | undefined;
}

/** Decodes the entry of a record. @param schema the version of the folder's schema. */
export function decodeExternalObjects(bytes: Uint8Array, schema: number): ExternalObjects {
  const objects: ExternalObject[] = [];
  try {
    readExternalObjects(bytes, schema, objects);
    return { objects, error: undefined };
  } catch (error) {
    if (!(error instanceof WebStorageError)) throw error;
    return { objects, error };
  }
}

/** Adds the objects to `objects`. @throws WebStorageError BLOOM_BAD_METADATA. */
function readExternalObjects(bytes: Uint8Array, schema: number, objects: ExternalObject[]): void {
  const reader = new ByteReader(bytes, 'blob entry');
  while (!reader.isAtEnd) {
    const type = reader.byte();
    if (type === HANDLE) {
      reader.take(reader.varint64());
      objects.push({ kind: 'handle', blobNumber: undefined, type: '', size: undefined, name: undefined, lastModified: undefined });
    } else if (type === BLOB || type === FILE) {
      const blobNumber = reader.varint64();
      const mimeType = readText(reader);
      const isFile = type === FILE;
      const isDescribed = schema >= DESCRIBES_FILES;
      const size = isDescribed || !isFile ? reader.varint64() : undefined;
      const name = isFile ? readText(reader) : undefined;
      const lastModified = isDescribed && isFile ? new Date(unixMilliseconds(reader.varint64())) : undefined;
      objects.push({ kind: isFile ? 'file' : 'blob', blobNumber, type: mimeType, size, name, lastModified });
    } else throw reader.bad(`unknown type of external object ${type}`, reader.position - 1);
  }
}

/** The path of a blob's file within the blob folder, such as `1/00/2`. */
function blobPath(databaseId: number, blobNumber: number): string {
  const folder = (Math.floor(blobNumber / 256) & 0xff).toString(16).padStart(2, '0');
  return `${databaseId.toString(16)}/${folder}/${blobNumber.toString(16)}`;
}

/** The folder with the files of blobs: `….indexeddb.blob`, next to `….indexeddb.leveldb`. */
export interface BlobFolder {
  /** The contents of a file, such as `1/00/2`; undefined when there is none. If it rejects with a `WebStorageError`, that is the `error` of the record; any other error ends the iteration. */
  read(path: string): Promise<Uint8Array | undefined>;
}

/** Reads the blobs of a database by their numbers. */
export function blobReader(blobs: BlobFolder | undefined, databaseId: number): ((blobNumber: number) => Promise<Uint8Array>) | undefined {
  if (blobs === undefined) return undefined;
  return async (blobNumber) => {
    const path = blobPath(databaseId, blobNumber);
    const contents = await blobs.read(path);
    if (contents === undefined) throw new WebStorageError('BLOOM_MISSING_BLOB', 'blob', 0, `there is no file ${path} in the blob folder`);
    return contents;
  };
}
