import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** @import { Packed } from './pack.js' */

/** @param {string} file */
export function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/**
 * @param {readonly Packed[]} packages
 * @param {readonly Packed[]} again the same packages, packed once more
 * @returns {string[]} the problems
 */
export function checkReproduced(packages, again) {
  return packages.flatMap(({ path, tarball }, i) => (sha256(tarball) === sha256(again[i]?.tarball ?? '') ? [] : [`${path} has different bytes`]));
}
