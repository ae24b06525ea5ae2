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

module.exports = {
  hooks: {
    // Packed packages hold no src for the condition to point at.
    /** @param {Record<string, unknown>} manifest */
    beforePacking(manifest) {
      for (const field of ['exports', 'imports']) {
        if (field in manifest) manifest[field] = withoutSourceCondition(manifest[field]);
      }
      if (manifest.private === true) {
        // An example, to be built and tested where it is unpacked. Of its dev dependencies, ours are not published.
        manifest.devDependencies = withoutOurs(manifest.devDependencies);
        return manifest;
      }
      delete manifest.devDependencies;
      delete manifest.scripts;
      return manifest;
    },
  },
};
