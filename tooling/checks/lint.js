// `npx pnpm@10 lint`: lints the repository in several processes of ESLint. Each loads the types of its folders and what these import; with
// ESLint's own threads, both load nearly all types, and the whole takes 1.25 times as long in processor time.
import { join } from 'node:path';
import { outcomeOf, sideBySide } from './side-by-side.js';

const root = join(import.meta.dirname, '../..');
const eslint = join(root, 'node_modules/eslint/bin/eslint.js');

/** Folders that one process lints, the longest first. Another process lints all other files. */
const GROUPS = [['tooling'], ['packages/leveldb', 'packages/level'], ['apps'], ['packages/sstable']];

const ignored = GROUPS.flat().flatMap((folder) => ['--ignore-pattern', `${folder}/**`]);
// Node's default heap of 4 GiB may be too small for the types.
const outcomes = await sideBySide([['.', ...ignored], ...GROUPS], (files) => outcomeOf(process.execPath, ['--max-old-space-size=8192', eslint, '--max-warnings=0', ...files], { cwd: root }));
for (const { output } of outcomes) process.stdout.write(output);
process.exitCode = outcomes.every(({ status }) => status === 0) ? 0 : 1;
