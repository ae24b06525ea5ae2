import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pages } from './repository.js';

const INTRO = `# Bloom

> LevelDB in TypeScript: read and write its databases, tables and Bloom filters, in LevelDB's own formats, in Node, browsers and workers. Nothing has to be compiled; the only native code is a prebuilt add-on that locks a folder for writing in Node. Packages are ES modules under the scope @bloom.
`;

/** The sections, and the pages in them, by the start of their paths. */
const SECTIONS = [
  ['Guides', /^guide\//],
  ['Packages', /^packages\//],
  ['Errors, one page for each code', /^errors\//],
  ['Reference, one page for each entry point', /^reference\//],
  ['Further', /^(commands|speed|results|public-classes|changelogs|story)\.md$/],
] as const;

/** A list of all pages with their subjects, for language models: https://llmstxt.org. */
export function llmsText(): string {
  const paths = readdirSync(pages, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md'))
    .sort();
  const sections = SECTIONS.map(([title, matches]) => {
    const lines = paths.filter((path) => matches.test(path)).map((path) => {
      const page = readFileSync(join(pages, path), 'utf8');
      const text = page.replace(/^---\n[^]*?\n---\n/, '');
      const heading = /^# (.+?)(?: \{#.*\})?$/m.exec(text)?.[1] ?? path;
      const paragraph = /^(?!```|[#|<>:-]|Defined in)\S[^\n]+/m.exec(text.slice(text.indexOf('# ')).replace(/^.*\n/, ''))?.[0] ?? '';
      // Relative links would not work from here.
      const first = /^---\n[^]*?^description: (.+)$/m.exec(page)?.[1] ?? paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('**', '');
      return `- [${heading}](${process.env.SITE_BASE ?? '/'}${path.replace(/(index)?\.md$/, (end) => (end === 'index.md' ? '' : '.html'))})${first === '' ? '' : `: ${first}`}`;
    });
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `${INTRO}\n${sections.join('\n')}`;
}
