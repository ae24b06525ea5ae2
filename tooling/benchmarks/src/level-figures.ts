// What programs do with a level: BloomLevel and other abstract-levels.
import type { Figure } from './figures.js';

const SIZES = { sizeUnit: 'entries', sizes: [1e4, 1e5], quickSizes: [1e4] } as const;

/** The description of each job, and the goal for our time as a multiple of classic-level's. */
const JOBS: readonly { readonly job: string; readonly what: string; readonly unit: Figure['unit']; readonly goal: number; readonly isOnDisk?: true }[] = [
  { job: 'put', what: 'put, one after another', unit: 'entry', goal: 0.4 },
  { job: 'batch', what: 'batch of 1,000 puts', unit: 'entry', goal: 1.2 },
  { job: 'get', what: 'get of random present keys, one after another', unit: 'key', goal: 0.1 },
  { job: 'uncached-get', what: 'the same, blocks only in the OS page cache', unit: 'key', goal: 0.3, isOnDisk: true },
  { job: 'uncompressed-get', what: 'the same, stored without compression', unit: 'key', goal: 0.3, isOnDisk: true },
  { job: 'get-many', what: 'getMany of 100 random present keys', unit: 'key', goal: 1.3 },
  { job: 'uncached-get-many', what: 'the same, blocks only in the OS page cache', unit: 'key', goal: 1.3, isOnDisk: true },
  { job: 'uncompressed-get-many', what: 'the same, stored without compression', unit: 'key', goal: 1.3, isOnDisk: true },
  { job: 'for-await', what: 'for await over iterator()', unit: 'entry', goal: 0.8 },
  { job: 'nextv', what: 'nextv(1000) of an iterator', unit: 'entry', goal: 0.7 },
  { job: 'clear', what: 'clear of all entries', unit: 'entry', goal: 1.2 },
  { job: 'open', what: 'open and close a database folder', unit: 'open', goal: 2, isOnDisk: true },
];

export const levelFigures: readonly Figure[] = [
  ...JOBS.map(({ job, what, unit, goal, isOnDisk }): Figure => ({
    name: `level-${job}`,
    what,
    unit,
    ...SIZES,
    others: [{ contender: 'classic-level', goal }],
    // The blocks of a small database stay in the cache.
    ...(isOnDisk && { sizes: [1e5], quickSizes: [1e5] }),
    ...(job === 'open' && { input: 'levels' }),
  })),
  ...JOBS.filter(({ isOnDisk }) => isOnDisk === undefined).map(({ job, what, unit }): Figure => ({
    name: `level-memory-${job}`,
    what: `${what}, in memory`,
    unit,
    ...SIZES,
    others: [{ contender: 'memory-level' }],
  })),
];
