import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ name: string, private?: boolean, exports: Record<string, unknown> }} Manifest */

const packages = join(import.meta.dirname, '../../packages');

/** The entry points of the published packages, as written in an import: `@bloom/sstable/blob`. */
export const entryPoints = readdirSync(packages).flatMap((folder) => {
  /** @type {unknown} */
  const content = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'));
  const manifest = /** @type {Manifest} */ (content);
  if (manifest.private) return [];
  return Object.keys(manifest.exports)
    .filter((path) => path !== './package.json')
    .map((path) => manifest.name + path.slice(1));
});
