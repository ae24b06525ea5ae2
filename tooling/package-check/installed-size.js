// The size of what npm installs for each package: its own files and those of all dependencies, optional ones included. The README shows
// the limits in installed-limits.json. `--write` updates them; package-check compares.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packAll } from './pack.js';

/** @import { Packed } from './pack.js' */

const LIMITS = join(import.meta.dirname, 'installed-limits.json');

/** @returns {Map<string, string>} by package */
export function installedLimits() {
  /** @type {unknown} */
  const limits = JSON.parse(readFileSync(LIMITS, 'utf8'));
  return new Map(Object.entries(/** @type {Record<string, string>} */ (limits)));
}

/**
 * @param {string} folder of a package
 * @returns {number} bytes, without the packages in its own node_modules
 */
function ownBytes(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? ownBytes(path) : statSync(path).size;
  }
  return bytes;
}

/**
 * @param {string} name
 * @param {string} from the folder of the package that needs it
 * @returns {string | undefined} its folder, where Node finds it
 */
function installed(name, from) {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return undefined;
}

/**
 * @param {string} name
 * @param {string} project
 * @returns {number} bytes of the package and of all that it needs
 */
function installedBytes(name, project) {
  /** @type {Set<string>} */
  const folders = new Set();
  /**
   * @param {string} dependency
   * @param {string} from
   */
  function add(dependency, from) {
    const folder = installed(dependency, from);
    if (folder === undefined || folders.has(folder)) return;
    folders.add(folder);
    /** @type {unknown} */
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { dependencies, optionalDependencies } = /** @type {Record<string, Record<string, string> | undefined>} */ (manifest);
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) add(needed, folder);
  }
  add(name, project);
  return [...folders].reduce((sum, folder) => sum + ownBytes(folder), 0);
}

/**
 * @param {readonly Packed[]} packages
 * @param {string} folder an empty folder
 * @returns {Map<string, number>} bytes by package
 */
function installedSizes(packages, folder) {
  // pnpm runs this script and sets variables that npm would misinterpret.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_/i.test(name) || name.endsWith('registry')));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages.map(({ tarball }) => tarball)], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
  return new Map(packages.map(({ manifest: { name } }) => [name, installedBytes(name, folder)]));
}

/**
 * @param {number} bytes
 * @returns {string} a limit at least 2% above `bytes`
 */
function limitAbove(bytes) {
  const step = 10 ** Math.floor(Math.log10(bytes)) / 20;
  const limit = Math.ceil((bytes * 1.02) / step) * step;
  return limit < 1e6 ? `${+(limit / 1e3).toPrecision(3)} kB` : `${+(limit / 1e6).toPrecision(3)} MB`;
}

/**
 * @param {string} limit
 * @returns {number}
 */
function bytesOf(limit) {
  return Number.parseFloat(limit) * (limit.endsWith('MB') ? 1e6 : 1e3);
}

/**
 * @param {readonly Packed[]} packages
 * @param {string} folder an empty folder
 * @returns {string[]} the problems: packages above their limits, or more than 20% below them
 */
export function checkInstalledSizes(packages, folder) {
  const limits = installedLimits();
  return [...installedSizes(packages, folder)].flatMap(([name, bytes]) => {
    const limit = limits.get(name);
    if (limit !== undefined && bytes <= bytesOf(limit) && bytes >= bytesOf(limit) * 0.8) return [];
    return [`${name}: npm installs ${bytes} bytes; the limit is ${limit}. \`npx pnpm@10 installed-size --write\` updates it`];
  });
}

if (process.argv[1] === import.meta.filename) {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-installed-'));
  try {
    const sizes = installedSizes(packAll(folder), folder);
    for (const [name, bytes] of sizes) console.log(`${name}: ${bytes} bytes`);
    if (process.argv.includes('--write')) writeFileSync(LIMITS, `${JSON.stringify(Object.fromEntries([...sizes].map(([name, bytes]) => [name, limitAbove(bytes)])), null, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
