/**
 * The same bytes as a `Uint8Array` of no subclass: the `slice` of a Node `Buffer` does not copy, and its `subarray` takes
 * several times as long.
 *
 * @returns `bytes` itself where it is plain, otherwise a view of the same memory.
 * @example
 * ```ts
 * plainBytes(Buffer.from('pear')).slice(); // a copy
 * ```
 */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  if (Object.getPrototypeOf(bytes) === Uint8Array.prototype) return bytes;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
