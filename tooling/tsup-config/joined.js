// Writes the files that Node loads, in dist/joined: those that tsup has built, with fewer chunks. Node takes a third of a millisecond of
// processor time for each file, and a database would load 47 of them. Bundlers for browsers keep the small chunks, because they decide for
// whole files which of them a page loads later.
//
//     node joined.js ENTRY… [--separate FILE]…
//
// The code that these entry points load at once becomes one chunk. What a separate file needs of it too, such as the program of a worker
// thread, becomes another one. All other entry points under `dist/joined` in package.json's `exports` import from these chunks, so that
// Node loads each class once.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { rollup } from 'rollup';

/** @import { GetModuleInfo } from 'rollup' */

const FOLDER = 'dist/joined';

/**
 * @param {unknown} target a value in `exports`
 * @returns {string[]} the names of the entry points that Node loads
 */
function joinedNamesOf(target) {
  if (typeof target === 'string') return target.startsWith(`./${FOLDER}/`) ? [basename(target, '.js')] : [];
  return Object.values(/** @type {object} */ (target)).flatMap(joinedNamesOf);
}

/**
 * Without imports that name nothing, in a file that is loaded for what it exports. Rollup keeps them for their effects, of which only programs
 * of workers have any, and esbuild would warn of each.
 *
 * @param {string} code
 * @param {readonly string[]} exported
 */
const withoutBareImports = (code, exported) => (exported.length === 0 ? code : code.replace(/^import '[^']*';\n/gm, ''));

/** @param {string} name */
const builtFile = (name) => resolve('dist', `${name}.js`);

/**
 * @param {readonly string[]} names
 * @param {GetModuleInfo} getModuleInfo
 * @returns {Set<string>} the files that are loaded at once with these
 */
function loadedWith(names, getModuleInfo) {
  const loaded = new Set(names.map(builtFile));
  // A set also visits what is added during the loop.
  for (const file of loaded) for (const imported of getModuleInfo(file)?.importedIds ?? []) loaded.add(imported);
  return loaded;
}

const { positionals: joined, values } = parseArgs({ allowPositionals: true, options: { separate: { type: 'string', multiple: true, default: [] } } });
const { separate } = values;
/** @type {unknown} */
const content = JSON.parse(readFileSync('package.json', 'utf8'));
const { exports } = /** @type {{ exports: object }} */ (content);
const entries = [...new Set(joinedNamesOf(exports))];
// Other files would be loaded beside these, with classes of their own.
const unjoined = Object.entries(exports).filter(([, target]) => typeof target === 'object' && joinedNamesOf(target).length === 0);
if (unjoined.length > 0) throw new Error(`exports without files in ${FOLDER} under the condition "node": ${unjoined.map(([name]) => name).join(', ')}`);

const bundle = await rollup({
  input: Object.fromEntries([...entries, ...separate].map((name) => [name, builtFile(name)])),
  external: (id) => !/^(\.|\/)/.test(id) && resolve(id) !== id,
  // tsup has removed unused code, and bundlers do so again.
  treeshake: false,
  preserveEntrySignatures: 'strict',
  onLog(_, { code, message }) {
    // An entry point may have types only.
    if (code !== 'EMPTY_BUNDLE') throw new Error(message);
  },
  plugins: [{ name: 'without-maps', load: (id) => readFileSync(id, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '') }],
});
/** @type {{ loaded: Set<string>, separately: Set<string> } | undefined} */
let chunks;
const { output } = await bundle.generate({
  entryFileNames: '[name].js',
  // Without a further hash: turbo deletes no files when it restores a build, so the large chunks of other builds would stay in the folder.
  chunkFileNames: '[name].js',
  minifyInternalExports: false,
  hoistTransitiveImports: false,
  manualChunks(file, { getModuleInfo }) {
    chunks ??= { loaded: loadedWith(joined, getModuleInfo), separately: loadedWith(separate, getModuleInfo) };
    if (!chunks.loaded.has(file)) return undefined;
    return chunks.separately.has(file) ? 'shared' : 'joined';
  },
});
await bundle.close();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
for (const file of output) {
  if (file.type === 'chunk') writeFileSync(join(FOLDER, file.fileName), withoutBareImports(file.code, file.exports));
}
for (const name of entries) writeFileSync(join(FOLDER, `${name}.d.ts`), `export * from '../${name}.js';\n`);
