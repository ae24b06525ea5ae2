// The licences of the packages' dependencies, of the tools for builds and tests, and of the files that tests read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { realFiles } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { pnpmJson } from '../../pnpm.js';
import { publishedPackages, root } from '../../published-packages.js';

/** Allowed for packages that are installed with a published package or are part of its bundle. */
const PUBLISHED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '(MIT AND Zlib)'];
/** Allowed for tools, which are not distributed. */
const TOOLS = [...PUBLISHED, '0BSD', 'BSD', 'BlueOak-1.0.0', 'CC0-1.0', 'CC-BY-4.0', 'LGPL-3.0-or-later', 'MPL-2.0', 'Python-2.0', '(WTFPL OR MIT)', '(MIT OR CC0-1.0)', '(MPL-2.0 OR Apache-2.0)', 'Unlicense'];
/** Tools whose package.json has no licence that pnpm can read, and where the licence is. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'humanize-number': 'MIT, in its README',
  only: 'MIT, in its README',
  spawndamnit: 'MIT, in its LICENSE',
  union: 'MIT, in its LICENSE',
};

type Licences = Readonly<Record<string, readonly { readonly name: string }[]>>;

/** The names of installed packages with other licences. */
function others(licences: Licences, allowed: readonly string[]): string[] {
  return Object.entries(licences)
    .filter(([licence]) => !allowed.includes(licence))
    .flatMap(([licence, packages]) => packages.map(({ name }) => `${name}: ${licence}`));
}

describe('licences', () => {
  test('of dependencies of published packages are allowed', () => {
    const filters = publishedPackages().map(({ path }) => `--filter=./${path}`);
    const licences = pnpmJson([...filters, 'licenses', 'ls', '--json', '--prod'], root) as Licences;
    expect(Object.values(licences).flat().map(({ name }) => name)).toEqual(expect.arrayContaining(['abstract-level', 'pako']));
    expect(others(licences, PUBLISHED)).toEqual([]);
  });

  test('of all tools are allowed', () => {
    const licences = pnpmJson(['licenses', 'ls', '--json'], root) as Licences;
    expect(Object.values(licences).flat().length).toBeGreaterThan(300);
    expect(others(licences, TOOLS).filter((found) => !Object.keys(ELSEWHERE).includes(found.split(':')[0]!))).toEqual([]);
  });

  test('of real files are allowed, and LICENSES.md names their repositories', () => {
    const text = readFileSync(join(root, 'tooling/fixtures/data/LICENSES.md'), 'utf8');
    const repositories = new Set(realFiles().map(({ repo }) => repo));
    expect(repositories.size).toBeGreaterThan(5);
    expect([...repositories].filter((repo) => !text.includes(repo))).toEqual([]);
    expect(realFiles().filter(({ licence }) => !/^(MIT|BSD-3-Clause|Apache-2\.0)/.test(licence)).map(({ file, licence }) => `${file}: ${licence}`)).toEqual([]);
  });
});
