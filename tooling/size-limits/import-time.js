// Checks how long Node takes to import each entry point, in a new process.
import { execFileSync } from 'node:child_process';
import { entryPoints } from './entry-points.js';

const ROUNDS = 7;
const MAX_MS = 200;

/** @param {string} entryPoint */
function importMs(entryPoint) {
  const source = `const start = performance.now(); await import('${entryPoint}'); console.log(performance.now() - start);`;
  const args = ['--input-type=module', '--eval', source];
  return Number(execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' }));
}

// The shortest time counts, because other load on the machine only makes an import slower. Entry points that took too long are
// imported again in turns, so that other load affects all of them alike.
const shortestMs = entryPoints.map(() => Infinity);
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, entryPoint] of entryPoints.entries()) {
    const shortest = shortestMs[i] ?? NaN;
    if (shortest > MAX_MS) shortestMs[i] = Math.min(shortest, importMs(entryPoint));
  }
}

entryPoints.forEach((entryPoint, i) => {
  const ms = shortestMs[i] ?? NaN;
  const isSlow = !(ms <= MAX_MS);
  console.log(`${entryPoint.padEnd(30)}${ms.toFixed(1).padStart(6)} ms${isSlow ? `, more than ${MAX_MS}` : ''}`);
  if (isSlow) process.exitCode = 1;
});
