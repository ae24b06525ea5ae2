// Writes a report for each entry point into `reports`: its exports, without the text of their documentation. So every change of a public
// interface shows up as a change of a report. `--check` compares the reports instead, and lists exports without documentation.
// `hidden.json` has the number of declarations in the types of each entry point that nobody can import. It may only fall.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { entryPoints } from './entry-points.js';
import { hidden } from './hidden.js';
import { undocumented } from './undocumented.js';

/** @import { EntryPoint } from './entry-points.js' */

const reports = join(import.meta.dirname, 'reports');
const hiddenFile = join(import.meta.dirname, 'hidden.json');
const check = process.argv.includes('--check');
const temporary = mkdtempSync(join(tmpdir(), 'bloom-api-'));
const destination = check ? join(temporary, 'reports') : reports;

/**
 * @param {EntryPoint} of
 * @returns {ExtractorConfig}
 */
function configOf({ name, folder, types }) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: types,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: { target: 'es2022', module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: ['node'], strict: true, skipLibCheck: true },
        },
      },
      apiReport: { enabled: true, reportFolder: destination, reportTempFolder: join(temporary, 'made'), reportFileName: `${name}.api.md` },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
  });
}

/** @param {string} folder */
function reportsIn(folder) {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** @returns {Record<string, number>} the stored number of each entry point that has such declarations */
function storedHidden() {
  /** @type {unknown} */
  const stored = JSON.parse(readFileSync(hiddenFile, 'utf8'));
  return /** @type {Record<string, number>} */ (stored);
}

/** @type {string[]} */
const problems = [];
try {
  if (!check) rmSync(reports, { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  const configs = entryPoints.map(configOf);
  const [first] = configs;
  if (first === undefined) throw new Error('there are no entry points');
  const compilerState = CompilerState.create(first, { additionalEntryPoints: entryPoints.map(({ types }) => types) });
  for (const config of configs) {
    Extractor.invoke(config, {
      compilerState,
      localBuild: true,
      messageCallback: (message) => {
        message.handled = true;
      },
    });
  }
  if (check) {
    const made = reportsIn(destination);
    const kept = reportsIn(reports);
    for (const name of new Set([...made.keys(), ...kept.keys()])) {
      if (made.get(name) !== kept.get(name)) problems.push(`tooling/api/reports/${name} is not what \`npx pnpm@10 api\` writes. A changed interface needs a changeset.`);
    }
    problems.push(...undocumented().map((name) => `no documentation of ${name}`));
  }
  const found = hidden();
  const stored = storedHidden();
  for (const [name, names] of found) {
    const most = stored[name] ?? 0;
    if (names.length > most) problems.push(`the types of ${name} have ${names.length} declarations that nobody can import, ${most} are allowed: ${names.join(', ')}`);
    else if (check && names.length < most) problems.push(`the types of ${name} have only ${names.length} declarations that nobody can import: \`npx pnpm@10 api\` lowers its number`);
  }
  if (!check && problems.length === 0) {
    const numbers = [...found].filter(([, names]) => names.length > 0).map(([name, names]) => [name, names.length]);
    writeFileSync(hiddenFile, `${JSON.stringify(Object.fromEntries(numbers), undefined, 2)}\n`);
  }
} finally {
  rmSync(temporary, { recursive: true });
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
