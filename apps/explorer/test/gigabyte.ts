/**
 * Gives the page a table of 1 GB. It must open within 3 seconds, and the page must never hold more than 200 MB for it. Writes
 * the file into the system's temporary folder, and deletes it.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { findChromium } from '@bloom/browser-tests/chromium';
import { TableBuilder } from '@bloom/sstable';
import { chromium } from 'playwright-core';
import { ExplorerPage } from './explorer-page.js';
import { PageServer } from './page-server.js';

const WANTED_BYTES = 2 ** 30;
const VALUE_BYTES = 900;
const MAX_HELD_BYTES = 200e6;
const MAX_OPENING_MS = 3000;

function writeTable(path: string, byteLength: number): number {
  const fd = openSync(path, 'w');
  const builder = new TableBuilder({ append: (bytes) => void writeSync(fd, bytes) }, { compression: 'none' });
  const value = new Uint8Array(VALUE_BYTES).fill(0x76);
  let entries = 0;
  for (; entries * (VALUE_BYTES + 12) < byteLength; entries++) builder.add(new TextEncoder().encode(`key ${String(entries).padStart(9, '0')}`), value);
  builder.finish();
  closeSync(fd);
  return entries;
}

const executablePath = findChromium();
if (executablePath === undefined) throw new Error('no Chromium on the PATH');
const folder = mkdtempSync(join(tmpdir(), 'bloom-explorer-'));
const server = await PageServer.start(join(import.meta.dirname, '../dist'));
const browser = await chromium.launch({ executablePath });
try {
  const path = join(folder, 'large.ldb');
  const entries = writeTable(path, WANTED_BYTES);
  const context = await ExplorerPage.newContext(browser);
  const { page } = await ExplorerPage.open(context, server, '#/table', true);
  const session = await browser.newBrowserCDPSession();
  /** The peak memory of the page's process, including its workers. */
  const mostHeld = async (): Promise<number> => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const renderers = processInfo.filter(({ type }) => type === 'renderer');
    const peaks = renderers.map(({ id }) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]) * 1024);
    return Math.max(...peaks);
  };
  const input = page.locator('input[type=file]');
  await input.waitFor({ state: 'attached' });
  const before = await mostHeld();
  const began = performance.now();
  await input.setInputFiles(path);
  await page.getByRole('heading', { level: 1, name: 'large.ldb' }).waitFor();
  await page.getByRole('grid', { name: 'Entries of the data block' }).getByText('key 000000000').first().waitFor();
  const opening = performance.now() - began;
  await page.locator('[role=slider]').focus();
  for (const key of ['End', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'Home']) {
    await page.keyboard.press(key);
    await page.waitForTimeout(300);
    }
  const jump = performance.now();
  await page.keyboard.press('PageUp');
  await page.getByRole('heading', { name: /^Data block 21, / }).waitFor();
  const moving = performance.now() - jump;
  const held = (await mostHeld()) - before;
  process.stdout.write(`${entries} entries in ${statSync(path).size} bytes: opened in ${opening.toFixed(0)} ms, a block in ${moving.toFixed(0)} ms, at most ${(held / 1e6).toFixed(0)} MB held more than without it\n`);
  if (opening > MAX_OPENING_MS) throw new Error(`opening took ${opening} ms, the limit is ${MAX_OPENING_MS}`);
  if (held > MAX_HELD_BYTES) throw new Error(`${held} bytes were held, the limit is ${MAX_HELD_BYTES}`);
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}
