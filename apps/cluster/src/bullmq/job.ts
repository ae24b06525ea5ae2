import { Redis } from 'ioredis';

/** What a job is: entries in files of any order, which become one publication. */
export interface PublicationJob {
  /** Names the tasks of the job. A job that is added again under the same name is the same one. */
  readonly id: string;
  /** The files with entries, which all workers can read. Where files have the same key, the entry of the first counts. */
  readonly shards: readonly string[];
  readonly format: string;
  /** A folder that all workers can write to, for sorted runs. */
  readonly work: string;
  /** Where parts are written: a folder that all workers can write to, or s3://BUCKET/PREFIX. */
  readonly parts: string;
  /** Where the database is published. */
  readonly store: string;
  /** The sequence of all entries of this publication, higher than all published ones. */
  readonly sequence: string;
  /** Into how many ranges the keys are cut. */
  readonly ranges: number;
  /** Further options of `bloom bulk part`. */
  readonly options: readonly string[];
}

/** One task of the job. */
export type Task =
  | { readonly step: 'map'; readonly shard: number }
  | { readonly step: 'split' }
  | { readonly step: 'reduce'; readonly range: number; readonly runs: readonly string[]; readonly gte: string | null; readonly lt: string | null }
  | { readonly step: 'publish' };

/** What a task of the queue carries. */
export interface TaskData {
  readonly job: PublicationJob;
  readonly task: Task;
}

/** What a task has made: the file of a run, the descriptions of parts, or what was published. */
export interface TaskResult {
  /** The shard or the range. */
  readonly place: number;
  readonly text: string;
}

/** The name of the queue. */
export const QUEUE = 'bloom';

/** How often a task that fails is tried: after 1 s, 2 s, 4 s. */
export const RETRIES = { attempts: 4, backoff: { type: 'exponential', delay: 1000 } } as const;

/** A connection to Redis: `REDIS_URL`, or port 6379 here. */
export function connectToRedis(): Redis {
  return new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', { maxRetriesPerRequest: null });
}
