// Type-checks a program that imports every entry point of the packed packages, as a strict consumer would: with
// skipLibCheck off, under several compilers, module settings and libraries.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** @import { Packed } from './pack.js' */

const require = createRequire(import.meta.url);

/** The oldest supported compiler, the one that the project uses, and the newest. */
const compilers = ['typescript-oldest', 'typescript', 'typescript-newest'];

const modules = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

const hosts = [
  { host: 'no DOM and no @types/node', lib: ['es2022'], types: [] },
  { host: 'DOM', lib: ['es2022', 'dom'], types: [] },
  { host: '@types/node', lib: ['es2022'], types: ['node'] },
  { host: 'DOM and @types/node', lib: ['es2022', 'dom'], types: ['node'] },
];

/**
 * @param {readonly Packed[]} packages
 * @param {string} folder an empty folder
 * @returns {string[]} the problems
 */
export function checkConsumerTypes(packages, folder) {
  for (const { manifest, tarball } of packages) {
    const installed = join(folder, 'node_modules', manifest.name);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
  }
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  symlinkSync(dirname(require.resolve('@types/node/package.json')), join(folder, 'node_modules/@types/node'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const entryPoints = packages.flatMap(({ manifest }) =>
    Object.keys(manifest.exports)
      .filter((path) => path !== './package.json')
      .map((path) => manifest.name + path.slice(1)),
  );
  const imports = entryPoints.map((entryPoint, i) => `import * as entryPoint${i} from '${entryPoint}';\n`);
  const names = entryPoints.map((_, i) => `entryPoint${i}`);
  writeFileSync(join(folder, 'consumer.ts'), `${imports.join('')}export const all: unknown[] = [${names.join(', ')}];\n`);

  const problems = [];
  for (const compiler of compilers) {
    const manifestPath = require.resolve(`${compiler}/package.json`);
    /** @type {unknown} */
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
    const { version } = /** @type {{ version: string }} */ (manifest);
    const tsc = join(dirname(manifestPath), 'bin/tsc');
    for (const options of modules) {
      for (const { host, lib, types } of hosts) {
        const config = join(folder, 'tsconfig.json');
        const compilerOptions = { ...options, lib, types, target: 'es2022', strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
        writeFileSync(config, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
        const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8' });
        if (status !== 0) problems.push(`TypeScript ${version}, ${options.moduleResolution}, ${host}:\n${stdout}`);
      }
    }
  }
  return problems;
}
