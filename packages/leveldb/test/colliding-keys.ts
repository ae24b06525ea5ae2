import { bloomHash } from '@bloom/hash';

const MULTIPLIER = 0xc6a4a793;
/** The number by which a multiplication by MULTIPLIER is undone, modulo 2^32. */
const INVERSE = inverseOf(MULTIPLIER);

/** Different user keys of eight bytes, all of which have the hash of the first. */
export function collidingKeys(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => keyOf(i));
}

/** Each step of the hash takes a word and can be undone, so for any first word there is a second one that leads to the wanted hash. */
function keyOf(first: number): Uint8Array {
  const key = new Uint8Array(8);
  const view = new DataView(key.buffer);
  view.setUint32(0, first, true);
  const wanted = bloomHash(new Uint8Array(8));
  // What the second step began with: its word is still 0.
  const state = Math.imul(unshifted(bloomHash(key)), INVERSE);
  view.setUint32(4, Math.imul(unshifted(wanted), INVERSE) - state, true);
  return key;
}

/** Undoes `h ^= h >>> 16`. */
function unshifted(hash: number): number {
  return hash ^ (hash >>> 16);
}

/** By Newton's iteration, which doubles the bits that are right. */
function inverseOf(odd: number): number {
  let inverse = odd;
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  return inverse;
}
