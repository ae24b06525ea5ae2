/** Runs one page in a Chromium of any version: by command line and HTTP, because debugging protocols change. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** Chromium writes Local Storage and Session Storage within five seconds. */
const COMMIT_MS = 8000;
/** Enough for a page on a busy machine. */
const PAGE_MS = 120_000;

/** The results of a page. */
export interface HeadlessRun {
  /** Such as `http://127.0.0.1:1234`. */
  readonly origin: string;
  /** What the page posted to `/stored`. */
  readonly report: string;
  /** The folder of its profile with the storage. */
  readonly profile: string;
  /** Deletes the profile. */
  remove(): void;
}

/**
 * Runs a script in a page, and ends Chromium once the page has posted to `/stored`.
 *
 * Builds from before version 119 do not handle the signal that asks them to end, so that they end as if they were killed.
 *
 * @throws Error when the page fails, or posts nothing in two minutes.
 */
export async function headlessRun(chromium: string, script: Uint8Array): Promise<HeadlessRun> {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-headless-'));
  let browser: ChildProcess | undefined;
  let resolve!: (report: string) => void;
  let reject!: (reason: unknown) => void;
  const posted = new Promise<string>((onPosted, onFailed) => {
    resolve = onPosted;
    reject = onFailed;
  });
  posted.catch(() => undefined);
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      void bodyOf(request).then((body) => {
        response.end();
        if (request.url === '/stored') resolve(body);
        else reject(new Error(`the page failed: ${body}`));
      });
    } else if (request.url === '/script.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
  });
  try {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0', `--user-data-dir=${folder}`];
    browser = spawn(chromium, [...flags, `${origin}/`], { stdio: 'ignore' });
    browser.once('error', reject);
    browser.once('exit', (code, signal) => reject(new Error(`Chromium ended with ${code ?? signal}`)));
    const timer = new AbortController();
    const late = wait(PAGE_MS, undefined, { signal: timer.signal }).then(() => Promise.reject(new Error('the page posted nothing')));
    late.catch(() => undefined);
    const report = await Promise.race([posted, late]);
    timer.abort();
    await wait(COMMIT_MS);
    await ended(browser);
    return { origin, report, profile: join(folder, 'Default'), remove: () => rmSync(folder, { recursive: true, maxRetries: 5 }) };
  } catch (error) {
    if (browser !== undefined) await ended(browser);
    rmSync(folder, { recursive: true, maxRetries: 5 });
    throw error;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>Bloom</title><script>
function fail(error) { fetch('/failed', { method: 'POST', body: String(error && error.stack || error) }); }
addEventListener('error', function (event) { fail(event.error || event.message); });
addEventListener('unhandledrejection', function (event) { fail(event.reason); });
</script><script src="/script.js"></script>`;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Buffer.concat(parts).toString('utf8');
}

async function ended(browser: ChildProcess): Promise<void> {
  if (browser.pid === undefined || browser.exitCode !== null || browser.signalCode !== null) return;
  const exit = once(browser, 'exit');
  browser.kill('SIGTERM');
  const killer = setTimeout(() => browser.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(killer);
}
