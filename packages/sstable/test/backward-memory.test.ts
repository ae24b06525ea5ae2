import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { expect, test } from 'vitest';
import { BlockWalk } from '../src/format/block-walk.js';

// The recorded path once took an object for each entry, which was 4.6 GB for a block of 256 MiB.
test('moving backwards through a block without restarts takes a small multiple of its bytes', () => {
  const count = 1_000_000;
  const bytes = new Uint8Array(count * 3 + 8 + 4);
  bytes.set([0, 1, 0, 0x61]);
  for (let i = 1; i < count; i++) bytes.set([1, 0, 0], 4 + (i - 1) * 3);
  const end = 4 + (count - 1) * 3;
  const contents = bytes.subarray(0, end + 8);
  new DataView(bytes.buffer).setUint32(end + 4, 1, true);
  const walk = new BlockWalk('data block');
  walk.reset(contents, 0);
  collectGarbage();
  const before = process.memoryUsage();
  expect([walk.seekToLast(), walk.prev(), walk.prev(), walk.prev()]).toEqual([true, true, true, true]);
  collectGarbage();
  const after = process.memoryUsage();
  expect(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(8 * contents.length);
  let steps = 4;
  while (walk.prev()) steps++;
  expect([steps, walk.valid]).toEqual([count, false]);
});
