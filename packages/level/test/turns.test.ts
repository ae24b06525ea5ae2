import { WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test, vi } from 'vitest';
import { BloomLevel } from '../src/node.js';

/** The clock, which the packages take when they are loaded. While `isRushing`, each look at it finds that a second has passed. */
const clock = vi.hoisted(() => {
  const host = performance.now.bind(performance);
  const state = { isRushing: false, milliseconds: 0 };
  performance.now = () => (state.isRushing ? (state.milliseconds += 1000) : host());
  return state;
});

test('others get their turn of the event loop during all, nextv and clear, however slow the machine is', async () => {
  const level = new BloomLevel(new WritableMemoryFolder());
  const COUNT = 10_000;
  await level.batch(Array.from({ length: COUNT }, (_, i) => ({ type: 'put', key: String(i), value: '' })));
  clock.milliseconds = performance.now();
  clock.isRushing = true;
  const turns: number[] = [];
  for (const work of [() => level.iterator({ highWaterMarkBytes: 2 ** 20 }).all(), () => level.values().all(), () => level.clear({ gte: '' })]) {
    let count = 0;
    let isOver = false;
    const tick = (): void => {
      if (isOver) return;
      count++;
      setImmediate(tick);
    };
    setImmediate(tick);
    await work();
    isOver = true;
    turns.push(count);
  }
  clock.isRushing = false;
  for (const count of turns) expect(count).toBeGreaterThanOrEqual(COUNT / 20);
  await level.close();
});
