// `npx pnpm@10 test [PACKAGE] [FILE…]`: builds what the tests need and runs them. PACKAGE is the name of a package or its folder,
// such as hash, packages/hash or @bloom/hash: then only its dependencies are built, and only its tests run.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Thorough tests often wait for browsers and other programs. One more worker than cores keeps the cores busy. */
const THOROUGH_WORKERS = `--maxWorkers=${availableParallelism() + 1}`;

/**
 * @param {string | undefined} word
 * @returns {string | undefined} the folder of the package that the word names
 */
function folderOf(word) {
  const name = word?.replace(/^@bloom\//, '').replace(/\/$/, '');
  if (name === undefined) return undefined;
  return [name, `packages/${name}`, `apps/${name}`, `tooling/${name}`].find((folder) => /^(packages|apps|tooling)\/[^/]+$/.test(folder) && existsSync(join(root, folder, 'package.json')));
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} [env]
 */
function run(program, args, env) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32', env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', ...env } });
  if (status !== 0) process.exit(status ?? 1);
}

const [thorough, ...given] = process.argv[2] === '--thorough' ? [true, ...process.argv.slice(3)] : [false, ...process.argv.slice(2)];
const words = /** @type {string[]} */ (given);
const folder = folderOf(words[0]);
if (folder === undefined) {
  run('turbo', ['run', 'build', '--output-logs=errors-only']);
  if (thorough) run('vitest', ['run', '--project', '*(thorough)', THOROUGH_WORKERS, ...words]);
  else run('vitest', ['run', ...words], { BLOOM_ALL_QUICK_TESTS: 'true' });
} else {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const { name } = /** @type {{ name: string }} */ (manifest);
  // The quick tests of a package in packages/ run on its sources.
  const needed = folder.startsWith('packages/') && !thorough ? `${name}^...` : `${name}...`;
  run('turbo', ['run', 'build', `--filter=${needed}`, '--output-logs=errors-only']);
  const projects = thorough ? [`${folder} (thorough)`] : [folder, `${folder} (isolated)`];
  run('vitest', ['run', ...projects.flatMap((project) => ['--project', project]), ...words.slice(1)]);
}
