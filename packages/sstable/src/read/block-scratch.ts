import type { Place } from '@bloom/bytes';
import { type BlockDecoding, decodeStoredBlock, isPlain } from '../format/stored-block.js';

/** For longer contents, allocating an array takes little of the time that decompressing takes. */
const MAX_SCRATCH_BYTES = 256 * 2 ** 10;

/**
 * Memory for the contents of one block at a time: a new array of 4 KiB takes a fifth of the time of decompressing text into it with Snappy
 * (Node 20), and leaves garbage.
 */
export class BlockScratch {
  #bytes = new Uint8Array(0);

  /**
   * As {@link decodeStoredBlock}. The contents are valid until the next call.
   *
   * @param storedContents a view of the stored contents, where the caller has one.
   */
  decode(stored: Uint8Array, place: Place, decoding: BlockDecoding, storedContents?: Uint8Array): Uint8Array {
    const contents = decodeStoredBlock(stored, place, decoding, this.#bytes, storedContents);
    const { length } = contents;
    if (length > this.#bytes.length && length <= MAX_SCRATCH_BYTES && !isPlain(stored)) {
      this.#bytes = new Uint8Array(Math.min(length * 2, MAX_SCRATCH_BYTES));
    }
    return contents;
  }
}
