// The database folder of the figures named db-…, as a program leaves it: written by classic-level, which is LevelDB, in
// random order.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { allKeys, checksum, separate, Values } from './workload.js';

const BATCH = 1000;
/** Smaller than LevelDB's, so that 100,000 entries fill several levels. */
const BUFFER_BYTES = 1 << 20;
/** One entry in so many is written twice. */
const OVERWRITTEN = 10;
/**
 * The share of entries that is written until each opening but the first: the first part is compacted into level 2, the
 * second comes into levels 1 and 0, the third into level 0, and the rest is in the log.
 */
const PARTS = [0.6, 0.9, 0.99];

/** What both contenders have in common. classic-level's tables always have Bloom filters of 10 bits per key. */
export const databaseOptions = { keyEncoding: 'view', valueEncoding: 'view', compression: false } as const;

/**
 * As a program leaves it, with tables at several levels and a log; or compacted, with tables at one level. LevelDB
 * compacts its copy of the former as soon as lookups ask several tables, and from then on reads less than we do.
 */
export type DatabaseState = 'levels' | 'compacted';

/** Where the database of `n` entries is, within the folder of a run. */
export function databasePath(folder: string, n: number, state: DatabaseState): string {
  return join(folder, `database-${state}-${n}`);
}

/** Writes the database of `n` entries, unless it is there, and closes it. */
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
    // Opening it again makes a table of what is in the log.
    await db.close();
    db = await open();
    await put(order.slice(end, ends[i + 1]), (index) => values.at(index));
  }
  if (state === 'compacted') await db.compactRange(keys[0]!, keys[n - 1]!);
  await db.close();
  renameSync(unfinished, path);
}

/** LevelDB compacts level 0 when it has so many tables. */
const TRIGGER = 4;

/**
 * Waits for the compactions that LevelDB does by itself, and sees to it that opening the database, which makes another
 * table of level 0, starts none: then both contenders read the same tables.
 *
 * @param key one that the tables of level 0 have on both sides.
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
  if (n % prime === 0) throw new RangeError(`n must be no multiple of ${prime}, got ${n}`);
  return Array.from({ length: n }, (_, i) => (i * prime) % n);
}
