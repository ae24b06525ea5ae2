/**
 * Where a block is in the file.
 *
 *     offset (varint64) | size (varint64)
 *
 * The size does not include the trailer of the stored block.
 *
 * Source: LevelDB, table/format.cc.
 */
import { putVarint, type VarintReader } from '@bloom/bytes';

/** Where a block is in the file. */
export interface BlockHandle {
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes as stored, without the trailer. */
  readonly size: number;
}

/** The most bytes of an encoded handle. */
export const MAX_BLOCK_HANDLE_LENGTH = 20;

/** Writes `handle` at `position`. @returns the position after it. */
export function putBlockHandle(bytes: Uint8Array, position: number, handle: BlockHandle): number {
  return putVarint(bytes, putVarint(bytes, position, handle.offset), handle.size);
}

/** Encodes a handle: the value of an index or metaindex entry. */
export function encodeBlockHandle(handle: BlockHandle): Uint8Array {
  const bytes = new Uint8Array(MAX_BLOCK_HANDLE_LENGTH);
  return bytes.subarray(0, putBlockHandle(bytes, 0, handle));
}

/** Decodes the handle at the reader's position; undefined when it is incomplete. Bytes after it are ignored. */
export function readBlockHandle(reader: VarintReader): BlockHandle | undefined {
  const offset = reader.varint64();
  const size = offset < 0 ? -1 : reader.varint64();
  return size < 0 ? undefined : { offset, size };
}
