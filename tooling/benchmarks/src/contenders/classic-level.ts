// classic-level's part: LevelDB 1.20 behind Node-API, with the same entries, no compression and all blocks cached. Where
// others read a table, its database is compacted; where they read a database folder, it has a copy of that folder.
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { databaseOptions, databasePath, type DatabaseState, EntriesChecksum } from '../database.js';
import { levelJobs } from '../level-jobs.js';
import { get, getMany, getSync, scanAsync, type SyncReader } from '../lookups.js';
import { getByManyCallers, shortRanges, SMALL_CACHE_BYTES, type UncachedDatabase } from '../uncached-database.js';
import { serve, type Work } from '../work.js';
import { allKeys, separate, Values } from '../workload.js';
import { type WrittenDatabase, writtenDatabaseJobs } from '../written-database.js';

type Database = ClassicLevel<Uint8Array, Uint8Array>;

const folder = process.argv[2]!;
/** The folder of the databases that contenders share. */
const sharedFolder = process.argv[3]!;
const BATCH = 1000;
const opened = new Map<string, Promise<Database>>();

const options = {
  ...databaseOptions,
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

/** Opens a copy of the folder that @bloom/leveldb reads, because opening a database turns its log into a table. */
async function openCopy(n: number, state: DatabaseState, cacheSize = options.cacheSize): Promise<Database> {
  const path = join(folder, `copy-${state}-${n}-${cacheSize}.db`);
  if (!existsSync(path)) cpSync(databasePath(sharedFolder, n, state), path, { recursive: true });
  const db = new ClassicLevel<Uint8Array, Uint8Array>(path, { ...options, cacheSize });
  await db.open();
  return db;
}

const SYNC = { sync: true } as const;

function once(name: string, open: () => Promise<Database>): Promise<Database> {
  let db = opened.get(name);
  if (db === undefined) opened.set(name, (db = open()));
  return db;
}

const database = (n: number): Promise<Database> => once(`database ${n}`, () => openDatabase(n));
const copy = (n: number, state: DatabaseState = 'levels'): Promise<Database> => once(`copy ${state} ${n}`, () => openCopy(n, state));
const uncached = (n: number): Promise<Database> => once(`uncached ${n}`, () => openCopy(n, 'levels', SMALL_CACHE_BYTES));

function synchronous(db: Database): SyncReader {
  return { get: (key) => db.getSync(key) };
}

function asUncached(db: Database): UncachedDatabase {
  return { get: (key) => db.get(key), range: (gte, limit) => db.iterator({ gte, limit }) };
}

async function iterator(n: number): Promise<Work> {
  const db = await database(n);
  return scanAsync(n, () => db.iterator());
}

function nextv(db: Database, n: number): Work {
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

async function entries(n: number, reverse: boolean): Promise<Work> {
  const db = await copy(n);
  const all = new EntriesChecksum();
  for await (const [key, value] of db.iterator({ reverse })) all.add(key, value);
  return scanAsync(n, () => db.iterator({ reverse }), all.sum);
}

function open(openIt: (n: number) => Promise<Database>, n: number): Work {
  return {
    units: 1,
    async run() {
      const db = await openIt(n);
      await db.close();
    },
    check: () => n,
  };
}

async function openWritten(path: string): Promise<WrittenDatabase> {
  const db = new ClassicLevel<Uint8Array, Uint8Array>(path, options);
  await db.open();
  return {
    put: (key, value) => db.put(key, value),
    putSync: (key, value) => db.put(key, value, SYNC),
    get: (key) => db.get(key),
    getSync: (key) => db.getSync(key),
    batch: (keys, valueOf) => db.batch(keys.map((key, i) => ({ type: 'put', key, value: valueOf(i) }))),
    entries: () => db.iterator(),
    compact: (first, last) => db.compactRange(first, last),
    close: () => db.close(),
  };
}

await serve({
  ...writtenDatabaseJobs(folder, openWritten),
  ...levelJobs('level', folder, (path, options) => new ClassicLevel(path, options), true),
  iterator,
  nextv: async (n) => nextv(await database(n), n),
  'get-present-sync': async (n) => getSync(synchronous(await database(n)), n, true),
  'get-present': async (n) => get(await database(n), n, true),
  'get-many': async (n) => getMany(await database(n), n),
  'get-absent-sync': async (n) => getSync(synchronous(await database(n)), n, false),
  'get-absent': async (n) => get(await database(n), n, false),
  open: (n) => open(openDatabase, n),
  'db-open': (n) => open((size) => openCopy(size, 'levels'), n),
  'db-get-present': async (n) => get(await copy(n), n, true),
  'db-get-absent': async (n) => get(await copy(n), n, false),
  'db-get-present-sync': async (n) => getSync(synchronous(await copy(n)), n, true),
  'db-get-absent-sync': async (n) => getSync(synchronous(await copy(n)), n, false),
  'db-compacted-get-present-sync': async (n) => getSync(synchronous(await copy(n, 'compacted')), n, true),
  'db-compacted-get-absent-sync': async (n) => getSync(synchronous(await copy(n, 'compacted')), n, false),
  'db-get-many': async (n) => getMany(await copy(n), n),
  'db-uncached-get': async (n) => get(await uncached(n), n, true),
  'db-uncached-get-16': async (n) => getByManyCallers(asUncached(await uncached(n)), n),
  'db-uncached-get-many': async (n) => getMany(await uncached(n), n),
  'db-uncached-range': async (n) => shortRanges(asUncached(await uncached(n)), n),
  'db-uncached-get-sync': async (n) => getSync(synchronous(await uncached(n)), n, true),
  'db-entries': (n) => entries(n, false),
  'db-next-many': async (n) => nextv(await copy(n), n),
  'db-entries-reverse': (n) => entries(n, true),
});
