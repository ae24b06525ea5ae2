import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('the configuration of the mutation tests starts in a thread, in which Stryker runs tests', async () => {
  vi.stubEnv('BLOOM_MUTATE', 'hash');
  const { default: config } = await import('../vitest.config.js');
  const thread = new Worker('', { eval: true, execArgv: config.test?.execArgv });
  const [exitCode] = (await once(thread, 'exit')) as [number];
  expect(exitCode).toBe(0);
});
