// A read shows the writes that were called before it, whether they were awaited or not, and nothing that was called later.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Comparator, Database, WriteBatch, type WritableFile, WritableMemoryFolder } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const keyOf = (i: number): Uint8Array => utf8(`k${String(i).padStart(5, '0')}`);

/** A folder whose files take a turn of the event loop to be synced. */
class SlowFolder extends WritableMemoryFolder {
  override create(name: string): WritableFile {
    const file = super.create(name);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await sync();
    };
    return file;
  }
}

/** What a read waits for: nothing, the sync of a log, the making of a table, and the insertion of a long batch. */
const WAITS = {
  nothing: (database: Database, i: number) => database.put(keyOf(i), utf8(`v${i}`)),
  'a sync': (database: Database, i: number) => database.put(keyOf(i), utf8(`v${i}`), { sync: true }),
  'a full memtable': (database: Database, i: number) => database.put(keyOf(i), utf8(`v${i}`.padEnd(9000))),
  'a long batch': (database: Database, i: number) => {
    const batch = new WriteBatch().put(keyOf(i), utf8(`v${i}`));
    for (let n = 0; n < 1000; n++) batch.put(utf8(`long ${i} ${n}`), utf8(`${n}`));
    return database.write(batch);
  },
} satisfies Record<string, (database: Database, i: number) => Promise<void>>;

const COUNT = 30;

describe.each(Object.entries(WAITS))('where writes wait for %s', (name, put) => {
  async function withWrites(read: (database: Database) => Promise<void>): Promise<void> {
    const database = await Database.open(new SlowFolder(), { writeBufferSize: 65_536 });
    const writing: Promise<void>[] = [];
    for (let i = 0; i < COUNT; i++) writing.push(put(database, i));
    await read(database);
    await Promise.all(writing);
    await database.close();
  }

  const valueOf = (i: number): string => `v${i}`;
  const trimmed = (value: Uint8Array | undefined): string | undefined => text(value)?.trimEnd();

  test('written returns the sequence of the last of them once they are visible', () =>
    withWrites(async (database) => {
      const reserved = database.snapshot();
      const written = database.written();
      void put(database, COUNT);
      expect(await written).toBe(reserved.sequence);
      expect(trimmed(database.getSync(keyOf(COUNT - 1), { sequence: reserved.sequence }))).toBe(valueOf(COUNT - 1));
      reserved.release();
    }));

  test('get, getAs and has see them', () =>
    withWrites(async (database) => {
      expect(trimmed(await database.get(keyOf(COUNT - 1)))).toBe(valueOf(COUNT - 1));
      void put(database, COUNT);
      expect(await database.getAs(keyOf(COUNT), (bytes, start, end) => trimmed(bytes.subarray(start, end)))).toBe(valueOf(COUNT));
      void put(database, COUNT + 1);
      expect(await database.has(keyOf(COUNT + 1))).toBe(true);
    }));

  test('getMany and hasMany see them, of keys that are changed after the call', () =>
    withWrites(async (database) => {
      const keys = Array.from({ length: COUNT }, (_, i) => keyOf(i));
      const values = database.getMany(keys);
      for (const key of keys) key.fill(0);
      expect((await values).map(trimmed)).toEqual(keys.map((_, i) => valueOf(i)));
      void put(database, COUNT);
      expect(await database.hasMany([keyOf(COUNT)])).toEqual([true]);
    }));

  test('iterators and cursors see them, and no later ones', () =>
    withWrites(async (database) => {
      const entries = database.entries({ prefix: utf8('k') });
      const cursor = database.cursor();
      void put(database, COUNT);
      const keys = (await collect(entries)).map(([key]) => text(key));
      expect(keys).toEqual(Array.from({ length: COUNT }, (_, i) => text(keyOf(i))));
      expect(await cursor.seek(utf8('k'))).toBe(true);
      const seen = [];
      do seen.push(text(cursor.key));
      while (await cursor.next());
      cursor.close();
      expect(seen.filter((key) => key!.startsWith('k'))).toEqual(keys);
    }));

  test('a snapshot has them, and no later ones', () =>
    withWrites(async (database) => {
      using snapshot = database.snapshot();
      void put(database, COUNT);
      expect(await database.has(keyOf(COUNT - 1), snapshot)).toBe(true);
      expect(await database.has(keyOf(COUNT), snapshot)).toBe(false);
      expect(await database.has(keyOf(COUNT))).toBe(true);
    }));

  test('versions and explain see them', () =>
    withWrites(async (database) => {
      expect(await database.versions(keyOf(COUNT - 1))).toHaveLength(1);
      void put(database, COUNT);
      expect(await database.explain(keyOf(COUNT))).toMatchObject({ outcome: { kind: 'value' } });
    }));

  test('clear deletes them, and reads after it see that', () =>
    withWrites(async (database) => {
      const clearing = database.clear({ prefix: utf8('k') });
      expect(await database.get(keyOf(0))).toBe(undefined);
      await clearing;
      void database.clear();
      expect(await collect(database.keys())).toEqual([]);
    }));

  test.runIf(name === 'nothing')('reads without promises see them', () =>
    withWrites(async (database) => {
      expect(text(database.getSync(keyOf(COUNT - 1)))).toBe(valueOf(COUNT - 1));
      await database.put(utf8('awaited'), utf8(''), { sync: true });
      void put(database, COUNT);
      expect(database.hasSync(keyOf(COUNT))).toBe(true);
      void put(database, COUNT + 1);
      expect([...database.keysSync({ gt: keyOf(COUNT) })].map(text)).toEqual([text(keyOf(COUNT + 1))]);
      void put(database, COUNT + 2);
      expect(database.getManySync([keyOf(COUNT + 2)]).map(text)).toEqual([valueOf(COUNT + 2)]);
      void put(database, COUNT + 3);
      expect(database.versionsSync(keyOf(COUNT + 3))).toHaveLength(1);
      void put(database, COUNT + 4);
      expect(database.explainSync(keyOf(COUNT + 4))).toMatchObject({ outcome: { kind: 'value' } });
    }));
});

