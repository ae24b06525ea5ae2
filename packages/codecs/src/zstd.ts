import type { Codec } from '@bloom/sstable';
import { decodeZstd } from './zstd/frame.js';

/**
 * zstd: type 2 in Google's LevelDB. Reads only.
 *
 * Reads what `ZSTD_decompress` of the reference reads: one frame after another, frames to be skipped between them, and
 * nothing else. Content sizes and checksums are compared, and dictionaries are refused. The reference accepts some damaged
 * frames that RFC 8878 calls faulty, depending on its version and the processor; these are refused: Huffman streams that
 * are not used up to the bit, blocks that stand for more than the largest block, and, before version 1.5.6, sequences that
 * are not used up to the bit and reserved bits. Frames of zstd before 0.8 are refused too.
 *
 * Source: RFC 8878.
 */
export const zstdCodec: Codec = { type: 2, name: 'zstd', decompress: decodeZstd };
