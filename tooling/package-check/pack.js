import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ name: string, private?: boolean, exports: Record<string, unknown> }} Manifest */
/** @typedef {{ path: string, folder: string, manifest: Manifest, tarball: string }} Packed */

const root = join(import.meta.dirname, '../..');

/** @param {string} folder */
function readManifest(folder) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return /** @type {Manifest} */ (manifest);
}

/**
 * Packs every package that would be published.
 *
 * @param {string} destination the folder that gets the tarballs
 * @returns {Packed[]}
 */
export function packAll(destination) {
  return ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) => {
      const folder = join(root, group, name);
      const manifest = readManifest(folder);
      if (manifest.private) return [];
      const pack = ['pack', '--json', '--pack-destination', destination];
      /** @type {unknown} */
      const summary = JSON.parse(execFileSync('pnpm', pack, { cwd: folder, encoding: 'utf8' }));
      const { filename } = /** @type {{ filename: string }} */ (summary);
      return [{ path: `${group}/${name}`, folder, manifest, tarball: filename }];
    }),
  );
}
