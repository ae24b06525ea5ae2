import { fromHex } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { encodeBlockHandle, MAX_BLOCK_HANDLE_LENGTH, readBlockHandle } from '../src/format/block-handle.js';
import { VarintReader } from '@bloom/bytes';
import { hex } from './entries.js';

test.each([
  [0, 0, '0000'],
  [0, 8, '0008'],
  [300, 4096, 'ac028020'],
  [2 ** 32, 2 ** 31, '80808080108080808008'],
  [2 ** 53 - 1, 2 ** 53 - 1, 'ffffffffffffff0fffffffffffffff0f'],
])('the handle with offset %d and size %d is encoded as %s', (offset, size, bytes) => {
  expect(hex(encodeBlockHandle({ offset, size }))).toBe(bytes);
  expect(readBlockHandle(new VarintReader(fromHex(bytes)))).toEqual({ offset, size });
});

test('no handle is longer than its maximum', () => {
  const most = Number.MAX_SAFE_INTEGER;
  expect(encodeBlockHandle({ offset: most, size: most }).length).toBeLessThanOrEqual(MAX_BLOCK_HANDLE_LENGTH);
});

test.each(['', 'ac', 'ac02', 'ac0280', 'ffffffffffffffffffff01'])('rejects %j as a handle', (bytes) => {
  expect(readBlockHandle(new VarintReader(fromHex(bytes)))).toBeUndefined();
});

// The Java port of LevelDB pads the handles in its indexes to 20 bytes with zeros.
test('bytes after a handle are ignored', () => {
  const reader = new VarintReader(fromHex('ac028020 00000000000000000000000000000000'));
  expect(readBlockHandle(reader)).toEqual({ offset: 300, size: 4096 });
  expect(reader.position).toBe(4);
});
