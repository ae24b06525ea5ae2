import type { Bytes } from './bytes-type.js';

/** The bytes of all parts, one after another, in a new array. */
export function joinedBytes(parts: readonly (Uint8Array | readonly number[])[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}
