// `npx pnpm@10 typecheck [FOLDER…]`: type-checks the root and every workspace folder, or those named, such as packages/hash. It runs
// TypeScript 7, which is written in Go and several times as fast. ESLint and the builds need the JavaScript of TypeScript 6.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { outcomeOf, sideBySide } from './side-by-side.js';

const root = join(import.meta.dirname, '../..');
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript-newest/package.json')), 'bin/tsc');

const all = ['packages', 'apps', 'tooling'].flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`));

/**
 * @param {string} folder
 * @returns {string[]} its tsconfig.json, or what that refers to
 */
function configsOf(folder) {
  const config = join(root, folder, 'tsconfig.json');
  if (!existsSync(config)) return [];
  /** @type {unknown} */
  const content = JSON.parse(readFileSync(config, 'utf8').replace(/^ *\/\/.*$/gm, ''));
  const { references = [] } = /** @type {{ references?: { path: string }[] }} */ (content);
  return references.length === 0 ? [config] : references.map(({ path }) => join(root, folder, path));
}

const named = process.argv.slice(2);
for (const folder of named) if (configsOf(folder).length === 0) throw new Error(`${folder} has no tsconfig.json`);
const configs = (named.length > 0 ? named : ['.', ...all, 'examples']).flatMap(configsOf);
const outcomes = await sideBySide(configs, (config) => outcomeOf(process.execPath, [tsc, '-p', relative(root, config), '--singleThreaded', '--pretty', 'false'], { cwd: root }));
for (const { output } of outcomes) process.stdout.write(output);
process.exitCode = outcomes.every(({ status }) => status === 0) ? 0 : 1;
