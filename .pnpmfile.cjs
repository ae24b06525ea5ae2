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

module.exports = {
  hooks: {
    // Packed packages hold no src for the condition to point at.
    /** @param {Record<string, unknown>} manifest */
    beforePacking(manifest) {
      for (const field of ['exports', 'imports']) {
        if (field in manifest) manifest[field] = withoutSourceCondition(manifest[field]);
      }
      delete manifest.devDependencies;
      delete manifest.scripts;
      return manifest;
    },
  },
};
