// The jobs named db-write-…: writes and reads of a database, the same for every contender that implements WrittenDatabase.
// leveldb-bench.cc has them in C++, except those with several callers.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { shuffled } from './database.js';
import type { Jobs, Work } from './work.js';
import { allKeys, KEY_LENGTH, LOOKUPS, lookupKeys, separate, Values } from './workload.js';

const BATCH = 1000;
/** The number of concurrent callers in the mixed work. Each waits for one call before it makes the next. */
const CALLERS = 4;

/** A database that is written and read. */
export interface WrittenDatabase {
  put(key: Uint8Array, value: Uint8Array): Promise<void>;
  putSync(key: Uint8Array, value: Uint8Array): Promise<void>;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  getSync(key: Uint8Array): Uint8Array | undefined;
  batch(keys: readonly Uint8Array[], valueOf: (i: number) => Uint8Array): Promise<void>;
  entries(): AsyncIterable<[Uint8Array, Uint8Array]>;
  compact(first: Uint8Array, last: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Opens a database: no compression, LevelDB's sizes of memtable and table, blocks cached, filters of 10 bits per key. */
export type OpenWritten = (path: string) => Promise<WrittenDatabase>;

/** Keys in one array. With an object for each, most of the garbage collector's work would be the benchmark's own. */
class Keys {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  at(i: number): Uint8Array {
    return this.#bytes.subarray(i * KEY_LENGTH, (i + 1) * KEY_LENGTH);
  }
}

/** The jobs on databases in a folder. */
export function writtenDatabaseJobs(folder: string, open: OpenWritten): Jobs {
  /** A job on a database that is new, or filled, before each run; with `once`, before the first run only. */
  function job(state: 'new' | 'filled', once: boolean, run: (database: WrittenDatabase, input: Input) => Promise<number | undefined>): (n: number) => Work {
    return (n) => {
      const path = join(folder, `written-${n}`);
      const input = new Input(n);
      let database: WrittenDatabase | undefined;
      let sum: number | undefined;
      const work: Work = {
        units: n,
        async before() {
          if (once && database !== undefined) return;
          await database?.close();
          rmSync(path, { recursive: true, force: true });
          database = await open(path);
          if (state === 'filled') await fill(database, input);
        },
        async run() {
          sum = await run(database!, input);
        },
        check: async () => sum ?? sumOf(database!),
      };
      return work;
    };
  }

  /** A job that looks up keys in a database that is filled. */
  const lookups = (present: boolean, sumOfGets: (database: WrittenDatabase, keys: readonly Uint8Array[]) => Promise<number>): ((n: number) => Work) => {
    return (n) => {
      const keys = separate(lookupKeys(n, present));
      return { ...job('filled', true, (database) => sumOfGets(database, keys))(n), units: LOOKUPS };
    };
  };

  const get = async (database: WrittenDatabase, keys: readonly Uint8Array[]): Promise<number> => {
    let sum = 0;
    for (let i = 0; i < keys.length; i++) sum += (await database.get(keys[i]!))?.[0] ?? 0;
    return sum;
  };

  const getSync = (database: WrittenDatabase, keys: readonly Uint8Array[]): Promise<number> => {
    let sum = 0;
    for (let i = 0; i < keys.length; i++) sum += database.getSync(keys[i]!)?.[0] ?? 0;
    return Promise.resolve(sum);
  };

  return {
    'db-write-put-sequential': job('new', false, async (database, { n, keys, values }) => {
      for (let i = 0; i < n; i++) await database.put(keys.at(i), values.at(i));
      return undefined;
    }),
    'db-write-put-random': job('new', false, async (database, { n, order, keys, values }) => {
      for (let i = 0; i < n; i++) await database.put(keys.at(order[i]!), values.at(order[i]!));
      return undefined;
    }),
    'db-write-put-sync': job('new', false, async (database, { n, order, keys, values }) => {
      for (let i = 0; i < n; i++) await database.putSync(keys.at(order[i]!), values.at(order[i]!));
      return undefined;
    }),
    'db-write-batches': job('new', false, async (database, input) => {
      await fill(database, input);
      return undefined;
    }),
    'db-write-overwrite': job('filled', false, async (database, { n, order, keys, values }) => {
      for (let i = 0; i < n; i++) await database.put(keys.at(order[i]!), values.at(order[i]! + 1));
      return undefined;
    }),
    'db-write-compact': job('filled', false, async (database, { n, keys }) => {
      await database.compact(keys.at(0), keys.at(n - 1));
      return undefined;
    }),
    'db-write-get-present': lookups(true, get),
    'db-write-get-absent': lookups(false, get),
    'db-write-get-present-sync': lookups(true, getSync),
    'db-write-entries': job('filled', true, (database) => sumOf(database)),
    'db-write-mixed': job('filled', true, mix),
    // Measures how long the event loop is blocked by the work, not how long the work takes.
    'db-write-mixed-pause': (n) => {
      const pause = new LongestPause();
      const work = job('filled', true, async (database, input) => {
        pause.start();
        const sum = await mix(database, input);
        pause.stop();
        return sum;
      })(n);
      return { ...work, units: 1, measured: () => pause.nanoseconds };
    },
  };
}

class Input {
  readonly n: number;
  readonly keys: Keys;
  readonly values = new Values();
  /** The entries in an order that looks random. */
  readonly order: Uint32Array;

  constructor(n: number) {
    this.n = n;
    this.keys = new Keys(allKeys(n));
    this.order = Uint32Array.from(shuffled(n));
  }
}

/** Writes all entries in random order, a thousand at a time. */
async function fill(database: WrittenDatabase, { n, order, keys, values }: Input): Promise<void> {
  for (let i = 0; i < n; i += BATCH) {
    const part = order.subarray(i, i + BATCH);
    await database.batch(Array.from(part, (index) => keys.at(index)), (j) => values.at(part[j]!));
  }
}

/** Alternates between a put and a get of a present key. */
async function mix(database: WrittenDatabase, { n, order, keys, values }: Input): Promise<number> {
  let next = 0;
  let sum = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (next < n) {
        const i = next++;
        const index = order[i]!;
        if (i % 2 === 0) {
          await database.put(keys.at(index), values.at(index));
          continue;
        }
        const value = await database.get(keys.at(index));
        sum += value![0]!;
      }
    }),
  );
  return sum;
}

async function sumOf(database: WrittenDatabase): Promise<number> {
  let sum = 0;
  for await (const [key, value] of database.entries()) sum += key[key.length - 1]! + value[0]!;
  return sum;
}

/** Measures the longest time between two turns of the event loop. */
class LongestPause {
  nanoseconds = 0;
  #last = 0n;
  #isOn = false;

  start(): void {
    this.nanoseconds = 0;
    this.#last = process.hrtime.bigint();
    this.#isOn = true;
    setImmediate(() => this.#turn());
  }

  stop(): void {
    this.#isOn = false;
  }

  #turn(): void {
    if (!this.#isOn) return;
    const now = process.hrtime.bigint();
    this.nanoseconds = Math.max(this.nanoseconds, Number(now - this.#last));
    this.#last = now;
    setImmediate(() => this.#turn());
  }
}
