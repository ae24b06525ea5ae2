import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { entriesSha256, type KeyValue, seeded } from '@bloom/fixtures';
import { Database, DatabaseReader, type WritableFolder, WriteBatch } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { nativeDatabase } from '@bloom/native';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collect } from '../collect.js';

// LevelDB's C++, classic-level and Database take turns on one folder. tooling/long-tests has a run of 300 rounds.
const native = nativeDatabase();
const rounds = Number(process.env.BLOOM_TURNS ?? 8);
const binary = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

let path: string;
beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), 'bloom-turns-'));
});
afterAll(() => rmSync(path, { recursive: true, force: true }));

/** Puts, and deletions where the value is undefined. */
type Operations = readonly (readonly [key: Uint8Array, value: Uint8Array | undefined])[];

/** A program that writes and reads the folder. It opens and closes the database for each call. */
interface Actor {
  readonly name: string;
  write(folder: string, operations: Operations, compacts: boolean): Promise<void>;
  read(folder: string): Promise<KeyValue[]>;
}

const ours: Actor = {
  name: 'Database',
  async write(folder, operations, compacts) {
    const database = await Database.open(new WritableNodeFolder(folder), { writeBufferSize: 65_536, maxFileSize: 2 ** 20 });
    for (const [key, value] of operations) await (value === undefined ? database.delete(key) : database.put(key, value));
    if (compacts) await database.compactRange();
    await database.close();
  },
  async read(folder) {
    const database = await Database.open(new WritableNodeFolder(folder));
    const entries = await collect(database.entries());
    await database.close();
    return entries;
  },
};

const classic: Actor = {
  name: 'classic-level',
  async write(folder, operations, compacts) {
    const database = new ClassicLevel<Uint8Array, Uint8Array>(folder, { ...binary, writeBufferSize: 65_536, maxFileSize: 2 ** 20 });
    await database.open();
    for (const [key, value] of operations) await (value === undefined ? database.del(key) : database.put(key, value));
    if (compacts) await database.compactRange(utf8(''), utf8('~'), { keyEncoding: 'buffer' });
    await database.close();
  },
  async read(folder) {
    const database = new ClassicLevel<Uint8Array, Uint8Array>(folder, binary);
    await database.open();
    const entries = await database.iterator().all();
    await database.close();
    return entries;
  },
};

const leveldb: Actor = {
  name: 'LevelDB',
  async write(folder, operations, compacts) {
    const lines = operations.map(([key, value]) => (value === undefined ? `del hex:${hex(key)}` : `put hex:${hex(key)} hex:${hex(value)}`));
    native!.script(folder, ['open', ...lines, ...(compacts ? ['compact'] : [])], { bitsPerKey: 10, writeBufferSize: 65_536, maxFileSize: 2 ** 20 });
    return Promise.resolve();
  },
  read(folder) {
    const { status, entries } = native!.dump(folder, { paranoid: true, bitsPerKey: 10 });
    expect(status).toBe('OK');
    return Promise.resolve(entries);
  },
};

test('LevelDB, classic-level and Database can take turns on a folder, and each reads what the others wrote', async () => {
  const actors = native === undefined ? [ours, classic] : [ours, classic, leveldb];
  const random = seeded(11);
  const model = new Map<string, KeyValue>();
  const folder = join(path, 'turns');
  for (let round = 0; round < rounds; round++) {
    const actor = actors[round < 3 ? round % actors.length : random.below(actors.length)]!;
    const operations: (readonly [Uint8Array, Uint8Array | undefined])[] = [];
    for (let i = random.below(400); i >= 0; i--) {
      const key = utf8(`key${random.below(500)}`);
      if (random.below(4) === 0) {
        model.delete(hex(key));
        operations.push([key, undefined]);
      } else {
        const value = random.bytes(random.below(random.below(20) === 0 ? 10_000 : 800));
        model.set(hex(key), [key, value]);
        operations.push([key, value]);
      }
    }
    await actor.write(folder, operations, random.below(5) === 0);
    const expected = entriesSha256([...model.values()].sort(([a], [b]) => Buffer.compare(a, b)));
    for (const other of actors) {
      if (other !== actor) expect(entriesSha256(await other.read(folder)), `round ${round}: ${actor.name} wrote, ${other.name} reads`).toBe(expected);
    }
    const { findings } = await verifyDatabase(new NodeFolder(folder));
    expect(findings, `round ${round}: ${actor.name}`).toEqual([]);
  }
}, 60_000 + rounds * 2000);

