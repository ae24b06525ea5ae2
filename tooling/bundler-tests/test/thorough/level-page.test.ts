// The size of a page that has a level, as Vite builds it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, expect, test } from 'vitest';
import { serveFolder } from '../folder-server.js';
import { executablePath, openedPage } from '../opened-page.js';

const root = join(import.meta.dirname, '../../src/level-page');
const bundles = join(import.meta.dirname, '../../.vitest');
mkdirSync(bundles, { recursive: true });
const work = mkdtempSync(join(bundles, 'level-page-'));
afterAll(() => {
  rmSync(work, { recursive: true });
});

test('a page with a level loads at most 35 kB, and its worker at most 131 kB, gzipped', async () => {
  await build({ configFile: false, root, logLevel: 'error', build: { outDir: work } });
  const html = readFileSync(join(work, 'index.html'), 'utf8');
  const loaded = [...html.matchAll(/(?:src|href)="\/(?<file>assets\/[^"]+\.js)"/g)].map(({ groups }) => groups!.file!);
  const worker = readdirSync(join(work, 'assets')).find((name) => name.startsWith('level-worker'))!;
  const sizeOf = (file: string): number => gzipSync(readFileSync(join(work, file)), { level: 9 }).length;
  const page = loaded.reduce((sum, file) => sum + sizeOf(file), 0);
  expect(loaded.length).toBeGreaterThan(0);
  expect(page).toBeLessThanOrEqual(35_000);
  expect(sizeOf(join('assets', worker))).toBeLessThanOrEqual(131_000);
});

test.runIf(executablePath !== undefined)('the page puts an entry through its worker', async () => {
  await build({ configFile: false, root, logLevel: 'error', build: { outDir: work } });
  const server = await serveFolder(work);
  try {
    expect(await openedPage(server.url)).toBe('world');
  } finally {
    await server.stop();
  }
});
