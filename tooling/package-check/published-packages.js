import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{
 *   name: string, version: string, private?: boolean, description?: string, keywords?: string[], files?: string[],
 *   bin?: Record<string, string>, exports: Record<string, unknown>, imports?: Record<string, unknown>,
 *   scripts?: Record<string, string>, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, devDependencies?: Record<string, string>,
 * }} Manifest
 */
/** @typedef {{ path: string, folder: string, manifest: Manifest }} Package */

export const root = join(import.meta.dirname, '../..');

/**
 * @param {string} path of its folder, from the root of the repository
 * @returns {Package}
 */
export function packageAt(path) {
  const folder = join(root, path);
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { path, folder, manifest: /** @type {Manifest} */ (manifest) };
}

/** The packages that are published, in the order of their folders. */
export function publishedPackages() {
  return ['packages', 'apps']
    .flatMap((group) => readdirSync(join(root, group)).map((name) => packageAt(`${group}/${name}`)))
    .filter(({ manifest }) => !manifest.private);
}

/**
 * @param {string} folder of a package
 * @returns {string[]} its documents: README.md, where there is one, and the pages in docs
 */
export function documentsOf(folder) {
  const docs = join(folder, 'docs');
  const pages = existsSync(docs) ? readdirSync(docs).filter((name) => name.endsWith('.md')) : [];
  return [...(existsSync(join(folder, 'README.md')) ? ['README.md'] : []), ...pages.map((name) => `docs/${name}`)];
}

/**
 * @param {unknown} target a value in `exports`, `imports` or `bin`
 * @returns {string[]} the files that a published package needs for it
 */
export function filesOf(target) {
  if (typeof target === 'string') return [target.replace(/^\.\//, '')];
  if (typeof target !== 'object' || target === null) return [];
  return Object.entries(target).flatMap(([condition, inner]) => (condition === 'bloom-source' ? [] : filesOf(inner)));
}
