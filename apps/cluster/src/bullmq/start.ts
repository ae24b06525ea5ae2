// Adds a job to the queue, waits for it, and prints what was published: node start.js job.json
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { FlowProducer, type Job, Queue } from 'bullmq';
import { connectToRedis, type PublicationJob, QUEUE, type TaskData, type TaskResult } from './job.js';
import { sortingFlow } from './tasks.js';

const LOOK_EVERY_MS = 200;

const job = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as PublicationJob;
const connection = connectToRedis();
const flows = new FlowProducer({ connection });
const queue = new Queue<TaskData, TaskResult>(QUEUE, { connection });
await flows.add(sortingFlow(job));
for (;;) {
  const [split, publish] = await Promise.all(['split', 'publish'].map((step) => taskThatEnded(`${job.id}-${step}`)));
  for (const ended of [split, publish]) {
    if (ended?.state !== 'failed') continue;
    process.stderr.write(`${ended.task.id}: ${ended.task.failedReason}\n`);
    process.exitCode = 2;
  }
  if (publish?.state === 'completed') process.stdout.write(publish.task.returnvalue.text);
  else if (process.exitCode === undefined) {
    await delay(LOOK_EVERY_MS);
    continue;
  }
  break;
}
await Promise.all([flows.close(), queue.close()]);
await connection.quit();

/** A task that has completed or failed, and which of them. */
async function taskThatEnded(id: string): Promise<{ state: 'completed' | 'failed'; task: Job<TaskData, TaskResult> } | undefined> {
  const state = await queue.getJobState(id);
  if (state !== 'completed' && state !== 'failed') return undefined;
  // A job in memory is what it was when it was read, so it is read after its state.
  return { state, task: (await queue.getJob(id))! };
}