test('reads see writes of a database in another order', async () => {
  const database = await Database.open(new SlowFolder(), { comparator: reverseComparator });
  void database.put(utf8('a'), utf8('1'), { sync: true });
  const get = database.get(utf8('a'));
  expect(text(await get)).toBe('1');
  await database.close();
});

test('a read of another key does not wait for a write that is being synced', async () => {
  const database = await Database.open(new SlowFolder());
  await database.put(utf8('a'), utf8('1'));
  let isSynced = false;
  const writing = database.put(utf8('b'), utf8('2'), { sync: true }).then(() => (isSynced = true));
  await Promise.resolve();
  expect(text(await database.get(utf8('a')))).toBe('1');
  expect(isSynced).toBe(false);
  expect(text(await database.get(utf8('b')))).toBe('2');
  expect(isSynced).toBe(true);
  await writing;
  await database.close();
});

test('a get that waits for a write returns its own value, although other lookups use the same memory meanwhile', async () => {
  const path = mkdtempSync(join(tmpdir(), 'bloom-reads-'));
  const database = await Database.open(new WritableNodeFolder(path), { cache: null, blockSize: 1024 });
  const valueOf = (i: number): string => `${i}`.repeat(2000);
  for (const i of [0, 1]) await database.put(keyOf(i), utf8(valueOf(i)));
  await database.flush();
  const wanted = text(keyOf(0))!;
  const reads = {
    get: async () => text(await database.get(wanted)),
    getAs: async () => database.getAs(wanted, (bytes, start, end) => text(bytes.subarray(start, end))),
    getMany: async () => text((await database.getMany([wanted]))[0]),
  };
  for (const [name, read] of Object.entries(reads)) {
    const writing = database.put(utf8('synced'), utf8(''), { sync: true });
    const reading = read();
    await writing;
    for (let hops = 0; hops < 100; hops++) {
      database.getSync(keyOf(1));
      await Promise.resolve();
    }
    expect(await reading, name).toBe(valueOf(0));
  }
  await database.close();
  rmSync(path, { recursive: true });
});

test('a snapshot that is taken while a write is acknowledged does not have the next write', async () => {
  for (let hops = 0; hops < 12; hops++) {
    const database = await Database.open(new WritableMemoryFolder());
    const writing = database.put(utf8('a'), utf8('1'), { sync: true });
    for (let i = 0; i < hops; i++) await Promise.resolve();
    const snapshot = database.snapshot();
    await Promise.all([writing, database.put(utf8('b'), utf8('2'))]);
    expect(await database.hasMany([utf8('a'), utf8('b')], snapshot)).toEqual([true, false]);
    await database.close();
  }
});

test('a snapshot has the writes before a clear that waits for them', async () => {
  const database = await Database.open(new SlowFolder());
  const writing = database.put(utf8('a'), utf8('1'), { sync: true });
  const clearing = database.clear({ prefix: 'x' });
  const later = database.put(utf8('b'), utf8('2'));
  using snapshot = database.snapshot();
  await Promise.all([writing, clearing, later]);
  expect(text(await database.get(utf8('a'), snapshot))).toBe('1');
  expect(await database.has(utf8('b'), snapshot)).toBe(false);
  await database.close();
});

test('a snapshot does not have a write that follows a refused one', async () => {
  const comparator: Comparator = {
    ...reverseComparator,
    compare(x, y) {
      for (const key of [x, y]) if (key[0] === 0x21) throw new RangeError('a key must not start with !');
      return reverseComparator.compare(x, y);
    },
  };
  const folder = new SlowFolder();
  const database = await Database.open(folder, { comparator });
  const writing = database.put(utf8('a'), utf8('1'), { sync: true });
  const refused = database.write(new WriteBatch().put(utf8('!'), utf8('')).put(utf8('c'), utf8('')));
  using snapshot = database.snapshot();
  const later = database.write(new WriteBatch().put(utf8('b'), utf8('2')).put(utf8('d'), utf8('3')));
  await expect(refused).rejects.toThrow('a key must not start with !');
  await Promise.all([writing, later]);
  expect(await database.hasMany([utf8('a'), utf8('b'), utf8('c'), utf8('d')], snapshot)).toEqual([true, false, false, false]);
  expect(await database.hasMany([utf8('a'), utf8('b'), utf8('c'), utf8('d')])).toEqual([true, true, false, true]);
  await database.close();
  const again = await Database.open(folder, { comparator });
  expect((await collect(again.keys())).map(text)).toEqual(['d', 'b', 'a']);
  await again.close();
});

