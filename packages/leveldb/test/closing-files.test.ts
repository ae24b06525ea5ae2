import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { expect, test } from 'vitest';
import { ClosingFiles } from '../src/folder/closing-files.js';

test('files that are closed at once are not kept in memory until the event loop turns', () => {
  const closing = new ClosingFiles();
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 20; i++) {
    const bytes = new Uint8Array(2 ** 20);
    closing.close({ close: () => void bytes.fill(1) });
  }
  collectGarbage();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 2 ** 20);
});

test('settled waits for files whose closing takes time, and no failure of closing is reported', async () => {
  const closing = new ClosingFiles();
  let isClosed = false;
  closing.close({
    close: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      isClosed = true;
      throw new Error('not closed');
    },
  });
  closing.close({
    close() {
      throw new Error('not closed');
    },
  });
  await closing.settled();
  expect(isClosed).toBe(true);
});
