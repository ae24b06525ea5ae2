import { turnsDuring } from '@bloom/fixtures/event-loop';
import { WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test, vi } from 'vitest';
import { BloomLevel } from '../../src/node.js';

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
  clock.milliseconds = Math.max(clock.milliseconds, performance.now());
  clock.isRushing = true;
  const turns: number[] = [];
  for (const work of [() => level.iterator({ highWaterMarkBytes: 2 ** 20 }).all(), () => level.values().all(), () => level.clear({ gte: '' })]) {
    turns.push((await turnsDuring<unknown>(work)).turns);
  }
  clock.isRushing = false;
  for (const count of turns) expect(count).toBeGreaterThanOrEqual(COUNT / 20);
  await level.close();
});

test('a loop of calls whose data is in memory lets timers and I/O run', async () => {
  const level = new BloomLevel(new WritableMemoryFolder());
  const sublevel = level.sublevel('inner');
  await level.batch(Array.from({ length: 50 }, (_, i) => ({ type: 'put', key: String(i), value: '' })));
  const keys = Array.from({ length: 50 }, (_, i) => String(i));
  const calls: Record<string, () => Promise<unknown>> = {
    get: () => level.get('1'),
    'get of a missing key': () => level.get('missing'),
    'get of a sublevel': () => sublevel.get('missing'),
    getMany: () => level.getMany(keys),
    'getMany of one key': () => level.getMany(['1']),
    has: () => level.has('missing'),
    hasMany: () => level.hasMany(keys),
    'all with a limit': () => level.keys({ limit: 1 }).all(),
    'next of a new iterator': () => level.iterator().next(),
    'nextv of a new iterator': () => level.values().nextv(10),
    'next of a new iterator of an empty range': () => level.keys({ gt: 'z' }).next(),
    approximateSize: () => level.approximateSize('0', '9'),
  };
  clock.milliseconds = Math.max(clock.milliseconds, performance.now());
  clock.isRushing = true;
  const counts: Record<string, number> = {};
  for (const [name, call] of Object.entries(calls)) {
    const turn = { isOver: false };
    setImmediate(() => (turn.isOver = true));
    let count = 0;
    while (!turn.isOver && count < 1000) {
      await call();
      count++;
    }
    counts[name] = count;
  }
  clock.isRushing = false;
  for (const [name, count] of Object.entries(counts)) expect(count, name).toBeLessThanOrEqual(16);
  await level.close();
});

test('others get their turn of the event loop during getMany and hasMany of many keys in memory', async () => {
  const level = new BloomLevel(new WritableMemoryFolder());
  const keys = Array.from({ length: 2000 }, (_, i) => String(i));
  await level.batch(keys.map((key) => ({ type: 'put', key, value: `value ${key}` })));
  clock.milliseconds = Math.max(clock.milliseconds, performance.now());
  clock.isRushing = true;
  const turns: number[] = [];
  for (const work of [() => level.getMany(keys), () => level.hasMany(keys)]) {
    const counts = await turnsDuring<unknown>(work);
    expect(counts.result).toEqual(keys.map((key) => (turns.length === 0 ? `value ${key}` : true)));
    turns.push(counts.turns);
  }
  clock.isRushing = false;
  for (const count of turns) expect(count).toBeGreaterThanOrEqual(keys.length / 20);
  await level.close();
});
