// `npx pnpm@10 test [PACKAGE] [FILE…]`: builds what the tests need and runs them. PACKAGE is the name of a package or its folder,
// such as hash, packages/hash or @bloom/hash: then only its dependencies are built, and only its tests run.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, sep } from 'node:path';

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
 * @param {string} folder
 * @param {boolean} thorough
 */
function hasTests(folder, thorough) {
  const tests = join(root, folder, 'test');
  return existsSync(tests) && readdirSync(tests, { recursive: true }).some((name) => String(name).endsWith('.test.ts') && String(name).startsWith(`thorough${sep}`) === thorough);
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} [env]
 */
function run(program, args, env) {
  // The shell of Windows, which finds `turbo.cmd`, splits words at spaces.
  const isWindows = process.platform === 'win32';
  const quoted = isWindows ? args.map((word) => (word.includes(' ') ? `"${word}"` : word)) : args;
  const { status } = spawnSync(program, quoted, { cwd: root, stdio: 'inherit', shell: isWindows, env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', ...env } });
  if (status !== 0) process.exit(status ?? 1);
}

const [thorough, ...given] = process.argv[2] === '--thorough' ? [true, ...process.argv.slice(3)] : [false, ...process.argv.slice(2)];
const words = /** @type {string[]} */ (given);
const folder = folderOf(words[0]);
if (folder === undefined) {
  run('turbo', ['run', 'build', '--output-logs=errors-only']);
  const namesProjects = words.some((word) => /^--project(=|$)/.test(word));
  if (thorough) run('vitest', ['run', ...(namesProjects ? [] : ['--project', '*(thorough)']), THOROUGH_WORKERS, ...words]);
  // With it, no project is named after a folder.
  else run('vitest', ['run', ...words], namesProjects ? {} : { BLOOM_ALL_QUICK_TESTS: 'true' });
} else if (!hasTests(folder, thorough)) {
  const other = hasTests(folder, !thorough);
  console.log(other ? `${folder} has no ${thorough ? 'thorough' : 'quick'} tests; to run the others: npx pnpm@10 test${thorough ? '' : '-thorough'} ${folder}` : `${folder} has no tests`);
  if (words.slice(1).some((word) => !word.startsWith('-'))) process.exitCode = 1;
} else {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const { name } = /** @type {{ name: string }} */ (manifest);
  // The quick tests of a package in packages/ run on its sources.
  const needed = folder.startsWith('packages/') && !thorough ? `${name}^...` : `${name}...`;
  run('turbo', ['run', 'build', `--filter=${needed}`, '--output-logs=errors-only']);
  const projects = thorough ? [`${folder} (thorough)`, `${folder} (isolated) (thorough)`] : [folder, `${folder} (isolated)`];
  run('vitest', ['run', ...projects.flatMap((project) => ['--project', project]), ...words.slice(1)]);
}
