import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { withLinks, withoutFragment } from '@bloom/package-check/links.js';
import { root } from '@bloom/package-check/published-packages.js';
import { addressOf } from '@bloom/package-check/repository.js';

/** The pages that are written by hand, and those that are made. */
export const pages = join(import.meta.dirname, '../pages');

/** The text of a file of the repository, for a page: its links lead to the repository. */
export function repositoryText(path: string): string {
  return withLinks(readFileSync(join(root, path), 'utf8'), (link) => {
    if (/^[a-z]+:/.test(link)) return link;
    // On a page of the site, a fragment alone would be one of that page.
    if (link.startsWith('#')) return addressOf(path, 'blob') + link;
    const target = posix.join(posix.dirname(path), withoutFragment(link)).replace(/\/$/, '');
    if (!existsSync(join(root, target))) throw new Error(`${path}: ${link} leads nowhere`);
    return addressOf(target, statSync(join(root, target)).isDirectory() ? 'tree' : 'blob') + link.slice(withoutFragment(link).length);
  });
}

/** Markdown without what Vue would take for its own: tags and double braces outside of code. */
export function plainMarkdown(text: string): string {
  const parts = text.split(/(^```[^]*?^```$|`[^`\n]*`)/m);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;'))).join('');
}
