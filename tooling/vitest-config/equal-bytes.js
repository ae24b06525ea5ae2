// Byte arrays that are equal are found so at once: Vitest compares them byte by byte, each as if it were an object. Those that
// differ are left to Vitest, which shows where.
import { expect } from 'vitest';

expect.addEqualityTesters([
  (/** @type {unknown} */ a, /** @type {unknown} */ b) =>
    a instanceof Uint8Array && b instanceof Uint8Array && a.constructor === b.constructor && Buffer.compare(a, b) === 0 ? true : undefined,
]);
