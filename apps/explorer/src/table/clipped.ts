import type { Clipped } from './table-facts.js';

/** The first bytes of a key or value, with how many there are. */
export function clipped(bytes: Uint8Array, limit: number): Clipped {
  return { bytes: bytes.slice(0, limit), byteLength: bytes.length };
}
