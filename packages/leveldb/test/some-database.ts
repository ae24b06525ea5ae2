import { type KeyValue, seeded } from '@bloom/fixtures';
import { Database, type DatabaseOptions, DatabaseReader, type Folder, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { expect } from 'vitest';
import { collect } from './collect.js';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** Options with which a database of a hundred kilobytes has several levels. */
export const small: DatabaseOptions = { writeBufferSize: 65_536, maxFileSize: 2 ** 20, blockSize: 1024, compression: 'none', lock: 'none' };

/** The entries of a database. Fails unless lookups find the same. */
export async function entriesOf(folder: Folder): Promise<KeyValue[]> {
  const reader = await DatabaseReader.open(folder, { comparators: [reverseComparator] });
  const entries = await collect(reader.entries());
  const values = await reader.getMany(entries.map(([key]) => key));
  expect(values.map((value) => value && text(value))).toEqual(entries.map(([, value]) => text(value)));
  await reader.close();
  return entries;
}

/** Fails if `verifyDatabase` finds anything. */
export async function mustBeSound(folder: Folder): Promise<void> {
  expect((await verifyDatabase(folder, { comparators: [reverseComparator] })).findings).toEqual([]);
}

/** The files of a database, its entries, and all values that each key ever had. */
export interface SomeDatabase {
  readonly files: Map<string, Uint8Array>;
  readonly entries: Map<string, string>;
  readonly history: Map<string, Set<string>>;
}

/** A random database with several levels, deletions and overwritten keys, and a log. */
export async function someDatabase(seed: number, options = small): Promise<SomeDatabase> {
  const random = seeded(seed);
  const folder = new WritableMemoryFolder();
  let database = await Database.open(folder, options);
  const entries = new Map<string, string>();
  const history = new Map<string, Set<string>>();
  for (let i = 0; i < 900; i++) {
    const batch = new WriteBatch();
    for (let j = random.below(4); j >= 0; j--) {
      const key = `key${random.below(150)}`;
      if (random.below(5) === 0) {
        batch.delete(utf8(key));
        entries.delete(key);
        continue;
      }
      const value = text(random.bytes(random.below(300)));
      batch.put(utf8(key), Buffer.from(value, 'latin1'));
      entries.set(key, value);
      history.set(key, (history.get(key) ?? new Set()).add(value));
    }
    await database.write(batch);
    if (random.below(300) === 0) await database.compactRange();
    if (random.below(300) === 0) {
      await database.close();
      database = await Database.open(folder, options);
    }
  }
  await database.close();
  return { files: folder.files(), entries, history };
}

/** Entries as text. */
export const asMap = (entries: readonly KeyValue[]): Map<string, string> => new Map(entries.map(([key, value]) => [text(key), text(value)]));
