// getMany looks once for each table whether its file has changed, at its end, and gives nothing of a table that has.
import { DatabaseReader, SyncDatabaseReader, type SyncFolder, type SyncFolderFile } from '@bloom/leveldb';
import { BlockCache } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

const TABLES = 3;
const KEYS = Array.from({ length: 90 }, (_, i) => utf8(`key ${String(i).padStart(2, '0')}`));
const CHANGED = { code: 'BLOOM_FOLDER_CHANGED' };

/** Databases of values of the same length have the same shape: what is read of the wrong one has a right checksum. */
function databaseOf(value: string): Map<string, Uint8Array> {
  const versions = KEYS.map((key, i) => ({ key, sequence: i + 1, value: utf8(value.repeat(20)) }));
  const perTable = KEYS.length / TABLES;
  return assembleDatabase({
    tables: Array.from({ length: TABLES }, (_, t) => ({ level: 1, number: 2 + t, versions: versions.slice(t * perTable, (t + 1) * perTable) })),
    build: { blockSize: 100, compression: 'none' },
  });
}

/** Files that another program can overwrite. */
class OverwrittenFolder implements SyncFolder {
  /** How often a file was asked whether it has changed, and how often it was read. */
  looks = 0;
  reads = 0;
  /** Called before each read. */
  onRead: () => void = () => undefined;
  #files = databaseOf('old');

  overwrite(value: string): void {
    this.#files = databaseOf(value);
  }

  list(): string[] {
    return [...this.#files.keys()];
  }

  open(name: string): SyncFolderFile | undefined {
    const opened = this.#files.get(name);
    if (opened === undefined) return undefined;
    const read = (offset: number, length: number): Uint8Array => {
      this.reads++;
      this.onRead();
      return this.#files.get(name)!.slice(offset, offset + length);
    };
    return {
      name,
      byteLength: opened.length,
      identity: { file: name, state: opened, isSettled: true },
      read,
      readAtOnce: read,
      readInto: (offset, bytes) => {
        bytes.set(read(offset, bytes.length));
        return bytes.length;
      },
      hasChanged: () => {
        this.looks++;
        return this.#files.get(name) !== opened;
      },
    };
  }
}

interface Reader {
  getMany(keys: Iterable<Uint8Array>): Promise<(Uint8Array | undefined)[]>;
  hasMany(keys: Iterable<Uint8Array>): Promise<boolean[]>;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
}

const readers: Record<string, (folder: OverwrittenFolder, cache: BlockCache | null) => Promise<Reader>> = {
  DatabaseReader: (folder, cache) => DatabaseReader.open(folder, { cache }),
  SyncDatabaseReader: async (folder, cache) => {
    const reader = SyncDatabaseReader.open(folder, { cache });
    return {
      getMany: async (keys) => Promise.resolve(reader.getMany(keys)),
      hasMany: async (keys) => Promise.resolve(reader.hasMany(keys)),
      get: async (key) => Promise.resolve(reader.get(key)),
    };
  },
};

const cases = Object.entries(readers).flatMap(([name, open]) => [
  { name, what: 'a cache', open: (folder: OverwrittenFolder) => open(folder, new BlockCache(2 ** 20)) },
  { name, what: 'no cache', open: (folder: OverwrittenFolder) => open(folder, null) },
]);

test.each(cases)('$name with $what: getMany and hasMany look once at each table', async ({ open }) => {
  const folder = new OverwrittenFolder();
  const reader = await open(folder);
  folder.looks = folder.reads = 0;
  expect((await reader.getMany(KEYS.filter((_, i) => i % 4 === 0))).every((value) => text(value) === 'old'.repeat(20))).toBe(true);
  expect(folder.reads).toBeGreaterThan(20);
  expect(folder.looks).toBe(TABLES);
  expect((await reader.hasMany(KEYS.filter((_, i) => i % 4 === 2))).every(Boolean)).toBe(true);
  expect(folder.looks).toBe(2 * TABLES);
});

test.each(cases)('$name with $what: getMany gives nothing of a table that was overwritten during the call, nor does any later call', async ({ open }) => {
  for (const change of [1, 2, 7]) {
    const folder = new OverwrittenFolder();
    const reader = await open(folder);
    let left = change;
    folder.onRead = () => {
      if (--left === 0) folder.overwrite('new');
    };
    expect(await rejection(reader.getMany(KEYS.slice(0, 30)))).toMatchObject(CHANGED);
    expect(left).toBeLessThanOrEqual(0);
    // Also of blocks that were read of the table itself: nobody knows which.
    for (const key of KEYS.slice(0, 30)) expect(await rejection(reader.get(key))).toMatchObject(CHANGED);
  }
});

test.each(cases)('$name with $what: a table that is damaged because it was overwritten is said to be overwritten', async ({ open }) => {
  const folder = new OverwrittenFolder();
  const reader = await open(folder);
  // Longer values have their blocks elsewhere.
  folder.overwrite('another');
  expect(await rejection(reader.getMany(KEYS.slice(0, 30)))).toMatchObject(CHANGED);
});

test('what getMany has read is looked at before another call gets it from the cache', () => {
  const folder = new OverwrittenFolder();
  const reader = SyncDatabaseReader.open(folder, { cache: new BlockCache(2 ** 20) });
  const [first, second] = [KEYS[0]!, KEYS[29]!];
  const during: unknown[] = [];
  function* keys(): Generator<Uint8Array> {
    // Overwritten before it is read, so that the block that getMany puts into the cache is of the other table.
    folder.overwrite('new');
    yield first;
    during.push(caught(() => reader.get(first)));
    during.push(caught(() => [...reader.entries({ lte: first })]));
    yield second;
  }
  expect(caught(() => reader.getMany(keys()))).toMatchObject(CHANGED);
  expect(during).toEqual([expect.objectContaining(CHANGED), expect.objectContaining(CHANGED)]);
});

test('a reader that is closed during getMany rejects it', async () => {
  const folder = new OverwrittenFolder();
  const reader = await DatabaseReader.open(folder, { cache: null });
  folder.onRead = () => void reader.close();
  expect(await rejection(reader.getMany(KEYS))).toMatchObject({ name: 'TypeError', message: expect.stringContaining('closed') as string });
});
