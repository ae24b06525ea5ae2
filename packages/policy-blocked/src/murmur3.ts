/**
 * MurmurHash3, x86, 32 bits.
 *
 * Every full four-byte little-endian word w:  h ^= mix(w);  h = rotl(h, 13) * 5 + 0xe6546b64
 * A tail of one to three bytes t:             h ^= mix(t)
 * At the end:                                 h ^= length;
 *                                             h ^= h >>> 16;  h *= F1;  h ^= h >>> 13;  h *= F2;  h ^= h >>> 16
 * with mix(w) = rotl(w * C1, 15) * C2, all modulo 2^32.
 *
 * Source: Austin Appleby, MurmurHash3.cpp in SMHasher, in the public domain.
 */
const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;
const F1 = 0x85ebca6b;
const F2 = 0xc2b2ae35;

/**
 * Hashes `bytes[start, end)`, which must be within `bytes`.
 *
 * @param seed a uint32.
 * @returns a uint32.
 */
export function murmur3(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let h = seed | 0;
  let i = start;
  for (const lastWord = end - 4; i <= lastWord; i += 4) {
    h ^= mix(bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  }
  const tail = end - i;
  if (tail > 0) {
    let word = bytes[i]!;
    if (tail >= 2) word |= bytes[i + 1]! << 8;
    if (tail === 3) word |= bytes[i + 2]! << 16;
    h ^= mix(word);
  }
  h ^= end - start;
  h = Math.imul(h ^ (h >>> 16), F1);
  h = Math.imul(h ^ (h >>> 13), F2);
  return (h ^ (h >>> 16)) >>> 0;
}

function mix(word: number): number {
  const w = Math.imul(word, C1);
  return Math.imul((w << 15) | (w >>> 17), C2);
}
