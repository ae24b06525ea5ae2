// Writes the CommonJS form of the package in this folder, of what tsup has built: for Jest, and for every host that cannot `require` ES
// modules. Files keep their chunks, so that the entry points of a package share their classes and their state in this form too.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';

/**
 * @param {unknown} target a value in `exports` or `imports`
 * @returns {string[]} the CommonJS files that it names
 */
function commonJsFilesOf(target) {
  if (typeof target === 'string') return target.endsWith('.cjs') ? [target] : [];
  return Object.values(/** @type {object} */ (target)).flatMap(commonJsFilesOf);
}

/** The name of another file of the package, where it is imported. A worker's file is not: it stays an ES module. */
const IMPORTED_FILE = /(?<=(?:\bfrom |\bimport ?\(?|\brequire\()["'])(?<name>\.{1,2}\/[^"']*)\.js(?=["'])/g;

/**
 * @param {string} code of an ES module
 * @returns {string} the same in CommonJS
 */
function commonJs(code) {
  const { code: converted } = transformSync(code.replaceAll('import.meta.url', 'require("node:url").pathToFileURL(__filename).href'), {
    // The extension tells esbuild to import CommonJS modules as Node does.
    sourcefile: 'module.mjs',
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    // Jest has no `import()` in CommonJS without a flag of Node.
    supported: { 'dynamic-import': false },
  });
  return converted.replace(/\n\/\/# sourceMappingURL=.*/, '');
}

/** @type {unknown} */
const content = JSON.parse(readFileSync('package.json', 'utf8'));
const { exports, imports = {} } = /** @type {{ exports: object, imports?: object }} */ (content);
const entries = [...commonJsFilesOf(exports).flatMap((file) => [file, file.replace(/\.cjs$/, '.d.cts')]), ...commonJsFilesOf(imports)];
const files = new Set(entries);
// A set also visits what is added during the loop.
for (const file of files) {
  const isTypes = file.endsWith('.d.cts');
  const source = readFileSync(file.replace(/\.c(?=[jt]s$)/, '.'), 'utf8');
  const written = (isTypes ? source : commonJs(source)).replace(IMPORTED_FILE, (_, /** @type {string} */ name) => {
    files.add(join(dirname(file), name) + (isTypes ? '.d.cts' : '.cjs'));
    return `${name}.cjs`;
  });
  writeFileSync(file, written);
}
