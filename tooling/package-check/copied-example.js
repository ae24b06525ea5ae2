// Unpacks the example into an empty folder and follows its README there, with npm and the packed packages.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packFolder } from './pack.js';

/** @import { Packed } from './pack.js' */

/** The example. Its package is private: users copy it and do not install it. */
const EXAMPLE = 'packages/example-trailing-space-policy';

/** All tests but the numbered laws, of which only those of that number are tried: the example's own tests in the repository try all, which takes seconds. */
const TRIED = /^(?![0-9]+[.])|^9[.]/;

/** The output of `npm start` as the README shows it, in the block that begins with that command. */
const SHOWN_OUTPUT = /^```console\n\$ npm start -s\n(?<output>[^]*?)^```$/m;

/**
 * @param {readonly Packed[]} packages what would be published
 * @param {string} folder an empty folder
 * @returns {string[]} the problems
 */
export function checkCopiedExample(packages, folder) {
  const example = packFolder(EXAMPLE, folder);
  const copy = join(folder, 'copy');
  mkdirSync(copy);
  execFileSync('tar', ['-xzf', example.tarball, '-C', copy, '--strip-components', '1']);

  const dependencies = closure(Object.keys(example.manifest.dependencies ?? {}), packages);
  const install = ['install', '--no-audit', '--no-fund', ...dependencies.map(({ tarball }) => tarball)];
  for (const command of [install, ['run', 'build'], ['test', '--', '-t', TRIED.source]]) {
    const { status, stdout, stderr } = npm(command, copy);
    if (status !== 0) return [`npm ${command.slice(0, 2).join(' ')}:\n${stdout}${stderr}`];
  }
  const { status, stdout, stderr } = npm(['start', '-s'], copy);
  const shown = SHOWN_OUTPUT.exec(readFileSync(join(copy, 'README.md'), 'utf8'))?.groups?.output;
  if (status === 0 && stdout === shown) return [];
  return [`the output of npm start -s differs from the README:\n${stdout}${stderr}`];
}

/**
 * @param {readonly string[]} args
 * @param {string} folder
 */
function npm(args, folder) {
  // pnpm runs this script and sets variables that npm would misinterpret.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_/i.test(name) || name.endsWith('registry')));
  return spawnSync('npm', args, { cwd: folder, env, encoding: 'utf8' });
}

/**
 * @param {readonly string[]} names
 * @param {readonly Packed[]} packages
 * @returns {Packed[]} the packages with these names, and their dependencies
 */
function closure(names, packages) {
  /** @type {Set<Packed>} */
  const found = new Set();
  /** @param {string} name */
  function add(name) {
    const packed = packages.find(({ manifest }) => manifest.name === name);
    if (packed === undefined || found.has(packed)) return;
    found.add(packed);
    Object.keys(packed.manifest.dependencies ?? {}).forEach(add);
  }
  names.forEach(add);
  return [...found];
}
