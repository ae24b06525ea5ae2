// `npx pnpm@10 document-sizes`: checks that documents and interfaces stay small enough to be read. A limit is raised only with a reason.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './published-packages.js';

/** The sizes of documents. */
const DOCUMENTS = {
  'README.md': { minLines: 70, maxLines: 90 },
  'ARCHITECTURE.md': { maxBytes: 10_000 },
  'CONTRIBUTING.md': { maxBytes: 6_000 },
  // The speed page has at most two screens.
  'RESULTS.md': { maxLines: 100 },
};

/** The most lines of a README in packages/ or apps/. */
const MAX_README_LINES = 150;

/** The most names that an entry point exports. */
const MAX_NAMES = 90;

/** The most names that all entry points export together. */
const MAX_ALL_NAMES = 566;

/** Entry points for sibling packages, which promise nothing to others. */
const INTERNAL = /\binternal\b/;

/** @param {string} text */
function linesOf(text) {
  return text.trimEnd().split('\n').length;
}

/**
 * @param {string} document
 * @param {string} text
 * @param {{ minLines?: number, maxLines?: number, maxBytes?: number }} limits
 * @returns {string[]} the problems
 */
export function sizeProblems(document, text, { minLines = 0, maxLines = Infinity, maxBytes = Infinity }) {
  const lines = linesOf(text);
  const bytes = Buffer.byteLength(text);
  return [
    ...(lines < minLines ? [`${document} has ${lines} lines; the minimum is ${minLines}`] : []),
    ...(lines > maxLines ? [`${document} has ${lines} lines; the limit is ${maxLines}`] : []),
    ...(bytes > maxBytes ? [`${document} has ${bytes} bytes; the limit is ${maxBytes}`] : []),
  ];
}

/**
 * @param {string} report of an entry point, as `npx pnpm@10 api` writes it
 * @returns {number} how many names the entry point exports
 */
export function namesIn(report) {
  const names = [...report.matchAll(/^export (?:declare )?(?:abstract )?(?:class|const|enum|function|interface|let|namespace|type|\{) *(?<name>[\w$]+)/gm)];
  // A function with overloads appears more than once.
  return new Set(names.map(({ groups }) => groups?.name)).size;
}

function problems() {
  const documents = Object.entries(DOCUMENTS).flatMap(([document, limits]) => sizeProblems(document, readFileSync(join(root, document), 'utf8'), limits));
  const readmes = ['packages', 'apps']
    .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}/README.md`))
    .filter((document) => existsSync(join(root, document)))
    .flatMap((document) => sizeProblems(document, readFileSync(join(root, document), 'utf8'), { maxLines: MAX_README_LINES }));
  const reports = join(root, 'tooling/api/reports');
  const entryPoints = readdirSync(reports)
    .filter((name) => !INTERNAL.test(name))
    .map((name) => ({ name, names: namesIn(readFileSync(join(reports, name), 'utf8')) }));
  const all = entryPoints.reduce((sum, { names }) => sum + names, 0);
  return [
    ...documents,
    ...readmes,
    ...entryPoints.filter(({ names }) => names > MAX_NAMES).map(({ name, names }) => `${name} has ${names} names; the limit is ${MAX_NAMES}`),
    ...(all > MAX_ALL_NAMES ? [`all entry points together export ${all} names; the limit is ${MAX_ALL_NAMES}`] : []),
  ];
}

if (process.argv[1] === import.meta.filename) {
  const found = problems();
  for (const problem of found) console.error(problem);
  process.exitCode = found.length === 0 ? 0 : 1;
}
