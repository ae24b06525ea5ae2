import { DatabaseError } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { levelErrorOf } from '../src/level-error.js';

test('code that cannot be loaded is an error of reading', () => {
  const cause = new DatabaseError('BLOOM_NOT_LOADED', 'code could not be loaded');
  expect(levelErrorOf(cause)).toMatchObject({ code: 'LEVEL_IO_ERROR', message: cause.message, cause });
});
