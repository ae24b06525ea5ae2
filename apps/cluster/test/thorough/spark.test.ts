// The recipe for Spark with executors in processes of their own, one of which is killed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { ENTRIES, expectSame, isInstalled, isNamedRun, isPublished, makeShards, onOneMachine, PART_OPTIONS, program, RANGES, scratchFolder, TIMEOUT_MS } from '../one-machine.js';

// BLOOM_PYTHON: a Python that has PySpark, where it is not python3.
const python = process.env.BLOOM_PYTHON ?? 'python3';
const hasSpark = isInstalled('java') && spawnSync(python, ['-c', 'import pyspark']).status === 0;
if (!hasSpark) test.skip('Spark: it is not installed (pip install pyspark, apt-get install default-jre-headless)', () => {});
else if (!isNamedRun) test.skip('Spark: runs with npx pnpm@10 --filter @bloom/long-tests spark', () => {});

const recipe = join(import.meta.dirname, '../../src/spark');
const scratch = scratchFolder();
let running: ChildProcess | undefined;
afterAll(async () => {
  if (running?.exitCode === null && running.signalCode === null) {
    running.kill('SIGTERM');
    await once(running, 'exit');
  }
  rmSync(scratch, { recursive: true, force: true });
});

function start(master: string, args: readonly string[], env: NodeJS.ProcessEnv): { child: ChildProcess; over: Promise<{ code: number | null; stdout: string; stderr: string }> } {
  const conf = [`--master ${master}`, '--conf spark.ui.enabled=false', '--conf spark.executor.memory=1g', '--conf spark.python.worker.reuse=false', '--conf spark.log.level=ERROR', 'pyspark-shell'].join(' ');
  const child = spawn(python, args, { env: { ...process.env, ...env, PYSPARK_PYTHON: python, PYSPARK_SUBMIT_ARGS: conf, SPARK_LOCAL_IP: '127.0.0.1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  running = child;
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  return { child, over: once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr })) };
}

/** The process of the executor above a process. */
function executorOf(pid: number): number {
  for (let at = pid; at > 1; ) {
    if (readFileSync(`/proc/${at}/cmdline`, 'utf8').includes('CoarseGrainedExecutorBackend')) return at;
    const stat = readFileSync(`/proc/${at}/stat`, 'utf8');
    at = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  }
  throw new Error('no executor is above the task');
}

test.runIf(hasSpark && isNamedRun)(`Spark: ${ENTRIES} entries, with an executor killed, are the parts that one machine makes`, { timeout: TIMEOUT_MS }, async () => {
  const shards = await makeShards(join(scratch, 'shards'));
  const expected = await onOneMachine(join(scratch, 'one'), shards);
  const bin = join(scratch, 'bin');
  mkdirSync(bin);
  // The first task is not over before its executor was killed.
  const wrapper = join(bin, 'bloom');
  writeFileSync(
    wrapper,
    `#!/bin/bash
[ "$1" = part ] || exec ${process.execPath} ${program} "$@"
echo $$ >> ${scratch}/starts
first=$(head -n 1 ${scratch}/starts)
${process.execPath} ${program} "$@" || exit
if [ "$first" = $$ ]; then sleep 60; fi
`,
    { mode: 0o755 },
  );
  writeFileSync(join(scratch, 'cuts'), expected.cuts.map((cut) => `${cut}\n`).join(''));
  const [parts, store] = [join(scratch, 'parts'), join(scratch, 'store')];
  const args = [join(recipe, 'publish.py'), '--sequence', '1', '--parts', parts, '--store', store, '--cuts', join(scratch, 'cuts'), `--part-options=${PART_OPTIONS.join(' ')}`, ...shards];
  const { child, over } = start('local-cluster[2,1,1024]', args, { BLOOM: wrapper });
  const starts = (): string[] => (existsSync(join(scratch, 'starts')) ? readFileSync(join(scratch, 'starts'), 'utf8').split('\n').filter(Boolean) : []);
  while (starts().length === 0 && child.exitCode === null) await delay(50);
  if (child.exitCode !== null) expect.fail((await over).stderr);
  await delay(500);
  process.kill(executorOf(Number(starts()[0])), 'SIGKILL');
  expect(isPublished(store), 'published before all is there').toBe(false);
  const { code, stdout, stderr } = await over;
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ isPublished: true, isNew: true });
  expect(starts().length).toBeGreaterThan(RANGES);
  await expectSame(store, expected);
});

test.runIf(hasSpark && isNamedRun)('Spark: keys in the order of bytes are taken; those in the order of strings in Java are refused', async () => {
  const wrapper = `${process.execPath} ${program}`;
  const run = async (order: string) => start('local[1]', [join(import.meta.dirname, '../java-order.py'), recipe, join(scratch, order), order], { BLOOM: wrapper }).over;
  const right = await run('bytes');
  expect(right.code, right.stderr).toBe(0);
  expect(JSON.parse(right.stdout)).toMatchObject({ entries: 4 });
  const wrong = await run('java');
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('comes before');
  expect(existsSync(join(scratch, 'java'))).toBe(false);
});

test.runIf(hasSpark && isNamedRun)('Spark: values keep their carriage returns, and a line without a tab is refused', { timeout: TIMEOUT_MS }, async () => {
  const folder = join(scratch, 'lines');
  mkdirSync(folder);
  const [good, bad, store] = [join(folder, 'good.tsv'), join(folder, 'bad.tsv'), join(folder, 'store')];
  writeFileSync(good, 'apple\tred\rgreen\nbeet\tdark\n');
  writeFileSync(bad, 'apple\tred\na line without a tab\n');
  const publish = (shard: string, sequence: string) => start('local[2]', [join(recipe, 'publish.py'), '--sequence', sequence, '--parts', join(folder, 'parts'), '--store', store, shard], { BLOOM: `${process.execPath} ${program}` }).over;
  expect(await publish(good, '1')).toMatchObject({ code: 0 });
  const { stdout } = spawnSync(process.execPath, [program, 'scan', store, '-f', 'jsonl'], { encoding: 'utf8' });
  expect(stdout).toContain('red\\rgreen');
  expect(await publish(bad, '2')).toMatchObject({ code: 1, stderr: expect.stringContaining('a line has no TAB') as string });
});
