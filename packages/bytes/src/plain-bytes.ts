/**
 * The same bytes as a plain `Uint8Array`. Code that calls `slice` for a copy needs it, because the `slice` of a Node `Buffer`
 * is a view.
 *
 * @returns `bytes` itself if it is plain, otherwise a view of the same memory.
 * @example
 * ```ts
 * plainBytes(Buffer.from('pear')).slice(); // a copy
 * ```
 */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  if (Object.getPrototypeOf(bytes) === Uint8Array.prototype) return bytes;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
