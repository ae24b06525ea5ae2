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

/** A range deletes entry by entry, with several writes. */
test.each([[{}], [{ gte: 'k' }]])('a snapshot that is taken while clear(%j) is running has all of its deletions, and the writes that wait for it', async (range) => {
  const level = new BloomLevel(new WritableMemoryFolder());
  await level.batch(Array.from({ length: 20_000 }, (_, i) => ({ type: 'put', key: `k${String(i).padStart(5, '0')}`, value: 'old' })));
  const clearing = level.clear(range);
  const writing = [level.put('k19998', 'new'), level.put('k19999', 'new')];
  const snapshot = level.snapshot();
  writing.push(level.put('k00000', 'later'), level.del('k19999'));
  const key = new TextEncoder().encode('k19998');
  const given = level.get(key, { snapshot, keyEncoding: 'view' });
  key.fill(0);
  const iterator = level.keys({ snapshot });
  iterator.seek('k19999');
  const reads = [
    given,
    level.get('k00000', { snapshot }),
    level.getMany(['k00000', 'k10000', 'k19999'], { snapshot }),
    level.has('k19999', { snapshot }),
    level.hasMany(['k00000', 'k19999'], { snapshot }),
    level.keys({ snapshot }).all(),
    iterator.all(),
  ];
  const seen = ['new', undefined, [undefined, undefined, 'new'], true, [false, true], ['k19998', 'k19999'], ['k19999']];
  expect(await Promise.all(reads)).toEqual(seen);
  await Promise.all([clearing, ...writing]);
  expect(await level.getMany(['k00000', 'k19999'], { snapshot })).toEqual([undefined, 'new']);
  expect(level.getSync('k19999', { snapshot })).toBe('new');
  expect(await level.keys().all()).toEqual(['k00000', 'k19998']);
  const released = level.clear(range);
  await level.snapshot().close();
  await released;
  await snapshot.close();
  await level.close();
});
