import { readFileSync } from 'node:fs';

/** @import { Options } from 'tsup' */

/** @type {Options} */
const shared = {
  format: 'esm',
  target: 'es2022',
  clean: true,
  sourcemap: true,
  removeNodeProtocol: false,
  silent: true,
};

/**
 * A package: one file for each entry point, and shared code in chunks.
 *
 * @param {string[]} entry the entry points
 * @param {string[]} [imported] files that only the package itself imports, under a `#` name of package.json's `imports`, or
 *   as separate files so that a bundler can leave them out
 * @returns {Options}
 */
export function library(entry, imported = []) {
  return {
    ...shared,
    entry: [...entry, ...imported],
    platform: 'neutral',
    tsconfig: 'tsconfig.node.json',
    dts: { entry },
    // The host that loads the package resolves these.
    external: [/^#/, /^node:/, ...optionalDependencies()],
  };
}

/** The optional dependencies of the package that is built. tsup would bundle them, unlike other dependencies. */
function optionalDependencies() {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  return Object.keys(/** @type {{ optionalDependencies?: Record<string, string> }} */ (manifest).optionalDependencies ?? {});
}

/**
 * A program for Node.
 *
 * @param {string[]} entry
 * @returns {Options}
 */
export function program(entry) {
  return { ...shared, entry, platform: 'node' };
}
