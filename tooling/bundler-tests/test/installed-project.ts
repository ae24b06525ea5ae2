import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import type { LevelFindings } from '../src/level-findings.js';

const root = join(import.meta.dirname, '../../..');
const src = join(import.meta.dirname, '../src');

/** Far too large to be installed with this repository: Next.js alone has 325 MB, Jest 60 MB. */
const BUNDLERS = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1', 'webpack@5.112.2', 'rollup@4.68.7', '@rollup/plugin-node-resolve@16.0.3', 'jest@30.5.2', 'esbuild@0.28.2', 'postject@1.0.0-alpha.6'];

/** @param isExpectedForm of the packages: CommonJS or ES modules. */
const jestTest = (isExpectedForm: string): string => `
    test('a level is opened, written and read, and locks its folder', async () => {
      expect(${isExpectedForm}).toBe(true);
      const folder = mkdtempSync('jest-');
      const level = new BloomLevel(folder + '/database', { valueEncoding: 'json' });
      await level.put('hello', { to: 'world' });
      await level.compactRange('a', 'z');
      expect(await level.iterator().all()).toEqual([['hello', { to: 'world' }]]);
      const { cause } = await new BloomLevel(folder + '/database').open().catch((error) => error);
      expect(cause).toBeInstanceOf(LevelError);
      expect(cause.code).toBe('LEVEL_LOCKED');
      await level.close();
      rmSync(folder, { recursive: true });
    });`;

const FILES: Record<string, string> = {
  'package.json': '{ "private": true, "type": "module" }',
  'build-webpack.mjs': `
    import webpack from 'webpack';
    const shared = { mode: 'production', performance: false, context: import.meta.dirname };
    const page = { ...shared, target: 'web', entry: './src/page.js', output: { path: import.meta.dirname + '/webpack-page', filename: 'page.js' } };
    const server = {
      ...shared,
      target: 'node20',
      entry: './src/server.js',
      experiments: { outputModule: true },
      output: { path: import.meta.dirname + '/webpack-server', filename: 'server.mjs', module: true, library: { type: 'module' } },
    };
    const electron = { ...shared, target: 'electron-main', entry: './src/level-program.js', output: { path: import.meta.dirname + '/webpack-electron', filename: 'main.cjs' } };
    webpack([page, server, electron], (error, stats) => {
      const { errors = [], warnings = [] } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {};
      const problems = [error, ...errors, ...warnings].filter(Boolean).map(({ message }) => message);
      if (problems.length === 0) return;
      console.error(problems.join('\\n'));
      process.exitCode = 1;
    });`,
  'build-rollup.mjs': `
    import { nodeResolve } from '@rollup/plugin-node-resolve';
    import { rollup } from 'rollup';
    const onwarn = ({ code, message }) => {
      // A library's own cycle.
      if (code !== 'CIRCULAR_DEPENDENCY') throw new Error(message);
    };
    const page = await rollup({ input: 'src/page.js', plugins: [nodeResolve({ browser: true })], onwarn });
    await page.write({ dir: 'rollup-page', format: 'es' });
    const server = await rollup({ input: 'src/server.js', plugins: [nodeResolve({ exportConditions: ['node'] })], external: /^node:/, onwarn });
    await server.write({ dir: 'rollup-server', format: 'es', entryFileNames: '[name].mjs' });`,
  'build-sea.mjs': `
    import { execFileSync } from 'node:child_process';
    import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
    import { build } from 'esbuild';
    import { inject } from 'postject';
    const logOverride = { 'empty-import-meta': 'silent' };
    await build({ entryPoints: ['src/level-program.js'], outfile: 'sea.cjs', bundle: true, format: 'cjs', platform: 'node', logOverride });
    writeFileSync('sea.json', JSON.stringify({ main: 'sea.cjs', output: 'sea.blob', disableExperimentalSEAWarning: true }));
    execFileSync(process.execPath, ['--experimental-sea-config', 'sea.json']);
    copyFileSync(process.execPath, 'sea');
    await inject('sea', 'NODE_SEA_BLOB', readFileSync('sea.blob'), { sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2' });`,
  'jest.config.json': '{ "testMatch": ["**/*.test.cjs", "**/*.test.mjs"], "moduleFileExtensions": ["js", "mjs", "cjs"], "transform": {}, "modulePathIgnorePatterns": ["/.next/"] }',
  'level.test.cjs': `
    const { mkdtempSync, rmSync } = require('node:fs');
    const { BloomLevel, LevelError } = require('@bloom/level');
    ${jestTest("require.resolve('@bloom/level').endsWith('.cjs')")}`,
  'level.test.mjs': `
    import { mkdtempSync, rmSync } from 'node:fs';
    import { BloomLevel, LevelError } from '@bloom/level';
    ${jestTest("typeof module === 'undefined'")}`,
  'webpack-page/index.html': '<!doctype html><script src="page.js"></script>',
  'rollup-page/index.html': '<!doctype html><script type="module" src="page.js"></script>',
  'app/layout.jsx': `
    export default function Layout({ children }) {
      return <html lang="en"><body>{children}</body></html>;
    }`,
  'app/page.jsx': `
    'use client';
    import { useEffect } from 'react';
    import { pageFindings } from '../src/page-findings.js';
    export default function Page() {
      useEffect(() => {
        globalThis.findings = pageFindings();
      }, []);
      return <p>a page</p>;
    }`,
  'app/route/route.js': `
    import { serverFindings } from '../../src/server-findings.js';
    export const dynamic = 'force-dynamic';
    export async function GET() {
      return Response.json(await serverFindings());
    }`,
  'app/server/page.jsx': `
    import { serverFindings } from '../../src/server-findings.js';
    export const dynamic = 'force-dynamic';
    export default async function Page() {
      return <script type="application/json" id="findings" dangerouslySetInnerHTML={{ __html: JSON.stringify(await serverFindings()) }} />;
    }`,
};

