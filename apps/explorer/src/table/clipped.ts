import type { Clipped } from './table-facts.js';

const CLIPPED_BYTES = 200;

/** The first bytes of a key or value, and its length. */
export function clipped(bytes: Uint8Array, limit = CLIPPED_BYTES): Clipped {
  return { bytes: bytes.slice(0, limit), byteLength: bytes.length };
}
