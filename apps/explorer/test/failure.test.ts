import { CorruptionError } from '@bloom/bytes';
import { expect, test } from 'vitest';
import { failureFacts, placeText } from '../src/worker/failure.js';

test.each([
  [{ structure: 'folder', offset: 0, file: 'words.db' }, 'In the folder words.db: '],
  [{ structure: 'folder', offset: 0, file: undefined }, 'In the folder: '],
  [{ structure: 'data block', offset: 4096, file: '000005.ldb' }, 'In the data block at 4,096 of 000005.ldb: '],
] as const)('the place %o is shown as %j', (place, text) => {
  expect(placeText(failureFacts(new CorruptionError('BLOOM_NOT_A_DATABASE', place, 'it has no CURRENT')))).toBe(text);
});

test('an error without a place has no text for it', () => {
  expect(placeText(failureFacts(new TypeError('no')))).toBe('');
});
