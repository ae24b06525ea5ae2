import { sortTarball } from './canonical-tarball.js';
import { pnpmJson } from './pnpm.js';
import { packageAt, publishedPackages, root } from './published-packages.js';

/** @import { Package } from './published-packages.js' */
/** @typedef {Package & { tarball: string }} Packed */

/**
 * @param {readonly Package[]} packages
 * @param {string} destination the folder for the tarballs
 * @returns {Packed[]}
 */
function pack(packages, destination) {
  const filters = packages.map(({ path }) => `--filter=./${path}`);
  // One package gives an object, several give an array.
  const summary = [pnpmJson(['-r', ...filters, 'pack', '--json', '--pack-destination', destination], root)].flat();
  const tarballs = new Map(/** @type {{ name: string, filename: string }[]} */ (summary).map(({ name, filename }) => [name, filename]));
  return packages.map((of) => {
    const tarball = tarballs.get(of.manifest.name);
    if (tarball === undefined) throw new Error(`pnpm did not pack ${of.manifest.name}`);
    sortTarball(tarball);
    return { ...of, tarball };
  });
}

/**
 * @param {string} path of the package's folder, from the root of the repository
 * @param {string} destination the folder that gets the tarball
 * @returns {Packed}
 */
export function packFolder(path, destination) {
  return /** @type {Packed} */ (pack([packageAt(path)], destination)[0]);
}

/**
 * Packs every package that would be published.
 *
 * @param {string} destination the folder for the tarballs
 * @returns {Packed[]}
 */
export function packAll(destination) {
  return pack(publishedPackages(), destination);
}
