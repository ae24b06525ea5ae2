// What the collection of garbage leaves alone.
import { assemble, collectGarbage, MemoryStore, partName, publish, readPublication, verifyPublished } from '@bloom/bulk';
import { expect, test } from 'vitest';
import { deliver, entriesOf, partsOf, range } from './model.js';

const HOUR = 3_600_000;

test('a part that a job makes again while garbage is collected stays', async () => {
  let now = Date.now() - 100 * HOUR;
  const store = new MemoryStore('garbage', () => now);
  const [lost] = await partsOf(store, entriesOf([5]), 2n);
  await deliver(store, entriesOf(range(0, 100)), 1n);
  now = Date.now();
  const get = store.get.bind(store);
  let isMade = false;
  store.get = async (name) => {
    const found = await get(name);
    if (!isMade && name !== 'CURRENT') {
      isMade = true;
      expect(await partsOf(store, entriesOf([5]), 2n)).toEqual([lost]);
    }
    return found;
  };
  expect(await collectGarbage(store, { nowMs: now })).toMatchObject({ deleted: [], freedBytes: 0 });
  await publish(store, await assemble(store, [lost!], { previous: await readPublication(store) }));
  expect(await verifyPublished(store)).toMatchObject({ findings: [] });
  expect(store.files().has(partName(lost!.number))).toBe(true);
});

test('of publications that were replaced in the same second, all stay where one of them does', async () => {
  const store = new MemoryStore('garbage', () => 0);
  for (let day = 1; day <= 5; day++) await deliver(store, entriesOf([day]), BigInt(day));
  expect((await collectGarbage(store, { keep: 1 })).manifests).toHaveLength(5);
  expect((await collectGarbage(store, { keep: 0 })).manifests).toHaveLength(1);
});

test('an object whose time the store does not know stays, and a time that is none is refused', async () => {
  const store = new MemoryStore('garbage', () => NaN);
  await partsOf(store, entriesOf([5]), 2n);
  await deliver(store, entriesOf(range(0, 100)), 1n);
  expect(await collectGarbage(store, { keep: 0, graceMs: 0 })).toMatchObject({ deleted: [] });
  for (const nowMs of [NaN, Infinity, '2026']) await expect(collectGarbage(store, { nowMs: nowMs as number })).rejects.toThrow('nowMs must be');
});
