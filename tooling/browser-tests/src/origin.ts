import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build, type Plugin } from 'esbuild';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { findChromium } from './chromium.js';

/** A server with its own origin, in which pages can store data: an empty page at `/`, and scripts. */
export class Origin {
  readonly #server: Server;

  private constructor(scripts: ReadonlyMap<string, Uint8Array>) {
    this.#server = createServer(({ url = '' }, response) => {
      const script = scripts.get(url);
      if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Bloom</title>');
      else if (script !== undefined) response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
      else response.writeHead(404).end();
    });
  }

  /** @param scripts by their paths. */
  static async start(scripts: ReadonlyMap<string, Uint8Array>): Promise<Origin> {
    const origin = new Origin(scripts);
    await new Promise<void>((resolve) => origin.#server.listen(0, '127.0.0.1', resolve));
    return origin;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A Chromium with a profile on the disk, unlike a private window, which keeps files in the memory of another process. */
export class BrowserOnDisk {
  readonly #profile = mkdtempSync(join(tmpdir(), 'bloom-profile-'));
  readonly #executablePath: string;
  #context: BrowserContext | undefined;

  constructor(executablePath = findChromium()!) {
    this.#executablePath = executablePath;
  }

  get context(): BrowserContext {
    return this.#context!;
  }

  /** Starts Chromium, or restarts it with the same profile. */
  async start(): Promise<void> {
    this.#context = await chromium.launchPersistentContext(this.#profile, { executablePath: this.#executablePath });
  }

  async newPage(url: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(url);
    return page;
  }

  /** Kills Chromium, and all of its processes with it. */
  async kill(): Promise<void> {
    const context = this.context;
    const session = await context.browser()!.newBrowserCDPSession();
    const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as { processInfo: { type: string; id: number }[] };
    const closed = new Promise<void>((resolve) => context.once('close', () => resolve()));
    process.kill(processInfo.find(({ type }) => type === 'browser')!.id, 'SIGKILL');
    await closed;
  }

  /**
   * Leaves the header of a record at the end of Chromium's logs of file names, as a kill between the two writes of a record does.
   *
   * @returns how many logs there are.
   */
  tearNames(): number {
    const files = join(this.#profile, 'Default', 'File System');
    const logs = readdirSync(files, { recursive: true, encoding: 'utf8' }).filter((path) => /[/\\]Paths[/\\][0-9]+\.log$/.test(path));
    // The header of a record of 80 bytes: checksum, length, type.
    for (const log of logs) appendFileSync(join(files, log), Uint8Array.of(1, 2, 3, 4, 80, 0, 1));
    return logs.length;
  }

  /** Closes Chromium, and leaves its profile. */
  async close(): Promise<void> {
    await this.#context?.close();
    this.#context = undefined;
  }

  async stop(): Promise<void> {
    await this.close();
    rmSync(this.#profile, { recursive: true, maxRetries: 5 });
  }

  /** The folder with Chromium's files. */
  get profile(): string {
    return this.#profile;
  }
}

/** Replacements for the parts of Node that abstract-level's suite and tape need, from packages for browsers. */
const nodeParts: Plugin = {
  name: 'node-parts',
  setup(build) {
    const parts: Readonly<Record<string, string>> = { stream: 'readable-stream', path: 'path-browserify' };
    build.onResolve({ filter: /^(stream|path)$/ }, ({ path, kind }) => build.resolve(parts[path]!, { kind, resolveDir: import.meta.dirname }));
    build.onResolve({ filter: /^fs$/ }, () => ({ path: 'fs', namespace: 'empty' }));
    build.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: '' }));
  },
};

/** Bundles one of `pages` as a script that Chromium 64 and later can run, with the constants that it names. */
export async function bundledForOld(name: string, constants: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, `pages/${name}.ts`)],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'chrome64',
    define: Object.fromEntries(Object.entries(constants).map(([constant, value]) => [constant, JSON.stringify(value)])),
    inject: [join(import.meta.dirname, 'pages/missing-parts.ts')],
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]!.contents;
}

/**
 * Bundles scripts of `src` with the packages as they are published. `pnpm test-thorough` builds them first.
 *
 * @param names without their extension.
 * @returns by the paths that they are served at, such as `/name.js`.
 */
export async function bundled(...names: string[]): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: names.map((name) => ({ in: join(import.meta.dirname, `${name}.ts`), out: name })),
    outdir: '/',
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    define: { global: 'globalThis', 'process.env.NODE_ENV': '"test"' },
    inject: [join(import.meta.dirname, 'process-part.ts')],
    plugins: [nodeParts],
    write: false,
    logLevel: 'error',
  });
  return new Map(outputFiles.map(({ path, contents }) => [path.slice(path.lastIndexOf('/')), contents]));
}
