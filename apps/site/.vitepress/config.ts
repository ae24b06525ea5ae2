import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@bloom/package-check/repository.js';
import { defineConfig } from 'vitepress';
import { errorCodes } from '../src/error-pages.js';
import { referencePages } from '../src/reference.js';

const reference = join(import.meta.dirname, '../pages/reference');

const guides = [
  {
    text: 'Begin',
    items: [
      { text: 'Start', link: '/guide/start' },
      { text: 'Which layer do I need?', link: '/guide/choose-a-layer' },
      { text: 'Which filter do I need?', link: '/guide/choose-a-filter' },
      { text: 'Why a filter says no', link: '/story' },
      { text: 'Why filters fail for numbered keys', link: '/guide/numbered-keys' },
    ],
  },
  {
    text: 'Use',
    items: [
      { text: 'Databases', link: '/guide/databases' },
      { text: 'Publish data', link: '/guide/publish-data' },
      { text: 'The command line', link: '/guide/command-line' },
      { text: 'From another library', link: '/guide/from-another-library' },
      { text: 'Files of other programs', link: '/guide/programs' },
      { text: 'Beside other programs', link: '/guide/beside-other-programs' },
    ],
  },
  {
    text: 'Write one of your own',
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
      { text: 'Results', link: '/results' },
      { text: 'Changelogs', link: '/changelogs' },
    ],
  },
];

const links = (names: readonly string[], folder: string) => names.map((name) => ({ text: name, link: `/${folder}/${name}` }));

export default defineConfig({
  title: 'Bloom',
  description: "LevelDB's Bloom filters, tables and databases in TypeScript",
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
  markdown: { theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/guide/start' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Errors', link: '/errors/' },
      { text: 'Results', link: '/results' },
    ],
    sidebar: {
      '/errors/': [{ text: 'Errors', items: [{ text: 'All', link: '/errors/' }, ...links([...errorCodes().keys()], 'errors')] }],
      '/reference/': [
        {
          text: 'Reference',
          items: [
            { text: 'All', link: '/reference/' },
            ...(existsSync(reference) ? links(referencePages(reference).map((path) => path.replaceAll('\\', '/').replace(/\.md$/, '')).sort(), 'reference') : []),
          ],
        },
      ],
      '/': guides,
    },
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // Guides first; of a member, the member itself and not its parts. It runs in the page, so it can use nothing from here.
            boostDocument: (id: string) => {
              if (/#(returns|parameters|type-parameters|type-declaration|throws|inherited-from|overrides|implementation-of|call-signature|get-signature|set-signature|extends|implements|in-the-sources)(-\d+)?$/.test(id)) return 0;
              if (id.includes('/guide/')) return 4;
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
