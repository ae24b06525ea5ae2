// How long Node takes to import each entry point: a process that imports it, less one that imports nothing.
import { spawnSync } from 'node:child_process';
import { entryPoints } from './entry-points.js';

const ROUNDS = 7;
const MAX_MS = 100;

/** @param {string} source */
function runMs(source) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], { cwd: import.meta.dirname, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${source}: ${stderr}`);
  return performance.now() - start;
}

const sources = ['', ...entryPoints.map((entryPoint) => `import '${entryPoint}';`)];
// Whatever else the machine does only makes a run longer: the shortest one counts. In turn, so that a busy moment falls
// on all of them.
const shortestMs = sources.map(() => Infinity);
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, source] of sources.entries()) shortestMs[i] = Math.min(shortestMs[i] ?? NaN, runMs(source));
}

const [emptyMs = NaN, ...importMs] = shortestMs;
entryPoints.forEach((entryPoint, i) => {
  const ms = (importMs[i] ?? NaN) - emptyMs;
  const isSlow = !(ms <= MAX_MS);
  console.log(`${entryPoint.padEnd(30)}${ms.toFixed(1).padStart(6)} ms${isSlow ? `, more than ${MAX_MS}` : ''}`);
  if (isSlow) process.exitCode = 1;
});
