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

/**
 * @param {unknown} a
 * @param {unknown} b
 * @returns undefined leaves the comparison to Vitest.
 */
function haveEqualBytes(a, b) {
  const [bytesA, bytesB] = [bytesOf(a), bytesOf(b)];
  if (bytesA === undefined || bytesB === undefined || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
  if (Buffer.compare(bytesA, bytesB) === 0) return true;
  return ArrayBuffer.isView(a) && !(a instanceof DataView) ? undefined : false;
}

// Vitest runs this before each file of a process, and would try one tester after another.
const added = Symbol.for('bloom.equalBytes');
if (!(added in globalThis)) {
  Object.assign(globalThis, { [added]: true });
  expect.addEqualityTesters([haveEqualBytes]);
}
