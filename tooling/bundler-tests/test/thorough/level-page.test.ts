// The size of a page that has a level, as Vite builds it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Builds the page. @returns its folder. */
async function built(format: 'iife' | 'es'): Promise<string> {
  const outDir = join(work, format);
  await build({ configFile: false, root, logLevel: 'error', worker: { format }, build: { outDir } });
  return outDir;
}

/** The gzipped size of a file and of all that it imports, in bytes. */
function sizeOf(file: string, counted = new Set<string>()): number {
  if (counted.has(file)) return 0;
  counted.add(file);
  const code = readFileSync(file, 'utf8');
  const imported = [...code.matchAll(/(?:^|[;}])(?:import|export)(?:[^;'"]*?from)?\s*["'](?<name>\.[^"']+)["']/g)].map(({ groups }) => join(dirname(file), groups!.name!));
  return imported.reduce((sum, other) => sum + sizeOf(other, counted), gzipSync(code, { level: 9 }).length);
}

function workerOf(folder: string): string {
  return join(folder, 'assets', readdirSync(join(folder, 'assets')).find((name) => name.startsWith('level-worker'))!);
}

test('a page with a level loads at most 35 kB, and its worker at most 134 kB, gzipped', async () => {
  const folder = await built('iife');
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const loaded = [...html.matchAll(/(?:src|href)="\/(?<file>assets\/[^"]+\.js)"/g)].map(({ groups }) => groups!.file!);
  expect(loaded.length).toBeGreaterThan(0);
  expect(loaded.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length, 0)).toBeLessThanOrEqual(35_000);
  const size = sizeOf(workerOf(folder));
  expect(size).toBeLessThanOrEqual(134_000);
  // Otherwise, the worker's code is somewhere else.
  expect(size).toBeGreaterThan(100_000);
});

test('a worker that is an ES module loads at most 105 kB at first, gzipped', async () => {
  const size = sizeOf(workerOf(await built('es')));
  expect(size).toBeLessThanOrEqual(105_000);
  expect(size).toBeGreaterThan(90_000);
});

if (executablePath === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no bundled page is opened', () => {});
test.runIf(executablePath !== undefined).each(['iife', 'es'] as const)('the page puts an entry through its worker, built as %s', async (format) => {
  const server = await serveFolder(await built(format));
  try {
    expect(await openedPage(server.url)).toBe('world');
  } finally {
    await server.stop();
  }
});
