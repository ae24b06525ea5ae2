/**
 * Snappy: raw, not framed.
 *
 *     length of the contents (varint32) | elements
 *
 * An element starts with a tag, whose two low bits say what it is:
 *
 *     literal   llllll 00 | length - 1, where l is 60 to 63: 1 to 4 bytes, little-endian | the bytes
 *     copy      ooo lll 01 | offset, its low 8 bits        length 4 to 11: l + 4; offset below 2^11, o its high bits
 *     copy      llllll 10 | offset (u16)                   length 1 to 64: l + 1
 *     copy      llllll 11 | offset (u32)                   length 1 to 64: l + 1
 *
 * A copy repeats what was made `offset` bytes before; where that is less than its length, it repeats itself.
 *
 * Source: Snappy, format_description.txt. What is refused is what Google's decoder refuses, snappy.cc.
 */
import type { Codec } from '../format/codec.js';
import { compressSnappy } from './snappy-compressor.js';
import { decompressSnappy } from './snappy-decompressor.js';

/** Snappy, LevelDB's default. */
export const snappyCodec: Codec = { type: 1, name: 'snappy', compress: compressSnappy, decompress: decompressSnappy };

/** Snappy without its compressor, which a page that only reads tables does not load. */
export const snappyDecoder: Codec = { type: 1, name: 'snappy', decompress: decompressSnappy };
