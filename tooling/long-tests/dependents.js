// Runs the tests of programs that use classic-level, with classic-level and with @bloom/level in its place, alternately. Fails where the
// counts differ, or where the processor time with @bloom/level is more than 1.15 of the other. Only programs whose tests are published can
// be run: on npm, or in classic-level's own repository.
//
//     pnpm --filter @bloom/long-tests dependents [NAME…]
//
// BLOOM_DEPENDENT_RUNS is the number of runs with each, 3 by default. Needs npm, git and built packages.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The share of classic-level's processor time that is allowed. */
const MAX_RATIO = 1.15;
const LEVEL = join(import.meta.dirname, '../../packages/level');

/**
 * @typedef {object} Program
 * @property {string} name
 * @property {readonly string[]} packages what npm installs
 * @property {string} [repository] what git clones, where the tests are not on npm
 * @property {true} [isUntimed] whether only the counts are compared: of tests that start a hundred threads, most time is that of loading code
 * @property {string} folder where the tests are started
 * @property {string} replaced the module, or the package, in whose place the level is put
 * @property {string} exported how the tests name the class
 * @property {(folder: string) => readonly string[]} command arguments of Node; gets the path of `folder`
 */

/** Tests of classic-level that are not run, with the reason. */
const LEFT_OUT = new Map([
  ['port-libuv-fix-test.js', "reads LevelDB's sources"],
  ['iterator-starvation-test.js', 'counts turns of the event loop: entries in memory take none here, as docs/migration.md of @bloom/level says'],
]);

/** @type {readonly Program[]} */
const PROGRAMS = [
  {
    name: 'classic-level',
    isUntimed: true,
    packages: ['abstract-level@3', 'tape@5', 'du@1', 'glob@10', 'mkfiletree@2', 'readfiletree@1', 'tempy@1'],
    repository: 'https://github.com/Level/classic-level.git#v3.0.0',
    folder: 'classic-level',
    replaced: 'classic-level/index.js',
    exported: 'ClassicLevel',
    command: (folder) => [
      join(folder, '../node_modules/tape/bin/tape'),
      ...readdirSync(join(folder, 'test')).filter((name) => name.endsWith('-test.js') && !LEFT_OUT.has(name)).map((name) => `test/${name}`),
    ],
  },
  {
    name: 'aedes-persistence-level',
    packages: ['aedes-persistence-level@9.2.0', 'aedes@0.51.3'],
    folder: 'node_modules/aedes-persistence-level',
    replaced: 'node_modules/level',
    exported: 'Level',
    command: () => ['--test', '--test-timeout=180000', 'test/test.js'],
  },
  {
    name: 'dwn-sdk-js',
    packages: ['@tbd54566975/dwn-sdk-js@0.5.2', 'mocha@10.1.0', 'chai@4.3.6', 'chai-as-promised@7.1.1', 'sinon@18.0.1', 'mockdate@3.0.5'],
    folder: 'node_modules/@tbd54566975/dwn-sdk-js',
    replaced: 'node_modules/level',
    exported: 'Level',
    command: (folder) => [join(folder, '../../mocha/bin/mocha.js'), '--exit', '--timeout', '60000', 'dist/esm/tests/**/*.spec.js'],
  },
];

/**
 * @param {Program} program
 * @param {string} work
 */
function install({ packages, repository }, work) {
  mkdirSync(work);
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', 'classic-level@3', ...packages], { cwd: work, stdio: 'inherit' });
  if (repository === undefined) return;
  const [url = '', tag = ''] = repository.split('#');
  execFileSync('git', ['clone', '--quiet', '--branch', tag, url], { cwd: work, stdio: ['ignore', 'inherit', 'ignore'] });
  // The tests compare classes of abstract-level, of which there must be one copy.
  const abstractLevel = join(work, 'node_modules/abstract-level');
  rmSync(abstractLevel, { recursive: true });
  symlinkSync(realpathSync(join(LEVEL, 'node_modules/abstract-level')), abstractLevel, 'dir');
}

