import type { BloomLevel } from '@bloom/level';

/** Microseconds per operation. */
export type LevelTimes = Readonly<Record<string, number>>;

const ENTRIES = 20_000;
const PUTS = 500;
const GETS = 2000;

const keyOf = (i: number): string => `key ${String((i * 7_919) % ENTRIES).padStart(8, '0')}`;
const valueOf = (i: number): string => `value ${i} `.repeat(8);

async function time(operations: number, run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return Math.round(((performance.now() - start) * 10_000) / operations) / 10;
}

/** Measures a new level, which is closed afterwards. */
export async function measureLevel(level: Pick<BloomLevel, 'open' | 'put' | 'batch' | 'get' | 'getMany' | 'iterator' | 'clear' | 'close'>): Promise<LevelTimes> {
  await level.open();
  const times: Record<string, number> = {};
  times['put, one after another'] = await time(PUTS, async () => {
    for (let i = 0; i < PUTS; i++) await level.put(keyOf(i), valueOf(i));
  });
  times['put, 100 at once'] = await time(5000, async () => {
    for (let i = 0; i < 5000; i += 100) await Promise.all(Array.from({ length: 100 }, (_, j) => level.put(keyOf(i + j), valueOf(i + j))));
  });
  times['batch of 1,000'] = await time(ENTRIES, async () => {
    for (let i = 0; i < ENTRIES; i += 1000) {
      await level.batch(Array.from({ length: 1000 }, (_, j) => ({ type: 'put' as const, key: keyOf(i + j), value: valueOf(i + j) })));
    }
  });
  times['get, one after another'] = await time(GETS, async () => {
    for (let i = 0; i < GETS; i++) if ((await level.get(keyOf(i * 13))) === undefined) throw new Error('a key is missing');
  });
  times['get, 100 at once'] = await time(10_000, async () => {
    for (let i = 0; i < 10_000; i += 100) await Promise.all(Array.from({ length: 100 }, (_, j) => level.get(keyOf(i + j))));
  });
  times['getMany(100)'] = await time(10_000, async () => {
    for (let i = 0; i < 10_000; i += 100) await level.getMany(Array.from({ length: 100 }, (_, j) => keyOf(i + j)));
  });
  times['for await'] = await time(ENTRIES, async () => {
    let count = 0;
    for await (const [key, value] of level.iterator()) count += key.length > 0 && value.length > 0 ? 1 : 0;
    if (count !== ENTRIES) throw new Error(`${count} entries`);
  });
  times['nextv(1,000)'] = await time(ENTRIES, async () => {
    const iterator = level.iterator();
    let count = 0;
    for (let some = await iterator.nextv(1000); some.length > 0; some = await iterator.nextv(1000)) count += some.length;
    await iterator.close();
    if (count !== ENTRIES) throw new Error(`${count} entries`);
  });
  times.clear = await time(ENTRIES, () => level.clear());
  await level.close();
  return times;
}
