// lmdb's part: a B+ tree in a mapped file, with the same entries, read without promises and without checksums.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { getMany, getSync } from '../lookups.js';
import { getByManyCallers, shortRanges, type UncachedDatabase } from '../uncached-database.js';
import { serve } from '../work.js';
import { allKeys, separate, Values } from '../workload.js';

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
  'db-uncached-get': (n) => getSync(database(n), n, true),
  'db-uncached-get-16': (n) => getByManyCallers(asUncached(database(n)), n),
  'db-uncached-get-many': (n) => getMany(database(n), n),
  'db-uncached-range': (n) => shortRanges(asUncached(database(n)), n),
  'db-uncached-get-sync': (n) => getSync(database(n), n, true),
});
