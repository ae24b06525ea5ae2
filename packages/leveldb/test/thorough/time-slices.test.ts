import { turnsDuring } from '@bloom/fixtures/event-loop';
import { Database, DatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';

/** The clock, which the package takes when it is loaded. While `isRushing`, each look at it finds that a second has passed. */
const clock = vi.hoisted(() => {
  const host = performance.now.bind(performance);
  const state = { isRushing: false, milliseconds: 0 };
  performance.now = () => (state.isRushing ? (state.milliseconds += 1000) : host());
  return state;
});

afterEach(() => {
  clock.isRushing = false;
});

test('a memtable is flushed after the batch that found it full is inserted, however slow the machine is', async () => {
  const key = (i: number): Uint8Array => new TextEncoder().encode(`key${i}`);
  const batchOf = (start: number): WriteBatch => {
    const batch = new WriteBatch();
    for (let i = start; i < start + 1000; i++) batch.put(key(i), new Uint8Array(100));
    return batch;
  };
  const opened: Database[] = [];
  const isInserted: boolean[] = [];
  const folder = new (class extends WritableMemoryFolder {
    override create(name: string): ReturnType<WritableMemoryFolder['create']> {
      if (name.endsWith('.ldb')) isInserted.push(opened[0]?.getSync(key(1999)) !== undefined);
      return super.create(name);
    }
  })();
  const database = await Database.open(folder, { writeBufferSize: 65_536 });
  opened.push(database);
  await database.write(batchOf(0));
  // Every time slice is over as soon as the clock is looked at.
  clock.isRushing = true;
  await database.write(batchOf(1000));
  await database.idle();
  expect(isInserted).toEqual([true]);
  await database.close();
});

test.each(['in a log', 'in a table'])('a loop of explain, versions or approximateSize of entries %s lets others have their turn of the event loop', async (place) => {
  const database = await Database.open(new WritableMemoryFolder());
  await database.put('key', 'value');
  if (place === 'in a table') await database.flush();
  const calls = [() => database.explain('key'), () => database.versions('key'), () => database.approximateSize('a', 'z')];
  for (const call of calls) await call();
  clock.milliseconds = Math.max(clock.milliseconds, performance.now());
  clock.isRushing = true;
  for (const call of calls) {
    const { turns } = await turnsDuring(async () => {
      for (let i = 0; i < 100; i++) await call();
    });
    expect(turns, String(call)).toBeGreaterThanOrEqual(5);
  }
  await database.close();
});

describe('others get their turn of the event loop, however slow the machine is', () => {
  const COUNT = 20_000;
  const key = (i: number): Uint8Array => new TextEncoder().encode(`key${String(i).padStart(6, '0')}`);

  /** A database in memory whose entries are all in its log. */
  async function logged(): Promise<WritableMemoryFolder> {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder);
    for (let i = 0; i < COUNT; i += 100) {
      const batch = new WriteBatch();
      for (let j = i; j < i + 100; j++) batch.put(key(j), new Uint8Array(20));
      await database.write(batch);
    }
    await database.close();
    return folder;
  }

  /** How many turns the event loop made during some work, for which every look at the clock says that a time slice is over. */
  async function turnsOf(work: () => Promise<unknown>): Promise<number> {
    clock.milliseconds = Math.max(clock.milliseconds, performance.now());
    clock.isRushing = true;
    const { turns } = await turnsDuring<unknown>(work);
    clock.isRushing = false;
    return turns;
  }

  test('during entries, keys and a cursor in memory, both ways', async () => {
    const database = await Database.open(await logged());
    const walks: (() => Promise<number>)[] = [
      async () => {
        let count = 0;
        for await (const _ of database.entries()) count++;
        return count;
      },
      async () => {
        let count = 0;
        for await (const _ of database.keys({ reverse: true })) count++;
        return count;
      },
      async () => {
        using cursor = database.cursor();
        let count = 0;
        for (let isThere = await cursor.seekToFirst(); isThere; isThere = await cursor.next()) count++;
        return count;
      },
      async () => {
        using cursor = database.cursor();
        let count = 0;
        for (let isThere = await cursor.seekForPrev(key(COUNT)); isThere; isThere = await cursor.prev()) count++;
        return count;
      },
    ];
    for (const walk of walks) {
      let count = 0;
      const turns = await turnsOf(async () => (count = await walk()));
      expect(count).toBe(COUNT);
      expect(turns).toBeGreaterThanOrEqual(COUNT / 20);
    }
    await database.close();
  });

  test('while a log is replayed, by a database and by a reader', async () => {
    const folder = await logged();
    const bytes = [...folder.files()].find(([name]) => name.endsWith('.log'))![1].length;
    const slices = Math.floor(bytes / 2 ** 16);
    expect(slices).toBeGreaterThan(8);
    let reader: DatabaseReader | undefined;
    expect(await turnsOf(async () => (reader = await DatabaseReader.open(folder)))).toBeGreaterThanOrEqual(slices);
    expect(await reader!.has(key(COUNT - 1))).toBe(true);
    await reader!.close();
    let database: Database | undefined;
    // A log that is reused becomes no table, which is written in slices as well.
    expect(await turnsOf(async () => (database = await Database.open(folder, { reuseLogs: true })))).toBeGreaterThanOrEqual(slices);
    expect(await database!.has(key(COUNT - 1))).toBe(true);
    await database!.close();
  });

  test('while a large batch is written', async () => {
    const database = await Database.open(new WritableMemoryFolder());
    const batch = new WriteBatch();
    for (let i = 0; i < COUNT; i++) batch.put(key(i), new Uint8Array(20));
    expect(await turnsOf(() => database.write(batch))).toBeGreaterThanOrEqual(COUNT / 100);
    await database.close();
  });

  test.each(['in memory', 'in tables'])('while clear deletes a range of entries %s', async (place) => {
    const database = await Database.open(await logged(), place === 'in tables' ? {} : { reuseLogs: true });
    expect(database.describe().levels.some((files) => files.length > 0)).toBe(place === 'in tables');
    // Half of the turns are made while entries are found, and half while their deletions are inserted.
    expect(await turnsOf(() => database.clear({ gt: key(0) }))).toBeGreaterThanOrEqual(COUNT / 10);
    const left: Uint8Array[] = [];
    for await (const stored of database.keys()) left.push(stored);
    expect(left).toEqual([key(0)]);
    await database.close();
  });

  test('and a walk or a move that was interrupted by that ends with the database', async () => {
    const database = await Database.open(await logged());
    const cursor = database.cursor();
    const walk = database.entries();
    const errors: unknown[] = [];
    await turnsOf(async () => {
      await cursor.seekToFirst();
      // The sixteenth of each waits for its turn.
      const moves = Array.from({ length: 15 }, () => cursor.next());
      const steps = Array.from({ length: 16 }, () => walk.next());
      const ended = [...moves, ...steps].map((call) => call.catch((error: unknown) => void errors.push(error)));
      await database.close();
      await Promise.all(ended);
    });
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(error).toMatchObject({ name: 'TypeError', code: 'BLOOM_CLOSED', message: 'the database is closed' });
  });
});

