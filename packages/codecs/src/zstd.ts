import type { Codec } from '@bloom/sstable';
import { decodeZstd } from './zstd/frame.js';

/**
 * zstd: type 2 in Google's LevelDB. Reads only.
 *
 * Accepts what `ZSTD_decompress` of the reference implementation accepts: any number of frames, and skippable frames, with
 * nothing after them. Content sizes and content checksums are verified, and dictionaries are refused.
 *
 * Depending on its version and the processor, the reference also accepts some damaged frames that RFC 8878 calls faulty.
 * They are refused here: Huffman streams that are not consumed to the last bit; compressed blocks whose contents are longer
 * than the largest block; and, in versions before 1.5.6, sequences that are not consumed to the last bit, and reserved bits.
 * Frames of zstd before 0.8 are refused as well.
 *
 * Source: RFC 8878.
 */
export const zstdCodec: Codec = { type: 2, name: 'zstd', decompress: decodeZstd };
