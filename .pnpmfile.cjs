'use strict';

/**
 * @param {unknown} value
 * @returns {unknown}
 */
function withoutSourceCondition(value) {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'bloom-source')
      .map(([key, inner]) => [key, withoutSourceCondition(inner)]),
  );
}

/**
 * @param {unknown} dependencies
 * @returns {Record<string, unknown>}
 */
function withoutOurs(dependencies) {
  return Object.fromEntries(Object.entries(/** @type {Record<string, unknown>} */ (dependencies)).filter(([name]) => !name.startsWith('@bloom/')));
}

/**
 * pnpm adds dependencies in the order in which it resolves them, which varies. Sorted, the same package has the same bytes.
 *
 * @param {Record<string, unknown>} manifest
 * @returns {Record<string, unknown>}
 */
function withSortedDependencies(manifest) {
  const { dependencies, optionalDependencies, peerDependencies, devDependencies, ...others } = manifest;
  const sorted = Object.entries({ dependencies, optionalDependencies, peerDependencies, devDependencies })
    .filter(([, ranges]) => ranges !== undefined)
    .map(([field, ranges]) => [field, Object.fromEntries(Object.entries(/** @type {object} */ (ranges)).sort(([a], [b]) => (a < b ? -1 : 1)))]);
  return { ...others, .../** @type {Record<string, unknown>} */ (Object.fromEntries(sorted)) };
}

module.exports = {
  hooks: {
    // Packed packages have no src for the condition to point to.
    /** @param {Record<string, unknown>} manifest */
    beforePacking(manifest) {
      for (const field of ['exports', 'imports']) {
        if (field in manifest) manifest[field] = withoutSourceCondition(manifest[field]);
      }
      if (manifest.private === true) {
        // An example, which is built and tested where it is unpacked. Our own dev dependencies are not published.
        manifest.devDependencies = withoutOurs(manifest.devDependencies);
        return withSortedDependencies(manifest);
      }
      delete manifest.devDependencies;
      delete manifest.scripts;
      return withSortedDependencies(manifest);
    },
  },
};
