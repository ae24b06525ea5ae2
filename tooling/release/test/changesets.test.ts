import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, root } from '@bloom/package-check/published-packages.js';
import { expect, test } from 'vitest';
import { problemsOf } from '../waiting-changesets.js';

const versions = new Map(publishedPackages().map(({ manifest }) => [manifest.name, manifest.version]));
const folder = join(root, '.changeset');

test('every waiting changeset names published packages, and none is a major of a package before 1.0.0', () => {
  const waiting = readdirSync(folder).filter((name) => name.endsWith('.md'));
  expect(waiting.flatMap((name) => problemsOf(readFileSync(join(folder, name), 'utf8'), versions).map((problem) => `${name}: ${problem}`))).toEqual([]);
});

test.each([
  ['a major of a package before 1.0.0', `---\n'a': major\n---\n\nText.\n`, ['a is 0.3.0: an incompatible change before 1.0.0 is a minor']],
  ['a package that is not published', `---\n'c': patch\n---\n\nText.\n`, ['c is not published']],
  ['an unknown bump', `---\n'a': huge\n---\n\nText.\n`, ["not a package name and a bump: 'a': huge"]],
  ['no text', `---\n'a': minor\n---\n`, ['no text']],
  ['a good one', `---\n'a': minor\n'b': major\n---\n\nText.\n`, []],
])('of a changeset with %s, the problems are reported', (_, changeset, problems) => {
  expect(problemsOf(changeset, new Map([['a', '0.3.0'], ['b', '1.2.0']]))).toEqual(problems);
});
