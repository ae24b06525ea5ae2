import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { damageKinds } from '../damage.js';

// BLOOM_DAMAGE_RUNS is the number of damaged tables; `pnpm --filter @bloom/long-tests damage` takes 200,000.
// BLOOM_DAMAGE_SEED sets the seed, and BLOOM_DAMAGE_FIRST the first run, to repeat a single one.
const isLong = process.env.BLOOM_DAMAGE_RUNS !== undefined;
const runs = Number(process.env.BLOOM_DAMAGE_RUNS ?? 1000);
const seed = Number(process.env.BLOOM_DAMAGE_SEED ?? (isLong ? Date.now() % 2 ** 32 : 20_261));
const first = Number(process.env.BLOOM_DAMAGE_FIRST ?? 0);

/** The milliseconds after which a silent process counts as hung. */
const HANG_MS = 60_000;

interface Result {
  readonly tables: number;
  readonly of: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly slowest: number;
  readonly wrong: number;
  readonly peak: number;
}

test(`${runs} damaged tables are read correctly or refused with a code, in bounded time and memory (seed ${seed})`, { timeout: 6 * 3600_000 }, async () => {
  // A heap that is too small for anything unbounded.
  const script = fileURLToPath(new URL('../damage-runner.ts', import.meta.url));
  const args = ['--max-old-space-size=400', '--conditions=bloom-source', '--import', 'tsx', script];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const child = spawn(process.execPath, [...args, String(seed), String(first), String(runs)], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const wrong: string[] = [];
  let result: Result | undefined;
  let at = 'the start';
  const hang = (): void => {
    wrong.push(`hangs in the twenty runs after ${at}`);
    child.kill('SIGKILL');
  };
  let timer = setTimeout(hang, HANG_MS);
  for await (const line of createInterface(child.stdout)) {
    clearTimeout(timer);
    timer = setTimeout(hang, HANG_MS);
    if (line.startsWith('{')) result = JSON.parse(line) as Result;
    else if (line.startsWith('wrong')) wrong.push(line);
    else at = line;
  }
  clearTimeout(timer);
  expect(wrong, `seed ${seed}`).toEqual([]);
  if (result === undefined) throw new Error(`the process ended after ${at}, seed ${seed}`);
  expect(result.wrong).toBe(0);
  if (isLong) process.stdout.write(`seed ${seed}: ${JSON.stringify(result)}\n`);
  if (runs < 1000) return;
  expect(Object.keys(result.kinds).sort()).toEqual([...damageKinds].sort());
  expect(Object.entries(result.kinds).filter(([, count]) => count === 0)).toEqual([]);
  expect(result.peak).toBeLessThan(900e6);
  if (isLong) expect(result.tables).toBe(result.of);
});
