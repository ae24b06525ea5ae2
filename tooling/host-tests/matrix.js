// Installs the packed packages in an empty project with npm, and runs a program that uses each of them on every host that npm
// brings: Node.js of several versions, Bun and Deno. `--write` puts the table into SUPPORT.md; `--suite` also runs the quick tests
// of all packages, and the thorough ones that depend on the host, on each Node.js, some minutes each.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packAll } from '@bloom/package-check/pack.js';
import { root } from '@bloom/package-check/published-packages.js';
import { HOST_TESTS } from '@bloom/vitest-config';

const NODES = ['20', '22', '24', 'latest'];
const shell = process.platform === 'win32';
const suite = process.argv.includes('--suite');

/** npm would misinterpret pnpm's variables. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_/i.test(name) || name.endsWith('registry')));

/**
 * @param {readonly string[]} packages
 * @param {string} folder
 */
function npmInstall(packages, folder) {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'], shell });
}

/**
 * The binary of the optional package for this platform, which npm's packages of hosts depend on.
 *
 * @param {string} name
 * @param {string} path in that package
 */
function binaryOf(name, path) {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  /** @type {unknown} */
  const content = JSON.parse(readFileSync(manifest, 'utf8'));
  const { optionalDependencies } = /** @type {{ optionalDependencies: Record<string, string> }} */ (content);
  for (const platformPackage of Object.keys(optionalDependencies)) {
    try {
      return join(dirname(createRequire(manifest).resolve(`${platformPackage}/package.json`)), path);
    } catch {
      // This is the package of another platform.
    }
  }
  throw new Error(`npm has no ${name} for this platform`);
}

/**
 * @param {string} host
 * @param {string} binary
 * @param {readonly string[]} run arguments before the program's
 * @param {string} project
 */
function tried(host, binary, run, project) {
  const version = /\d+\.\d+\.\d+/.exec(execFileSync(binary, ['--version'], { encoding: 'utf8' }))?.[0] ?? '';
  const { status, stdout, stderr } = spawnSync(binary, [...run, 'program.mjs'], { cwd: project, encoding: 'utf8' });
  const works = status === 0 && stdout.trim() === 'ok';
  if (!works) console.error(`${host} ${version}:\n${stdout}${stderr}`);
  let tests = '';
  if (suite && host === 'Node.js') {
    const vitest = createRequire(join(root, 'package.json')).resolve('vitest/package.json');
    const counts = { passed: 0, failed: 0 };
    // With several patterns, Vitest runs each project that one of them matches, so a negative pattern would exclude nothing.
    for (const { chosen, env } of [{ chosen: ['quick*', 'packages/'], env: { BLOOM_ALL_QUICK_TESTS: 'true' } }, { chosen: ['*(thorough)', ...HOST_TESTS], env: {} }]) {
      const report = join(project, `report-${version}.json`);
      rmSync(report, { force: true });
      spawnSync(binary, [join(dirname(vitest), 'vitest.mjs'), 'run', '--project', ...chosen, '--reporter=json', `--outputFile=${report}`], { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
      /** @type {unknown} */
      const content = JSON.parse(readFileSync(report, 'utf8'));
      const { numPassedTests, numFailedTests } = /** @type {{ numPassedTests: number, numFailedTests: number }} */ (content);
      counts.passed += numPassedTests;
      counts.failed += numFailedTests;
    }
    tests = `; ${counts.passed.toLocaleString('en')} tests passed, ${counts.failed} failed`;
    if (counts.failed > 0) process.exitCode = 1;
  }
  if (!works) process.exitCode = 1;
  return `| ${host} ${version} | ${works ? 'works' : 'fails'}${tests} |`;
}

const folder = mkdtempSync(join(tmpdir(), 'bloom-hosts-'));
try {
  const project = join(folder, 'project');
  const tarballs = packAll(folder).filter(({ manifest }) => manifest.name !== '@bloom/cli');
  npmInstall(tarballs.map(({ tarball }) => tarball), project);
  copyFileSync(join(import.meta.dirname, 'installed-program.mjs'), join(project, 'program.mjs'));

  const rows = [];
  for (const version of NODES) {
    const installed = join(folder, `node-${version}`);
    npmInstall([`node@${version}`], installed);
    const bin = join(installed, 'node_modules/node/bin');
    rows.push(tried('Node.js', join(bin, readdirSync(bin).find((name) => /^node(\.exe)?$/.test(name)) ?? 'node'), [], project));
  }
  const exe = shell ? '.exe' : '';
  rows.push(tried('Bun', binaryOf('bun', `bin/bun${exe}`), ['run'], project));
  rows.push(tried('Deno', binaryOf('deno', `deno${exe}`), ['run', '--no-prompt', '--allow-all'], project));

  const table = ['| host | the packed packages, installed with npm |', '| --- | --- |', ...rows].join('\n');
  console.log(table);
  if (process.argv.includes('--write')) {
    const support = join(root, 'SUPPORT.md');
    const marked = /(?<=<!-- hosts -->\n)[^]*?(?=\n<!-- \/hosts -->)/;
    writeFileSync(support, readFileSync(support, 'utf8').replace(marked, table));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
