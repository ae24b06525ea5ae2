import { expect, test } from 'vitest';
import { anyDamage, compareWalks } from '../walk-job.js';

test('more random walks over random tables and memtables', async () => {
  expect((await compareWalks(10_000, 400)).moves).toBeGreaterThan(200_000);
}, 600_000);

test('more random walks over damaged tables', async () => {
  expect((await compareWalks(20_000, 1000, anyDamage)).failures).toBeGreaterThan(300);
}, 600_000);
