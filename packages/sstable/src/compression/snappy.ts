/**
 * Snappy, the raw format without framing.
 *
 *     length of the contents (varint32) | elements
 *
 * An element starts with a tag byte, whose two low bits are its kind:
 *
 *     literal   llllll 00 | length - 1, where l is 60 to 63: 1 to 4 bytes, little-endian | the bytes
 *     copy      ooo lll 01 | offset, its low 8 bits        length 4 to 11: l + 4; offset below 2^11, o is its high bits
 *     copy      llllll 10 | offset (u16)                   length 1 to 64: l + 1
 *     copy      llllll 11 | offset (u32)                   length 1 to 64: l + 1
 *
 * A copy repeats the bytes that start `offset` bytes back. When `offset` is less than the length, the copy overlaps
 * itself and repeats a pattern.
 *
 * Source: Snappy, format_description.txt; which streams are valid: snappy.cc, as of Snappy 1.1.9.
 */
import type { Codec } from '../format/codec.js';
import { compressSnappy } from './snappy-compressor.js';
import { decompressSnappy, decompressSnappyToLend } from './snappy-decompressor.js';

/** The compression type of Snappy. Higher types need codecs. */
export const SNAPPY_TYPE = 1;

/** Snappy, LevelDB's default. */
export const snappyCodec: Codec = { type: SNAPPY_TYPE, name: 'snappy', compress: compressSnappy, decompress: decompressSnappy };

/** Snappy without its compressor, so that a page that only reads tables does not load it. */
export const snappyDecoder: Codec = { type: SNAPPY_TYPE, name: 'snappy', decompress: decompressSnappy };

/** The same for contents that are only needed until the next call. */
export const lendingSnappyDecoder: Codec = { ...snappyDecoder, decompress: decompressSnappyToLend };

/** Whether a codec is this Snappy, not one of a caller's. */
export function isOwnSnappy(codec: Codec): boolean {
  return codec === snappyCodec || codec === snappyDecoder;
}
