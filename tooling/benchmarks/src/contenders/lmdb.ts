// lmdb's part: a B+ tree in a mapped file, with the same entries, read without promises and without checksums.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { getByManyCallers, shortRanges, type UncachedDatabase } from '../uncached-database.js';
import { serve, type Work } from '../work.js';
import { allKeys, LOOKUPS, lookupKeys, separate, Values } from '../workload.js';

type Database = RootDatabase<Uint8Array, Uint8Array>;

const folder = process.argv[2]!;
const opened = new Map<number, Database>();

function database(n: number): Database {
  let db = opened.get(n);
  if (db !== undefined) return db;
  const path = join(folder, `${n}.lmdb`);
  const exists = existsSync(path);
  db = open<Uint8Array, Uint8Array>({ path, keyEncoding: 'binary', encoding: 'binary', noSync: true });
  if (!exists) fill(db, n);
  opened.set(n, db);
  return db;
}

function fill(db: Database, n: number): void {
  const keys = separate(allKeys(n));
  const values = new Values();
  db.transactionSync(() => {
    for (let i = 0; i < n; i++) db.putSync(keys[i]!, values.at(i));
  });
}

function get(n: number): Work {
  const db = database(n);
  const lookups = separate(lookupKeys(n, true));
  let sum = 0;
  return {
    units: LOOKUPS,
    run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i++) s += db.get(lookups[i]!)![0]!;
      sum = s;
    },
    check: () => sum,
  };
}

function getMany(n: number): Work {
  const db = database(n);
  const lookups = separate(lookupKeys(n, true));
  let sum = 0;
  return {
    units: LOOKUPS,
    async run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i += 100) for (const value of await db.getMany(lookups.slice(i, i + 100))) s += value![0]!;
      sum = s;
    },
    check: () => sum,
  };
}

function asUncached(db: Database): UncachedDatabase {
  return {
    get: (key) => Promise.resolve(db.get(key)),
    range: (start, limit) => entriesOf(db.getRange({ start, limit })),
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- the entries are at hand, others have to wait for theirs
async function* entriesOf(range: Iterable<{ key: Uint8Array; value: Uint8Array }>): AsyncGenerator<[Uint8Array, Uint8Array], void, undefined> {
  for (const { key, value } of range) yield [key, value];
}

await serve({
  'db-uncached-get': get,
  'db-uncached-get-16': (n) => getByManyCallers(asUncached(database(n)), n),
  'db-uncached-get-many': getMany,
  'db-uncached-range': (n) => shortRanges(asUncached(database(n)), n),
  'db-uncached-get-sync': get,
});
