// Threads that share a folder call at random, and are terminated, are busy, and close and open their levels at random. Each compares what it reads
// with a model of its own keys, and with the counters that the other threads have written.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { seeded } from '@bloom/fixtures';
import type { Comparator } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { deleteProgram, LevelThread, type ThreadScope, threadProgram } from '../level-threads.js';

const KILLS = Number(process.env.BLOOM_RANDOM_KILLS ?? 6);
const SEED = Number(process.env.BLOOM_SEED ?? 1);
const REOPENING_MS = Number(process.env.BLOOM_REOPENING_MS ?? 2000);
const THREADS = 3;

interface Task {
  readonly path: string;
  readonly me: number;
  readonly seed: number;
  /** By thread, the last acknowledged value of its counter. */
  readonly counters: Int32Array;
  /** The number of steps of each thread. */
  readonly steps: Int32Array;
}

/** Runs in a thread until that is terminated. */
async function play({ BloomLevel: Level, kept }: ThreadScope, { path, me, seed, counters, steps }: Task): Promise<void> {
  let state = seed;
  const random = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const same = (key: Uint8Array): Uint8Array => key;
  // Without it, the database cannot be opened.
  const comparator: Comparator = { name: 'test.backward', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: same, findShortSuccessor: same };
  const level = new Level(path, { multithreading: true, writeBufferSize: 65_536, comparator });
  kept.level = level;
  await level.open();
  const prefix = `t${String(me).padStart(4, '0')} `;
  const keyOf = (i: number): string => `${prefix}${String(i).padStart(2, '0')}`;
  const own = { gt: `${prefix}~`, lt: prefix };
  let model = new Map<string, string>();
  let count = 0;
  let writing: Promise<unknown>[] = [];
  const history: string[] = [];
  const note = (step: string): void => {
    history.push(step);
    if (history.length > 30) history.shift();
  };
  const valueOf = (): string => `${++count}:${'x'.repeat(random(10) === 0 ? 5000 : random(100))}`;
  const short = (value: unknown): string => (value === undefined ? 'undefined' : JSON.stringify(value)).replaceAll(/x+/g, 'x');
  const mustBe = (what: string, seen: unknown, expected: unknown): void => {
    if (JSON.stringify(seen) !== JSON.stringify(expected)) throw new Error(`${what}: read ${short(seen)}, expected ${short(expected)}, after ${history.join('; ')}`);
  };
  const entries = (of: Map<string, string>): [string, string][] => [...of].sort(([a], [b]) => (a < b ? 1 : -1));
  const settled = async (): Promise<void> => {
    const all = writing;
    writing = [];
    await Promise.all(all);
  };
  /** Runs a read of an earlier state, which may have been lost. */
  const unlessLost = async (read: () => Promise<void>): Promise<void> => {
    try {
      await read();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'LEVEL_SNAPSHOT_LOST') throw error;
    }
  };
  const write = (): void => {
    const kind = random(10);
    const sync = random(5) === 0;
    const [one, two] = [keyOf(random(30)), keyOf(random(30))];
    if (kind < 5) {
      const value = valueOf();
      note(`put ${one} ${short(value)} ${sync}`);
      model.set(one, value);
      writing.push(level.put(one, value, { sync }));
    } else if (kind < 7) {
      note(`del ${one} ${sync}`);
      model.delete(one);
      writing.push(level.del(one, { sync }));
    } else if (kind < 9) {
      const value = valueOf();
      note(`batch del ${one}, put ${two} ${short(value)} ${sync}`);
      model.delete(one);
      model.set(two, value);
      writing.push(level.batch([{ type: 'del', key: one }, { type: 'put', key: two, value }], { sync }));
    } else if (random(4) === 0) {
      note('clear');
      model = new Map();
      writing.push(level.clear(own));
    }
  };
  for (;;) {
    Atomics.add(steps, me, 1);
    for (let n = random(4); n > 0; n--) write();
    const kind = random(24);
    const key = keyOf(random(30));
    if (kind < 5) {
      mustBe(`get ${key}`, await level.get(key), model.get(key));
    } else if (kind < 8) {
      const keys = [key, keyOf(random(30)), keyOf(random(30))];
      mustBe('getMany', await level.getMany(keys), keys.map((one) => model.get(one)));
    } else if (kind < 11) {
      const expected = entries(model);
      await unlessLost(async () => mustBe('iterator', await level.iterator(own).all(), expected));
    } else if (kind < 15) {
      const expected = entries(model);
      note('iterator begins');
      const iterator = level.iterator(own);
      await unlessLost(async () => {
        const seen: unknown[] = [];
        for (let n = 1 + random(5); n > 0; n--) {
          const entry = await iterator.next();
          if (entry !== undefined) seen.push(entry);
        }
        write();
        if (random(2) === 0) await new Promise((resolve) => setTimeout(resolve, random(300)));
        write();
        if (seen.length < expected.length) seen.push(...(await iterator.all()));
        mustBe('iterator with writes', seen, expected);
      });
      await iterator.close();
    } else if (kind < 18) {
      const expected = entries(model);
      note('snapshot begins');
      const snapshot = level.snapshot();
      await unlessLost(async () => {
        mustBe('snapshot, at first', await level.get(key, { snapshot }), Object.fromEntries(expected)[key]);
        write();
        if (random(2) === 0) await new Promise((resolve) => setTimeout(resolve, random(300)));
        write();
        mustBe('snapshot', await level.iterator({ ...own, snapshot }).all(), expected);
      });
      await snapshot.close();
    } else if (kind < 20) {
      await settled();
      try {
        mustBe(`getSync ${key}`, level.getSync(key), model.get(key));
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'LEVEL_IO_ERROR') throw error;
      }
    } else if (kind < 21) {
      await settled();
      if (random(4) === 0) for (const end = Date.now() + random(600); Date.now() < end; );
    } else if (kind < 22 && random(6) === 0) {
      note('reopen');
      await level.close();
      await level.open();
    } else if (kind < 23 && random(10) === 0) {
      await level.compactRange('~', '');
    }
    // A counter never goes back.
    await level.put(`c${me}`, String(count++));
    Atomics.store(counters, me, count - 1);
    const other = random(counters.length);
    const acknowledged = Atomics.load(counters, other);
    if (acknowledged > 0) {
      const seen = Number(await level.get(`c${other}`));
      if (!(seen >= acknowledged)) throw new Error(`the counter of thread ${other} is ${seen}, was ${acknowledged}, after ${history.join('; ')}`);
    }
    if (writing.length > 50) await settled();
  }
}

