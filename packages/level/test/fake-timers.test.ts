// Test suites replace the host's timers with ones that stand still. A level must not wait for those.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { BloomLevel } from '../src/node.js';

afterEach(() => {
  vi.useRealTimers();
});

test('batches, iterators, clear, compactRange and close end while the timers of the host are replaced', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fake-timers-'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate', 'Date', 'performance'] });
  const level = new BloomLevel(folder, { writeBufferSize: 65_536 });
  const value = 'x'.repeat(100);
  for (let batch = 0; batch < 20; batch++) {
    await level.batch(Array.from({ length: 1000 }, (_, i) => ({ type: 'put', key: `${batch} ${i}`, value })));
  }
  expect(await level.keys().all()).toHaveLength(20_000);
  await level.clear({ lt: '5' });
  await level.compactRange('', '~');
  expect(await level.keys({ limit: 1 }).all()).toEqual(['5 0']);
  await level.clear();
  await level.close();
  await rm(folder, { recursive: true });
});
