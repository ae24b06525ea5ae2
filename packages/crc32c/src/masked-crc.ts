/**
 * The checksum of LevelDB's tables and logs: CRC-32C, masked.
 *
 * A CRC is weak on bytes that contain CRCs themselves, so before it is stored, it is rotated right by 15 bits and a
 * constant is added.
 *
 * Source: LevelDB, util/crc32c.h.
 */
import { crc32c } from './crc32c.js';

const MASK_DELTA = 0xa282ead8;

/** The stored form of `crc`, a uint32. */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

/** The CRC, a uint32, whose stored form is `masked`. */
export function unmaskCrc(masked: number): number {
  const rotated = (masked - MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

/**
 * The masked CRC-32C of the first `length` bytes of `bytes`, or of all of them, a uint32: tables and logs store it in little-endian order.
 *
 * @throws as {@link crc32c}.
 */
export function maskedCrc32c(bytes: Uint8Array, length?: number): number {
  return maskCrc(crc32c(bytes, 0, length));
}
