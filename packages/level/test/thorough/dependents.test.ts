// Programs in the manner of those that use classic-level compile under `strict` in every form of modules. Those that compile with
// classic-level do so with no other change than that of the import.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const programs = new Map(readdirSync(join(root, 'test/dependents')).map((name) => [name, readFileSync(join(root, 'test/dependents', name), 'utf8')]));
const require = createRequire(import.meta.url);
const compilerIn = (manifest: string): string => join(dirname(manifest), 'bin/tsc');
const WRITTEN_IN_JAVASCRIPT = compilerIn(require.resolve('typescript/package.json'));
/** Several times as fast, so only ES modules are compiled with the other. */
const WRITTEN_IN_GO = compilerIn(require.resolve('typescript-newest/package.json'));
let folder = '';

beforeAll(() => {
  mkdirSync(join(root, '.vitest'), { recursive: true });
  folder = mkdtempSync(join(root, '.vitest/dependents-'));
  // As if it was installed, with the types of the published package.
  mkdirSync(join(folder, 'node_modules/@bloom'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules/@bloom/level'), 'dir');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** @returns what the compiler reports. */
async function compile(name: string, files: ReadonlyMap<string, string>, extensions: readonly string[], module: string, moduleResolution: string, tsc = WRITTEN_IN_GO): Promise<string> {
  const project = join(folder, name);
  mkdirSync(project);
  for (const [file, text] of files) {
    for (const extension of extensions) writeFileSync(join(project, file.replace(/ts$/, extension)), text);
  }
  const compilerOptions = { module, moduleResolution, target: 'es2022', lib: ['es2022', 'esnext.disposable'], types: ['node'], strict: true, skipLibCheck: false, noEmit: true };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  try {
    return (await promisify(execFile)(process.execPath, [tsc, '-p', project])).stdout;
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}

test('there are 22 programs, and one that passes levels to others', () => {
  expect(programs.size).toBe(23);
});

test.each([
  ['nodenext', 'nodenext', ['mts'], WRITTEN_IN_JAVASCRIPT],
  ['node16', 'node16', ['mts', 'cts'], WRITTEN_IN_GO],
  ['commonjs', 'bundler', ['ts'], WRITTEN_IN_GO],
  ['esnext', 'bundler', ['ts'], WRITTEN_IN_GO],
] as const)('they compile as modules of the form %s, found as by %s', async (module, moduleResolution, extensions, tsc) => {
  expect(await compile(`${module}-${moduleResolution}`, programs, extensions, module, moduleResolution, tsc)).toBe('');
});

/** They pass a level to something that takes an `AbstractLevel`, which TypeScript refuses for the type of classic-level's hooks. */
const REFUSED_WITH_CLASSIC_LEVEL = new Set(['passed-level.ts', 'blockstore.ts', 'inverted-index.ts', 'partitions.ts', 'quads.ts', 'trie.ts']);

/** The program with the import of classic-level. */
function withClassicLevel(program: string): string {
  return program.replace('BloomLevel as ClassicLevel', 'ClassicLevel').replace(`'@bloom/level'`, `'classic-level'`);
}

test('with the import of classic-level, the others compile too', async () => {
  const others = new Map([...programs].filter(([name]) => !REFUSED_WITH_CLASSIC_LEVEL.has(name)).map(([name, program]) => [name, withClassicLevel(program)]));
  expect([...others.values()].filter((program) => program.includes('Bloom') || !program.includes(`'classic-level'`))).toEqual([]);
  expect(await compile('classic-level', others, ['mts'], 'nodenext', 'nodenext')).toBe('');
});
