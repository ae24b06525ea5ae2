// Copies the files that a release reads and writes: manifests, changelogs, changesets and the published files. A release can be tried in
// the copy without changing the checkout.
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { packageAt, root } from '@bloom/package-check/published-packages.js';

const SETTINGS = ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', '.pnpmfile.cjs', 'LICENSE', '.changeset'];
const SCRIPTS = ['package.json', 'prepack.js', 'published-packages.js'];

/**
 * @param {string} folder an empty folder
 * @returns {void}
 */
export function copyWorkspace(folder) {
  for (const name of SETTINGS) cpSync(join(root, name), join(folder, name), { recursive: true });
  /** @type {Map<string, string>} the folder of each package in the copy */
  const places = new Map();
  for (const group of ['packages', 'apps', 'tooling']) {
    for (const name of readdirSync(join(root, group))) {
      const path = `${group}/${name}`;
      if (!existsSync(join(root, path, 'package.json'))) continue;
      const { manifest } = packageAt(path);
      places.set(manifest.name, join(folder, path));
      const published = manifest.private ? [] : ['README.md', 'CHANGELOG.md', ...(manifest.files ?? []).filter((file) => !file.startsWith('!'))];
      const scripts = basename(path) === 'package-check' ? SCRIPTS : basename(path) === 'release' ? ['changelog.js'] : [];
      for (const file of ['package.json', ...published, ...scripts]) {
        if (existsSync(join(root, path, file))) cpSync(join(root, path, file), join(folder, path, file), { recursive: true });
      }
    }
  }
  // pnpm follows these links to find the versions for `workspace:^`.
  for (const [name, place] of places) {
    const { manifest } = packageAt(relative(folder, place));
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
      const target = places.get(dependency);
      if (target === undefined || name === dependency) continue;
      const link = join(place, 'node_modules', dependency);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(target, link, 'junction');
    }
  }
}
