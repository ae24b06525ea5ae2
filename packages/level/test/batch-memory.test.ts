import { BloomLevel } from '@bloom/level';
import { WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';

test('batches that are filled and written at the same time keep their own operations, although later ones use the memory of earlier ones', async () => {
  const level = new BloomLevel<string, string>(new WritableMemoryFolder());
  await level.open();
  const expected = new Map<string, string>();
  const writes: Promise<void>[] = [];
  for (let round = 0; round < 20; round++) {
    const chained = [0, 1, 2].map(() => level.batch());
    const unwritten = level.batch();
    for (let i = 0; i < 50; i++) {
      unwritten.put(`${round} ${i}`, 'unwritten');
      for (const [number, batch] of chained.entries()) {
        const key = `${round} ${number} ${i}`;
        batch.put(key, 'x'.repeat(i));
        expected.set(key, 'x'.repeat(i));
      }
    }
    for (const batch of chained) writes.push(batch.write());
    // Longer than what is kept.
    const long = 'y'.repeat(round % 5 === 0 ? 300_000 : 10);
    writes.push(level.batch([{ type: 'put', key: `${round}`, value: long }, { type: 'del', key: `${round} 0 7` }]));
    expected.set(`${round}`, long);
    expected.delete(`${round} 0 7`);
    await unwritten.close();
    if (round % 3 === 0) await Promise.all(writes);
  }
  await Promise.all(writes);
  expect(new Map(await level.iterator().all())).toEqual(new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1))));
  await level.close();
});
