// Walks in the kernel come to the same entries and errors as those that go entry by entry. `thorough/packed-walk.test.ts` compares more of them.
import { expect, test } from 'vitest';
import { compareWalks } from './walk-job.js';

test('random walks over random tables and memtables', async () => {
  const { moves, samples } = await compareWalks(0, 40, false);
  expect(moves).toBeGreaterThan(20_000);
  expect(samples).toBeGreaterThan(20);
});

test('random walks over damaged tables', async () => {
  const { moves, failures } = await compareWalks(0, 60, true);
  expect(moves).toBeGreaterThan(10_000);
  expect(failures).toBeGreaterThan(20);
});
