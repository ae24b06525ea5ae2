import { join } from 'node:path';
import type { FlowJob, FlowProducer, Job } from 'bullmq';
import { bloom } from './bloom-command.js';
import { type PublicationJob, QUEUE, RETRIES, type Task, type TaskData, type TaskResult } from './job.js';

/** A task of a job for the queue. Its id is always the same, so that it is in the queue once. */
function flowJob(job: PublicationJob, task: Task, children: FlowJob[] = []): FlowJob {
  const place = task.step === 'map' ? `-${task.shard}` : task.step === 'reduce' ? `-${task.range}` : '';
  const data: TaskData = { job, task };
  return { name: task.step, queueName: QUEUE, data, opts: { jobId: `${job.id}-${task.step}${place}`, failParentOnFailure: true, ...RETRIES }, children };
}

/** The first half of a job: each shard is sorted, then the keys are cut into ranges. That task adds the other half. */
export function sortingFlow(job: PublicationJob): FlowJob {
  return flowJob(
    job,
    { step: 'split' },
    job.shards.map((_, shard) => flowJob(job, { step: 'map', shard })),
  );
}

/** Carries a task out. It can run again, and twice at once: it makes the same bytes under the same names. */
export async function carryOut(queued: Job<TaskData, TaskResult>, flows: FlowProducer): Promise<TaskResult> {
  const { job, task } = queued.data;
  switch (task.step) {
    case 'map': {
      const run = join(job.work, `${job.id}-${String(task.shard).padStart(6, '0')}.ldb`);
      // The file gets its name when it is complete.
      await bloom(['build', job.shards[task.shard]!, '--sort', '-f', job.format, '--no-filter', '-q', '-o', run]);
      return { place: task.shard, text: run };
    }
    case 'split': {
      const runs = (await resultsOf(queued)).map(({ text }) => text);
      const { stdout } = await bloom(['bulk', 'split', ...runs, '-n', String(job.ranges), '--no-internal']);
      const cuts = stdout.split('\n').filter((line) => line !== '');
      const reduces = [...cuts, null].map((lt, range) => flowJob(job, { step: 'reduce', range, runs, gte: cuts[range - 1] ?? null, lt }));
      // All tasks at once, or none.
      await flows.add(flowJob(job, { step: 'publish' }, reduces));
      return { place: 0, text: stdout };
    }
    case 'reduce': {
      const bounds = [...(task.gte === null ? [] : ['--gte', task.gte]), ...(task.lt === null ? [] : ['--lt', task.lt])];
      const args = ['bulk', 'part', ...task.runs, '--no-internal', '--hex', ...bounds, '--sequence', job.sequence, ...job.options, '-q', '-o', job.parts];
      return { place: task.range, text: (await bloom(args)).stdout };
    }
    case 'publish': {
      const descriptions = (await resultsOf(queued)).map(({ text }) => text).join('');
      const assembly = await bloom(['bulk', 'assemble', job.parts, '-', '--previous', job.store], descriptions);
      const { code, stdout } = await bloom(['bulk', 'publish', '-', job.parts, job.store], assembly.stdout);
      if (code !== 0) throw new Error(`another publication came first: ${stdout.trim()}`);
      return { place: 0, text: stdout };
    }
  }
}

/** What the tasks made that this one has waited for, in the order of shards or ranges. */
async function resultsOf(queued: Job<TaskData, TaskResult>): Promise<TaskResult[]> {
  const values = Object.values(await queued.getChildrenValues<TaskResult>());
  return values.sort((a, b) => a.place - b.place);
}