describe('a move over many deletions', () => {
  const DELETIONS = 60_000;
  const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

  /** A database with 40 entries before the deletions and 40 after them, which all tests of a place read. */
  const databases = new Map<boolean, Promise<Database>>();
  function gapped(inTable: boolean): Promise<Database> {
    const database = databases.get(inTable) ?? newGapped(inTable);
    databases.set(inTable, database);
    return database;
  }
  afterAll(async () => {
    for (const database of databases.values()) await (await database).close();
  });

  async function newGapped(inTable: boolean): Promise<Database> {
    const database = await Database.open(new WritableMemoryFolder(), { blockSize: 1024, writeBufferSize: 2 ** 26, compression: 'none' });
    const entries = new WriteBatch();
    const deletions = new WriteBatch();
    for (let i = 10; i < 50; i++) entries.put(`a${i}`, 'before').put(`z${i}`, 'after');
    for (let i = 0; i < DELETIONS; i++) {
      const deleted = `k${String(i).padStart(8, '0')}`;
      entries.put(deleted, '');
      deletions.delete(deleted);
    }
    await database.write(entries);
    // Flushes keep what a snapshot shows, and the deletions.
    if (inTable) database.snapshot();
    await database.write(deletions);
    if (inTable) await database.flush();
    return database;
  }

  for (const inTable of [false, true]) {
    const place = inTable ? 'in a table' : 'in memory';

    test(`${place} lets others have their turn of the event loop, both ways`, async () => {
      const database = await gapped(inTable);
      using cursor = database.cursor();
      for (const [seek, found] of [[() => cursor.seek('b'), 'z10'], [() => cursor.seekForPrev('y'), 'a49']] as const) {
        const { result, turns } = await turnsDuring(seek);
        expect(result).toBe(true);
        expect(textOf(cursor.key)).toBe(found);
        expect(turns).toBeGreaterThan(10);
      }
    });

    test(`${place} does so in the middle of a walk, both ways`, async () => {
      const database = await gapped(inTable);
      for (const reverse of [false, true]) {
        using cursor = database.cursor();
        await (reverse ? cursor.seekToLast() : cursor.seekToFirst());
        // After these entries a kernel walks.
        for (let i = 0; i < 39; i++) await (reverse ? cursor.prev() : cursor.next());
        const { turns } = await turnsDuring(() => (reverse ? cursor.prev() : cursor.next()));
        expect(textOf(cursor.key)).toBe(reverse ? 'a49' : 'z10');
        expect(turns).toBeGreaterThan(1);
      }
    });

    test(`${place} can be aborted, and the cursor can move again`, async () => {
      const database = await gapped(inTable);
      using cursor = database.cursor();
      for (const seek of [cursor.seek.bind(cursor, 'b'), cursor.seekForPrev.bind(cursor, 'y')]) {
        const controller = new AbortController();
        setImmediate(() => controller.abort(new Error('enough')));
        await expect(seek({ signal: controller.signal })).rejects.toThrow('enough');
        expect(cursor.valid).toBe(false);
        expect(await cursor.seekToFirst()).toBe(true);
        expect(textOf(cursor.key)).toBe('a10');
      }
    });

    test(`${place} ends when the cursor is closed`, async () => {
      const database = await gapped(inTable);
      const cursor = database.cursor();
      const moving = cursor.seek('b');
      setImmediate(() => cursor.close());
      expect(await moving).toBe(false);
    });

    test(`${place} needs no turn without promises`, async () => {
      const database = await gapped(inTable);
      using cursor = database.cursorSync();
      expect(cursor.seek('b')).toBe(true);
      expect(textOf(cursor.key)).toBe('z10');
      expect(cursor.seekForPrev('y')).toBe(true);
      expect(textOf(cursor.key)).toBe('a49');
    });
  }
});
