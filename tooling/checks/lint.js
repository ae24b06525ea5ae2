// `npx pnpm@10 lint`: lints the repository with few programs of TypeScript, each in a process of its own. Editors, and `lint-changed`, load
// the tsconfig.json nearest to a file. There are some sixty, and the types of a package are checked again for each that imports it.
import { join } from 'node:path';
import { outcomeOf, sideBySide } from './side-by-side.js';

const root = join(import.meta.dirname, '../..');
const eslint = join(root, 'node_modules/eslint/bin/eslint.js');

/** Sources that run in every host, as tooling/typescript-config/core.json includes them. */
const CORES = ['packages/!(example-*)/src/!(node|*.node).ts', 'packages/!(example-*)/src/!(node)/**/!(*.node).ts', 'tooling/typescript-config/universal.d.ts'];
/** All other sources of packages: ESLint takes patterns with `!(…)` only for files to ignore. */
const SOURCES_FOR_NODE = ['packages/example-*/**', 'packages/*/src/node.ts', 'packages/*/src/node/**', 'packages/*/src/**/*.node.ts'];
const PAGES = ['apps/explorer', 'apps/site', 'tooling/browser-tests/src/pages'];
/** AssemblyScript's types declare methods of arrays anew, for the whole program. */
const KERNELS = 'tooling/kernels';

/**
 * The programs, the longest first. The first has all files that no other has. ESLint reports a file that its program does not include.
 *
 * @type {{ projects: string[], files: string[], ignored: string[] }[]}
 */
const PROGRAMS = [
  { projects: ['tooling/eslint-config/programs/node.json'], files: ['.'], ignored: [...CORES, ...[...PAGES, KERNELS].map((folder) => `${folder}/**`)] },
  { projects: ['tooling/eslint-config/programs/core.json'], files: ['packages/*/src/**/*.ts', 'tooling/typescript-config/universal.d.ts'], ignored: SOURCES_FOR_NODE },
  { projects: ['tooling/eslint-config/programs/pages.json', 'apps/explorer/tsconfig.page.json', 'tooling/browser-tests/src/pages/tsconfig.json', `${KERNELS}/tsconfig.json`], files: [...PAGES, KERNELS], ignored: [] },
];

const outcomes = await sideBySide(PROGRAMS, ({ projects, files, ignored }) => {
  const options = ['projectService:false', `project:[${projects.join(',')}]`].map((option) => `--parser-options=${option}`);
  const ignoring = ignored.flatMap((pattern) => ['--ignore-pattern', pattern]);
  // Node's default heap of 4 GiB may be too small for the types.
  return outcomeOf(process.execPath, ['--max-old-space-size=8192', eslint, '--max-warnings=0', ...options, ...ignoring, ...files], { cwd: root });
});
for (const { output } of outcomes) process.stdout.write(output);
process.exitCode = outcomes.every(({ status }) => status === 0) ? 0 : 1;
