// More random inputs, options and damage than `../merge-kernel.test.ts` has. BLOOM_KERNEL_ROUNDS multiplies them.
import { expect, test } from 'vitest';
import { becomesTheSameTable, compareDamagedMerges, compareMerges } from '../merge-job.js';

const ROUNDS = Number(process.env.BLOOM_KERNEL_ROUNDS ?? 1);
const timeout = 300_000 * ROUNDS;

test('random inputs and options give the same tables', { timeout }, async () => {
  expect(Math.min(...Object.values(await compareMerges(25 * ROUNDS)))).toBeGreaterThan(9 * ROUNDS);
});

test('damaged inputs give the same error or the same tables, or are left to the other path', { timeout }, async () => {
  expect(Math.min(...Object.values(await compareDamagedMerges(60 * ROUNDS)))).toBeGreaterThan(2 * ROUNDS);
});

test('memtables of random entries and options become the same tables', { timeout }, async () => {
  for (let seed = 0; seed < 12 * ROUNDS; seed++) await becomesTheSameTable(seed);
});
