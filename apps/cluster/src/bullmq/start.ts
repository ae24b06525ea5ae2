// Adds a job to the queue, waits for it, and prints what was published: node start.js job.json
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { FlowProducer, Queue } from 'bullmq';
import { connectToRedis, type PublicationJob, QUEUE, type TaskData, type TaskResult } from './job.js';
import { sortingFlow } from './tasks.js';

const LOOK_EVERY_MS = 200;

const job = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as PublicationJob;
const connection = connectToRedis();
const flows = new FlowProducer({ connection });
const queue = new Queue<TaskData, TaskResult>(QUEUE, { connection });
await flows.add(sortingFlow(job));
for (;;) {
  const tasks = await Promise.all(['split', 'publish'].map((step) => queue.getJob(`${job.id}-${step}`)));
  for (const task of tasks) {
    if ((await task?.isFailed()) === true) {
      process.stderr.write(`${task!.id}: ${task!.failedReason}\n`);
      process.exitCode = 2;
    }
  }
  const published = tasks[1];
  if ((await published?.isCompleted()) === true) process.stdout.write(published!.returnvalue.text);
  else if (process.exitCode === undefined) {
    await delay(LOOK_EVERY_MS);
    continue;
  }
  break;
}
await Promise.all([flows.close(), queue.close()]);
await connection.quit();
