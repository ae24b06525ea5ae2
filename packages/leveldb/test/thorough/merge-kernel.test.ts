// More random inputs, options and damage than `../merge-kernel.test.ts` has.
import { expect, test } from 'vitest';
import { becomesTheSameTable, compareDamagedMerges, compareMerges } from '../merge-job.js';

test('random inputs and options give the same tables', { timeout: 300_000 }, async () => {
  expect(Math.min(...Object.values(await compareMerges(500)))).toBeGreaterThan(200);
});

test('damaged inputs give the same error or the same tables, or are left to the other path', { timeout: 300_000 }, async () => {
  expect(Math.min(...Object.values(await compareDamagedMerges(1500)))).toBeGreaterThan(100);
});

test('memtables of random entries and options become the same tables', { timeout: 300_000 }, async () => {
  for (let seed = 0; seed < 300; seed++) await becomesTheSameTable(seed);
});
