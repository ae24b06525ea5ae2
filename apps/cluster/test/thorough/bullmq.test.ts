// The recipe for BullMQ on a Redis that the test starts, with workers that are killed and one that is held up.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test, vi } from 'vitest';
import { ENTRIES, expectSame, isInstalled, isPublished, makeShards, onOneMachine, PART_OPTIONS, program, RANGES, scratchFolder, SHARDS, TIMEOUT_MS } from '../one-machine.js';

const hasRedis = isInstalled('redis-server');
if (!hasRedis) test.skip('BullMQ: Redis is not installed (apt-get install redis-server)', () => {});

const recipe = join(import.meta.dirname, '../../src/bullmq');
const scratch = scratchFolder();
const children = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of children) kill(child, 'SIGKILL');
  for (const child of children) if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  rmSync(scratch, { recursive: true, force: true });
});

/** With what it has started. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // It has ended.
  }
}

function started(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const child = spawn(command, args, { cwd: recipe, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test.runIf(hasRedis)(`BullMQ: ${ENTRIES} entries, with workers killed and a task that runs twice at once, are the parts that one machine makes`, { timeout: TIMEOUT_MS }, async () => {
  const shards = await makeShards(join(scratch, 'shards'));
  const expected = await onOneMachine(join(scratch, 'one'), shards);
  const port = await freePort();
  started('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']).stdout!.resume();
  await vi.waitFor(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.destroy();
          resolve();
        }).on('error', reject);
      }),
    { timeout: 20_000, interval: 50 },
  );
  const env = { ...process.env, REDIS_URL: `redis://127.0.0.1:${port}`, BLOOM: program, BLOOM_LOCK_MS: '3000' };
  const [work, store] = [join(scratch, 'work'), join(scratch, 'store')];
  mkdirSync(work);
  const job = { id: 'words-1', shards, format: 'tsv', work, parts: join(scratch, 'parts'), store, sequence: '1', ranges: RANGES, options: PART_OPTIONS };
  writeFileSync(join(scratch, 'job.json'), JSON.stringify(job));

  /** How often each task was begun, and has ended. */
  const begun = new Map<string, number>();
  const ended = new Map<string, number>();
  const faults = { mapKilled: '', reduceKilled: '', reduceStopped: '' };
  let stopped: ChildProcess | undefined;
  const addWorker = (): void => {
    const worker = started(process.execPath, ['--import', 'tsx', join(recipe, 'worker.ts')], env);
    createInterface(worker.stdout!).on('line', (line) => {
      const said = JSON.parse(line) as { begun?: string; ended?: string };
      if (said.ended !== undefined) ended.set(said.ended, (ended.get(said.ended) ?? 0) + 1);
      const task = said.begun;
      if (task === undefined) return;
      if (!task.endsWith('-publish')) expect(isPublished(store), 'published before all is there').toBe(false);
      begun.set(task, (begun.get(task) ?? 0) + 1);
      const isOf = (step: string): boolean => task.startsWith(`${job.id}-${step}-`);
      if (isOf('map') && begun.size >= 2 && faults.mapKilled === '') {
        faults.mapKilled = task;
        killSoon(worker);
      } else if (isOf('reduce') && faults.reduceKilled === '') {
        faults.reduceKilled = task;
        killSoon(worker);
      } else if (isOf('reduce') && faults.reduceStopped === '' && task !== faults.reduceKilled) {
        faults.reduceStopped = task;
        stopped = worker;
        // What it has started goes on: the worker alone is no longer heard of.
        process.kill(worker.pid!, 'SIGSTOP');
      } else if (task === faults.reduceStopped && stopped !== undefined && stopped !== worker) {
        process.kill(stopped.pid!, 'SIGCONT');
      }
    });
  };
  const killSoon = (worker: ChildProcess): void => {
    setTimeout(() => {
      kill(worker, 'SIGKILL');
      addWorker();
    }, 100);
  };
  for (let i = 0; i < 3; i++) addWorker();

  const start = started(process.execPath, ['--import', 'tsx', join(recipe, 'start.ts'), join(scratch, 'job.json')], env);
  let printed = '';
  start.stdout!.on('data', (piece: Buffer) => (printed += piece.toString()));
  const [code] = (await once(start, 'exit')) as [number | null];
  expect(code).toBe(0);
  expect(JSON.parse(printed)).toMatchObject({ isPublished: true, isNew: true });

  for (const [fault, task] of Object.entries(faults)) {
    expect(task, fault).not.toBe('');
    expect(begun.get(task), `${fault}: ${task}`).toBeGreaterThan(1);
  }
  expect(begun.size).toBe(SHARDS + RANGES + 2);
  await expectSame(store, expected);

  // The same job once more is the same tasks, which are over.
  const before = begun.size;
  const again = started(process.execPath, ['--import', 'tsx', join(recipe, 'start.ts'), join(scratch, 'job.json')], env);
  again.stdout!.resume();
  expect(await once(again, 'exit')).toEqual([0, null]);
  expect(begun.size).toBe(before);
  await expectSame(store, expected);
});
