import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ name: string, private?: boolean, exports: Record<string, unknown>, dependencies?: Record<string, string> }} Manifest */
/** @typedef {{ path: string, folder: string, manifest: Manifest, tarball: string }} Packed */

const root = join(import.meta.dirname, '../..');

/** @param {string} folder */
function readManifest(folder) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return /** @type {Manifest} */ (manifest);
}

/**
 * @param {string} path of the folder, from the root of the repository
 * @param {string} destination the folder that gets the tarball
 * @returns {Packed}
 */
export function packFolder(path, destination) {
  const folder = join(root, path);
  const pack = ['pack', '--json', '--pack-destination', destination];
  /** @type {unknown} */
  const summary = JSON.parse(execFileSync('pnpm', pack, { cwd: folder, encoding: 'utf8' }));
  const { filename } = /** @type {{ filename: string }} */ (summary);
  return { path, folder, manifest: readManifest(folder), tarball: filename };
}

/**
 * Packs every package that would be published.
 *
 * @param {string} destination the folder for the tarballs
 * @returns {Packed[]}
 */
export function packAll(destination) {
  return ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group))
      .map((name) => `${group}/${name}`)
      .filter((path) => !readManifest(join(root, path)).private)
      .map((path) => packFolder(path, destination)),
  );
}
