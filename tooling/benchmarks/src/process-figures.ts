// What is measured in whole processes.

/** A program that is measured: `bloom` and `bloom-level` are ours. */
export type ProcessContender = 'bloom' | 'bloom-level' | 'classic-level' | 'LevelDB 1.23, C++' | 'goleveldb' | 'rusty-leveldb';

/** How a job finds its folder. `plain` is `compacted` without compression. */
export type FolderState = 'new' | 'filled' | 'compacted' | 'plain';

export interface ProcessFigure {
  readonly what: string;
  readonly measure: 'time' | 'memory';
  readonly state: FolderState;
  readonly ours: 'bloom' | 'bloom-level';
  readonly ourJob: string;
  readonly job: string;
  /** The other programs, with what our time or memory may be at most as a multiple of theirs. */
  readonly others: readonly (readonly [contender: ProcessContender, goal?: number | undefined])[];
}

const CPP = 'LevelDB 1.23, C++';
const time = { measure: 'time', ours: 'bloom' } as const;

function written(what: string, job: string, goal: number): ProcessFigure {
  return { ...time, what, state: 'new', ourJob: job, job, others: [[CPP, goal], ['classic-level'], ['goleveldb'], ['rusty-leveldb']] };
}

function walk(what: string, ourJob: string, goal?: number, ours: ProcessFigure['ours'] = 'bloom'): ProcessFigure {
  return { ...time, ours, what, state: 'compacted', ourJob, job: 'scan', others: [[CPP, goal], ['classic-level'], ['goleveldb'], ['rusty-leveldb']] };
}

export const processFigures: readonly ProcessFigure[] = [
  written('write batches of 1,000 entries, keys in random order', 'fill-batches', 1.5),
  written('`put` in random order', 'fill-random', 1.7),
  written('`put` in ascending order', 'fill-ordered', 2.2),
  { ...time, what: '`compactRange` of a database that was written in random order', state: 'filled', ourJob: 'compact', job: 'compact', others: [[CPP, 1.3], ['classic-level'], ['goleveldb'], ['rusty-leveldb']] },
  walk('iterate with a synchronous cursor', 'scan-sync-cursor', 1.3),
  walk('iterate with an asynchronous cursor', 'scan-cursor', 1.3),
  walk('iterate with `nextMany(1000)`', 'scan-many'),
  walk('iterate with `entries()`', 'scan-entries'),
  walk('iterate with `nextv(1000)` of a level', 'scan', 1.5, 'bloom-level'),
  { ...time, what: 'iterate backward with a synchronous cursor', state: 'compacted', ourJob: 'scan-reverse', job: 'scan-reverse', others: [[CPP]] },
  { ...time, what: 'iterate over the first tenth, asynchronously', state: 'compacted', ourJob: 'scan-cursor-first', job: 'scan-first', others: [[CPP, 5], ['classic-level'], ['goleveldb'], ['rusty-leveldb']] },
  { ...time, what: '`getSync` of a tenth, uncached', state: 'compacted', ourJob: 'get', job: 'get', others: [['classic-level', 1], [CPP], ['goleveldb'], ['rusty-leveldb']] },
  { ...time, what: '`getSync` of a tenth, uncached, stored without compression', state: 'plain', ourJob: 'get', job: 'get', others: [['classic-level', 1.4], [CPP], ['goleveldb'], ['rusty-leveldb']] },
  { ...time, what: '`getMany` of 100 keys, a tenth in all, uncached', state: 'compacted', ourJob: 'get-many', job: 'get-many', others: [['classic-level', 1.2]] },
  { ...time, what: '`getMany` of 100 keys, a tenth in all, uncached, stored without compression', state: 'plain', ourJob: 'get-many', job: 'get-many', others: [['classic-level', 1.2]] },
  { ...time, what: 'open and close', state: 'compacted', ourJob: 'open', job: 'open', others: [['classic-level'], [CPP]] },
  { measure: 'memory', ours: 'bloom', what: 'peak memory of `getSync` of as many keys as there are entries', state: 'compacted', ourJob: 'get-all', job: 'get-all', others: [['classic-level', 0.35], [CPP], ['goleveldb'], ['rusty-leveldb']] },
  { measure: 'memory', ours: 'bloom', what: 'peak memory of writing batches of 1,000 entries', state: 'new', ourJob: 'fill-batches', job: 'fill-batches', others: [['classic-level', 2], [CPP], ['goleveldb'], ['rusty-leveldb']] },
];