test.each([
  ['explain', async (database: Database) => (await database.explain('a')).outcome],
  ['versions', (database: Database) => database.versions('a')],
] as const)('%s shows no write that is called after it', async (_, read) => {
  const database = await Database.open(new SlowFolder());
  const first = database.put('a', '1', { sync: true });
  const reading = read(database);
  const second = database.put('a', '2');
  expect(JSON.stringify(await reading, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))).not.toContain('"sequence":"2"');
  await Promise.all([first, second]);
  await database.close();
});

test.each<readonly [string, (database: Database, options: { signal: AbortSignal }) => unknown]>([
  ['get', (database, options) => database.get('a', options)],
  ['getAs', (database, options) => database.getAs('a', () => 1, options)],
  ['has', (database, options) => database.has('a', options)],
  ['getMany', (database, options) => database.getMany(['a'], options)],
  ['hasMany', (database, options) => database.hasMany(['a'], options)],
  ['explain', (database, options) => database.explain('a', options)],
  ['versions', (database, options) => database.versions('a', options)],
  ['entries', (database, options) => database.entries(options).next()],
  ['approximateSize', (database, options) => database.approximateSize('a', 'b', options)],
  ['seek', (database, options) => database.cursor().seek('a', options)],
])('an abort ends the wait of %s for a write', async (_, read) => {
  const database = await Database.open(new SlowFolder());
  const { signal, abort } = aborter();
  let isSynced = false;
  const writing = database.put('a', '1', { sync: true }).then(() => (isSynced = true));
  const reading = rejection(Promise.resolve(read(database, { signal })));
  abort();
  expect(await reading).toBe(signal.reason);
  expect(isSynced).toBe(false);
  await writing;
  await database.close();
});

function aborter(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('no longer needed')) };
}

test('reads go on after a write that fails', async () => {
  const database = await Database.open(new SlowFolder());
  await database.put(utf8('a'), utf8('1'));
  const failing = database.put(utf8('a'), new Uint8Array(3e8));
  expect(text(await database.get(utf8('a')))).toBe('1');
  await expect(failing).rejects.toThrow(RangeError);
  await database.close();
});

test('refuses wrong arguments of reads that wait, and is closed afterwards without a file left open', async () => {
  const database = await Database.open(new SlowFolder());
  const begin = (): void => void database.put(utf8('a'), utf8('1'), { sync: true });
  begin();
  await expect(database.get(undefined as never)).rejects.toThrow(TypeError);
  begin();
  await expect(database.getMany([1 as never])).rejects.toThrow(TypeError);
  begin();
  expect(() => database.entries({ limit: -1 })).toThrow(RangeError);
  begin();
  const cursor = database.cursor();
  const moving = cursor.seekToFirst();
  cursor.close();
  expect(await moving).toBe(false);
  begin();
  const unused = database.cursor();
  unused.close();
  begin();
  const entries = database.entries();
  expect(await entries.return!()).toEqual({ value: undefined, done: true });
  begin();
  const closed = database.get(utf8('a'));
  await database.close();
  await expect(closed).rejects.toThrow('closed');
});

test('an iterator that waits for writes refuses wrong ranges at once and ends after an error, like one that does not wait', async () => {
  const database = await Database.open(new SlowFolder(), { comparator: { ...reverseComparator, name: 'test.Reverse' } });
  for (const waits of [false, true]) {
    const begin = (range: object): AsyncIterableIterator<Uint8Array> => {
      if (waits) void database.put(keyOf(1), utf8('1'), { sync: true });
      return database.keys(range);
    };
    await database.put(keyOf(0), utf8('0'));
    expect(() => begin({ sequence: 5 })).toThrow(TypeError);
    expect(() => begin({ sequence: -1n })).toThrow(RangeError);
    expect(() => begin({ prefix: utf8('k') })).toThrow(/prefix/);
    expect(() => begin({ limit: -1 })).toThrow(RangeError);
    const reason = new Error('enough');
    const iterator = begin({ signal: AbortSignal.abort(reason) });
    const calls = [iterator.next(), iterator.next()];
    expect(await Promise.allSettled(calls)).toEqual([{ status: 'rejected', reason }, { status: 'fulfilled', value: { value: undefined, done: true } }]);
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
    const returned = begin({ signal: AbortSignal.abort(reason) });
    expect(await returned.return!()).toEqual({ value: undefined, done: true });
    expect(await returned.next()).toEqual({ value: undefined, done: true });
    await database.written();
  }
  await database.close();
});
