// Checks the fields of package.json that all published packages share, and the links in their documents, which must work outside the
// repository. `--write` fixes them.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import sizeLimits from '@bloom/size-limits/limits.js';
import { installedLimits } from './installed-size.js';
import { withLinks, withoutFragment } from './links.js';
import { documentsOf, publishedPackages, root } from './published-packages.js';
import { addressOf, repository } from './repository.js';

/** @import { Manifest, Package } from './published-packages.js' */

const ORDER = [
  ...['name', 'version', 'private', 'description', 'keywords', 'homepage', 'bugs', 'repository', 'license', 'author', 'type', 'sideEffects'],
  ...['engines', 'publishConfig', 'files', 'bin', 'main', 'types', 'typesVersions', 'exports', 'imports', 'scripts'],
];

/**
 * @param {unknown} entryPoint
 * @returns {string | undefined} the file that Node loads for `require` if it does not know `module-sync`
 */
function commonJsOf(entryPoint) {
  const { node, require } = /** @type {{ node?: { require?: string }, require?: string }} */ (entryPoint);
  return node?.require ?? require;
}

/** @param {string} file in CommonJS */
const typesOf = (file) => file.replace(/\.cjs$/, '.d.cts');

/**
 * @param {Manifest} manifest
 * @returns {object} the fields for programs that do not know `exports`, such as TypeScript with `moduleResolution: node10`
 */
function withoutExports({ exports }) {
  const main = commonJsOf(exports['.'] ?? {});
  if (main === undefined) return {};
  /** @type {[string, string[]][]} */
  const others = Object.entries(exports).flatMap(([path, entryPoint]) => {
    const file = path === '.' ? undefined : commonJsOf(entryPoint);
    return file === undefined ? [] : [[path.slice(2), [typesOf(file)]]];
  });
  return { main, types: typesOf(main), ...(others.length > 0 && { typesVersions: { '*': Object.fromEntries(others) } }) };
}

/**
 * @param {Package} of
 * @returns {object} its package.json as it should be
 */
function completed({ path, manifest }) {
  const filled = {
    ...manifest,
    homepage: `${addressOf(path, 'tree')}#readme`,
    bugs: `${repository}/issues`,
    repository: { type: 'git', url: `git+${repository}.git`, directory: path },
    license: 'MIT',
    author: 'The Bloom authors',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.19' },
    publishConfig: { access: 'public' },
    ...withoutExports(manifest),
    files: [...new Set([...(manifest.files ?? []), 'CHANGELOG.md'])],
    scripts: { ...manifest.scripts, prepack: 'node ../../tooling/package-check/prepack.js' },
  };
  const fields = Object.entries(filled);
  /** @param {string} name */
  const place = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return Object.fromEntries(fields.sort(([a], [b]) => place(a) - place(b)));
}

/**
 * @param {Manifest} manifest
 * @returns {string[]} problems that `--write` cannot fix
 */
function missing({ description, keywords = [] }) {
  return [
    ...(description === undefined ? ['no description'] : []),
    ...(keywords.length < 3 ? ['fewer than three keywords'] : []),
    ...(keywords.includes('leveldb') ? [] : ['no keyword "leveldb"']),
  ];
}

/**
 * @param {Package} of
 * @param {string} document its path in the package
 * @returns {string} its text; links to files outside the published package are absolute
 */
function withWorkingLinks({ path, folder, manifest }, document) {
  const published = ['README.md', 'LICENSE', ...(manifest.files ?? [])];
  return withLinks(readFileSync(join(folder, document), 'utf8'), (link) => {
    if (/^([a-z]+:|#)/.test(link)) return link;
    const target = posix.join(dirname(document), withoutFragment(link)).replace(/\/$/, '');
    if (published.some((name) => target === name || target.startsWith(`${name}/`))) return link;
    const inRepository = posix.join(path, target);
    if (!existsSync(join(root, inRepository))) {
      problems.push(`${path}/${document}: ${link} is broken`);
      return link;
    }
    return addressOf(inRepository, statSync(join(root, inRepository)).isDirectory() ? 'tree' : 'blob') + link.slice(withoutFragment(link).length);
  });
}

const write = process.argv.includes('--write');
/** @type {string[]} */
const problems = [];

/**
 * @param {string} file its path in the repository
 * @param {string} wanted
 */
function compare(file, wanted) {
  if (readFileSync(join(root, file), 'utf8') === wanted) return;
  if (write) writeFileSync(join(root, file), wanted);
  else problems.push(`${file} is out of date: run \`npx pnpm@10 metadata --write\``);
}

for (const of of publishedPackages()) {
  problems.push(...missing(of.manifest).map((problem) => `${of.path}/package.json: ${problem}`));
  compare(`${of.path}/package.json`, `${JSON.stringify(completed(of), null, 2)}\n`);
  const documents = documentsOf(of.folder);
  if (!documents.includes('README.md')) problems.push(`${of.path}: no README.md`);
  for (const document of documents) {
    compare(`${of.path}/${document}`, withWorkingLinks(of, document));
  }
}

/**
 * @param {Pick<Manifest, 'dependencies' | 'optionalDependencies'>} manifest
 * @returns {string} the packages that npm installs with a package, those of this repository first
 */
function dependenciesOf({ dependencies = {}, optionalDependencies = {} }) {
  const names = Object.keys(dependencies);
  const own = names.filter((name) => name.startsWith('@bloom/')).map((name) => `\`${name.slice('@bloom/'.length)}\``);
  const others = names.filter((name) => !name.startsWith('@bloom/'));
  const optional = Object.keys(optionalDependencies).length > 0 ? ['a prebuilt add-on for the lock'] : [];
  return [...own, ...others, ...optional].join(', ') || 'nothing';
}

/** README.md shows each package's dependencies and the limits that `npx pnpm@10 installed-size` and `size` check. */
const installed = installedLimits();
const limits = new Map(sizeLimits.map(({ name, limit }) => [name, limit]));
const manifests = new Map(publishedPackages().map(({ manifest }) => [manifest.name, manifest]));
/** @param {string} name */
const dependenciesIn = (name) => dependenciesOf(manifests.get(name) ?? {});
const readme = readFileSync(join(root, 'README.md'), 'utf8')
  // Five packages have a row of a table, the others a line below it.
  .replace(/^(\| .* \| \[`(@bloom\/[\w-]+)`\]\([^)]*\) \|)[^|]*\|[^|]*\|[^|]*\|$/gm, (_, /** @type {string} */ row, /** @type {string} */ name) => `${row} ${dependenciesIn(name)} | ${installed.get(name) ?? ''} | ${limits.get(name) ?? ''} |`)
  .replace(/(\[`(@bloom\/[\w-]+)`\]\([^)]*\): [^()]*) \([^)]*\)/g, (_, /** @type {string} */ line, /** @type {string} */ name) => `${line} (depends on ${dependenciesIn(name)}; ${installed.get(name) ?? ''} installed, ${limits.get(name) ?? ''} bundled)`);
compare('README.md', readme);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
