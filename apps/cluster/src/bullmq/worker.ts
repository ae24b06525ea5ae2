// A worker: start as many as you like, on as many machines as you like.
import { FlowProducer, type Job, Worker } from 'bullmq';
import { connectToRedis, QUEUE, type TaskData, type TaskResult } from './job.js';
import { carryOut } from './tasks.js';

/** A worker that is not heard of for so long is dead, and another one takes its task. */
const lockDuration = Number(process.env.BLOOM_LOCK_MS ?? 30_000);

const connection = connectToRedis();
const flows = new FlowProducer({ connection });
const work = async (queued: Job<TaskData, TaskResult>): Promise<TaskResult> => {
  process.stdout.write(`${JSON.stringify({ begun: queued.id })}\n`);
  const result = await carryOut(queued, flows);
  process.stdout.write(`${JSON.stringify({ ended: queued.id })}\n`);
  return result;
};
const worker = new Worker<TaskData, TaskResult>(QUEUE, work, { connection, lockDuration, stalledInterval: lockDuration, maxStalledCount: 20 });
worker.on('failed', (queued, error) => process.stderr.write(`${queued?.id ?? 'a task'}: ${error.message}\n`));
worker.on('error', (error) => process.stderr.write(`${error.message}\n`));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void Promise.all([worker.close(), flows.close()]).then(() => connection.quit());
  });
}
