import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytewiseComparator, type Comparator, Database, type DatabaseCursor, DatabaseReader, MemoryFolder, type SyncDatabaseCursor, SyncDatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { boundedCursorProblem, randomBounds, seeded } from '@bloom/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';

const root = mkdtempSync(join(tmpdir(), 'bloom-many-entries-'));
const path = join(root, 'database');
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyAt = (i: number): Uint8Array => utf8(`key${String(i).padStart(5, '0')}`);
let entries: [Uint8Array, Uint8Array][];

// One string is compared ten times as fast as the elements of many arrays.
const textOf = (some: readonly (readonly [Uint8Array, Uint8Array])[]): string => some.map(([key, value]) => `${Buffer.from(key).toString('latin1')} ${Buffer.from(value).toString('hex')}`).join('\n');

// Two levels and a log, with keys that were overwritten and deleted.
beforeAll(async () => {
  const random = seeded(77);
  const model = new Map<number, Uint8Array>();
  const database = await Database.open(new WritableNodeFolder(path, { thread: false }), { compression: 'none', blockSize: 500 });
  for (const [round, count] of [1500, 600, 200].entries()) {
    const batch = new WriteBatch();
    for (let n = 0; n < count; n++) {
      const i = random.below(2000);
      if (random.below(5) === 0) {
        batch.delete(keyAt(i));
        model.delete(i);
      } else {
        const value = random.bytes(random.below(80));
        batch.put(keyAt(i), value);
        model.set(i, value);
      }
    }
    await database.write(batch);
    if (round === 0) await database.compactRange();
    if (round === 1) await database.flush();
  }
  await database.close();
  entries = [...model].sort(([a], [b]) => a - b).map(([i, value]) => [keyAt(i), value]);
});

const folderInMemory = (): MemoryFolder => new MemoryFolder(new Map(readdirSync(path).filter((name) => name !== 'LOCK').map((name) => [name, new Uint8Array(readFileSync(join(path, name)))])));

type Opened = DatabaseReader | SyncDatabaseReader | Database;

const cursors: Record<string, () => Promise<ReturnType<typeof of>>> = {
  'DatabaseReader, reads at once': async () => of(await DatabaseReader.open(new NodeFolder(path), { cache: null })),
  'DatabaseReader, reads by threads': async () => of(await DatabaseReader.open(new NodeFolder(path, { readsAtOnce: false }), { cache: null })),
  SyncDatabaseReader: async () => Promise.resolve(of(SyncDatabaseReader.open(folderInMemory()))),
  Database: async () => of(await Database.open(new WritableNodeFolder(path, { thread: false, readsAtOnce: true }))),
};

function of(database: Opened): { cursor: DatabaseCursor | SyncDatabaseCursor; database: Opened; close: () => unknown } {
  return { cursor: database.cursor(), database, close: () => database.close() };
}

test.each(Object.entries(cursors))('random calls on a cursor of a %s give what single moves would give', async (_, open) => {
  const { cursor, close } = await open();
  const random = seeded(78);
  const kept: [[Uint8Array, Uint8Array][], [Uint8Array, Uint8Array][]][] = [];
  for (let round = 0; round < 60; round++) {
    let at = random.below(entries.length);
    await cursor.seek(entries[at]![0]);
    for (let call = 0; call < 3 && at >= 0 && at < entries.length; call++) {
      const reverse = random.below(2) === 0;
      const count = 1 + random.below(90);
      const bound = random.below(2) === 0 ? undefined : Math.max(0, Math.min(entries.length - 1, at + (reverse ? -1 : 1) * random.below(60)));
      const maxBytes = random.below(2) === 0 ? undefined : 1 + random.below(2000);
      const expected: [Uint8Array, Uint8Array][] = [];
      for (let sum = 0; at >= 0 && at < entries.length && expected.length < count && sum < (maxBytes ?? Infinity); at += reverse ? -1 : 1) {
        if (at === bound) break;
        expected.push(entries[at]!);
        sum += entries[at]![0].length + entries[at]![1].length;
      }
      const end = bound === undefined ? {} : { [reverse ? 'gt' : 'lt']: entries[bound]![0] };
      const found = await (reverse ? cursor.prevMany(count, { maxBytes, ...end }) : cursor.nextMany(count, { maxBytes, ...end }));
      expect(textOf(found)).toBe(textOf(expected));
      kept.push([found, expected]);
      expect(cursor.valid).toBe(at >= 0 && at < entries.length);
      if (cursor.valid) expect(Buffer.compare(cursor.key, entries[at]![0])).toBe(0);
    }
  }
  for (const [found, expected] of kept) expect(textOf(found)).toBe(textOf(expected));
  cursor.close();
  await close();
});

test.each(Object.entries(cursors))('random moves of a cursor of a %s stay between any bounds', async (_, open) => {
  const { cursor: unbounded, database, close } = await open();
  unbounded.close();
  const random = seeded(79);
  const keys = entries.map(([key]) => key);
  // Those of few entries, most often, and whole prefixes.
  const near = random.below(entries.length - 30);
  const randomKey = (): Uint8Array => keyAt(random.below(4) === 0 ? random.below(2100) : Number(new TextDecoder().decode(keys[near + random.below(30)]).slice(3)) + random.below(2));
  for (let round = 0; round < 60; round++) {
    const bounds = randomBounds(random, randomKey);
    const cursor = database.cursor({ ...bounds, fillCache: random.below(2) === 0 });
    expect(await boundedCursorProblem(cursor, keys, bounds, random, randomKey)).toBeUndefined();
    cursor.close();
  }
  await close();
});

