// Checks how long Node takes to import each entry point in a new process, compared with the start of Node itself: a time limit
// would depend on the machine.
import { execFileSync } from 'node:child_process';
import { entryPoints } from './entry-points.js';

const ROUNDS = 7;
const MAX_STARTS = 2;

/** @param {string} source */
const runNode = (source) =>
  execFileSync(process.execPath, ['--input-type=module', '--eval', source], { cwd: import.meta.dirname, encoding: 'utf8' });

function startMs() {
  const start = performance.now();
  runNode('');
  return performance.now() - start;
}

/** @param {string} entryPoint */
const importMs = (entryPoint) =>
  Number(runNode(`const start = performance.now(); await import('${entryPoint}'); console.log(performance.now() - start);`));

// The shortest time counts, because other load on the machine only makes an import slower. Entry points that took too long are
// imported again in turns, so that other load affects all of them alike.
let shortestStartMs = Infinity;
const shortestMs = entryPoints.map(() => Infinity);
for (let round = 0; round < ROUNDS; round++) {
  shortestStartMs = Math.min(shortestStartMs, startMs());
  for (const [i, entryPoint] of entryPoints.entries()) {
    const shortest = shortestMs[i] ?? NaN;
    if (shortest > MAX_STARTS * shortestStartMs) shortestMs[i] = Math.min(shortest, importMs(entryPoint));
  }
}

const maxMs = MAX_STARTS * shortestStartMs;
console.log(`a start of Node: ${shortestStartMs.toFixed(1)} ms; an import may take ${MAX_STARTS} times as long: ${maxMs.toFixed(1)} ms`);
entryPoints.forEach((entryPoint, i) => {
  const ms = shortestMs[i] ?? NaN;
  const isSlow = !(ms <= maxMs);
  console.log(`${entryPoint.padEnd(30)}${ms.toFixed(1).padStart(6)} ms${isSlow ? ', too long' : ''}`);
  if (isSlow) process.exitCode = 1;
});
