import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, DatabaseReader, WriteBatch } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'bloom-reads-at-once-'));
const path = join(root, 'database');
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keys = Array.from({ length: 2000 }, (_, i) => utf8(`key${String(i).padStart(5, '0')}`));

beforeAll(async () => {
  const database = await Database.open(new WritableNodeFolder(path, { thread: false }));
  const batch = new WriteBatch();
  for (const key of keys) batch.put(key, new Uint8Array(100).fill(key.at(-1)!));
  await database.write(batch);
  await database.compactRange();
  await database.close();
});

/** Whether the event loop turned during a call. */
async function letsTurn(call: () => Promise<unknown>): Promise<boolean> {
  let hasTurned = false;
  const immediate = setImmediate(() => (hasTurned = true));
  await call();
  clearImmediate(immediate);
  return hasTurned;
}

test('a block that the system has in memory is read without a trip to another thread, unless that is turned off', async () => {
  const calls: ((database: DatabaseReader) => Promise<unknown>)[] = [
    (database) => database.get(keys[7]!),
    (database) => database.has(keys[7]!),
    (database) => database.getMany(keys.slice(0, 30)),
    (database) => database.entries({ gte: keys[500]!, limit: 10 }).next(),
    (database) => database.cursor().seek(keys[900]!),
  ];
  for (const readsAtOnce of [true, false]) {
    const database = await DatabaseReader.open(new NodeFolder(path, { readsAtOnce }), { cache: null });
    for (const call of calls) {
      // A system that is busy may take its time for a read, and the next ones go to a thread then.
      const turns = [await letsTurn(() => call(database)), await letsTurn(() => call(database)), await letsTurn(() => call(database))];
      if (readsAtOnce) for (let i = 0; i < 300 && turns.every(Boolean); i++) turns.push(await letsTurn(() => call(database)));
      expect(turns.every(Boolean), String(call)).toBe(!readsAtOnce);
    }
    await database.close();
  }
});

test('calls that read at once again and again let the event loop turn', async () => {
  await using database = await DatabaseReader.open(new NodeFolder(path), { cache: null });
  const callers = (count: number) => async (): Promise<void> => {
    const caller = async (): Promise<void> => {
      for (let i = 0; i < 20_000 / count; i++) await database.get(keys[(i * 7) % keys.length]!);
    };
    await Promise.all(Array.from({ length: count }, caller));
  };
  expect(await letsTurn(callers(1))).toBe(true);
  expect(await letsTurn(callers(16))).toBe(true);
});

test('an option that is wrong is refused', () => {
  expect(() => new NodeFolder(path, { readsAtOnce: 1 as unknown as boolean })).toThrow('readsAtOnce must be a boolean');
  expect(() => new WritableNodeFolder(path, { readAtOnce: true } as object)).toThrow('readAtOnce');
});

const calls: Record<string, (database: DatabaseReader, signal?: AbortSignal) => Promise<unknown>> = {
  get: (database, signal) => database.get(keys[7]!, { signal }),
  has: (database, signal) => database.has(keys[7]!, { signal }),
  explain: (database, signal) => database.explain(keys[7]!, { signal }),
  getMany: (database, signal) => database.getMany([keys[7]!], { signal }),
  versions: (database, signal) => database.versions(keys[7]!, { signal }),
  entries: (database, signal) => database.entries({ gte: keys[7]!, signal }).next(),
  cursor: (database, signal) => database.cursor().seek(keys[7]!, { signal }),
};

test.each(Object.entries(calls))('%s is rejected when a comparator closes the reader, or aborts the call, while it reads at once', async (_, call) => {
  let interrupt = (): void => undefined;
  const comparator: Comparator = {
    name: bytewiseComparator.name,
    compare(a, b) {
      interrupt();
      return bytewiseComparator.compare(a, b);
    },
    findShortestSeparator: (start, limit) => bytewiseComparator.findShortestSeparator(start, limit),
    findShortSuccessor: (key) => bytewiseComparator.findShortSuccessor(key),
  };
  const open = (): Promise<DatabaseReader> => DatabaseReader.open(new NodeFolder(path), { cache: null, comparators: [comparator] });
  const controller = new AbortController();
  const reason = new Error('enough');
  await using aborted = await open();
  interrupt = () => controller.abort(reason);
  await expect(call(aborted, controller.signal)).rejects.toBe(reason);

  interrupt = () => undefined;
  const closed = await open();
  interrupt = () => void closed.close();
  await expect(call(closed)).rejects.toThrow(/closed/);
});
