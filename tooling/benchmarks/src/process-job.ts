// One job of the benchmark of whole processes: `node process-job.js CONTENDER JOB FOLDER ENTRIES`. It prints microseconds of processor time, KiB of
// peak memory, and a sum over the entries that were read. leveldb-bench.cc and two programs of @bloom/peers have the same jobs.
import process from 'node:process';

import type { JobDatabase } from './job-database.js';

const BATCH = 1000;
const KEYS_AT_ONCE = 100;
/** `scan-first`, `get` and `get-many` have a tenth of the entries. */
const SHARE = 10;

/** Each is loaded where it is measured. */
const contenders: Readonly<Record<string, () => Promise<{ readonly open: (path: string) => Promise<JobDatabase> }>>> = {
  bloom: () => import('./job-bloom.js'),
  'bloom-level': () => import('./job-bloom-level.js'),
  'classic-level': () => import('./job-classic-level.js'),
};

const [contender, job, folder] = process.argv.slice(2) as [string, string, string];
const n = Number(process.argv[5]);
let sum = 0;

if (job !== 'nothing') {
  const { open } = await contenders[contender]!();
  const database = await open(folder);
  await run(database);
  await database.close();
}

const { user, system } = process.cpuUsage();
console.log(`${user + system} ${process.resourceUsage().maxRSS} ${sum >>> 0}`);

async function run(database: JobDatabase): Promise<void> {
  if (job === 'open') return;
  const { KEY_LENGTH, lookupKey, Values, writeKey } = await import('./workload.js');
  const walk = database.walks[job.replace(/-first$/u, '')];
  if (walk !== undefined) {
    await walk(job.endsWith('-first') ? n / SHARE : n, (key, value) => void (sum += key[key.length - 1]! + value[0]!));
    return;
  }
  if (job === 'compact') return database.compact();
  if (job.startsWith('get')) {
    const count = job === 'get-all' ? n : n / SHARE;
    if (job.startsWith('get-many')) {
      for (let i = 0; i < count; i += KEYS_AT_ONCE) for (const value of await database.getMany(Array.from({ length: KEYS_AT_ONCE }, (_, j) => lookupKey(i + j, n)))) sum += value![0]!;
    } else for (let i = 0; i < count; i++) sum += database.getSync(lookupKey(i, n))![0]!;
    return;
  }
  const values = new Values();
  const entryAt = (i: number): [Uint8Array, Uint8Array] => {
    const key = new Uint8Array(KEY_LENGTH);
    const index = job === 'fill-ordered' ? i : (i * 7919) % n;
    writeKey(index, n, true, key, 0);
    return [key, values.at(index)];
  };
  if (job === 'fill-batches') for (let i = 0; i < n; i += BATCH) await database.batch(i, Math.min(i + BATCH, n), entryAt);
  else if (job === 'fill-random' || job === 'fill-ordered') for (let i = 0; i < n; i++) await database.put(...entryAt(i));
  else throw new Error(`no such job: ${job}`);
}
