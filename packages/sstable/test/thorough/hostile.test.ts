import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** The milliseconds of processor time that any action may take on tables of up to 20 MB. */
const MOST_MS = 6000;
/** The milliseconds after which a silent process counts as hung. */
const HANG_MS = 15_000;
/** The heap that the process may have. The file and the blocks that are read are outside of it. */
const HEAP_MB = 400;

interface Line {
  readonly number?: number;
  readonly file?: string;
  readonly action?: string;
  readonly milliseconds?: number;
  readonly error?: string;
  readonly peak?: number;
  readonly actions?: number;
}

/** Runs the actions, starting with number `first`. */
async function run(first: number): Promise<Line[]> {
  const script = fileURLToPath(new URL('../hostile-runner.ts', import.meta.url));
  const args = [`--max-old-space-size=${HEAP_MB}`, '--conditions=bloom-source', '--import', 'tsx', script, String(first)];
  const child = spawn(process.execPath, args, { cwd: fileURLToPath(new URL('..', import.meta.url)), stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: Line[] = [];
  let timer = setTimeout(() => child.kill('SIGKILL'), HANG_MS);
  for await (const line of createInterface(child.stdout)) {
    clearTimeout(timer);
    timer = setTimeout(() => child.kill('SIGKILL'), HANG_MS);
    lines.push(JSON.parse(line) as Line);
  }
  clearTimeout(timer);
  return lines;
}

test('tables that are crafted to take much time or memory are read or refused quickly', { timeout: 600_000 }, async () => {
  const wrong: string[] = [];
  let end: Line | undefined;
  for (let first = 0; end === undefined; ) {
    const lines = await run(first);
    const last = lines.at(-1);
    if (last === undefined) throw new Error('the process did not start');
    const started = new Map(lines.filter(({ action }) => action !== undefined).map((line) => [line.number, line]));
    for (const { number, milliseconds, error } of lines) {
      if (milliseconds === undefined) continue;
      const { file, action } = started.get(number)!;
      if (error !== undefined) wrong.push(`${file}, ${action}: ${error}`);
      if (milliseconds > MOST_MS) wrong.push(`${file}, ${action}: ${milliseconds} ms`);
    }
    if (last.peak !== undefined) end = last;
    else {
      wrong.push(`${last.file}, ${last.action}: hangs, or takes more than ${HEAP_MB} MB`);
      first = last.number! + 1;
    }
  }
  expect(wrong).toEqual([]);
  expect(end.actions).toBeGreaterThan(80);
  expect(end.peak).toBeLessThan(900e6);
});
