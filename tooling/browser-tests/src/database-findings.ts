import { allCodecs } from '@bloom/codecs';
import { formatKv, type KeyValue } from '@bloom/fixtures/kv';
import { DatabaseReader, type Folder, type ReaderOptions } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';

/** What a page or Node reads from a database. Hashes are SHA-256, in hexadecimal, of entries in their `.kv` form. */
export interface DatabaseFindings {
  /** The number of tables at each level. */
  readonly levels: readonly number[];
  readonly filterStatus: string;
  readonly entries: number;
  readonly forwards: string;
  /** Read from the last entry to the first, and reversed before hashing. */
  readonly backwards: string;
  /** The keys, with the values that `getMany` returns for them. */
  readonly lookups: string;
  /** How many absent keys got a value, and how often a filter ruled out an absent key. */
  readonly wronglyPresent: number;
  readonly filterNegatives: number;
}

/** @param isIndexedDb whether the database is one of Chromium's IndexedDB. */
export async function databaseFindings(folder: Folder, isIndexedDb: boolean): Promise<DatabaseFindings> {
  const options: ReaderOptions = isIndexedDb ? { comparators: [idbComparator], filterPolicies: [idbFilterPolicy] } : {};
  const database = await DatabaseReader.open(folder, { ...options, codecs: allCodecs });
  try {
    const entries = await collect(database.entries());
    const backwards = await collect(database.entries({ reverse: true }));
    const values = await database.getMany(entries.map(([key]) => key));
    const found = entries.flatMap(([key], i): KeyValue[] => (values[i] === undefined ? [] : [[key, values[i]]]));
    const absent = await database.getMany(entries.map(([key]) => Uint8Array.of(...key, 0)));
    return {
      levels: database.describe().levels.map((tables) => tables.length),
      filterStatus: database.filterStatus.state,
      entries: entries.length,
      forwards: await hash(entries),
      backwards: await hash(backwards.reverse()),
      lookups: await hash(found),
      wronglyPresent: absent.filter((value) => value !== undefined).length,
      filterNegatives: database.stats.filterNegatives,
    };
  } finally {
    await database.close();
  }
}

async function collect(entries: AsyncIterable<KeyValue>): Promise<KeyValue[]> {
  const all: KeyValue[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

async function hash(entries: readonly KeyValue[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', formatKv(entries));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