describe('the lock', () => {
  test('keeps LevelDB, classic-level and a second Database out while one is open, and lets them in afterwards', async () => {
    const folder = join(path, 'lock');
    const database = await Database.open(new WritableNodeFolder(folder));
    await database.put(utf8('a'), utf8('1'));
    await expect(Database.open(new WritableNodeFolder(`${folder}/.`))).rejects.toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining('in this process') as string });
    await expect(Database.destroy(new WritableNodeFolder(folder))).rejects.toMatchObject({ code: 'BLOOM_LOCKED' });
    if (native !== undefined) expect(native.dump(folder).status).toMatch(/^IO error: lock .*Resource temporarily unavailable$/);
    const level = new ClassicLevel(folder);
    await expect(level.open()).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } });
    await database.close();

    await level.open();
    await expect(Database.open(new WritableNodeFolder(folder))).rejects.toMatchObject({ code: 'BLOOM_LOCKED' });
    expect(await level.get('a')).toBe('1');
    await level.close();
    const again = await Database.open(new WritableNodeFolder(folder));
    expect(await again.get(utf8('a'))).toEqual(utf8('1'));
    await again.close();
  });

  test("can only be left out with lock: 'none'", async () => {
    const lockless = Object.assign(new WritableNodeFolder(join(path, 'none')), { lock: undefined }) as WritableFolder;
    await expect(Database.open(lockless)).rejects.toMatchObject({ code: 'BLOOM_NO_LOCK' });
    const database = await Database.open(lockless, { lock: 'none' });
    await database.close();
  });
});

test('a repair needs an existing folder, and keeps the files that it sets aside in lost', async () => {
  const folder = join(path, 'repair');
  await expect(Database.repair(new WritableNodeFolder(folder))).rejects.toMatchObject({ code: 'BLOOM_DATABASE_MISSING' });
  let database = await Database.open(new WritableNodeFolder(folder));
  await database.put(utf8('a'), utf8('1'));
  await expect(Database.repair(new WritableNodeFolder(folder))).rejects.toMatchObject({ code: 'BLOOM_LOCKED' });
  await database.close();
  const { setAside, lost } = await Database.repair(new WritableNodeFolder(folder));
  expect(lost).toEqual([]);
  expect(readdirSync(join(folder, 'lost')).sort()).toEqual(setAside.map(({ as }) => as).sort());
  expect(setAside).toHaveLength(2);
  database = await Database.open(new WritableNodeFolder(folder));
  expect(await database.get(utf8('a'))).toEqual(utf8('1'));
  await database.close();
  // `destroy` does not delete the folder lost.
  await Database.destroy(new WritableNodeFolder(folder));
  expect(readdirSync(folder)).toEqual(['lost']);
});

test('getSync returns what get returns in a folder of the file system', async () => {
  const folder = join(path, 'sync');
  let database = await Database.open(new WritableNodeFolder(folder), { writeBufferSize: 65_536, maxOpenFiles: 74, cache: null });
  const keys = Array.from({ length: 1000 }, (_, i) => utf8(`key${i}`));
  for (const [i, key] of keys.entries()) await database.put(key, new Uint8Array(500).fill(i));
  // Comparing arrays element by element is slow.
  const expected = hex(Buffer.concat(keys.map((_, i) => new Uint8Array(500).fill(i))));
  const joined = (values: readonly (Uint8Array | undefined)[]): string => hex(Buffer.concat(values.map((value) => value!)));
  // First from tables that were just written, then from tables that getManySync opens itself.
  expect(joined(database.getManySync(keys))).toBe(expected);
  await database.close();
  database = await Database.open(new WritableNodeFolder(folder), { cache: null });
  expect(joined(database.getManySync(keys))).toBe(expected);
  expect(joined(await database.getMany(keys))).toBe(expected);
  await database.close();
});

test('a reader that refreshes while Database writes sees all writes up to the refresh', async () => {
  const folder = join(path, 'beside');
  const database = await Database.open(new WritableNodeFolder(folder), { writeBufferSize: 65_536 });
  await database.put(utf8('count'), utf8('0'));
  const reader = await DatabaseReader.open(new NodeFolder(folder));
  let last = 0;
  for (let i = 1; i <= 400; i++) {
    await database.write(new WriteBatch().put(utf8('count'), utf8(String(i))).put(utf8(`slot${i % 50}`), new Uint8Array(2000).fill(i)));
    if (i % 10 !== 0) continue;
    await reader.refresh();
    const count = Number(new TextDecoder().decode(await reader.get(utf8('count'))));
    // The reader sees everything that was written before the refresh began.
    expect(count).toBe(i);
    expect(count).toBeGreaterThan(last);
    expect((await reader.get(utf8(`slot${i % 50}`)))![0]).toBe(i % 256);
    last = count;
  }
  await reader.close();
  await database.close();
});
