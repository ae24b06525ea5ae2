import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { contentSecurityPolicy } from './content-security-policy.js';
import { LINK_PICTURE, linkPreview, publicUrl } from './link-preview.js';
import { notFoundPage } from './not-found-page.js';
import { samples } from './samples/samples.js';

/** The built page carries its policy with it. Vite's own development server injects styles, which the policy forbids. */
function policyInThePage(): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: contentSecurityPolicy }, injectTo: 'head-prepend' },
    ],
  };
}

/** The sample files, made anew by each build and each start of the development server. */
function sampleFiles(): Plugin {
  return {
    name: 'samples',
    buildStart() {
      if (this.environment.mode !== 'build') return;
      for (const { path, bytes } of samples()) this.emitFile({ type: 'asset', fileName: `samples/${path}`, source: bytes });
    },
    configureServer(server) {
      server.middlewares.use('/samples', (request, response, next) => {
        const file = samples().find(({ path }) => `/${path}` === request.url?.split('?')[0]);
        if (file === undefined) next();
        else response.end(file.bytes);
      });
    },
  };
}

/** What links to the page show, and the page for addresses without a file. */
function forLinks(): Plugin {
  const base = publicUrl(process.env.EXPLORER_URL);
  return {
    name: 'for-links',
    apply: 'build',
    transformIndexHtml: (html) => linkPreview(base, /<meta name="description" content="([^"]+)"/.exec(html)![1]!),
    buildStart() {
      if (this.environment.mode === 'build') this.emitFile({ type: 'asset', fileName: NOT_FOUND, source: notFoundPage(base) });
    },
  };
}

const NOT_FOUND = '404.html';
const SERVICE_WORKER = 'service-worker';
/** Only hosts and other sites ask for these. */
const NOT_KEPT_OFFLINE = new Set<string>([LINK_PICTURE.file, NOT_FOUND]);

/** What the first view may take of the network: all that index.html names, each file compressed as servers send it. */
const MAX_FIRST_VIEW_BYTES = 60_000;

/** Ends the build if the first view is too large. */
function firstViewBudget(): Plugin {
  return {
    name: 'first-view-budget',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const html = bundle['index.html'];
      if (html?.type !== 'asset') return;
      const named = [...String(html.source).matchAll(/(?:src|href)="\.\/([^"]+)"/g)].flatMap(([, name]) => bundle[name!] ?? []);
      const bytes = [html, ...named].reduce((sum, file) => sum + gzipSync(file.type === 'chunk' ? file.code : file.source).length, 0);
      if (bytes > MAX_FIRST_VIEW_BYTES) this.error(`the first view has ${bytes} bytes when gzipped, the limit is ${MAX_FIRST_VIEW_BYTES}`);
      this.info(`the first view has ${bytes} of at most ${MAX_FIRST_VIEW_BYTES} bytes when gzipped`);
    },
  };
}

/** Tells the service worker which files there are. */
function fileList(): Plugin {
  return {
    name: 'file-list',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const worker = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === SERVICE_WORKER);
      if (worker?.type !== 'chunk') return;
      const publicFiles = readdirSync(new URL('./public', import.meta.url));
      const files = [...Object.keys(bundle), ...publicFiles].filter((name) => name !== worker.fileName && !NOT_KEPT_OFFLINE.has(name)).sort();
      const hash = createHash('sha256');
      for (const name of files) {
        const file = bundle[name];
        hash.update(name).update(file === undefined ? '' : file.type === 'chunk' ? file.code : file.source);
      }
      const version = hash.digest('hex').slice(0, 12);
      worker.code = worker.code.replaceAll('__FILES__', JSON.stringify(['./', ...files])).replaceAll('__VERSION__', JSON.stringify(version));
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [policyInThePage(), forLinks(), sampleFiles(), firstViewBudget(), fileList()],
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    // A data: URL would need a hole in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: 'index.html', [SERVICE_WORKER]: `src/${SERVICE_WORKER}.ts` },
      output: {
        entryFileNames: ({ name }) => (name === SERVICE_WORKER ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  preview: { headers: { 'Content-Security-Policy': contentSecurityPolicy } },
});
