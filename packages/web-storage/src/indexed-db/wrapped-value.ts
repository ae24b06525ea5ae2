/**
 * The value of a record of an object store.
 *
 *     version (varint)                     counts the writes to the store; entries of an index that have another one are stale
 *     Blink's value                        or one of:
 *     ff 11 01, size, index (varints)      it is in a blob of the record: the last one, which pages do not see
 *     ff 11 02, Snappy                     it is compressed; it can also be within such a blob
 *
 * Source: Chromium, third_party/blink/renderer/modules/indexeddb/idb_value_wrapping.cc.
 */
import { numberOf } from '@bloom/bytes/internal';
import { snappyCodec } from '@bloom/sstable';
import { ByteReader } from '../value/byte-reader.js';
import { type DecodedValue, decodeValue, DEFAULT_MAX_VALUE_BYTES, type ValueContext } from '../value/blink-value.js';
import { WebStorageError } from '../web-storage-error.js';

const VERSION_TAG = 0xff;
/** A version of Blink's format whose values start differently. */
const WRAPPED = 0x11;
const IN_BLOB = 1;
const COMPRESSED = 2;
const HEADER_BYTES = 3;

function isWrapped(bytes: Uint8Array, how: number): boolean {
  return bytes[0] === VERSION_TAG && bytes[1] === WRAPPED && bytes[2] === how;
}

/** Decodes a value, synchronously if it is in the record itself, as nearly all are. @throws WebStorageError. */
export function decodeRecordValue(bytes: Uint8Array, context: ValueContext): DecodedValue | Promise<DecodedValue> {
  if (isWrapped(bytes, IN_BLOB)) return decodeFromBlob(bytes, context);
  return decodeValue(decompressed(bytes, context), context);
}

async function decodeFromBlob(bytes: Uint8Array, context: ValueContext): Promise<DecodedValue> {
  const reader = new ByteReader(bytes, 'value', HEADER_BYTES);
  const size = reader.varint64();
  const index = reader.varint64();
  const entry = context.externalObjects?.[index];
  if (entry === undefined && context.externalObjectsError !== undefined) throw context.externalObjectsError;
  if (entry?.blobNumber === undefined || context.readBlob === undefined) {
    throw new WebStorageError('BLOOM_MISSING_BLOB', 'value', 0, `is in a file of its own, of ${numberOf(size, 'byte')}, ${entry === undefined ? 'which the record has no entry for' : 'and no blob folder was given'}`);
  }
  const contents = await context.readBlob(entry.blobNumber);
  if (contents.length !== size) throw new WebStorageError('BLOOM_BAD_VALUE', 'value', 0, `is in a file of its own, which has ${numberOf(contents.length, 'byte')} instead of ${size}`);
  return decodeValue(decompressed(contents, context), context);
}

function decompressed(bytes: Uint8Array, { maxValueBytes = DEFAULT_MAX_VALUE_BYTES }: ValueContext): Uint8Array {
  if (!isWrapped(bytes, COMPRESSED)) return bytes;
  try {
    return snappyCodec.decompress(bytes.subarray(HEADER_BYTES), maxValueBytes);
  } catch (cause) {
    if (cause instanceof RangeError) throw new WebStorageError('BLOOM_TOO_LARGE', 'value', HEADER_BYTES, `has more than ${maxValueBytes} bytes when it is decompressed`, { cause });
    throw new WebStorageError('BLOOM_BAD_VALUE', 'value', HEADER_BYTES, 'cannot be decompressed', { cause });
  }
}
