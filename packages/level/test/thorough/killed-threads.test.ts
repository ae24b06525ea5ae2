// Threads that write to one folder are ended at random moments, in the middle of what they do. What was acknowledged is there at the end.
//
// Rarely, koffi 3.3 ends the whole process, because a thread was terminated while it loaded the add-on. This run then fails
// with "Worker exited unexpectedly".
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { seeded } from '@bloom/fixtures';
import { BloomLevel } from '@bloom/level';
import { expect, test } from 'vitest';
import { deleteProgram, LevelThread, threadProgram } from '../level-threads.js';

const KILLS = Number(process.env.BLOOM_THREAD_KILLS ?? 8);
const THREADS = 4;
const OPTIONS = { multithreading: true, writeBufferSize: 65_536 } as const;

/** What a writer says after each write. */
interface Acknowledged {
  readonly writer: string;
  readonly count: number;
}

/** Writes to keys of its own until the thread is ended; runs there. */
async function write({ BloomLevel: Level, kept, port }: Parameters<Parameters<LevelThread['run']>[0]>[0], { path, options, writer, seed }: { path: string; options: object; writer: string; seed: number }): Promise<void> {
  let state = seed;
  const random = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const level = new Level(path, options);
  kept.level = level;
  await level.open();
  for (let count = 1; ; count++) {
    const value = `${count}:${'x'.repeat(random(2000))}`;
    const kind = random(10);
    // Both keys of a batch have the same count.
    if (kind < 6) await level.batch([{ type: 'put', key: `${writer} a`, value }, { type: 'put', key: `${writer} b`, value }]);
    else if (kind < 8) await level.batch().put(`${writer} a`, value).put(`${writer} b`, value).del(`${writer} c`).write({ sync: random(4) === 0 });
    else await Promise.all([level.put(`${writer} a`, value), level.put(`${writer} b`, value)]);
    port.postMessage({ acknowledged: { writer, count } });
    const seen = await level.getMany([`${writer} a`, `${writer} b`]);
    if (seen.some((one) => one !== value)) throw new Error(`wrote ${count}, read ${seen.map((one) => one?.slice(0, 8)).join()}`);
    if (random(200) === 0) await level.compactRange('', '~');
    if (random(100) === 0) for (const end = Date.now() + random(150); Date.now() < end; );
    if (random(300) === 0) {
      await level.close();
      await level.open();
    }
  }
}

test(`no acknowledged write is lost when ${KILLS} threads are ended`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'killed-threads-'));
  const path = join(folder, 'database');
  const program = await threadProgram();
  const random = seeded(1);
  const acknowledged = new Map<string, number>();
  const failures: unknown[] = [];
  const ended = new Set<LevelThread>();
  let started = 0;
  const start = (): LevelThread => {
    const thread = new LevelThread(program, (message) => {
      const { writer, count } = (message as { readonly acknowledged: Acknowledged }).acknowledged;
      acknowledged.set(writer, count);
    });
    thread.run(write, { path, options: OPTIONS, writer: `w${started++}`, seed: started }).catch((error: unknown) => {
      // A thread that is being terminated may fail in any way.
      if (!ended.has(thread)) failures.push(error);
    });
    return thread;
  };
  const threads = Array.from({ length: THREADS }, () => start());
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 50 + random.below(400)));
    const index = random.below(THREADS);
    ended.add(threads[index]!);
    await threads[index]!.terminate();
    threads[index] = start();
  }
  // These have the time to write.
  const last = Array.from({ length: THREADS }, () => start());
  await expect.poll(() => failures.length > 0 || last.map((_, i) => acknowledged.has(`w${started - 1 - i}`)), { timeout: 30_000 }).toEqual([true, true, true, true]);
  await Promise.all([...threads, ...last].map((thread) => thread.terminate()));
  expect(failures).toEqual([]);
  const level = new BloomLevel(path);
  for (const [writer, count] of acknowledged) {
    const [a, b] = await level.getMany([`${writer} a`, `${writer} b`]);
    expect(Number.parseInt(a!, 10), writer).toBeGreaterThanOrEqual(count);
    expect(Number.parseInt(b!, 10), writer).toBeGreaterThanOrEqual(count);
  }
  await level.close();
  deleteProgram(program);
  rmSync(folder, { recursive: true });
}, 60_000 + KILLS * 3000);

// It waits ten seconds for answers that do not come.
test('a thread that only reads synchronously continues when the one that had the database open is terminated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'killed-owner-'));
  const path = join(folder, 'database');
  const program = await threadProgram();
  const owner = new LevelThread(program);
  await owner.open(path);
  const level = new BloomLevel(path, { multithreading: true });
  await level.put('a', '1');
  await owner.terminate();
  expect(() => level.getSync('a')).toThrow(expect.objectContaining({ code: 'LEVEL_IO_ERROR' }));
  await expect.poll(() => {
    try {
      return level.getSync('a');
    } catch {
      return 'no answer';
    }
  }, { interval: 300, timeout: 15_000 }).toBe('1');
  await level.close();
  deleteProgram(program);
  rmSync(folder, { recursive: true });
}, 30_000);
