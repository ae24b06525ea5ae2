import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @import { Options } from 'tsup' */
/** @typedef {NonNullable<Options['esbuildPlugins']>[number]} Plugin */

/** @type {Options} */
const shared = {
  format: 'esm',
  target: 'es2022',
  clean: true,
  sourcemap: true,
  removeNodeProtocol: false,
  silent: true,
};

/**
 * A package: one file for each entry point, and shared code in chunks.
 *
 * @param {string[]} entry the entry points
 * @param {string[]} [imported] files that only the package imports, under a `#` name of package.json's `imports`, or
 *   as separate files so that a bundler can leave them out
 * @returns {Options}
 */
export function library(entry, imported = []) {
  const { imports, optionalDependencies = {} } = manifest();
  // Other packages have been built, and their declarations are read several times as fast as their sources. `#` names stand for sources until then.
  const conditions = imports === undefined ? { customConditions: [] } : {};
  return {
    ...shared,
    entry: [...entry, ...imported],
    platform: 'neutral',
    tsconfig: 'tsconfig.node.json',
    // A declaration marked `@internal` is for the other files of its package. tsup 8 sets `baseUrl`, which TypeScript 6 reports as deprecated.
    dts: { entry, compilerOptions: { stripInternal: true, ignoreDeprecations: '6.0', ...conditions } },
    // The host that loads the package resolves these. tsup would bundle optional dependencies, unlike others.
    external: [/^#/, /^node:/, ...Object.keys(optionalDependencies)],
  };
}

/** @returns {{ imports?: object, optionalDependencies?: Record<string, string> }} of the package being built */
function manifest() {
  /** @type {unknown} */
  const content = JSON.parse(readFileSync('package.json', 'utf8'));
  return /** @type {{ imports?: object, optionalDependencies?: Record<string, string> }} */ (content);
}

/**
 * A program for Node.
 *
 * @param {string[]} entry
 * @returns {Options}
 */
export function program(entry) {
  return { ...shared, entry, platform: 'node' };
}

/**
 * Writes the licences of the third-party packages that are bundled into a program. It may be published only with them.
 *
 * @param {string} file
 * @returns {Plugin}
 */
export function thirdPartyLicences(file) {
  /** @type {Map<string, string>} */
  const licences = new Map();
  return {
    name: 'third-party-licences',
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile }) => {
        const bundled = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.keys(inputs));
        for (const path of bundled.filter((input) => input.includes('node_modules/'))) {
          const folder = packageOf(path);
          /** @type {unknown} */
          const content = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
          const { name, version } = /** @type {{ name: string, version: string }} */ (content);
          const licence = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
          if (licence === undefined) throw new Error(`${name} has no file with its licence`);
          licences.set(`${name} ${version}`, readFileSync(join(folder, licence), 'utf8').trim());
        }
        const texts = [...licences].sort().map(([name, text]) => `${name}\n\n${text}\n`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, texts.join(`\n${'-'.repeat(80)}\n\n`));
      });
    },
  };
}

/**
 * Replaces a module with an empty one for a single package, which works without it.
 *
 * @param {string} module as it is imported
 * @param {string} from the package that imports it
 * @returns {Plugin}
 */
export function leftOut(module, from) {
  return {
    name: `left-out-${module}`,
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path, importer }) =>
        path === module && importer.includes(`/node_modules/${from}/`) ? { path, namespace: 'left-out' } : undefined,
      );
      build.onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: '' }));
    },
  };
}

/**
 * @param {string} path of a file in a package
 * @returns {string} the folder of the package
 */
function packageOf(path) {
  const folder = dirname(path);
  const manifest = join(folder, 'package.json');
  // Some packages have further package.json files without a name in their folders.
  return existsSync(manifest) && 'name' in /** @type {object} */ (JSON.parse(readFileSync(manifest, 'utf8'))) ? folder : packageOf(folder);
}
