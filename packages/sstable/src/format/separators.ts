/**
 * Short index keys for keys in bytewise order: separators between two blocks, and the successor of the last key.
 *
 * Source: LevelDB, util/comparator.cc.
 */

/** A key k with start ≤ k < limit, shorter than `start` if that is easy. */
export function bytewiseSeparator(start: Uint8Array, limit: Uint8Array): Uint8Array {
  const common = Math.min(start.length, limit.length);
  let i = 0;
  while (i < common && start[i] === limit[i]) i++;
  // Only the first differing byte is tried, as in LevelDB, so that the index has the same bytes.
  return i < common && start[i]! + 1 < limit[i]! ? increment(start, i) : start;
}

/** A short key k with key ≤ k. */
export function bytewiseSuccessor(key: Uint8Array): Uint8Array {
  const i = key.findIndex((byte) => byte !== 0xff);
  return i < 0 ? key : increment(key, i);
}

/** The first `i` bytes of the key, and byte `i` plus one. */
function increment(key: Uint8Array, i: number): Uint8Array {
  // Not slice(): a Buffer's slice is a view, and the caller's key would change.
  const incremented = new Uint8Array(key.subarray(0, i + 1));
  incremented[i]!++;
  return incremented;
}
