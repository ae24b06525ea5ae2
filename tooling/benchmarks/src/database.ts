// The database folder of the figures named db-…, as a program leaves it: written by classic-level, which is LevelDB, in
// random order.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { allKeys, checksum, separate, Values } from './workload.js';

const BATCH = 1000;
/** Smaller than LevelDB's, so that 100,000 entries fill several levels. */
const BUFFER_BYTES = 1 << 20;
/** One entry in so many is written twice. */
const OVERWRITTEN = 10;
/** One entry in so many is in the log and in no table. */
const LOGGED = 100;

/** What both contenders have in common. classic-level's tables always have Bloom filters of 10 bits per key. */
export const databaseOptions = { keyEncoding: 'view', valueEncoding: 'view', compression: false } as const;

/** Where the database of `n` entries is, within the folder of a run. */
export function databasePath(folder: string, n: number): string {
  return join(folder, `database-${n}`);
}

/** Writes the database of `n` entries, unless it is there, and closes it. */
export async function writeDatabase(folder: string, n: number): Promise<void> {
  const path = databasePath(folder, n);
  if (existsSync(path)) return;
  const unfinished = `${path}.tmp`;
  const keys = separate(allKeys(n));
  const values = new Values();
  const logged = Math.ceil(n / LOGGED);
  const order = shuffled(n);
  const put = async (indexes: readonly number[], valueOf: (i: number) => Uint8Array): Promise<void> => {
    const db = new ClassicLevel<Uint8Array, Uint8Array>(unfinished, { ...databaseOptions, writeBufferSize: BUFFER_BYTES });
    await db.open();
    for (let i = 0; i < indexes.length; i += BATCH) {
      await db.batch(indexes.slice(i, i + BATCH).map((index) => ({ type: 'put', key: keys[index]!, value: valueOf(index) })));
    }
    await db.close();
  };
  const overwritten = order.filter((_, i) => i % OVERWRITTEN === 0);
  await put(overwritten, (i) => values.at(i + 1));
  await put(order.slice(0, n - logged), (i) => values.at(i));
  // Opening it again makes a table of what is in the log.
  await put(order.slice(n - logged), (i) => values.at(i));
  renameSync(unfinished, path);
}

/** A checksum of all entries, a uint32, to compare the databases of two contenders. */
export class EntriesChecksum {
  sum = 0;

  add(key: Uint8Array, value: Uint8Array): void {
    this.sum = (Math.imul(this.sum, 31) + (checksum(key) ^ Math.imul(checksum(value), 17))) >>> 0;
  }
}

/** The numbers below `n` in an order that looks random: multiples of a prime that does not divide `n`. */
function shuffled(n: number): number[] {
  const prime = 7_919;
  if (n % prime === 0) throw new RangeError(`n must be no multiple of ${prime}, got ${n}`);
  return Array.from({ length: n }, (_, i) => (i * prime) % n);
}
