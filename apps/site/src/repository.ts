import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { withLinks, withoutFragment } from '@bloom/package-check/links.js';
import { publishedPackages, root } from '@bloom/package-check/published-packages.js';
import { addressOf, pathOf } from '@bloom/package-check/repository.js';

/** The folders of the pages: written by hand, and generated. */
export const pages = join(import.meta.dirname, '../pages');

/** The page that shows a file of the repository, or undefined. Its path starts at the root of the site. */
function pageOf(path: string): string | undefined {
  if (path === 'RESULTS.md') return '/speed.md';
  if (path === 'tooling/benchmarks/RESULTS.md') return '/results.md';
  const own = /^apps\/site\/pages\/(?<page>.*\.md)$/.exec(path);
  if (own !== null) return `/${own.groups!.page!}`;
  const document = publishedPackages().find((of) => path === of.path || path.startsWith(`${of.path}/`));
  if (document === undefined) return undefined;
  const name = document.manifest.name.slice('@bloom/'.length);
  const inside = path.slice(document.path.length);
  if (inside === '' || inside === '/README.md') return `/packages/${name}/index.md`;
  const page = /^\/docs\/(?<page>[\w-]+\.md)$/.exec(inside);
  return page === null ? undefined : `/packages/${name}/${page.groups!.page!}`;
}

/** The text of a file of the repository, for a page: its links lead to pages of the site, or else to the repository. */
export function repositoryText(path: string): string {
  return withLinks(readFileSync(join(root, path), 'utf8'), (link) => {
    if (link.startsWith('#')) return pageOf(path) === undefined ? addressOf(path, 'blob') + link : link;
    const npm = /^https:\/\/www\.npmjs\.com\/package\/@bloom\/(?<name>[\w-]+)/.exec(link);
    if (npm !== null) return `/packages/${npm.groups!.name!}/index.md`;
    const known = pathOf(link);
    if (known === undefined && /^[a-z]+:/.test(link)) return link;
    const target = known === undefined ? posix.join(posix.dirname(path), withoutFragment(link)).replace(/\/$/, '') : withoutFragment(known);
    if (!existsSync(join(root, target))) throw new Error(`${path}: ${link} leads nowhere`);
    return (pageOf(target) ?? addressOf(target, statSync(join(root, target)).isDirectory() ? 'tree' : 'blob')) + link.slice(withoutFragment(link).length);
  });
}

/** Markdown in which Vue finds no syntax of its own: without tags and double braces outside of code. */
export function plainMarkdown(text: string): string {
  const parts = text.split(/(^```[^]*?^```$|`[^`\n]*`)/m);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;'))).join('');
}

/** The fragment of a heading on GitHub. */
export function githubFragment(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
