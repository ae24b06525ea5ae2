// The built package in bundles for Node.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'bloom-node-bundle-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Without the lock, whose add-on is not bundled. */
const program = (load: string): string => `
${load}
const level = new BloomLevel(process.argv[2], { lock: 'none' });
level.put('a', 'A').then(() => level.compactRange('a', 'b')).then(() => level.get('a')).then((value) => {
  console.log(value);
  return level.close();
});
`;

/** abstract-level loads `events` with `require`, which an ES module has to make. */
const BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

test.each([
  ['cjs', `const { BloomLevel } = require('@bloom/level');`, ''],
  ['esm', `import { BloomLevel } from '@bloom/level';`, BANNER],
] as const)('esbuild bundles them as %s without a warning', async (format, load, banner) => {
  const outfile = join(folder, `bundle.${format === 'esm' ? 'mjs' : 'cjs'}`);
  const stdin = { contents: program(load), resolveDir: root };
  const { warnings } = await build({ stdin, bundle: true, platform: 'node', format, banner: { js: banner }, outfile, logLevel: 'silent' });
  expect(warnings.map(({ text }) => text)).toEqual([]);
  expect(execFileSync(process.execPath, [outfile, join(folder, `level-${format}`)], { encoding: 'utf8' })).toBe('A\n');
});
