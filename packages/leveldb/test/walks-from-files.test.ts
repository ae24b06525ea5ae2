import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded } from '@bloom/fixtures';
import { DatabaseReader, MemoryFolder, SyncDatabaseReader } from '@bloom/leveldb';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleDatabase, type Version } from './assemble-database.js';
import { collect } from './collect.js';

// Walks reuse the same memory for consecutive blocks, and a backward walk keeps the value of an entry across a move.
describe.each(['none', 'snappy'] as const)('a database in files with compression %s', (compression) => {
  const random = seeded(5);
  const keys = Array.from({ length: 1500 }, (_, i) => Buffer.from(String(i).padStart(8, '0')).toString());
  const valueOf = (i: number, sequence: number): string => `${i}-${sequence}`.padEnd(40 + ((i * 7) % 90), '.');
  const versions = (sequence: number, share: number): Version[] =>
    keys.flatMap((key, i) => (random.below(share) > 0 ? [] : [{ key: Buffer.from(key), sequence, value: Buffer.from(valueOf(i, sequence)) }]));
  const older = versions(1, 1);
  const newer = versions(2, 3);
  const expected = keys.map((key, i) => [key, newer.find((version) => version.key.toString() === key)?.value ?? valueOf(i, 1)].join(': '));
  const shown = (entries: Iterable<readonly [Uint8Array, Uint8Array]>): string[] =>
    Array.from(entries, ([key, value]) => `${Buffer.from(key).toString()}: ${Buffer.from(value).toString()}`);
  let path = '';

  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), 'bloom-walks-'));
    const tables = [
      { level: 1, number: 5, versions: newer },
      { level: 2, number: 4, versions: older },
    ];
    for (const [name, bytes] of assembleDatabase({ tables, build: { compression } })) writeFileSync(join(path, name), bytes);
  });
  afterAll(() => rmSync(path, { recursive: true }));

  test.each([[0], [3000], [20_000]])('reads at most readAheadBytes at once, or else one block: %i', async (readAheadBytes) => {
    for (const reverse of [false, true]) {
      const lengths: number[] = [];
      const folder = new MemoryFolder(new Map(readdirSync(path).map((name) => [name, new Uint8Array(readFileSync(join(path, name)))])));
      const open = (name: string) => {
        const file = folder.open(name);
        const read = (offset: number, length: number): Uint8Array => {
          lengths.push(length);
          return file!.read(offset, length).slice();
        };
        const readInto = (offset: number, into: Uint8Array): number => {
          into.set(read(offset, into.length));
          return into.length;
        };
        return file && { name, byteLength: file.byteLength, read, readInto, readAtOnce: read };
      };
      const options = { cache: null, readAheadBytes };
      for (const reader of [SyncDatabaseReader.open({ list: () => folder.list(), open }, options), await DatabaseReader.open({ list: () => folder.list(), open }, options)]) {
        // The kernel of walks is loaded during the first one.
        for (let walk = 0; walk < 2; walk++) {
          lengths.length = 0;
          const found = reader instanceof SyncDatabaseReader ? [...reader.entries({ reverse })] : await collect(reader.entries({ reverse }));
          expect(found).toHaveLength(expected.length);
          // Blocks have 4 KiB and an entry.
          expect(Math.max(...lengths)).toBeLessThanOrEqual(Math.max(readAheadBytes, 4096 + 200));
          expect(lengths.length).toBeGreaterThan(3);
        }
        await reader.close();
      }
    }
  });

  test.each([[0], [20_000], [undefined]])('gives its entries in both directions without a cache, with readAheadBytes: %s', async (readAheadBytes) => {
    const options = { cache: null, readAheadBytes };
    const database = SyncDatabaseReader.open(new SyncNodeFolder(path), options);
    const asyncDatabase = await DatabaseReader.open(new NodeFolder(path), options);
    expect(shown(database.entries())).toEqual(expected);
    expect(shown(database.entries({ reverse: true })).reverse()).toEqual(expected);
    expect(shown(await collect(asyncDatabase.entries()))).toEqual(expected);
    expect(shown(await collect(asyncDatabase.entries({ reverse: true }))).reverse()).toEqual(expected);
    const cursor = database.cursor();
    const walked: string[] = [];
    for (let more = cursor.seekToLast(); more; more = cursor.prev()) walked.push(shown([[cursor.key, cursor.value]])[0]!);
    expect(walked.reverse()).toEqual(expected);
    database.close();
    await asyncDatabase.close();
  });
});
