// Test suites replace the host's timers with ones that stand still, some before they load what they test. A level must not wait for those.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { BloomLevel } from '../src/node.js';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.resetModules();
});

const FAKE = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate', 'Date', 'performance'] as const;

/** Makes calls that wait for the background work and for turns of the event loop. */
async function useLevel(Level: typeof BloomLevel): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fake-timers-'));
  const level = new Level(folder, { writeBufferSize: 65_536 });
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
}

test('batches, iterators, clear, compactRange and close end while the timers of the host are replaced', async () => {
  vi.useFakeTimers({ toFake: [...FAKE] });
  await useLevel(BloomLevel);
});

test('a level that is loaded while the timers of the host are replaced does not wait for them', async () => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: [...FAKE] });
  await useLevel((await import('../src/node.js')).BloomLevel);
});

/** As in jsdom 20: its signals have no `throwIfAborted`. */
class OldController {
  readonly signal = Object.assign(new EventTarget(), { aborted: false, reason: undefined });

  abort(reason?: unknown): void {
    Object.assign(this.signal, { aborted: true, reason });
    this.signal.dispatchEvent(new Event('abort'));
  }
}

test("a level works without setImmediate and throwIfAborted, which Jest 29's jsdom environment lacks", async () => {
  vi.resetModules();
  vi.stubGlobal('setImmediate', undefined);
  vi.stubGlobal('AbortController', OldController);
  await useLevel((await import('../src/node.js')).BloomLevel);
});
