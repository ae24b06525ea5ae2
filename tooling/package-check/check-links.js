// Checks that links in the repository's Markdown lead to existing files and headings, and that the files named in the README of a source folder
// exist. Addresses of this repository are checked against the checkout. Other addresses are not checked.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { linksOf, withoutFragment } from './links.js';
import { root } from './published-packages.js';
import { pathOf } from './repository.js';

/**
 * @param {string} file
 * @returns {Set<string>} the fragments that its headings have on GitHub
 */
function fragmentsOf(file) {
  const text = readFileSync(file, 'utf8').replace(/^```[^]*?^```$/gm, '');
  /** @type {Set<string>} */
  const fragments = new Set();
  for (const [, heading = ''] of text.matchAll(/^#+ +(.+?) *$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const fragment = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/ /g, '-');
    let unique = fragment;
    for (let i = 1; fragments.has(unique); i++) unique = `${fragment}-${i}`;
    fragments.add(unique);
  }
  return fragments;
}

/**
 * @param {string} document its path in the repository
 * @param {string} link
 * @returns {boolean} whether the target of the link exists, or is outside the repository
 */
function targetExists(document, link) {
  const known = pathOf(link);
  if (known === undefined && /^[a-z]+:/.test(link)) return true;
  const path = known ?? (link.startsWith('#') ? document + link : posix.join(posix.dirname(document), link));
  const target = join(root, withoutFragment(path));
  if (!existsSync(target)) return false;
  const fragment = /#(.+)$/.exec(path)?.[1];
  if (fragment === undefined) return true;
  const file = target.endsWith('.md') ? target : join(target, 'README.md');
  return !existsSync(file) || fragmentsOf(file).has(decodeURIComponent(fragment));
}

const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
const skipped = /^(tooling\/fixtures\/data|\.changeset|apps\/site)\//;
const problems = documents
  .filter((document) => !skipped.test(document) && existsSync(join(root, document)))
  .flatMap((document) =>
    linksOf(readFileSync(join(root, document), 'utf8'))
      .filter((link) => !targetExists(document, link))
      .map((link) => `${document}: ${link} is broken`),
  );
for (const document of documents.filter((name) => /(^|\/)src\/README\.md$/.test(name) && existsSync(join(root, name)))) {
  for (const [, named = ''] of readFileSync(join(root, document), 'utf8').matchAll(/`([\w./-]+\.(?:js|ts))`/g)) {
    if (![posix.join(posix.dirname(document), named), named].some((path) => existsSync(join(root, path)))) problems.push(`${document}: there is no ${named}`);
  }
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
