import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { contentSecurityPolicy } from './content-security-policy.js';
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

const SERVICE_WORKER = 'service-worker';

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
      const files = [...Object.keys(bundle), ...publicFiles].filter((name) => name !== worker.fileName).sort();
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
  plugins: [policyInThePage(), sampleFiles(), fileList()],
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
