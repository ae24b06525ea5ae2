import { crc32c as implementation } from '#crc32c';

/** The CRC-32C of `bytes`, a uint32. `seed` is the CRC-32C of the bytes before them. */
export const crc32c: (bytes: Uint8Array, seed?: number) => number = implementation;
