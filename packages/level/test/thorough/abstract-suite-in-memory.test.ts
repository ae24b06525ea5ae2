import { WritableMemoryFolder } from '@bloom/leveldb';
import { runAbstractSuite, WHOLE_SUITE } from '@bloom/fixtures/abstract-suite';
import { BloomLevel } from '@bloom/level';
import { expect, test } from 'vitest';

test('in memory, every assertion of abstract-level 3.1.1 holds, of the level and of a sublevel', async () => {
  const result = await runAbstractSuite((options) => new BloomLevel(new WritableMemoryFolder(), options));
  expect(result).toEqual(WHOLE_SUITE);
});
