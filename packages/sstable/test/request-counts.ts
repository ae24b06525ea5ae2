// What lookups in a large table may cost over HTTP, for tests at two sizes.
import { seeded } from '@bloom/fixtures';
import { type AsyncTableOptions, Table } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';
import { utf8 } from './entries.js';
import { buildTable } from './build-table.js';
import type { StaticServer } from './static-server.js';

/** Keys of even numbers are in the table. */
export function keyAt(i: number): Uint8Array {
  return utf8(`key${String(i).padStart(9, '0')}`);
}

/** A table of `count` entries, as large as one of LevelDB's with such keys and short values. */
export function largeTable(count: number): Uint8Array {
  const random = seeded(5);
  function* entries(): Generator<[Uint8Array, Uint8Array]> {
    for (let i = 0; i < count; i++) yield [keyAt(2 * i), random.bytes(16)];
  }
  return buildTable(entries(), { compression: 'none' });
}

/** Numbers of keys anywhere in the table: even ones are there, odd ones are not. */
export function scattered(count: number, isPresent: boolean, gets: number, seed = 1): Uint8Array[] {
  const random = seeded(seed);
  return Array.from({ length: gets }, () => keyAt(2 * random.below(count) + (isPresent ? 0 : 1)));
}

/** Opens the table of `server`, and clears the record of requests. */
export async function openRemote(server: StaticServer, options: AsyncTableOptions = {}): Promise<Table> {
  const table = await Table.open(await HttpSource.open(server.url, { retryDelayMs: 1 }), options);
  server.requests.length = 0;
  return table;
}

/** Bytes of the ranges that the server was asked for. */
export function bytesOf(server: StaticServer): number {
  return server.ranges.reduce((sum, [, length]) => sum + length, 0);
}

/** Looks keys up one after another. @returns how many are there. */
export async function getEach(table: Table, keys: readonly Uint8Array[]): Promise<number> {
  let found = 0;
  for (const key of keys) if ((await table.get(key)) !== undefined) found++;
  return found;
}
