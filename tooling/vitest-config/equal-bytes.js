// Compares typed arrays, buffers and DataViews by their bytes. Vitest's own comparison visits every element of an array as if it were an object,
// and does not see the contents of buffers and DataViews. For arrays that differ, it reports where.
import { expect } from 'vitest';

/**
 * @param {unknown} value
 * @returns undefined for other values.
 */
function bytesOf(value) {
  try {
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return value instanceof ArrayBuffer || value instanceof SharedArrayBuffer ? new Uint8Array(value) : undefined;
  } catch {
    // The buffer was transferred.
    return new Uint8Array(0);
  }
}

expect.addEqualityTesters([
  (/** @type {unknown} */ a, /** @type {unknown} */ b) => {
    const [bytesA, bytesB] = [bytesOf(a), bytesOf(b)];
    if (bytesA === undefined || bytesB === undefined || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
    if (Buffer.compare(bytesA, bytesB) === 0) return true;
    return ArrayBuffer.isView(a) && !(a instanceof DataView) ? undefined : false;
  },
]);