/** A project outside this repository, with the packed packages and with bundlers from npm's registry. */
export class InstalledProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<InstalledProject> {
    const folder = mkdtempSync(join(tmpdir(), 'bloom-project-'));
    const project = new InstalledProject(folder);
    for (const [path, text] of Object.entries(FILES)) project.#write(path, text);
    for (const name of readdirSync(src).filter((file) => file.endsWith('.ts'))) {
      const { code } = await transform(readFileSync(join(src, name), 'utf8'), { loader: 'ts' });
      project.#write(`src/${name.replace('.ts', '.js')}`, code);
    }
    const tarballs = join(folder, 'tarballs');
    await promisify(execFile)('pnpm', ['-r', '--filter', './packages/*', '--filter', '!./packages/example-*', '--filter', '!./packages/report', 'pack', '--pack-destination', tarballs], { cwd: root });
    await project.run('npm', ['install', '--no-audit', '--no-fund', ...BUNDLERS, ...readdirSync(tarballs).map((name) => join(tarballs, name))]);
    return project;
  }

  /** Runs a program in the project. @returns what it prints. @throws Error with its output if it fails. */
  async run(program: string, args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(program, args, { cwd: this.folder, env: environment() }).catch((error: unknown) => {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${program} ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error });
    });
    return stdout;
  }

  /** Runs `level-program.ts` in one of its forms. @returns what it prints. */
  async printed(program: string, args: readonly string[]): Promise<LevelFindings> {
    return JSON.parse(await this.run(program, args)) as LevelFindings;
  }

  /** Starts the built Next.js app. */
  async startNext(): Promise<{ readonly url: string; stop(): Promise<void> }> {
    const process_ = spawn(process.execPath, [this.next, 'start', '-H', '127.0.0.1', '-p', '0'], { cwd: this.folder, env: environment() });
    const url = await announcedUrl(process_);
    return {
      url,
      stop: () =>
        new Promise((resolve) => {
          process_.on('exit', () => resolve());
          process_.kill();
        }),
    };
  }

  get next(): string {
    return join(this.folder, 'node_modules/next/dist/bin/next');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  #write(path: string, text: string): void {
    const to = join(this.folder, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, text);
  }
}

/** That of this process, without the variables of pnpm and Vitest, which would confuse npm and Next.js. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm|pnpm|vitest)_|^(VITEST|NODE_ENV|NODE_PATH|DEV|TEST)$/i.test(name) || name.endsWith('registry'));
  return { ...Object.fromEntries(kept), NEXT_TELEMETRY_DISABLED: '1' };
}

function announcedUrl(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      const url = /Local:\s+(?<url>http:\S+:[1-9]\d*)/.exec(output)?.groups?.url;
      if (url !== undefined && output.includes('Ready')) resolve(url);
    };
    server.stdout!.on('data', take);
    server.stderr!.on('data', take);
    server.on('exit', () => reject(new Error(`the server has ended:\n${output}`)));
  });
}
