import { afterEach, expect, test, vi } from 'vitest';
import { breather } from '../src/worker/serve-calls.js';

afterEach(() => void vi.restoreAllMocks());

// A check of a table of 25 MB calls it thousands of times. Browsers make each wait take at least 4 ms.
test('lets messages in after 30 ms of work, and not at every call', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const waits = vi.spyOn(globalThis, 'setTimeout');
  const breathe = breather();
  // 5,000 calls, 0.1 ms apart.
  for (let call = 0; call < 5000; call++) {
    await breathe();
    now += 0.1;
  }
  expect(waits.mock.calls.length).toBeGreaterThan(10);
  expect(waits.mock.calls.length).toBeLessThanOrEqual(500 / 30);
});
