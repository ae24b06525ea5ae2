import { WritableMemoryFolder } from '@bloom/leveldb';
import { BloomLevel } from '@bloom/level';
import { expect, test } from 'vitest';
import { runAbstractSuite, WHOLE_SUITE } from './abstract-suite.js';

test('in memory, every assertion of abstract-level 3.1.1 holds, of the level and of a sublevel', async () => {
  const result = await runAbstractSuite((options) => new BloomLevel(new WritableMemoryFolder(), options));
  expect(result).toEqual(WHOLE_SUITE);
});
