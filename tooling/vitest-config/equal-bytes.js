// Compares arrays of numbers and buffers by their bytes, because Vitest's own comparison visits every element as if it were an object. For those
// that differ, Vitest's comparison reports where.
import { expect } from 'vitest';

/** @param {unknown} value */
function bytesOf(value) {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer || value instanceof SharedArrayBuffer ? new Uint8Array(value) : undefined;
}

expect.addEqualityTesters([
  (/** @type {unknown} */ a, /** @type {unknown} */ b) => {
    const [bytesA, bytesB] = [bytesOf(a), bytesOf(b)];
    if (bytesA === undefined || bytesB === undefined || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
    return Buffer.compare(bytesA, bytesB) === 0 ? true : undefined;
  },
]);
