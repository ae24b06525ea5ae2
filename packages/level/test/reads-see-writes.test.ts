import { WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { BloomLevel } from '../src/node.js';

test('reads see 2,000 puts that were not awaited', async () => {
  const level = new BloomLevel(new WritableMemoryFolder());
  await level.open();
  const keys = Array.from({ length: 2000 }, (_, i) => `k${i}`);
  const writing = keys.map((key) => level.put(key, key));
  const reads = [level.getMany(keys), level.values().all(), Promise.all(keys.map((key) => level.get(key)))];
  for (const values of await Promise.all(reads)) expect([...values].sort()).toEqual([...keys].sort());
  const snapshot = level.snapshot();
  writing.push(level.del('k0'));
  expect(await level.get('k0', { snapshot })).toBe('k0');
  expect(await level.has('k0')).toBe(false);
  await snapshot.close();
  await Promise.all(writing);
  await level.close();
});
