// Generates the pages that are made from other files: packages, errors, reference, speed, results, changelogs, sizes, programs; and llms.txt.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publishedPackages, root } from '@bloom/package-check/published-packages.js';
import { commandPage } from './command-page.js';
import { packageDocuments } from './documents.js';
import { errorPages } from './error-pages.js';
import { llmsText } from './llms-text.js';
import { programsTable } from './programs.js';
import { REDIRECTS, redirectPage } from './redirects.js';
import { writeReference } from './reference.js';
import { pages, plainMarkdown, repositoryText } from './repository.js';
import { pageSizes, sizesTable } from './sizes.js';

function write(name: string, text: string): void {
  mkdirSync(dirname(join(pages, name)), { recursive: true });
  writeFileSync(join(pages, name), text);
}

for (const name of ['packages', 'errors', 'reference', 'generated', 'public']) rmSync(join(pages, name), { recursive: true, force: true });

for (const [name, text] of errorPages()) write(`errors/${name}.md`, plainMarkdown(text));

const plots = 'tooling/benchmarks/plots';
cpSync(join(root, plots), join(pages, 'public/plots'), { recursive: true });
write('speed.md', plainMarkdown(repositoryText('RESULTS.md')));
write('results.md', `---\noutline: [2, 3]\n---\n\n${plainMarkdown(repositoryText('tooling/benchmarks/RESULTS.md'))}`);

for (const { name, documents } of packageDocuments()) {
  for (const { path, page } of documents) write(`packages/${name}/${page}.md`, plainMarkdown(repositoryText(path)));
}

// A package that was added since the last release has no changelog yet.
const released = publishedPackages().filter(({ folder }) => existsSync(join(folder, 'CHANGELOG.md')));
const changelogs = released.map(({ path }) => repositoryText(`${path}/CHANGELOG.md`).replace(/^#/gm, '##'));
write('changelogs.md', `# Changelogs\n\n${plainMarkdown(changelogs.join('\n'))}`);

const sizes = await pageSizes();
write('generated/sizes.md', sizesTable(sizes));
write('generated/sizes.json', JSON.stringify(Object.fromEntries(sizes)));
write('generated/programs.md', programsTable());

await writeReference(join(pages, 'reference'));
write('commands.md', commandPage());

const explorer = join(root, 'apps/explorer/dist');
if (!existsSync(explorer)) throw new Error('build the explorer first: npx pnpm@10 build');
cpSync(explorer, join(pages, 'public/explorer'), { recursive: true });

for (const [path, target] of REDIRECTS) write(`public/${path}`, redirectPage(target));

write('public/llms.txt', llmsText());
console.log(`${readdirSync(pages, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')).length} pages`);
