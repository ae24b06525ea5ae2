import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { outcomeOf, sideBySide } from '../side-by-side.js';

test('as many jobs run at a time as there are cores, and their results are in order', async () => {
  const jobs = Array.from({ length: 3 * availableParallelism() }, (_, i) => i);
  let running = 0;
  let most = 0;
  const results = await sideBySide(jobs, async (job) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 3 * (jobs.length - job)));
    running--;
    return job * 2;
  });
  expect(results).toEqual(jobs.map((job) => job * 2));
  expect(most).toBe(availableParallelism());
});

test('a job that throws makes all of them throw', async () => {
  await expect(sideBySide([1, 2], (job) => (job === 2 ? Promise.reject(new Error('two')) : Promise.resolve(job)))).rejects.toThrow('two');
});

test('the outcome of a program has its status and both of its streams', async () => {
  const program = "console.log('out'); console.error('error'); process.exitCode = 3;";
  const { status, output } = await outcomeOf(process.execPath, ['-e', program]);
  expect(status).toBe(3);
  expect(output.split('\n').sort()).toEqual(['', 'error', 'out']);
});

test('a program that a signal ended has the status 1', async () => {
  expect(await outcomeOf(process.execPath, ['-e', "process.kill(process.pid, 'SIGKILL')"])).toEqual({ status: 1, output: '' });
});
