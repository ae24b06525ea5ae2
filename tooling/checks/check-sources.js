// `npx pnpm@10 check-sources`: runs the checks of the sources, one per core at a time, and prints the output of each when it has ended.
// After a failure, the others still run.
import { join } from 'node:path';
import { outcomeOf, sideBySide } from './side-by-side.js';

const root = join(import.meta.dirname, '../..');

/** Scripts of the root's package.json with their arguments, the longest ones first. */
const CHECKS = [
  ['lint'],
  ['package-check'],
  ['typecheck'],
  ['size'],
  ['import-time'],
  ['api', '--check'],
  ['unused'],
  ['layers'],
  ['kernels', '--check'],
  ['metadata'],
  ['links'],
  ['document-sizes'],
];

const outcomes = await sideBySide(CHECKS, async (check) => {
  const start = performance.now();
  const { status, output } = await outcomeOf('pnpm', ['--silent', ...check], { cwd: root });
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  process.stdout.write(`${output}${check[0]}: ${status === 0 ? 'ok' : 'failed'}, ${seconds} s\n`);
  return { name: check[0], status };
});
const failed = outcomes.filter(({ status }) => status !== 0).map(({ name }) => name);
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
