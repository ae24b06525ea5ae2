/**
 * A block as stored in the file.
 *
 *     contents, possibly compressed | compression type (u8) | masked crc32c (u32, little-endian)
 *
 * The checksum covers the stored contents and the type. The block handle's size covers the stored contents alone.
 *
 * Source: LevelDB, table/format.cc, `ReadBlock`, and util/crc32c.h.
 */
import { CorruptionError, type LabelledRange, type Place, UnsupportedError } from '@bloom/bytes';
import { mustBeBytes, plainBytes } from '@bloom/bytes/internal';
import { maskedCrc32c } from '@bloom/crc32c';
import type { BlockHandle } from './block-handle.js';
import { uint32At } from './block-walk.js';
import { type Codec, NO_COMPRESSION } from './codec.js';

/** The compression type and the checksum. */
export const BLOCK_TRAILER_LENGTH = 5;

/** Where a stored block ends, with its trailer: bytes from the start of the file. */
export function storedEnd({ offset, size }: BlockHandle): number {
  return offset + size + BLOCK_TRAILER_LENGTH;
}

/** `contents` compressed by `codec`, perhaps in `scratch`, or undefined if that saves an eighth or less. */
export function compressed(contents: Uint8Array, codec: Codec | undefined, scratch?: Uint8Array): Uint8Array | undefined {
  if (codec?.compress === undefined) return undefined;
  const bytes: unknown = codec.compress(contents, scratch);
  if (bytes === undefined) return undefined;
  mustBeBytes('the result of codec.compress', bytes);
  return bytes.length < contents.length - Math.floor(contents.length / 8) ? bytes : undefined;
}

/** Writes a block at `position`: `stored`, the contents as compressed by `type`, and its trailer. */
export function putStoredBlock(bytes: Uint8Array, position: number, stored: Uint8Array, type: number): void {
  const end = position + stored.length;
  bytes.set(stored, position);
  bytes[end] = type;
  const crc = maskedCrc32c(bytes.subarray(position, end + 1));
  bytes[end + 1] = crc;
  bytes[end + 2] = crc >>> 8;
  bytes[end + 3] = crc >>> 16;
  bytes[end + 4] = crc >>> 24;
}

/** What decoding a stored block depends on. */
export interface BlockDecoding {
  /** The codecs, by compression type. */
  readonly codecs: ReadonlyMap<number, Codec>;
  /** The most bytes that the contents of a block may have, compressed or not. */
  readonly maxBlockBytes: number;
}

/**
 * Verifies and decodes a stored block.
 *
 * @param block the stored contents and the trailer.
 * @param scratch may receive decompressed contents, from its start, if it is long enough.
 * @param contents a view of the stored contents, where the caller has one.
 * @returns the contents: a view of `block` if they are not compressed.
 * @throws CorruptionError `BLOOM_BAD_CHECKSUM`, `BLOOM_BAD_COMPRESSION`, or `BLOOM_TOO_LARGE` for contents larger than
 *   the limit.
 * @throws UnsupportedError `BLOOM_UNSUPPORTED_CODEC` when there is no codec of its type, or the codec says that it is of another format.
 */
export function decodeStoredBlock(
  block: Uint8Array,
  place: Place,
  { codecs, maxBlockBytes }: BlockDecoding,
  scratch?: Uint8Array,
  contents = block.subarray(0, block.length - BLOCK_TRAILER_LENGTH),
): Uint8Array {
  const size = contents.length;
  const stored = uint32At(block, size + 1);
  const actual = maskedCrc32c(block, size + 1);
  if (stored !== actual) {
    const hex = (crc: number): string => crc.toString(16).padStart(8, '0');
    throw new CorruptionError('BLOOM_BAD_CHECKSUM', place, `checksum mismatch: stored ${hex(stored)}, computed ${hex(actual)}`);
  }
  const type = block[size]!;
  if (type === NO_COMPRESSION) {
    if (size > maxBlockBytes) throw tooLarge(place, size, maxBlockBytes);
    return contents;
  }
  const codec = codecs.get(type);
  if (codec === undefined) {
    throw new UnsupportedError('BLOOM_UNSUPPORTED_CODEC', place, missingCodec(type));
  }
  let decompressed: unknown;
  try {
    decompressed = codec.decompress(contents, maxBlockBytes, scratch);
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new CorruptionError('BLOOM_TOO_LARGE', place, `${codec.name}: ${cause.message}: see maxBlockBytes`, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (isOfOtherFormat(cause)) throw new UnsupportedError('BLOOM_UNSUPPORTED_CODEC', place, `${codec.name}: ${reason}`);
    throw new CorruptionError('BLOOM_BAD_COMPRESSION', place, `${codec.name}: ${reason}`, { cause });
  }
  mustBeBytes('the result of codec.decompress', decompressed);
  return plainBytes(decompressed);
}

/** Whether a codec threw this because of another format than its own. */
function isOfOtherFormat(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as Error & { readonly code?: unknown }).code === 'BLOOM_UNSUPPORTED_CODEC';
}

/** What is wrong with a block of a type for which no codec was given, and what to do about it. */
export function missingCodec(type: number): string {
  const remedy = type === 2 || type === 4 ? 'pass codecs: allCodecs, from the package @bloom/codecs' : 'pass one in codecs';
  return `there is no codec for its compression type ${type}: ${remedy}`;
}

/** Whether the checksum of a stored block is that of its bytes. */
export function hasRightChecksum(block: Uint8Array): boolean {
  const end = block.length - 4;
  return uint32At(block, end) === maskedCrc32c(block, end);
}

/** Whether the contents of a block are stored without compression. */
export function isPlain(block: Uint8Array): boolean {
  return block[block.length - BLOCK_TRAILER_LENGTH] === NO_COMPRESSION;
}

function tooLarge(place: Place, size: number, maxBlockBytes: number): CorruptionError {
  return new CorruptionError('BLOOM_TOO_LARGE', place, `the contents have ${size} bytes, the limit is ${maxBlockBytes}: see maxBlockBytes`);
}

/** Labels the trailer of a block that is stored at `offset` of a file. */
export function storedBlockTrailerLayout(
  block: Uint8Array,
  offset: number,
  codecs: ReadonlyMap<number, Codec>,
): LabelledRange[] {
  const size = block.length - BLOCK_TRAILER_LENGTH;
  const type = block[size]!;
  const codec = type === NO_COMPRESSION ? 'none' : (codecs.get(type)?.name ?? 'unknown');
  return [
    { offset: offset + size, byteLength: 1, label: 'compression type', value: `${type}: ${codec}` },
    { offset: offset + size + 1, byteLength: 4, label: 'masked checksum' },
  ];
}
