import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { BloomLevel } from '../../src/node.js';

const folder = mkdtempSync(join(tmpdir(), 'bloom-contexts-'));
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

test('no call of a level fills an array, for which V8 visits each context of the process', async () => {
  const fill = Reflect.get(Array.prototype, 'fill');
  const callers: string[] = [];
  vi.spyOn(Array.prototype, 'fill').mockImplementation(function (this: unknown[], ...given: Parameters<typeof fill>) {
    const caller = new Error().stack!.split('\n').find((line) => /\/packages\/\w+\/(?:src|dist)\//.test(line));
    if (caller !== undefined) callers.push(caller);
    return fill.apply(this, given) as unknown[];
  });
  for (const round of [1, 2]) {
    const level = new BloomLevel(join(folder, 'x'));
    await level.batch(Array.from({ length: 1000 }, (_, i) => ({ type: 'put', key: `${round}${i}`, value: 'v'.repeat(i) })));
    await level.compactRange('', '~');
    expect(await level.getMany(['17', 'none'])).toEqual(['v'.repeat(7), undefined]);
    expect(await level.iterator({ limit: 500 }).all()).toHaveLength(500);
    await level.close();
  }
  await BloomLevel.destroy(join(folder, 'x'));
  expect(callers).toEqual([]);
});
