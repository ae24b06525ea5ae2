// More random walks than `../packed-walk.test.ts` has. BLOOM_KERNEL_ROUNDS multiplies them.
import { expect, test } from 'vitest';
import { damaged, damagedRestarts, disorderedKeys } from '../merge-job.js';
import { anyDamage, compareWalks } from '../walk-job.js';

const ROUNDS = Number(process.env.BLOOM_KERNEL_ROUNDS ?? 1);
const timeout = 600_000 * ROUNDS;

test('more random walks over random tables and memtables', { timeout }, async () => {
  expect((await compareWalks(10_000, 12 * ROUNDS)).moves).toBeGreaterThan(3500 * ROUNDS);
});

test('more random walks over tables some of whose blocks exceed maxBlockBytes', { timeout }, async () => {
  expect((await compareWalks(2_000_000, 12 * ROUNDS, undefined, 7500)).failures).toBeGreaterThan(5 * ROUNDS);
});

test('random walks over tables whose stored bytes are damaged, compressed or not', { timeout }, async () => {
  expect((await compareWalks(3_000_000, 12 * ROUNDS, damaged)).failures).toBeGreaterThan(3 * ROUNDS);
});

test('more random walks over damaged tables', { timeout }, async () => {
  expect((await compareWalks(1_000_000, 15 * ROUNDS, anyDamage)).failures).toBeGreaterThan(3 * ROUNDS);
});

test('more random walks over tables with damaged restarts', { timeout }, async () => {
  expect((await compareWalks(4_000_000, 9 * ROUNDS, damagedRestarts)).failures).toBeGreaterThan(2 * ROUNDS);
});

test('more random walks over tables whose keys are out of order', { timeout }, async () => {
  const { moves, failures } = await compareWalks(5_000_000, 5 * ROUNDS, disorderedKeys);
  expect(moves).toBeGreaterThan(1000 * ROUNDS);
  // No walk checks the order.
  expect(failures).toBe(0);
});
