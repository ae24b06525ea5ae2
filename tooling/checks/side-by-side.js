import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Runs jobs, as many at a time as there are cores, in their order.
 *
 * @template Job, Result
 * @param {readonly Job[]} jobs
 * @param {(job: Job) => Promise<Result>} work
 * @returns {Promise<Result[]>} the results, in the order of the jobs
 */
export async function sideBySide(jobs, work) {
  /** @type {Result[]} */
  const results = [];
  const waiting = jobs.entries();
  async function lane() {
    for (const [i, job] of waiting) results[i] = await work(job);
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return results;
}

/**
 * @typedef {object} Outcome
 * @property {number} status the exit status; 1 if a signal ended the program
 * @property {string} output what it printed, to both streams
 */

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<Outcome>}
 */
export function outcomeOf(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' && program !== process.execPath });
    /** @type {Buffer[]} */
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (/** @type {Buffer} */ chunk) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => {
      resolve({ status: status ?? 1, output: Buffer.concat(chunks).toString() });
    });
  });
}
