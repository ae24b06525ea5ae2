import { maskedCrc32c } from '@bloom/crc32c';
import { inspectBlock } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';

test('a block with more restarts than a Map can have is inspected', async () => {
  const count = 2 ** 24 + 10;
  const size = 3 + count * 4 + 4;
  const bytes = new Uint8Array(size + 5);
  const view = new DataView(bytes.buffer);
  // One entry without bytes, and restarts to everywhere.
  for (let i = 0; i < count; i++) view.setUint32(3 + i * 4, i, true);
  view.setUint32(3 + count * 4, count, true);
  view.setUint32(size + 1, maskedCrc32c(bytes.subarray(0, size + 1)), true);
  const source = { byteLength: bytes.length, read: (offset: number, length: number) => bytes.subarray(offset, offset + length) };
  const block = await inspectBlock(source, 'data block', { offset: 0, size });
  expect([block.restartCount, block.entryCount]).toEqual([count, 1]);
  expect(block.entries(0, 1)).toMatchObject([{ offset: 0, restart: 0 }]);
});
