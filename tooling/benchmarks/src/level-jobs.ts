// The jobs named level-…: what programs do with a level, the same for every abstract-level. Keys and values are text, as they mostly are.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { databasePath, shuffled } from './database.js';
import { SMALL_CACHE_BYTES } from './uncached-database.js';
import type { Jobs, Work } from './work.js';
import { allKeys, LOOKUPS, lookupKeys, separate } from './workload.js';

const BATCH = 1000;
const MANY = 100;

/** The methods of an abstract-level that are used. */
export interface MeasuredLevel {
  open(): Promise<void>;
  close(): Promise<void>;
  put(key: string, value: string): Promise<void>;
  get(key: string): Promise<string | undefined>;
  getMany(keys: string[]): Promise<(string | undefined)[]>;
  batch(operations: { readonly type: 'put'; readonly key: string; readonly value: string }[]): Promise<void>;
  clear(): Promise<void>;
  iterator(): AsyncIterable<[string, string]> & { nextv(size: number): Promise<[string, string][]>; close(): Promise<void> };
}

/** The options that jobs give. All others are the level's defaults, so blocks are compressed. */
export interface MeasuredOptions {
  readonly cacheSize: number;
  readonly compression?: false;
}

/** Creates the level for a path, without opening it. */
export type MakeLevel = (path: string, options: MeasuredOptions) => MeasuredLevel;

/** The cache holds any database of the benchmark. */
const CACHED: MeasuredOptions = { cacheSize: 2 ** 30 };
const UNCACHED: MeasuredOptions = { cacheSize: SMALL_CACHE_BYTES };
const UNCOMPRESSED: MeasuredOptions = { ...UNCACHED, compression: false };

const decoder = new TextDecoder();
const textsOf = (keys: Uint8Array): string[] => separate(keys).map((key) => decoder.decode(key));
/** The value of entry `i`, of 100 bytes. */
const valueOf = (i: number): string => String(i).padStart(10, '0').repeat(10);

/**
 * The jobs on levels.
 *
 * @param prefix of their names.
 * @param isOnDisk whether writes persist when the path is opened again.
 */
export function levelJobs(prefix: string, folder: string, make: MakeLevel, isOnDisk: boolean): Jobs {
  const filled = new Map<string, Promise<MeasuredLevel>>();

  async function fill(level: MeasuredLevel, n: number): Promise<void> {
    const keys = textsOf(allKeys(n));
    const order = shuffled(n);
    for (let i = 0; i < n; i += BATCH) await level.batch(order.slice(i, i + BATCH).map((index) => ({ type: 'put', key: keys[index]!, value: valueOf(index) })));
  }

  /** A level with `n` entries. */
  function levelOf(n: number, options = CACHED): Promise<MeasuredLevel> {
    const name = `${prefix}-filled-${n}-${options.cacheSize}${options.compression === false ? '-uncompressed' : ''}`;
    let level = filled.get(name);
    if (level === undefined) {
      const fillOne = async (): Promise<MeasuredLevel> => {
        const path = join(folder, name);
        // An earlier figure has left it there: filled once more, it would have two versions of each key, and each walk pass one of them.
        rmSync(path, { recursive: true, force: true });
        const made = make(path, options);
        await made.open();
        await fill(made, n);
        return made;
      };
      filled.set(name, (level = fillOne()));
    }
    return level;
  }

  /** A job on a level that is new for each run. */
  function onNew(run: (level: MeasuredLevel, n: number, keys: readonly string[], order: readonly number[]) => Promise<void>, isFilled = false) {
    return (n: number): Work => {
      const path = join(folder, `${prefix}-new-${n}`);
      const keys = textsOf(allKeys(n));
      const order = shuffled(n);
      let level: MeasuredLevel | undefined;
      return {
        units: n,
        async before() {
          await level?.close();
          rmSync(path, { recursive: true, force: true });
          level = make(path, CACHED);
          await level.open();
          if (isFilled) await fill(level, n);
        },
        run: () => run(level!, n, keys, order),
        check: () => sumOf(level!),
      };
    };
  }

  /** A job that reads, whose answers add up to the same for everybody. */
  function reading(units: (n: number) => number, run: (level: MeasuredLevel, n: number) => () => Promise<number>, options?: MeasuredOptions) {
    return async (n: number): Promise<Work> => {
      const once = run(await levelOf(n, options), n);
      let sum = 0;
      return {
        units: units(n),
        async run() {
          sum = await once();
        },
        check: () => sum,
      };
    };
  }

  const lookups = () => LOOKUPS;
  const get = (level: MeasuredLevel, n: number) => {
    const keys = textsOf(lookupKeys(n, true));
    return async () => {
      let sum = 0;
      for (let i = 0; i < keys.length; i++) sum += (await level.get(keys[i]!))!.length;
      return sum;
    };
  };
  const getMany = (level: MeasuredLevel, n: number) => {
    const keys = textsOf(lookupKeys(n, true));
    const groups = Array.from({ length: keys.length / MANY }, (_, i) => keys.slice(i * MANY, (i + 1) * MANY));
    return async () => {
      let sum = 0;
      for (const group of groups) for (const value of await level.getMany(group)) sum += value!.length;
      return sum;
    };
  };

  const jobs: Record<string, (n: number) => Work | Promise<Work>> = {
    put: onNew(async (level, n, keys, order) => {
      for (let i = 0; i < n; i++) await level.put(keys[order[i]!]!, valueOf(order[i]!));
    }),
    batch: onNew(async (level, n, keys, order) => {
      for (let i = 0; i < n; i += BATCH) await level.batch(order.slice(i, i + BATCH).map((index) => ({ type: 'put', key: keys[index]!, value: valueOf(index) })));
    }),
    clear: onNew((level) => level.clear(), true),
    get: reading(lookups, get),
    'get-many': reading(lookups, getMany),
    'for-await': reading((n) => n, (level) => () => sumOf(level)),
    nextv: reading(
      (n) => n,
      (level) => async () => {
        let sum = 0;
        const iterator = level.iterator();
        for (let some = await iterator.nextv(BATCH); some.length > 0; some = await iterator.nextv(BATCH)) {
          for (const [key, value] of some) sum += key.length + value.length;
        }
        await iterator.close();
        return sum;
      },
    ),
  };
  if (isOnDisk) {
    jobs['uncached-get'] = reading(lookups, get, UNCACHED);
    jobs['uncached-get-many'] = reading(lookups, getMany, UNCACHED);
    jobs['uncompressed-get'] = reading(lookups, get, UNCOMPRESSED);
    jobs['uncompressed-get-many'] = reading(lookups, getMany, UNCOMPRESSED);
    jobs.open = openJob;
  }
  return Object.fromEntries(Object.entries(jobs).map(([name, job]) => [`${prefix}-${name}`, job]));

  /** Opens and closes a copy of the database that contenders share. */
  function openJob(n: number): Work {
    const path = join(folder, `${prefix}-opened-${n}`);
    cpSync(databasePath(join(folder, '..'), n, 'levels'), path, { recursive: true });
    return {
      units: 1,
      async run() {
        const level = make(path, CACHED);
        await level.open();
        await level.close();
      },
      check: () => n,
    };
  }
}

async function sumOf(level: MeasuredLevel): Promise<number> {
  let sum = 0;
  for await (const [key, value] of level.iterator()) sum += key.length + value.length;
  return sum;
}
