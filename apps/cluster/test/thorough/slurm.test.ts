// The recipe for Slurm on two nodes that the test starts on this machine, one of which is lost with what it runs.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { ENTRIES, expectSame, isInstalled, isNamedRun, isPublished, makeShards, onOneMachine, PART_OPTIONS, program, RANGES, scratchFolder, TIMEOUT_MS } from '../one-machine.js';
import { SlurmCluster } from '../slurm-cluster.js';

const hasSlurm = ['slurmctld', 'slurmd', 'munged', 'sbatch'].every(isInstalled) && process.getuid?.() === 0;
if (!hasSlurm) test.skip('Slurm: it is not installed (apt-get install slurmctld slurmd munge slurm-client), or this is not root', () => {});
else if (!isNamedRun) test.skip('Slurm: runs with npx pnpm@10 --filter @bloom/long-tests slurm', () => {});

const recipe = join(import.meta.dirname, '../../src/slurm');
const scratch = scratchFolder();
let cluster: SlurmCluster | undefined;
afterAll(async () => {
  await cluster?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

test.runIf(hasSlurm && isNamedRun)(`Slurm: ${ENTRIES} entries, with a node lost, are the parts that one machine makes`, { timeout: TIMEOUT_MS }, async () => {
  const shards = await makeShards(join(scratch, 'shards'));
  const expected = await onOneMachine(join(scratch, 'one'), shards);
  const bin = join(scratch, 'bin');
  mkdirSync(bin);
  // Each start is noted, by which a task that runs again is seen. On the second node, tasks are not over before it was lost.
  writeFileSync(join(bin, 'bloom'), `#!/bin/bash\necho "$SLURMD_NODENAME $1 $SLURM_ARRAY_TASK_ID" >> ${scratch}/starts\n${process.execPath} ${program} "$@" || exit\nif [ "$SLURMD_NODENAME" = node2 ] && [ "$1" != split ] && [ ! -e ${scratch}/lost-$1 ]; then sleep 60; fi\n`, { mode: 0o755 });
  const [work, store] = [join(scratch, 'work'), join(scratch, 'store')];
  mkdirSync(work);
  writeFileSync(join(scratch, 'shards.list'), shards.map((path) => `${path}\n`).join(''));
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    SHARDS: join(scratch, 'shards.list'),
    WORK: work,
    PARTS: join(scratch, 'parts'),
    STORE: store,
    SEQUENCE: '1',
    RANGES: String(RANGES),
    PART_OPTIONS: PART_OPTIONS.join(' '),
  };
  cluster = await SlurmCluster.start(join(scratch, 'slurm'), env);
  const last = cluster.ask(join(recipe, 'submit.sh'), []).trim();
  expect(last).toMatch(/^\d+$/);

  const starts = (): string[] => {
    const { stdout } = spawnSync('cat', [join(scratch, 'starts')], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const lost = { build: '', part: '' };
  for (;;) {
    const state = /JobState=(\w+)/.exec(cluster.ask('scontrol', ['show', 'job', last, '-o']))![1]!;
    if (state === 'COMPLETED') break;
    expect(['PENDING', 'CONFIGURING', 'RUNNING', 'COMPLETING'], logs()).toContain(state);
    for (const step of ['build', 'part'] as const) {
      // A task of the second node: the node is lost with it, and comes back when Slurm has noticed.
      const task = starts().find((line) => line.startsWith(`node2 ${step} `));
      if (lost[step] !== '' || task === undefined) continue;
      lost[step] = task;
      await delay(Math.random() * 500);
      cluster.loseNode('node2');
      writeFileSync(join(scratch, `lost-${step}`), '');
      expect(isPublished(store), 'published before all is there').toBe(false);
      while (!cluster.nodes().some((node) => node.startsWith('down'))) await delay(200);
      cluster.startNode('node2');
    }
    if (state === 'PENDING') expect(isPublished(store), 'published before all is there').toBe(false);
    await delay(20);
  }
  for (const [step, task] of Object.entries(lost)) {
    const [, , place] = task.split(' ');
    expect(task, `no node was lost in ${step}`).not.toBe('');
    expect(starts().filter((line) => line.endsWith(` ${step} ${place}`)).length, task).toBeGreaterThan(1);
  }
  expect(starts().some((line) => line.startsWith('node1 ')) && starts().some((line) => line.startsWith('node2 '))).toBe(true);
  await expectSame(store, expected);

  function logs(): string {
    return readdirSync(work)
      .filter((name) => name.endsWith('.log'))
      .map((name) => `${name}: ${readFileSync(join(work, name), 'utf8')}`)
      .join('\n');
  }
});
