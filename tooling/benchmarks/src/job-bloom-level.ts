// @bloom/level as process-job.ts uses it: with its defaults.
import { BloomLevel } from '@bloom/level';
import type { JobDatabase } from './job-database.js';
import { jobsOfLevel } from './job-level.js';

export function open(path: string): Promise<JobDatabase> {
  return jobsOfLevel(new BloomLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' }));
}
