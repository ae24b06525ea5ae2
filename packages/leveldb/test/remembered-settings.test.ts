import { BlockCache, bytewiseComparator, type Codec } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { type DatabaseOptions, type Settings, settingsOf } from '../src/write/database-options.js';

const codec: Codec = { type: 200, name: 'copy', compress: (bytes) => bytes, decompress: (bytes) => bytes };

test('databases with the same plain options share their settings, but not a cache', () => {
  const [first, second] = [settingsOf({ blockSize: 8192 }), settingsOf({ blockSize: 8192 })];
  expect(second.building).toBe(first.building);
  expect(second.cache).toBeInstanceOf(BlockCache);
  expect(second.cache).not.toBe(first.cache);
  expect(second.compressedBy(codec).cache).toBe(second.cache);
});

test.each<[DatabaseOptions, Partial<Settings>]>([
  [{ createIfMissing: false }, { createIfMissing: false }],
  [{ errorIfExists: true }, { errorIfExists: true }],
  [{ writeBufferSize: 2 ** 20 }, { writeBufferSize: 2 ** 20 }],
  [{ reuseLogs: true }, { reusedLogs: 'any' }],
  [{ damage: 'skip' }, { skipsDamage: true }],
  [{ lock: 'none' }, { locks: false }],
  [{ compression: 'none' }, { isCompressionNamed: true }],
])('an option that the last database did not have takes effect, but not for the next one: %o', (options, changed) => {
  const before = settingsOf({});
  expect(before).not.toMatchObject(changed);
  expect(settingsOf(options)).toMatchObject(changed);
  expect(settingsOf({})).not.toMatchObject(changed);
});

test('wrong options are refused, even after right ones', () => {
  settingsOf({ blockSize: 8192 });
  expect(() => settingsOf({ blockSize: NaN })).toThrow('blockSize');
  expect(() => settingsOf({ blockSize: NaN })).toThrow('blockSize');
  expect(() => settingsOf({ blockSize: 8192, cache: {} as unknown as BlockCache })).toThrow('cache');
});

test('an object that may have changed is checked each time', () => {
  const comparator = { ...bytewiseComparator, name: 'mine' };
  settingsOf({ comparator });
  comparator.name = '';
  expect(() => settingsOf({ comparator })).toThrow('name');
});
