// Bundles made of the built packages by the bundlers that this repository uses itself.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { build as viteBuild } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageFindings } from '../../src/page-findings.js';
import { serverFindings } from '../../src/server-findings.js';
import { serveFolder } from '../folder-server.js';
import { executablePath, openedPage } from '../opened-page.js';
import { hasLocks, printedFindings } from '../server-program.js';

const src = join(import.meta.dirname, '../../src');
// In this package, so that a bundle finds what it imports at run time.
const bundles = join(import.meta.dirname, '../../.vitest');
mkdirSync(bundles, { recursive: true });
const work = mkdtempSync(join(bundles, 'bundles-'));
afterAll(() => {
  rmSync(work, { recursive: true });
});

interface Bundler {
  /** Bundles `page.ts` into a folder with an `index.html`. */
  page(folder: string): Promise<unknown>;
  /** Bundles `server.ts` for Node, into `server.mjs` and whatever else it needs. */
  server(folder: string): Promise<unknown>;
}

const bundlers: Record<string, Bundler> = {
  esbuild: {
    page(folder) {
      writeFileSync(join(folder, 'index.html'), '<!doctype html><script type="module" src="page.js"></script>');
      return esbuild({ entryPoints: [join(src, 'page.ts')], outdir: folder, bundle: true, minify: true, format: 'esm', platform: 'browser', logLevel: 'error' });
    },
    server: (folder) =>
      esbuild({
        entryPoints: [join(src, 'server.ts')],
        outfile: join(folder, 'server.mjs'),
        bundle: true,
        minify: true,
        format: 'esm',
        platform: 'node',
        target: 'node20',
        logLevel: 'error',
      }),
  },
  vite: {
    page: (folder) => viteBuild({ configFile: false, root: src, logLevel: 'error', build: { outDir: folder } }),
    server: (folder) =>
      viteBuild({
        configFile: false,
        root: src,
        logLevel: 'error',
        ssr: { noExternal: true, target: 'node' },
        build: { ssr: 'server.ts', outDir: folder, minify: true, target: 'node20', rolldownOptions: { output: { entryFileNames: 'server.mjs' } } },
      }),
  },
};

if (executablePath === undefined) {
  test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no bundled page is opened', () => {});
}

describe.each(Object.entries(bundlers))('bundled by %s', (name, bundler) => {
  test.runIf(executablePath !== undefined)('a page finds what Node finds', async () => {
    const folder = join(work, `${name}-page`);
    mkdirSync(folder);
    await bundler.page(folder);
    const server = await serveFolder(folder);
    try {
      expect(await openedPage(server.url)).toEqual(await pageFindings());
    } finally {
      await server.stop();
    }
  });

  describe('a server', () => {
    const folder = join(work, `${name}-server`);

    beforeAll(async () => {
      mkdirSync(folder);
      await bundler.server(folder);
    });

    test('finds what it finds unbundled, and locks its database', async () => {
      const { threadJobs: _, ...expected } = await serverFindings();
      const { threadJobs, ...findings } = await printedFindings(join(folder, 'server.mjs'));
      expect(findings).toEqual({ ...expected, lock: hasLocks() ? 'held' : 'BLOOM_NO_LOCK' });
      expect(threadJobs.failed).toBe(0);
    });

    test('gets BLOOM_NO_LOCK where no add-on is installed, and does everything else', async () => {
      const elsewhere = mkdtempSync(join(tmpdir(), 'bloom-bundle-'));
      try {
        cpSync(folder, elsewhere, { recursive: true });
        const { lock, databaseEntries } = await printedFindings(join(elsewhere, 'server.mjs'));
        expect([lock, databaseEntries]).toEqual(['BLOOM_NO_LOCK', 5000]);
      } finally {
        rmSync(elsewhere, { recursive: true });
      }
    });
  });
});
