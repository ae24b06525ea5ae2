// Writes the database folder for the figures named db-…, in the state in which a program would leave it: classic-level,
// which is LevelDB, puts the entries in random order.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { allKeys, checksum, separate, Values } from './workload.js';

const BATCH = 1000;
/** Smaller than LevelDB's, so that 100,000 entries fill several levels. */
const BUFFER_BYTES = 1 << 20;
/** One in this many entries is written twice. */
const OVERWRITTEN = 10;
/**
 * The fraction of entries that is written before each time the database is reopened. The first part is compacted into
 * level 2, the second goes to levels 1 and 0, the third to level 0, and the rest stays in the log.
 */
const PARTS = [0.6, 0.9, 0.99];

/** How classic-level writes and opens databases. Its tables always have Bloom filters of 10 bits per key. */
export const databaseOptions = { keyEncoding: 'view', valueEncoding: 'view', compression: false } as const;

/**
 * `levels`: tables at several levels and a log, as a program leaves it. `compacted`: tables at one level. LevelDB compacts
 * its copy of the former once lookups read several tables, and from then on reads less than we do.
 */
export type DatabaseState = 'levels' | 'compacted';

/** Where the database of `n` entries is, within the folder of a run. */
export function databasePath(folder: string, n: number, state: DatabaseState): string {
  return join(folder, `database-${state}-${n}`);
}

/** Writes the database of `n` entries unless it exists. */
export async function writeDatabase(folder: string, n: number, state: DatabaseState): Promise<void> {
  const path = databasePath(folder, n, state);
  if (existsSync(path)) return;
  const unfinished = `${path}.tmp`;
  const keys = separate(allKeys(n));
  const values = new Values();
  const order = shuffled(n);
  const open = async (): Promise<ClassicLevel<Uint8Array, Uint8Array>> => {
    const db = new ClassicLevel<Uint8Array, Uint8Array>(unfinished, { ...databaseOptions, writeBufferSize: BUFFER_BYTES });
    await db.open();
    await settle(db, keys[n >> 1]!);
    return db;
  };
  let db = await open();
  const put = async (indexes: readonly number[], valueOf: (i: number) => Uint8Array): Promise<void> => {
    for (let i = 0; i < indexes.length; i += BATCH) {
      await db.batch(indexes.slice(i, i + BATCH).map((index) => ({ type: 'put', key: keys[index]!, value: valueOf(index) })));
    }
  };
  await put(order.filter((_, i) => i % OVERWRITTEN === 0), (i) => values.at(i + 1));
  const ends = PARTS.map((part) => Math.floor(part * n));
  await put(order.slice(0, ends[0]), (i) => values.at(i));
  await db.compactRange(keys[0]!, keys[n - 1]!);
  for (const [i, end] of ends.entries()) {
    // Reopening turns the log into a table.
    await db.close();
    db = await open();
    await put(order.slice(end, ends[i + 1]), (index) => values.at(index));
  }
  if (state === 'compacted') await db.compactRange(keys[0]!, keys[n - 1]!);
  await db.close();
  renameSync(unfinished, path);
}

/** LevelDB compacts level 0 when it has this many tables. */
const TRIGGER = 4;

/**
 * Waits for LevelDB's automatic compactions, and makes sure that opening the database, which adds a table to level 0, does
 * not start another, so that both contenders read the same tables.
 *
 * @param key a key within the range of each table at level 0.
 */
async function settle(db: ClassicLevel<Uint8Array, Uint8Array>, key: Uint8Array): Promise<void> {
  const atLevel0 = (): number => Number(db.getProperty('leveldb.num-files-at-level0'));
  while (atLevel0() >= TRIGGER) await setTimeout(10);
  if (atLevel0() === TRIGGER - 1) await db.compactRange(key, key);
}

/** A checksum of all entries, a uint32, to compare the databases of two contenders. */
export class EntriesChecksum {
  sum = 0;

  add(key: Uint8Array, value: Uint8Array): void {
    this.sum = (Math.imul(this.sum, 31) + (checksum(key) ^ Math.imul(checksum(value), 17))) >>> 0;
  }
}

/** The numbers below `n` in an order that looks random: multiples of a prime that does not divide `n`. */
export function shuffled(n: number): number[] {
  const prime = 7_919;
  if (n % prime === 0) throw new RangeError(`n must not be a multiple of ${prime}, got ${n}`);
  return Array.from({ length: n }, (_, i) => (i * prime) % n);
}
