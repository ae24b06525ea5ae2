// The files that a published package may contain.
import { filesOf } from './published-packages.js';
import { linksOf, withoutFragment } from './links.js';

/** @import { Manifest } from './published-packages.js' */

/** Other files, such as sources, tests and caches, are published by mistake. The command includes the explorer's page. */
const EXPECTED = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/[\w-]+\.md|dist\/([\w.-]+\/)*[\w.-]+\.(js|cjs|js\.map|cjs\.map|d\.ts|d\.cts)|dist\/third-party-notices\.txt|dist\/explorer\/[\w ./-]+)$/;

/**
 * @param {Manifest} manifest
 * @param {readonly string[]} files their paths in the package
 * @param {string} readme the text of README.md
 * @returns {string[]} the problems
 */
export function checkFiles(manifest, files, readme) {
  const present = new Set(files);
  const wanted = [
    ...['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'],
    ...filesOf([manifest.bin, manifest.exports, manifest.imports]),
    // TypeScript finds the types of an entry point next to it.
    ...filesOf(manifest.exports).map((file) => file.replace(/\.(?=c?js$)/, '.d.').replace(/js$/, 'ts')),
    ...linksOf(readme)
      .map(withoutFragment)
      .filter((link) => link !== '' && !/^[a-z]+:/.test(link)),
  ];
  return [
    ...[...new Set(wanted)].filter((file) => !present.has(file)).map((file) => `no ${file}`),
    ...files.filter((file) => !EXPECTED.test(file)).map((file) => `has ${file}, which should not be published`),
  ];
}