/**
 * Puts a class in the place of the one that the tests load.
 *
 * @param {Program} program
 * @param {string} work
 * @param {string} source an expression
 */
function replace({ replaced, exported }, work, source) {
  const path = join(work, replaced);
  const file = replaced.endsWith('.js') ? path : join(path, 'index.js');
  if (!replaced.endsWith('.js')) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'package.json'), JSON.stringify({ name: replaced, version: '0.0.0', main: 'index.js' }));
  }
  writeFileSync(file, `exports.${exported} = ${source};\n`);
}

/** Adds the processor time of each process to a file as it ends, in microseconds. */
const TIMES = `
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  appendFileSync(process.env.BLOOM_TIMES, user + system + '\\n');
});
`;

/**
 * @param {Program} program
 * @param {string} work
 * @returns {{ passed: number, failed: number, milliseconds: number, output: string }}
 */
function run({ folder, command }, work) {
  const times = join(work, 'times.txt');
  writeFileSync(times, '');
  writeFileSync(join(work, 'times.mjs'), TIMES);
  const cwd = join(work, folder);
  const env = { ...process.env, NODE_OPTIONS: `--import ${pathToFileURL(join(work, 'times.mjs')).href}`, BLOOM_TIMES: times };
  const { stdout, stderr } = spawnSync(process.execPath, command(cwd), { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 30, timeout: 1_800_000 });
  const output = stdout + stderr;
  /** @param {RegExp} pattern */
  const count = (pattern) => Number(output.match(pattern)?.slice(1).join('') ?? 0);
  return {
    passed: count(/^ *(\d+) passing|^(?:#|ℹ) pass +(\d+)$/m),
    failed: count(/^ *(\d+) failing|^(?:#|ℹ) fail +(\d+)$/m),
    milliseconds: readFileSync(times, 'utf8').trim().split('\n').reduce((sum, line) => sum + Number(line) / 1000, 0),
    output,
  };
}

/** @param {readonly number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const CLASSES = { classic: `require('classic-level').ClassicLevel`, bloom: `require(${JSON.stringify(join(LEVEL, 'dist/joined/node.js'))}).BloomLevel` };
if (!existsSync(join(LEVEL, 'dist/joined/node.js'))) throw new Error('build the packages first: npx pnpm@10 build');
const runs = Number(process.env.BLOOM_DEPENDENT_RUNS ?? 3);
const chosen = PROGRAMS.filter(({ name }) => process.argv.length < 3 || process.argv.includes(name));
const root = mkdtempSync(join(tmpdir(), 'bloom-dependents-'));
let isGood = true;
try {
  for (const program of chosen) {
    const work = join(root, program.name);
    install(program, work);
    /** @type {Record<string, ReturnType<typeof run>[]>} */
    const all = { classic: [], bloom: [] };
    for (let i = 0; i < runs; i++) {
      for (const [name, source] of Object.entries(CLASSES)) {
        replace(program, work, source);
        all[name]?.push(run(program, work));
      }
    }
    const { classic = [], bloom = [] } = all;
    const ratio = sum(bloom.map(({ milliseconds }) => milliseconds)) / sum(classic.map(({ milliseconds }) => milliseconds));
    /** @param {readonly { passed: number, failed: number }[]} results */
    const counts = (results) => [...new Set(results.map(({ passed, failed }) => `${passed} passed, ${failed} failed`))].join('; ');
    const isSame = counts(classic) === counts(bloom) && classic.every(({ passed }) => passed > 0);
    const verdict = isSame && (program.isUntimed === true || ratio <= MAX_RATIO) ? 'good' : 'BAD';
    isGood &&= verdict === 'good';
    console.log(`${program.name}: classic-level ${counts(classic)}; @bloom/level ${counts(bloom)}; processor time ${ratio.toFixed(2)} of classic-level's: ${verdict}`);
    if (!isSame) {
      const path = join(tmpdir(), `bloom-dependents-${program.name}.txt`);
      writeFileSync(path, bloom[0]?.output ?? '');
      console.log(`  the output of the first run with @bloom/level is in ${path}`);
    }
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exitCode = isGood ? 0 : 1;
