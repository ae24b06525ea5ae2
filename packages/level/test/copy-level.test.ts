import { WritableMemoryFolder } from '@bloom/leveldb';
import { BloomLevel, copyLevel, type CopySource, type CopyTarget } from '@bloom/level';
import { expect, test } from 'vitest';

const newLevel = (): BloomLevel => new BloomLevel(new WritableMemoryFolder());

async function filled(count: number): Promise<BloomLevel> {
  const level = newLevel();
  await level.batch(Array.from({ length: count }, (_, i) => ({ type: 'put' as const, key: `key ${String(i).padStart(6, '0')}`, value: `value ${i}` })));
  return level;
}

test('a copy has all entries, as bytes, and nothing else', async () => {
  const from = await filled(3000);
  await from.put(Uint8Array.of(0xff, 0xfe), Uint8Array.of(0x80), { keyEncoding: 'view', valueEncoding: 'view' });
  const to = newLevel();
  const progress: number[] = [];
  const result = await copyLevel(from, to, { onProgress: ({ entries }) => progress.push(entries) });
  expect(result).toEqual({ entries: 3001, copiedNow: 3001 });
  expect(progress.at(-1)).toBe(3001);
  expect(progress.length).toBeGreaterThan(3);
  const hex = { keyEncoding: 'hex', valueEncoding: 'hex' } as const;
  expect(await to.iterator(hex).all()).toEqual(await from.iterator(hex).all());
});

test('a copy that was interrupted continues where it stopped', async () => {
  const from = await filled(3000);
  const to = newLevel();
  const abort = new AbortController();
  const stopped = copyLevel(from, to, { signal: abort.signal, onProgress: ({ entries }) => entries > 500 && abort.abort() });
  await expect(stopped).rejects.toMatchObject({ code: 'LEVEL_ABORTED' });
  const result = await copyLevel(from, to);
  expect(result.entries).toBe(3000);
  expect(result.copiedNow).toBeLessThan(2500);
  expect(await to.iterator().all()).toEqual(await from.iterator().all());
});

test('a copy of large values has no batch of more than 4 MiB, unless that is one entry', async () => {
  const from = newLevel();
  const sizes = [...Array.from({ length: 300 }, () => 10), ...Array.from({ length: 8 }, () => 2 ** 20), 5 * 2 ** 20, 1];
  for (const [i, size] of sizes.entries()) await from.put(String(i).padStart(4, '0'), 'x'.repeat(size));
  const to = newLevel();
  const batches: number[][] = [];
  const counted = {
    get: to.get.bind(to),
    keys: to.keys.bind(to),
    del: to.del.bind(to),
    batch: (...[operations, options]: Parameters<CopyTarget['batch']>) => {
      batches.push(operations.map(({ value }) => value.length));
      return to.batch(operations, options);
    },
  } as unknown as CopyTarget;
  // As of a level that does not limit the bytes of `nextv`.
  const source = { iterator: (options: object) => from.iterator({ ...options, highWaterMarkBytes: 2 ** 30 }) } as unknown as CopySource;
  expect(await copyLevel(source, counted)).toEqual({ entries: sizes.length, copiedNow: sizes.length });
  for (const batch of batches) expect(batch.length === 2 || batch.reduce((sum, size) => sum + size, 0) < 4.01 * 2 ** 20).toBe(true);
  expect(await to.iterator().all()).toEqual(await from.iterator().all());
});

test('a level with entries of its own is refused, and so is a mark that is a key', async () => {
  const from = await filled(10);
  await expect(copyLevel(from, await filled(1))).rejects.toThrow(/must be empty/);
  await expect(copyLevel(from, newLevel(), { mark: 'key 000003' })).rejects.toThrow(/mark must be a key that the level does not have/);
  const untouched = newLevel();
  await expect(copyLevel(await filled(3000), untouched, { mark: 'key 002999' })).rejects.toThrow(/mark must be a key that the level does not have/);
  expect(await untouched.keys().all()).toEqual([]);
  const to = newLevel();
  await to.put('\0copyLevel', 'short');
  await expect(copyLevel(from, to)).rejects.toThrow(/is not a mark/);
});

test('wrong options are refused before anything is copied', async () => {
  const from = await filled(10);
  const to = newLevel();
  const wrong: [object, string][] = [
    [{ signal: new AbortController() }, 'signal must be an AbortSignal, got an AbortController: pass its signal'],
    [{ signal: null }, 'signal must be an AbortSignal, got null'],
    [{ onProgress: 'log' }, 'onProgress must be a function, got string'],
    [{ mark: 5 }, 'mark must be a string, got number'],
    [{ onprogress: () => undefined }, 'copyLevel has no option "onprogress": did you mean onProgress?'],
  ];
  for (const [options, message] of wrong) await expect(copyLevel(from, to, options)).rejects.toMatchObject({ name: 'TypeError', message });
  expect(await to.keys().all()).toEqual([]);
});
