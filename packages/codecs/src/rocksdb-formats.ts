/**
 * Two formats of RocksDB, which has other compressions than Mojang's LevelDB for types 2 and 4. RocksDB can write them in a table with LevelDB's
 * magic number (`format_version` 0). No codec here reads them: they are recognized so that their blocks are not taken for damaged ones.
 *
 *     type 2:  raw deflate: no header and no checksum of zlib
 *     type 4:  length of the contents (u64, little-endian) | LZ4 block
 *
 *     LZ4 block:   sequence*
 *     sequence:    literals' length (upper 4 bits) and match length - 4 (lower 4 bits) | more of the literals' length | literals
 *                  | distance (u16, little-endian) | more of the match length        the last sequence ends with its literals
 *
 * A length whose 4 bits are 15 continues in the bytes that follow, which are added, up to the first that is not 255.
 *
 * Source: RocksDB, util/compression.h; LZ4, doc/lz4_Block_format.md.
 */
import { inflate } from '#deflate';

const LENGTH_BYTES = 8;
const MIN_MATCH = 4;

/** Whether a stream is zlib's, by its header: RFC 1950, section 2.2. */
function hasZlibHeader(stream: Uint8Array): boolean {
  return stream.length >= 2 && (stream[0]! & 0x0f) === 8 && ((stream[0]! << 8) | stream[1]!) % 31 === 0;
}

/** Whether a stream of type 2, which is not zstd, is RocksDB's. Random bytes can be raw deflate too, but of few contents. */
export function isRocksDbDeflate(stream: Uint8Array, maxBytes: number): boolean {
  if (hasZlibHeader(stream)) return false;
  try {
    return inflate(stream, true, maxBytes).length > stream.length;
  } catch {
    return false;
  }
}

/** Whether a stream of type 4 is RocksDB's: an LZ4 block whose contents have the length that precedes it. */
export function isRocksDbLz4(stream: Uint8Array): boolean {
  if (stream.length <= LENGTH_BYTES || stream.subarray(4, LENGTH_BYTES).some((byte) => byte !== 0)) return false;
  const expected = new DataView(stream.buffer, stream.byteOffset).getUint32(0, true);
  let position = LENGTH_BYTES;
  let length = 0;
  const moreOf = (bits: number): number => {
    let sum = bits;
    if (bits < 15) return sum;
    for (let byte = 255; byte === 255; sum += byte) byte = stream[position++] ?? 0;
    return sum;
  };
  while (length <= expected && position < stream.length) {
    const token = stream[position++]!;
    const literals = moreOf(token >> 4);
    position += literals;
    length += literals;
    if (position >= stream.length) return position === stream.length && length === expected;
    const distance = stream[position]! | ((stream[position + 1] ?? 0) << 8);
    position += 2;
    if (distance === 0 || distance > length) return false;
    length += moreOf(token & 15) + MIN_MATCH;
  }
  return false;
}

/** The error for a stream of another format, with the code that makes it an unsupported block instead of a damaged one. */
export function otherFormat(text: string, type: number): Error {
  return Object.assign(new Error(`this is RocksDB's ${text}, which also has compression type ${type}, and there is no codec for it: pass one in codecs`), { code: 'BLOOM_UNSUPPORTED_CODEC' });
}