test('entries before damage are given, then the error, and a seek forgets it', async () => {
  const damaged = join(root, 'damaged');
  const database = await Database.open(new WritableNodeFolder(damaged, { thread: false }), { compression: 'none', blockSize: 500 });
  for (const [key, value] of entries) await database.put(key, value);
  await database.compactRange();
  await database.close();
  const table = join(damaged, readdirSync(damaged).find((name) => name.endsWith('.ldb'))!);
  const bytes = readFileSync(table);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(table, bytes);
  await using reader = await DatabaseReader.open(new NodeFolder(damaged), { cache: null });
  using cursor = reader.cursor();
  await cursor.seekToFirst();
  const found = await cursor.nextMany(entries.length);
  expect(found.length).toBeGreaterThan(100);
  expect(textOf(found)).toBe(textOf(entries.slice(0, found.length)));
  expect(await rejection(cursor.nextMany(1))).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
  expect(await cursor.nextMany(1)).toEqual([]);
  await cursor.seekToFirst();
  await cursor.nextMany(entries.length);
  expect(await rejection(cursor.next())).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
  await cursor.seekToFirst();
  await cursor.nextMany(entries.length);
  await cursor.seekToFirst();
  expect(await cursor.nextMany(1)).toEqual([entries[0]]);

  const files = readdirSync(damaged).filter((name) => name !== 'LOCK');
  using syncReader = SyncDatabaseReader.open(new MemoryFolder(new Map(files.map((name) => [name, new Uint8Array(readFileSync(join(damaged, name)))]))), { cache: null });
  using syncCursor = syncReader.cursor();
  const [first, second] = entries.map(([key]) => key);
  for (const each of [cursor, syncCursor]) {
    for (const seek of [() => each.seekToFirst(), () => each.seekToLast(), () => each.seek(first!), () => each.seekForPrev(first!)]) {
      await each.seekToFirst();
      await each.nextMany(entries.length);
      await seek();
      const isLast = Buffer.compare(each.key, first!) !== 0;
      expect(await (isLast ? each.prev() : each.next())).toBe(true);
      expect(Buffer.from(each.key)).toEqual(Buffer.from(isLast ? entries.at(-2)![0] : second!));
    }
  }
});

test('a comparator that fails for the bound fails the call that has no entry, and keeps the entries of one that has', async () => {
  const bound = utf8('the bound');
  let failsOn: Uint8Array | undefined;
  const comparator: Comparator = {
    ...bytewiseComparator,
    name: 'test.Failing',
    compare: (a, b) => {
      if (failsOn !== undefined && bytewiseComparator.compare(a, failsOn) === 0 && bytewiseComparator.compare(b, bound) === 0) throw new Error('the comparator fails');
      return bytewiseComparator.compare(a, b);
    },
  };
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { comparator });
  for (const [key, value] of entries.slice(0, 9)) await database.put(key, value);
  await database.compactRange();
  await database.close();
  await using reader = await DatabaseReader.open(folder, { comparators: [comparator] });
  using syncReader = SyncDatabaseReader.open(folder, { comparators: [comparator] });
  for (const cursor of [reader.cursor(), syncReader.cursor()]) {
    await cursor.seekToFirst();
    const many = async (): Promise<unknown> => cursor.nextMany(5, { lt: bound });
    failsOn = entries[2]![0];
    expect(await many()).toEqual(entries.slice(0, 2));
    for (let call = 0; call < 3; call++) expect(await rejection(many())).toMatchObject({ message: 'the comparator fails' });
    failsOn = undefined;
    expect(await many()).toEqual(entries.slice(2, 7));
    cursor.close();
  }
});

test('a call ends when it is aborted, when its cursor is closed and when the reader is', async () => {
  const reader = await DatabaseReader.open(new NodeFolder(path, { readsAtOnce: false }), { cache: null });
  const started = async (): Promise<DatabaseCursor> => {
    const cursor = reader.cursor();
    await cursor.seekToFirst();
    return cursor;
  };
  const aborted = await started();
  const controller = new AbortController();
  const call = rejection(aborted.nextMany(10_000, { signal: controller.signal }));
  expect(await rejection(aborted.nextMany(1))).toMatchObject({ message: 'the cursor is still moving: await a move before the next' });
  expect(await rejection(aborted.seekToFirst())).toMatchObject({ message: 'the cursor is still moving: await a move before the next' });
  controller.abort(new Error('enough'));
  expect(await call).toMatchObject({ message: 'enough' });
  expect(await rejection(aborted.nextMany(1, { signal: controller.signal }))).toMatchObject({ message: 'enough' });
  await aborted.seekToFirst();
  expect(await aborted.nextMany(1)).toEqual([entries[0]]);

  const closing = await started();
  const some = closing.nextMany(10_000);
  closing.close();
  const found = await some;
  expect(found.length).toBeLessThan(entries.length);
  expect(textOf(found)).toBe(textOf(entries.slice(0, found.length)));
  expect(await rejection(closing.nextMany(1))).toBeInstanceOf(TypeError);

  const last = await started();
  const rest = rejection(last.nextMany(10_000));
  await reader.close();
  expect(await rest).toMatchObject({ message: 'the reader is closed' });
  expect((caught(() => last.valid) ?? last.valid) as boolean).toBe(false);
});