test(`reads see the writes before them, while ${KILLS} threads are terminated`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'random-threads-'));
  const program = await threadProgram();
  const random = seeded(SEED);
  const total = THREADS + KILLS;
  const counters = new Int32Array(new SharedArrayBuffer(4 * total));
  const steps = new Int32Array(new SharedArrayBuffer(4 * total));
  const failures: unknown[] = [];
  const ended = new Set<LevelThread>();
  let started = 0;
  const start = (): LevelThread => {
    const thread = new LevelThread(program);
    const task: Task = { path: join(folder, 'database'), me: started, seed: SEED * 1000 + started, counters, steps };
    started++;
    thread.run(play, task).catch((error: unknown) => {
      // A thread that is being terminated may fail in any way.
      if (!ended.has(thread)) failures.push(error);
    });
    return thread;
  };
  const threads = Array.from({ length: THREADS }, () => start());
  /** The numbers of those that run. */
  const indices = threads.map((_, i) => i);
  const hasMoved = async (): Promise<void> => {
    const before = [...steps];
    // No thread may be stuck: those that run make steps.
    await expect
      .poll(() => failures.length > 0 || indices.every((index) => steps[index]! > before[index]!), { timeout: 40_000, interval: 20 })
      .toBe(true);
  };
  for (let kill = 0; kill < KILLS && failures.length === 0; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 300 + random.below(1200)));
    const index = random.below(THREADS);
    ended.add(threads[index]!);
    await threads[index]!.terminate();
    indices[index] = started;
    threads[index] = start();
    await hasMoved();
  }
  for (const thread of threads) ended.add(thread);
  await Promise.all(threads.map((thread) => thread.terminate()));
  expect(failures).toEqual([]);
  deleteProgram(program);
  rmSync(folder, { recursive: true });
}, 120_000 + KILLS * 45_000);

test('threads that open and close their levels all the time open the database with their own options', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reopening-threads-'));
  const program = await threadProgram();
  const threads = Array.from({ length: 4 }, () => new LevelThread(program));
  const path = join(folder, 'database');
  /** @returns how often the level was opened. */
  const reopen = async ({ BloomLevel: Level }: ThreadScope, given: { path: string; key: string; ms: number }): Promise<number> => {
    const same = (key: Uint8Array): Uint8Array => key;
    const comparator: Comparator = { name: 'test.backward', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: same, findShortSuccessor: same };
    let count = 0;
    for (const end = Date.now() + given.ms; Date.now() < end; ) {
      const level = new Level(given.path, { multithreading: true, comparator });
      await level.put(given.key, String(++count));
      const value = await level.get(given.key);
      if (value !== String(count)) throw new Error(`wrote ${count}, read ${value}`);
      await level.close();
      if (Math.random() < 0.5) await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    }
    return count;
  };
  const counts = await Promise.all(threads.map((thread, i) => thread.run(reopen, { path, key: `k${i}`, ms: REOPENING_MS })));
  for (const count of counts) expect(count).toBeGreaterThan(0);
  await Promise.all(threads.map((thread) => thread.terminate()));
  deleteProgram(program);
  rmSync(folder, { recursive: true });
}, 60_000 + REOPENING_MS);
