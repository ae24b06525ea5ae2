// classic-level's part: LevelDB 1.20 as a database behind Node-API, with the same entries, compacted, without
// compression, its blocks in the cache.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { serve, type Work } from '../work.js';
import { allKeys, LOOKUPS, lookupKeys, separate, Values } from '../workload.js';

type Database = ClassicLevel<Uint8Array, Uint8Array>;

const folder = process.argv[2]!;
const BATCH = 1000;
const opened = new Map<number, Promise<Database>>();

const options = {
  keyEncoding: 'view',
  valueEncoding: 'view',
  compression: false,
  // Holds any table of the benchmark.
  cacheSize: 2 ** 31,
} as const;

async function openDatabase(n: number): Promise<Database> {
  const path = join(folder, `${n}.db`);
  const exists = existsSync(path);
  const db = new ClassicLevel<Uint8Array, Uint8Array>(path, options);
  await db.open();
  if (!exists) {
    const keys = separate(allKeys(n));
    const values = new Values();
    for (let i = 0; i < n; i += BATCH) {
      await db.batch(keys.slice(i, i + BATCH).map((key, j) => ({ type: 'put', key, value: values.at(i + j) })));
    }
    await db.compactRange(keys[0]!, keys[n - 1]!);
  }
  return db;
}

function database(n: number): Promise<Database> {
  let db = opened.get(n);
  if (db === undefined) opened.set(n, (db = openDatabase(n)));
  return db;
}

async function getSync(n: number, present: boolean): Promise<Work> {
  const db = await database(n);
  const lookups = separate(lookupKeys(n, present));
  let sum = 0;
  return {
    units: LOOKUPS,
    run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i++) {
        const value = db.getSync(lookups[i]!);
        if (value !== undefined) s += value[0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

async function get(n: number, present: boolean): Promise<Work> {
  const db = await database(n);
  const lookups = separate(lookupKeys(n, present));
  let sum = 0;
  return {
    units: LOOKUPS,
    async run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i++) {
        const value = await db.get(lookups[i]!);
        if (value !== undefined) s += value[0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

async function getMany(n: number): Promise<Work> {
  const db = await database(n);
  const lookups = separate(lookupKeys(n, true));
  let sum = 0;
  return {
    units: LOOKUPS,
    async run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i += 100) {
        for (const value of await db.getMany(lookups.slice(i, i + 100))) s += value![0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

async function iterator(n: number): Promise<Work> {
  const db = await database(n);
  let sum = 0;
  return {
    units: n,
    async run() {
      let s = 0;
      for await (const [key, value] of db.iterator()) s += key[key.length - 1]! + value[0]!;
      sum = s;
    },
    check: () => sum,
  };
}

async function nextv(n: number): Promise<Work> {
  const db = await database(n);
  let sum = 0;
  return {
    units: n,
    async run() {
      let s = 0;
      const walk = db.iterator();
      for (;;) {
        const entries = await walk.nextv(1000);
        if (entries.length === 0) break;
        for (const [key, value] of entries) s += key[key.length - 1]! + value[0]!;
      }
      await walk.close();
      sum = s;
    },
    check: () => sum,
  };
}

function open(n: number): Work {
  return {
    units: 1,
    async run() {
      const db = await openDatabase(n);
      await db.close();
    },
    check: () => n,
  };
}

await serve({
  iterator,
  nextv,
  'get-present-sync': (n) => getSync(n, true),
  'get-present': (n) => get(n, true),
  'get-many': getMany,
  'get-absent-sync': (n) => getSync(n, false),
  'get-absent': (n) => get(n, false),
  open,
});
