// How the release of one package affects the versions of the others, in a copy of the workspace.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pnpmJson } from '@bloom/package-check/pnpm.js';
import { publishedPackages, type Manifest } from '@bloom/package-check/published-packages.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeset } from '../../changesets.js';
import { copyWorkspace } from '../../workspace-copy.js';

const packages = publishedPackages();
const firstReleases = join(import.meta.dirname, '../../first-release');
let copy: string;

const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(copy, path, 'package.json'), 'utf8')) as Manifest;

function firstVersion(path: string): string {
  return readFileSync(join(firstReleases, `${path.split('/')[1]!}.md`), 'utf8').includes("': major") ? '1.0.0' : '0.1.0';
}

/** Sets all packages to the versions of their first releases, without waiting changesets. */
function reset(): void {
  for (const name of readdirSync(join(copy, '.changeset'))) if (name.endsWith('.md')) rmSync(join(copy, '.changeset', name));
  for (const { path, manifest } of packages) {
    writeFileSync(join(copy, path, 'package.json'), JSON.stringify({ ...manifest, version: firstVersion(path) }, null, 2));
  }
}

/** The packages whose versions a release with one changeset changes, with the new versions. */
function moved(name: string, bump: 'patch' | 'minor' | 'major'): Record<string, string> {
  reset();
  const before = new Map(packages.map(({ path }) => [path, manifestOf(path).version]));
  writeFileSync(join(copy, '.changeset/one.md'), `---\n'${name}': ${bump}\n---\n\nA change.\n`);
  changeset(['version'], copy);
  const after = packages.map(({ path }) => ({ path, ...manifestOf(path) }));
  return Object.fromEntries(after.filter(({ path, version }) => before.get(path) !== version).map((manifest) => [manifest.name, manifest.version]));
}

/** The packages that depend on `name`, with their versions after a patch. */
function patchedDependents(name: string): Record<string, string> {
  const dependents = packages.filter(({ manifest }) => name in (manifest.dependencies ?? {}));
  return Object.fromEntries(dependents.map(({ path, manifest }) => [manifest.name, firstVersion(path).replace(/0$/, '1')]));
}

/** The version ranges of our packages in the published manifest of a package. */
function publishedRanges(path: string): Record<string, string> {
  const packed = mkdtempSync(join(copy, 'packed-'));
  const { filename } = pnpmJson(['pack', '--json', '--pack-destination', packed], join(copy, path)) as { filename: string };
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', filename, 'package/package.json'], { encoding: 'utf8' })) as Manifest;
  return Object.fromEntries(Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith('@bloom/')));
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'bloom-versions-'));
  copyWorkspace(copy);
  // Changesets asks git when a changeset was added.
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
});
afterAll(() => rmSync(copy, { recursive: true }));

describe('from the versions of the first releases', () => {
  test('a patch of hash changes only the version of hash', () => {
    expect(moved('@bloom/hash', 'patch')).toEqual({ '@bloom/hash': '1.0.1' });
  });

  test('a minor of policy changes only the version of policy, and its dependents are then published with a range that starts at it', () => {
    expect(moved('@bloom/policy', 'minor')).toEqual({ '@bloom/policy': '1.1.0' });
    expect(publishedRanges('packages/filter-block')).toMatchObject({ '@bloom/bytes': '^1.0.0', '@bloom/policy': '^1.1.0' });
  });

  test('a major of filter-block releases a patch of sstable, whose range excludes it, but not of the dependents of sstable', () => {
    expect(patchedDependents('@bloom/filter-block')).toEqual({ '@bloom/sstable': '0.1.1' });
    expect(moved('@bloom/filter-block', 'major')).toEqual({ '@bloom/filter-block': '2.0.0', '@bloom/sstable': '0.1.1' });
    expect(publishedRanges('packages/sstable')).toMatchObject({ '@bloom/filter-block': '^2.0.0', '@bloom/policy': '^1.0.0' });
    expect(readFileSync(join(copy, 'packages/sstable/CHANGELOG.md'), 'utf8')).toContain('## 0.1.1\n\n### Patch Changes\n\n- Needs `@bloom/filter-block` 2.0.0.\n');
  });

  test('a minor of sstable, which may be incompatible before 1.0.0, releases patches of its dependents', () => {
    const dependents = patchedDependents('@bloom/sstable');
    expect(dependents).toMatchObject({ '@bloom/codecs': '0.1.1', '@bloom/leveldb': '0.1.1' });
    expect(moved('@bloom/sstable', 'minor')).toEqual({ '@bloom/sstable': '0.2.0', ...dependents });
  });
});

test('no package at 1.0.0 or later depends on one before 1.0.0', () => {
  reset();
  const versions = new Map(packages.map(({ path, manifest }) => [manifest.name, manifestOf(path).version]));
  const early = packages.flatMap(({ manifest }) =>
    versions.get(manifest.name)!.startsWith('0.') ? [] : Object.keys(manifest.dependencies ?? {}).filter((name) => versions.get(name)?.startsWith('0.')),
  );
  expect([...versions.values()]).toContain('0.1.0');
  expect(early).toEqual([]);
});
