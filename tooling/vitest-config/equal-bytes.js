// Compares byte arrays with `Buffer.compare`, because Vitest's own comparison visits every byte as if it were an object. For
// arrays that differ, Vitest's comparison reports where.
import { expect } from 'vitest';

expect.addEqualityTesters([
  (/** @type {unknown} */ a, /** @type {unknown} */ b) =>
    a instanceof Uint8Array && b instanceof Uint8Array && a.constructor === b.constructor && Buffer.compare(a, b) === 0 ? true : undefined,
]);
