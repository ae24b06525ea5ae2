// Jobs that read blocks that are only in the OS page cache. Each contender looks keys up and scans in its own way.
import type { Work } from './work.js';
import { LOOKUPS, lookupKeys, separate } from './workload.js';

/** The cache of the contenders: a few of the thousands of blocks. */
export const SMALL_CACHE_BYTES = 64 * 2 ** 10;
/** The number of concurrent callers. */
const CALLERS = 16;
/** The entries that a short range has. */
const RANGE_ENTRIES = 10;

/** A database with an almost empty cache. */
export interface UncachedDatabase {
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** The first `limit` entries from `gte` on. */
  range(gte: Uint8Array, limit: number): AsyncIterable<readonly [Uint8Array, Uint8Array]>;
}

export function getByManyCallers(database: UncachedDatabase, n: number): Work {
  const lookups = separate(lookupKeys(n, true));
  let sum = 0;
  return {
    units: LOOKUPS,
    async run() {
      let s = 0;
      const caller = async (first: number): Promise<void> => {
        for (let i = first; i < lookups.length; i += CALLERS) {
          const value = await database.get(lookups[i]!);
          s += value![0]!;
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)));
      sum = s;
    },
    check: () => sum,
  };
}

export function shortRanges(database: UncachedDatabase, n: number): Work {
  const starts = separate(lookupKeys(n, true)).slice(0, LOOKUPS / RANGE_ENTRIES);
  let sum = 0;
  return {
    units: starts.length,
    async run() {
      let s = 0;
      for (const gte of starts) for await (const [key, value] of database.range(gte, RANGE_ENTRIES)) s += key[key.length - 1]! + value[0]!;
      sum = s;
    },
    check: () => sum,
  };
}
