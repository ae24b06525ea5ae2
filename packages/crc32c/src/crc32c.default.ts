// crc-32: pure JavaScript, well tested, and as fast as WebAssembly on blocks of 4 KiB.
import CRC32C from 'crc-32/crc32c.js';

/** The CRC-32C of `bytes`, a uint32. `seed` is the CRC-32C of the bytes before them. */
export function crc32c(bytes: Uint8Array, seed = 0): number {
  return CRC32C.buf(bytes, seed) >>> 0;
}
