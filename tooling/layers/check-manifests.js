// Checks the arrows in each package.json; dependency-cruiser.config.js checks the imports in the code.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrows, exampleOfExplorer } from './allowed-imports.js';

/** @typedef {Record<string, string>} Ranges */
/** @typedef {{ name: string, private?: boolean, dependencies?: Ranges, devDependencies?: Ranges, peerDependencies?: Ranges }} Manifest */

const root = join(import.meta.dirname, '../..');

/** @param {string} group */
function manifestsIn(group) {
  return readdirSync(join(root, group))
    .filter((folder) => existsSync(join(root, group, folder, 'package.json')))
    .map((folder) => {
      /** @type {unknown} */
      const manifest = JSON.parse(readFileSync(join(root, group, folder, 'package.json'), 'utf8'));
      return { folder, manifest: /** @type {Manifest} */ (manifest) };
    });
}

const packages = manifestsIn('packages');
const apps = manifestsIn('apps');
const tooling = new Set(manifestsIn('tooling').map(({ manifest }) => manifest.name));
const libraries = packages.filter(({ folder }) => !folder.startsWith('example-'));
const ours = new Set([...packages, ...apps].map(({ manifest }) => manifest.name));
const hidden = new Set(packages.filter(({ manifest }) => manifest.private).map(({ manifest }) => manifest.name));
const problems = [];

for (const { folder, manifest } of [...packages, ...apps]) {
  const targets = libraries.some((library) => library.manifest === manifest)
    ? (arrows[folder] ?? []).map((target) => `@bloom/${target}`)
    : [...libraries.map((library) => library.manifest.name), ...(folder === 'explorer' ? [`@bloom/${exampleOfExplorer}`] : [])];
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    if (tooling.has(name)) problems.push(`${manifest.name} depends on ${name}: it may only be a dev dependency`);
    else if (hidden.has(name) && !manifest.private) problems.push(`${manifest.name} depends on ${name}, which is not published`);
    else if (ours.has(name) && !targets.includes(name)) problems.push(`${manifest.name} depends on ${name}: no such arrow`);
  }
  // The command is published as a bundle without dependencies, and private packages are part of it.
  if (manifest.name === '@bloom/cli') continue;
  for (const name of Object.keys(manifest.devDependencies ?? {})) {
    if (ours.has(name)) problems.push(`${manifest.name} has ${name} as a dev dependency: it must be a dependency`);
  }
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
