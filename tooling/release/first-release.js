// Replaces all waiting changesets with a first release of each package. The folder first-release has a changeset for each package: its text
// becomes the changelog, `major` means 1.0.0 and `minor` means 0.1.0. This can be run repeatedly until something is published.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { publishedPackages, root } from '@bloom/package-check/published-packages.js';

const VERSIONS = { major: '1.0.0', minor: '0.1.0' };
const CHANGESET = /^---\n'(?<name>[^']+)': (?<bump>major|minor)\n---\n\n(?<text>[^]+)$/;

/**
 * @param {string} folder the name of a package's folder
 * @param {string} name of the package
 * @returns {{ version: string, text: string }}
 */
function firstRelease(folder, name) {
  const file = join(import.meta.dirname, 'first-release', `${folder}.md`);
  if (!existsSync(file)) throw new Error(`write ${file}, the text of the first release of ${name}`);
  const found = CHANGESET.exec(readFileSync(file, 'utf8'))?.groups;
  if (found?.name !== name) throw new Error(`${file} is not a changeset of ${name} alone`);
  return { version: VERSIONS[/** @type {'major' | 'minor'} */ (found.bump)], text: /** @type {string} */ (found.text).trim() };
}

const tags = execFileSync('git', ['tag', '--list', '@bloom/*'], { cwd: root, encoding: 'utf8' }).trim();
if (tags !== '') throw new Error(`already released: ${tags.replaceAll('\n', ', ')}`);

const packages = publishedPackages().map((of) => ({ ...of, ...firstRelease(basename(of.path), of.manifest.name) }));
for (const name of readdirSync(join(root, '.changeset'))) {
  if (name.endsWith('.md') && name !== 'README.md') rmSync(join(root, '.changeset', name));
}
for (const { folder, manifest, version, text } of packages) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  writeFileSync(join(folder, 'CHANGELOG.md'), `# ${manifest.name}\n\n## ${version}\n\n${text}\n`);
  console.log(`${manifest.name} ${version}`);
}
