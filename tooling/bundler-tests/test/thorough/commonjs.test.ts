// A level in CommonJS: the packages required, and programs that esbuild bundles.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { levelFindings } from '../../src/level-findings.js';
import { environmentOfProgram, hasLocks } from '../server-program.js';

const src = join(import.meta.dirname, '../../src');
const bundles = join(import.meta.dirname, '../../.vitest');
mkdirSync(bundles, { recursive: true });
const work = mkdtempSync(join(bundles, 'commonjs-'));
afterAll(() => {
  rmSync(work, { recursive: true });
});

/** Runs a program with Node. @returns what it prints; it may print nothing to standard error. */
async function printed(program: string, flags: readonly string[] = []): Promise<unknown> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, program], { env: environmentOfProgram() });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const EXPECTED = { got: { to: 'world' }, keys: 19_999, lock: hasLocks() ? 'LEVEL_LOCKED' : 'LEVEL_IO_ERROR', isLevelError: true };

test('an ES module finds what the bundles have to find', async () => {
  expect(await levelFindings()).toEqual(EXPECTED);
});

describe.each(['cjs', 'esm'] as const)('bundled by esbuild as %s', (format) => {
  const program = join(work, format === 'cjs' ? 'program.cjs' : 'program.mjs');

  beforeAll(async () => {
    // esbuild's own warning says that `import.meta.url` is undefined, which the packages expect.
    const logOverride = { 'empty-import-meta': 'silent' } as const;
    // The dependencies in CommonJS require modules of Node.
    const banner = format === 'esm' ? { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);` } : {};
    await build({ entryPoints: [join(src, 'level-program.ts')], outfile: program, bundle: true, minify: true, format, platform: 'node', target: 'node20', logLevel: 'error', logOverride, banner });
  });

  test('a program reads and writes a level', async () => {
    expect(await printed(program)).toEqual(EXPECTED);
  });

  test('also where nothing is installed, without the lock', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'bloom-commonjs-'));
    try {
      const copy = join(elsewhere, basename(program));
      cpSync(program, copy);
      expect(await printed(copy)).toEqual({ ...EXPECTED, lock: 'LEVEL_IO_ERROR' });
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });
});

describe('required', () => {
  const program = join(work, 'required.cjs');

  beforeAll(async () => {
    await build({ entryPoints: [join(src, 'level-program.ts')], outfile: program, bundle: true, packages: 'external', format: 'cjs', platform: 'node' });
  });

  test('the packages are the ES modules, so that a program has each of them once', async () => {
    expect(await printed(program)).toEqual(EXPECTED);
    writeFileSync(join(work, 'once.cjs'), `import('@bloom/level').then(({ LevelError }) => console.log(require('@bloom/level').LevelError === LevelError))`);
    expect(await printed(join(work, 'once.cjs'))).toBe(true);
  });

  test('the packages are CommonJS where ES modules cannot be required', async () => {
    expect(await printed(program, ['--no-experimental-require-module'])).toEqual(EXPECTED);
  });

  if (!hasLocks()) test.skip('the host has no locks, so two forms in one program are not tested', () => {});
  test.runIf(hasLocks())('both forms in one program keep each other and other processes out of a folder', async () => {
    const program = join(work, 'both.cjs');
    const folder = join(work, 'locked');
    writeFileSync(
      program,
      `const { spawnSync } = require('node:child_process');
      const { BloomLevel } = require('@bloom/level');
      const attempt = (Level) => new Level(${JSON.stringify(folder)}).open().then(() => 'opened', ({ cause }) => cause.code);
      void (async () => {
        const other = (await import('@bloom/level')).BloomLevel;
        if (process.argv[2] === 'alone') return console.log(JSON.stringify(await attempt(other)));
        const level = new BloomLevel(${JSON.stringify(folder)});
        await level.open();
        const inProcess = [await attempt(other), await attempt(other)];
        const inOther = JSON.parse(spawnSync(process.execPath, [...process.execArgv, __filename, 'alone'], { encoding: 'utf8' }).stdout);
        await level.close();
        console.log(JSON.stringify({ isTwice: other !== BloomLevel, inProcess, inOther, afterwards: await attempt(other) }));
      })();`,
    );
    const expected = { isTwice: true, inProcess: ['LEVEL_LOCKED', 'LEVEL_LOCKED'], inOther: 'LEVEL_LOCKED', afterwards: 'opened' };
    expect(await printed(program, ['--no-experimental-require-module'])).toEqual(expected);
  });
});
