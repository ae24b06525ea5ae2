import { shownValue } from '@bloom/bytes/internal';

/**
 * Compression of blocks. The first byte of a block's trailer is the type of its codec.
 *
 * Source: LevelDB, include/leveldb/options.h, `CompressionType`.
 */

/** Compresses and decompresses the contents of blocks. */
export interface Codec {
  /** The compression type as stored, 0 to 255. */
  readonly type: number;
  /** Names the codec in messages. */
  readonly name: string;

  /**
   * Compresses `contents`. Absent in a codec that only reads.
   *
   * @param scratch may receive the result, from its start, if it is long enough: allocating can take longer than compressing.
   */
  compress?(contents: Uint8Array, scratch?: Uint8Array): Uint8Array;

  /**
   * Decompresses a block.
   *
   * @param maxBytes the most bytes the contents may have. Nothing larger than a small multiple of it may be allocated.
   * @param scratch may receive the result, from its start, if it is long enough.
   * @throws RangeError when the contents are larger than `maxBytes`; an error with the code `BLOOM_UNSUPPORTED_CODEC` when `compressed` is of
   *   another format that some program writes with the same type; any other error when it is damaged.
   */
  decompress(compressed: Uint8Array, maxBytes: number, scratch?: Uint8Array): Uint8Array;
}

/** The compression type of blocks that are not compressed. */
export const NO_COMPRESSION = 0;

/** @throws RangeError unless the codec's compression type is from 1 to 255. The type is one byte, and 0 means none. */
export function mustBeCodec({ type, name }: Codec): void {
  if (Number.isInteger(type) && type >= 1 && type <= 0xff) return;
  throw new RangeError(`the type of codec ${name} must be from 1 to 255, got ${shownValue(type)}`);
}
