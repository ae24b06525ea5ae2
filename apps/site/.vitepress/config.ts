import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@bloom/package-check/repository.js';
import { defineConfig } from 'vitepress';
import { packageDocuments } from '../src/documents.js';
import { errorCodes } from '../src/error-pages.js';
import { entryPointNames, referencePages } from '../src/reference.js';
import { githubFragment } from '../src/repository.js';

const reference = join(import.meta.dirname, '../pages/reference');

const guides = [
  {
    text: 'Begin',
    items: [
      { text: 'Start', link: '/guide/start' },
      { text: 'Explorer', link: '/explorer/index.html', target: '_self' },
      { text: 'Which layer do I need?', link: '/guide/choose-a-layer' },
      { text: 'Which filter do I need?', link: '/guide/choose-a-filter' },
      { text: 'Comparison with other libraries', link: '/guide/compare' },
      { text: 'Why a filter says no', link: '/story' },
      { text: 'Why filters fail for numbered keys', link: '/guide/numbered-keys' },
    ],
  },
  {
    text: 'Use',
    items: [
      { text: 'What browsers and apps store', link: '/guide/browser-storage' },
      { text: 'Files of other programs', link: '/guide/programs' },
      { text: 'Databases', link: '/guide/databases' },
      { text: 'From another library', link: '/guide/from-another-library' },
      { text: 'Sharing a folder with other programs', link: '/guide/sharing-a-folder' },
      { text: 'Publish data', link: '/guide/publish-data' },
      { text: 'The command line', link: '/guide/command-line' },
      { text: 'Formats for scripts', link: '/guide/command-formats' },
    ],
  },
  {
    text: 'Write your own',
    items: [
      { text: 'A policy', link: '/guide/write-a-policy' },
      { text: 'A comparator', link: '/guide/write-a-comparator' },
      { text: 'A source', link: '/guide/write-a-source' },
      { text: 'A folder', link: '/guide/write-a-folder' },
      { text: 'A codec', link: '/guide/write-a-codec' },
    ],
  },
  {
    text: 'Look up',
    items: [
      { text: 'The format', link: '/guide/format' },
      { text: 'Commands', link: '/commands' },
      { text: 'Errors', link: '/errors/' },
      { text: 'Reference', link: '/reference/' },
      { text: 'The public classes', link: '/public-classes' },
      { text: 'Speed', link: '/speed' },
      { text: 'All figures', link: '/results' },
      { text: 'Changelogs', link: '/changelogs' },
    ],
  },
  {
    text: 'Packages',
    items: packageDocuments().map(({ name, documents }) => ({
      text: name,
      link: `/packages/${name}/`,
      ...(documents.length > 1 && { collapsed: true, items: documents.slice(1).map(({ page, title }) => ({ text: title, link: `/packages/${name}/${page}` })) }),
    })),
  },
];

const links = (names: readonly string[], folder: string) => names.map((name) => ({ text: name, link: `/${folder}/${name}` }));

/** The entry points in the order of their names, each with its pages. */
function referenceTree(): object[] {
  const paths = referencePages(reference).map((path) => path.replaceAll('\\', '/').replace(/\.md$/, '')).sort();
  const names = new Set(entryPointNames());
  return [...names].sort().map((name) => {
    const own = paths.filter((path) => path.startsWith(`${name}/`) && !names.has(path) && ![...names].some((other) => other.startsWith(`${name}/`) && path.startsWith(`${other}/`)));
    return { text: name, link: `/reference/${name}`, ...(own.length > 0 && { collapsed: true, items: links(own, 'reference').map(({ text, link }) => ({ text: text.slice(name.length + 1), link })) }) };
  });
}

export default defineConfig({
  title: 'Bloom',
  description: "LevelDB in TypeScript: read and write its databases, tables and Bloom filters, in LevelDB's own formats, in Node and browsers",
  lang: 'en',
  base: process.env.SITE_BASE ?? '/',
  srcDir: 'pages',
  // Parts of other pages.
  srcExclude: ['generated/**'],
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env.SITE_BASE ?? '/'}explorer/bloom.svg` }]],
  // The explorer and the text for programs are no pages of VitePress.
  ignoreDeadLinks: [/^\/explorer\//, /^\/llms\.txt$/],
  // Colours with enough contrast on the grey of code.
  markdown: {
    // The fragments that headings have on GitHub, where most pages are shown too.
    anchor: { slugify: githubFragment },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: { src: '/explorer/bloom.svg', alt: '' },
    notFound: {
      title: 'There is no such page',
      quote: 'The address is wrong, or the page was renamed. The search at the top finds guides, members and errors.',
      linkText: 'Go to the start page',
      linkLabel: 'Go to the start page',
    },
    nav: [
      { text: 'Guide', link: '/guide/start' },
      { text: 'Explorer', link: '/explorer/index.html', target: '_self' },
      { text: 'level', link: '/packages/level/' },
      { text: 'Command', link: '/guide/command-line' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Errors', link: '/errors/' },
      { text: 'Speed', link: '/speed' },
    ],
    sidebar: {
      '/errors/': [{ text: 'Errors', items: [{ text: 'All', link: '/errors/' }, ...links([...errorCodes().keys()], 'errors')] }],
      '/reference/': [{ text: 'Reference', items: [{ text: 'All', link: '/reference/' }, { text: 'The public classes', link: '/public-classes' }, ...(existsSync(reference) ? referenceTree() : [])] }],
      '/': guides,
    },
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // As VitePress renders pages for its index, but without the colours of code, which take time. Pages are rendered by the same object.
        _render(source, environment, markdown) {
          const { highlight } = markdown.options;
          markdown.set({ highlight: null });
          try {
            const html = markdown.render(source, environment);
            return environment.frontmatter?.search === false ? '' : html;
          } finally {
            markdown.set({ highlight });
          }
        },
        miniSearch: {
          searchOptions: {
            // Guides first; of a member, the member itself and not its parts. It runs in the page, so it can use nothing from here.
            boostDocument: (id: string) => {
              if (/#(returns|parameters|type-parameters|type-declaration|throws|inherited-from|overrides|implementation-of|call-signature|get-signature|set-signature|extends|implements|in-the-sources)(-\d+)?$/.test(id)) return 0;
              if (id.includes('/guide/')) return 4;
              if (id.includes('/packages/')) return 1.5;
              return id.includes('/reference/') ? 1 : 2;
            },
          },
        },
      },
    },
    socialLinks: [{ icon: 'github', link: repository }],
    footer: { message: 'Under the MIT licence' },
  },
  vite: { build: { chunkSizeWarningLimit: 4000 }, ssr: { noExternal: [/^@bloom\//] } },
});
