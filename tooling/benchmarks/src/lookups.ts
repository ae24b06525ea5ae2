// The lookups and scans that contenders have in common. Each contender is a process of its own, so their calls stay monomorphic.
import type { Work } from './work.js';
import { LOOKUPS, lookupKeys, separate } from './workload.js';

export interface SyncReader {
  get(key: Uint8Array): Uint8Array | undefined;
}

export interface Reader {
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  getMany(keys: Uint8Array[]): Promise<readonly (Uint8Array | undefined)[]>;
}

export function getSync(reader: SyncReader, n: number, present: boolean): Work {
  const lookups = separate(lookupKeys(n, present));
  let sum = 0;
  return {
    units: LOOKUPS,
    run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i++) {
        const value = reader.get(lookups[i]!);
        if (value !== undefined) s += value[0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

export function get(reader: Pick<Reader, 'get'>, n: number, present: boolean): Work {
  const lookups = separate(lookupKeys(n, present));
  let sum = 0;
  return {
    units: LOOKUPS,
    async run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i++) {
        const value = await reader.get(lookups[i]!);
        if (value !== undefined) s += value[0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

export function getMany(reader: Pick<Reader, 'getMany'>, n: number): Work {
  const lookups = separate(lookupKeys(n, true));
  let sum = 0;
  return {
    units: LOOKUPS,
    async run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i += 100) {
        for (const value of await reader.getMany(lookups.slice(i, i + 100))) s += value![0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

/** Walks through `n` entries with `for await`. `others` is combined with the checksum. */
export function scanAsync(n: number, open: () => AsyncIterable<readonly [Uint8Array, Uint8Array]>, others = 0): Work {
  let sum = 0;
  return {
    units: n,
    async run() {
      let s = 0;
      for await (const [key, value] of open()) s += key[key.length - 1]! + value[0]!;
      sum = s;
    },
    check: () => sum ^ others,
  };
}
