import { WritableMemoryFolder } from '@bloom/leveldb';
import { BloomLevel, copyLevel } from '@bloom/level';
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

test('a level with entries of its own is refused, and so is a mark that is a key', async () => {
  const from = await filled(10);
  await expect(copyLevel(from, await filled(1))).rejects.toThrow(/must be empty/);
  await expect(copyLevel(from, newLevel(), { mark: 'key 000003' })).rejects.toThrow(/mark must be a key that the level does not have/);
  const to = newLevel();
  await to.put('\0copyLevel', 'short');
  await expect(copyLevel(from, to)).rejects.toThrow(/is no mark/);
});
