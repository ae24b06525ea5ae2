import { type KeyValue, seeded } from '@bloom/fixtures';
import { turns } from '@bloom/fixtures/event-loop';
import { BlockCache, CorruptionError, MemorySource, type Source, SyncTable, type SyncSource, Table } from '@bloom/sstable';
import { profileTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect, hex, numberedEntries, sameBytes, sameEntries, utf8 } from './entries.js';
import { gate, WatchedSource } from './sources.js';

const entries = numberedEntries(3000, 100);
const keys = entries.map(([key]) => key);
// About 35 entries per block.
const bytes = buildTable(entries, { compression: 'none' });
const key = keys[1000]!;
const value = entries[1000]![1];

/** A table whose blocks are not in the first read, and its source. */
async function openWatched(cache: BlockCache | null = null): Promise<{ table: Table; source: WatchedSource }> {
  const source = new WatchedSource(bytes);
  const table = await Table.open(source, { cache, tailBytes: 48 });
  source.reads.length = 0;
  return { table, source };
}

describe('reads', () => {
  test('are shared by simultaneous lookups in one block', async () => {
    const { table, source } = await openWatched();
    const near = keys.slice(0, 10);
    const found = await Promise.all(near.map((other) => table.get(other)));
    expect(found).toEqual(entries.slice(0, 10).map(([, other]) => other));
    expect(source.reads).toHaveLength(1);
    expect(table.stats.blockReads).toBe(1);
  });

  test('of getMany read no byte twice, and its values are in the order of the keys', async () => {
    const { table, source } = await openWatched();
    const shuffled = seeded(1).shuffle([...entries]);
    const found = await table.getMany(shuffled.map(([other]) => other));
    expect(found.filter((other, i) => !sameBytes(other, shuffled[i]![1]))).toEqual([]);
    const reads = [...source.reads].sort((a, b) => a.offset - b.offset);
    expect(reads.length).toBeLessThanOrEqual(table.blockCount);
    expect(reads.slice(1).filter(({ offset }, i) => offset < reads[i]!.offset + reads[i]!.length)).toEqual([]);
  });

  test('are repeated by later lookups without a cache, and not with one', async () => {
    const without = await openWatched();
    const withOne = await openWatched(new BlockCache(2 ** 20));
    for (const { table } of [without, withOne]) for (let i = 0; i < 3; i++) await table.get(key);
    expect([without.source.reads.length, withOne.source.reads.length]).toEqual([3, 1]);
    expect(withOne.table.stats).toMatchObject({ blockReads: 1, cacheHits: 2, filterTruePositives: 3 });
  });

  test('are not made by a lookup that the filter ends, which is counted', async () => {
    const { table, source } = await openWatched();
    const absent = Array.from({ length: 1000 }, (_, i) => utf8(`key 00${i}x`));
    expect((await table.getMany(absent)).filter((found) => found !== undefined)).toEqual([]);
    const { filterNegatives, filterFalsePositives, filterTruePositives } = table.stats;
    expect(filterNegatives + filterFalsePositives).toBe(1000);
    expect(filterFalsePositives).toBeLessThan(50);
    expect(filterTruePositives).toBe(0);
    expect(source.reads.length).toBeLessThanOrEqual(filterFalsePositives);
  });

  test('are neither made nor counted by mayContain', async () => {
    const { table, source } = await openWatched();
    expect(keys.every((other) => table.mayContain(other))).toBe(true);
    expect(table.mayContain(utf8('zzz'))).toBe(false);
    expect(source.reads).toEqual([]);
    expect(table.stats).toMatchObject({ filterNegatives: 0, filterTruePositives: 0 });
  });

  test('of opening are a single read of the tail if everything is in it', async () => {
    const source = new WatchedSource(bytes);
    const table = await Table.open(source);
    expect(source.reads.map(({ offset, length }) => offset + length)).toEqual([bytes.length]);
    expect(table.stats.bytesRead).toBe(source.reads[0]!.length);
  });

  test('are counted with all of their bytes', async () => {
    const source = new WatchedSource(bytes);
    const table = await Table.open(source, { cache: null, tailBytes: 48 });
    await collect(table);
    expect(table.stats.bytesRead).toBe(source.reads.reduce((sum, { length }) => sum + length, 0));
  });
});

describe('reading ahead', async () => {
  const dataBytes = (await profileTable(new MemorySource(bytes))).storedDataBytes;

  test.each([false, true])('a scan reads every byte once, in far fewer reads than blocks (reverse: %s)', async (reverse) => {
    const { table, source } = await openWatched();
    const expected = reverse ? [...entries].reverse() : entries;
    expect(sameEntries(await collect(table.entries({ reverse })), expected)).toBe(true);
    expect(source.reads.reduce((sum, { length }) => sum + length, 0)).toBe(dataBytes);
    expect(source.reads.length).toBeLessThan(table.blockCount / 5);
    expect(table.stats.blockReads).toBe(table.blockCount);
  });

  test('reads block by block if readAheadBytes is 0', async () => {
    const source = new WatchedSource(bytes);
    const table = await Table.open(source, { cache: null, readAheadBytes: 0, tailBytes: 48 });
    source.reads.length = 0;
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(source.reads).toHaveLength(table.blockCount);
  });

  test('lets getMany read nearby blocks together, with up to gapBytes between them', async () => {
    const counts: number[] = [];
    // The first key of about every third block.
    const some = entries.filter((_, i) => i % 100 === 0);
    for (const gapBytes of [0, 100_000]) {
      const source = new WatchedSource(bytes);
      const table = await Table.open(source, { cache: null, gapBytes, tailBytes: 48 });
      source.reads.length = 0;
      const found = await table.getMany(some.map(([other]) => other));
      expect(found).toEqual(some.map(([, other]) => other));
      counts.push(source.reads.length);
    }
    expect(counts).toEqual([some.length, 1]);
  });

  test('has no effect if it fails after the end of the walk', async () => {
    const { table, source } = await openWatched();
    let failed = 0;
    source.answer = (answer, { offset }) => {
      if (offset < 20_000) return answer;
      failed++;
      throw new Error('no connection');
    };
    expect(sameEntries(await collect(table.entries({ limit: 80 })), entries.slice(0, 80))).toBe(true);
    await turns();
    expect(failed).toBeGreaterThan(0);
  });

  test.each(['readAheadBytes', 'gapBytes'])('refuses a %s of -1 or 0.5 with a RangeError that names it', async (name) => {
    for (const value of [-1, 0.5]) {
      const error = await rejection(Table.open(new MemorySource(bytes), { [name]: value }));
      expect(error).toBeInstanceOf(RangeError);
      expect((error as RangeError).message).toContain(name);
    }
  });
});

describe('a value that get returns', () => {
  test('may be kept and changed', async () => {
    const table = await Table.open(new MemorySource(bytes.slice()));
    (await table.get(key))!.fill(0);
    expect(await table.get(key)).toEqual(value);
    const syncTable = SyncTable.open(new MemorySource(bytes.slice()));
    syncTable.get(key)!.fill(0);
    expect(syncTable.get(key)).toEqual(value);
  });

  test('may also be kept and changed if it comes from entries', async () => {
    const table = await Table.open(new MemorySource(bytes.slice()));
    for await (const [k, v] of table) {
      k.fill(0);
      v.fill(0);
    }
    expect(sameEntries(await collect(table), entries)).toBe(true);
  });
});

describe('a source that fails', () => {
  const failure = new Error('no connection');

  test('passes its error to all waiting calls, and a later lookup reads again', async () => {
    const { table, source } = await openWatched();
    source.answer = () => Promise.reject(failure);
    const lookups = [table.get(key), table.get(key), table.getMany([key])];
    const errors = await Promise.all(lookups.map(rejection));
    expect(errors).toEqual([failure, failure, failure]);
    expect(source.reads).toHaveLength(1);
    source.answer = (answer) => answer;
    expect(await table.get(key)).toEqual(value);
  });

  // `read` need not be asynchronous, so it can throw before there is a promise.
  test('by throwing synchronously is also read again by a later lookup', async () => {
    let failing = false;
    const source: Source = {
      byteLength: bytes.length,
      read(offset, length) {
        if (failing) throw failure;
        return bytes.subarray(offset, offset + length);
      },
    };
    const table = await Table.open(source, { cache: null });
    failing = true;
    expect(await rejection(table.get(key))).toBe(failure);
    failing = false;
    expect(await table.get(key)).toEqual(value);
  });

  test('passes its error to the opening', async () => {
    const source = new WatchedSource(bytes);
    source.answer = () => Promise.reject(failure);
    expect(await rejection(Table.open(source))).toBe(failure);
  });

  test('passes its error to the opening when the filter is read, instead of reporting damage', async () => {
    const source = new WatchedSource(bytes);
    let reads = 0;
    // The footer, metaindex and index together, and then the filter.
    source.answer = (answer) => (++reads === 3 ? Promise.reject(failure) : answer);
    expect(await rejection(Table.open(source, { tailBytes: 48 }))).toBe(failure);
    expect(reads).toBe(3);
  });

  test('in a walk ends the walk, and a new walk succeeds', async () => {
    const { table, source } = await openWatched();
    source.answer = (answer, { offset }) => (offset > 10_000 ? Promise.reject(failure) : answer);
    const walk = table.entries();
    const seen: unknown[] = [];
    const error = await rejection(
      (async () => {
        for await (const entry of walk) seen.push(entry);
      })(),
    );
    expect(error).toBe(failure);
    expect(seen.length).toBeGreaterThan(10);
    expect(await walk.next()).toEqual({ value: undefined, done: true });
    source.answer = (answer) => answer;
    expect(sameEntries(await collect(table), entries)).toBe(true);
  });

  test('leaves a cursor on no entry, and the cursor can seek again', async () => {
    const { table, source } = await openWatched();
    const cursor = table.cursor();
    await cursor.seekToFirst();
    source.answer = () => Promise.reject(failure);
    expect(await rejection(cursor.seek(key))).toBe(failure);
    expect(cursor.valid).toBe(false);
    source.answer = (answer) => answer;
    expect(await cursor.next()).toBe(false);
    expect(await cursor.seek(key)).toBe(true);
    expect(hex(cursor.key)).toBe(hex(key));
  });

  test.each([
    ['no bytes', 0],
    ['a byte too few', -1],
    ['a byte too many', 1],
  ])('with %s is truncated, and a later lookup reads again', async (_, change) => {
    const { table, source } = await openWatched();
    source.answer = (_answer, { offset, length }) => bytes.slice(offset, change === 0 ? offset : offset + length + change);
    const error = await rejection(table.get(key));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED', structure: 'file', file: 'watched.ldb' });
    source.answer = (answer) => answer;
    expect(await table.get(key)).toEqual(value);
  });

  test('with too few bytes at opening is truncated, at each of the reads', async () => {
    const codes: unknown[] = [];
    for (let failing = 1; failing <= 3; failing++) {
      const source = new WatchedSource(bytes);
      source.answer = (answer) => (source.reads.length === failing ? answer.subarray(1) : answer);
      codes.push(((await rejection(Table.open(source, { tailBytes: 48 }))) as CorruptionError).code);
    }
    expect(codes).toEqual(new Array(3).fill('BLOOM_TRUNCATED'));
  });

  test('a SyncTable rejects a source that returns promises', () => {
    const error = caught(() => SyncTable.open(new WatchedSource(bytes) as unknown as SyncSource));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toContain('Table');
  });
});

describe('a walk', () => {
  test('resolves simultaneous calls of next with the right results', async () => {
    const { table } = await openWatched();
    const walk = table.entries({ limit: 200 });
    const results = await Promise.all(Array.from({ length: 203 }, () => walk.next()));
    expect(sameEntries(results.slice(0, 200).map((result) => result.value as KeyValue), entries.slice(0, 200))).toBe(true);
    expect(results.slice(200)).toEqual(new Array(3).fill({ value: undefined, done: true }));
  });

  test('settles simultaneous calls of next in the order in which they were made', async () => {
    const { table } = await openWatched();
    const walk = table.keys();
    const order: number[] = [];
    await Promise.all(Array.from({ length: 100 }, (_, i) => walk.next().then(() => order.push(i))));
    expect(order).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('that is ended by break reads and returns nothing more', async () => {
    const { table, source } = await openWatched();
    const walk = table.entries();
    let count = 0;
    for await (const entry of walk) {
      expect(entry).toEqual(entries[count]);
      if (++count === 3) break;
    }
    expect(await walk.next()).toEqual({ value: undefined, done: true });
    expect(source.reads).toHaveLength(1);
  });

  test('is its own iterator', async () => {
    const { table } = await openWatched();
    const walk = table.entries();
    expect(walk[Symbol.asyncIterator]()).toBe(walk);
  });

  test('reads no block past its limit or its end', async () => {
    const { table, source } = await openWatched();
    expect(await collect(table.entries({ limit: 0 }))).toEqual([]);
    expect(source.reads).toHaveLength(0);
    await collect(table.entries({ limit: 5 }));
    await collect(table.entries({ lte: keys[5]! }));
    await collect(table.entries({ gte: keys.at(-1)!, reverse: true, limit: 1 }));
    expect(source.reads).toHaveLength(3);
  });

  test.each([-1, 0.5, NaN])('with a limit of %d is rejected', async (limit) => {
    const { table } = await openWatched();
    await expect((async () => collect(table.entries({ limit })))()).rejects.toThrow(RangeError);
    expect(() => [...SyncTable.open(new MemorySource(bytes)).entries({ limit })]).toThrow(/limit/);
  });

  test('with an aborted signal returns nothing', async () => {
    const { table, source } = await openWatched();
    const reason = new Error('enough');
    expect(await rejection(collect(table.entries({ signal: AbortSignal.abort(reason) })))).toBe(reason);
    expect(source.reads).toEqual([]);
  });

  test('ends when its signal is aborted between two entries', async () => {
    const { table } = await openWatched();
    const controller = new AbortController();
    const reason = new Error('enough');
    const seen: unknown[] = [];
    const error = await rejection(
      (async () => {
        for await (const entry of table.entries({ signal: controller.signal })) {
          seen.push(entry);
          if (seen.length === 5) controller.abort(reason);
        }
      })(),
    );
    expect(error).toBe(reason);
    expect(seen).toHaveLength(5);
  });

  test('ends when its signal is aborted during a read, which is aborted too', async () => {
    const { table, source } = await openWatched();
    const controller = new AbortController();
    const reason = new Error('enough');
    const { opened, open } = gate();
    source.answer = async (answer) => {
      await opened;
      return answer;
    };
    const first = rejection(table.entries({ signal: controller.signal }).next());
    await Promise.resolve();
    controller.abort(reason);
    expect(await first).toBe(reason);
    expect(source.reads.map(({ signal }) => signal?.reason as unknown)).toEqual([reason]);
    open();
  });

  test('that is aborted does not abort a shared read for calls without a signal', async () => {
    const { table, source } = await openWatched();
    const controller = new AbortController();
    const { opened, open } = gate();
    source.answer = (answer, { signal }) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) reject(signal.reason as Error);
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        void opened.then(() => resolve(answer));
      });
    const walk = rejection(table.entries({ signal: controller.signal }).next());
    const lookup = table.get(keys[0]!);
    controller.abort(new Error('enough'));
    expect(await walk).toMatchObject({ message: 'enough' });
    open();
    expect(await lookup).toEqual(entries[0]![1]);
  });
});

describe('a cursor', () => {
  test('rejects a move during another one, which is not affected', async () => {
    const { table, source } = await openWatched();
    const cursor = table.cursor();
    const { opened, open } = gate();
    source.answer = async (answer) => {
      await opened;
      return answer;
    };
    const first = cursor.seek(key);
    const others = [cursor.next(), cursor.prev(), cursor.seekToFirst(), cursor.seekToLast(), cursor.seek(keys[0]!)];
    const errors = await Promise.all(others.map(rejection));
    expect(errors.filter((error) => !(error instanceof TypeError && error.message.includes('await')))).toEqual([]);
    open();
    expect(await first).toBe(true);
    expect(hex(cursor.key)).toBe(hex(key));
    expect(await cursor.next()).toBe(true);
    expect(hex(cursor.key)).toBe(hex(keys[1001]));
  });

  test('does not affect another cursor', async () => {
    const { table } = await openWatched(new BlockCache(2 ** 20));
    const [a, b] = [table.cursor(), table.cursor()];
    await a.seekToFirst();
    await b.seekToLast();
    await Promise.all([a.next(), b.prev(), table.get(key)]);
    expect([hex(a.key), hex(b.key)]).toEqual([hex(keys[1]), hex(keys[2998])]);
  });

  test('does not copy: its value is a view of the block', () => {
    const file = bytes.slice();
    const cursor = SyncTable.open(new MemorySource(file)).cursor();
    cursor.seekToFirst();
    expect(cursor.value.buffer).toBe(file.buffer);
  });
});

describe('a closed table', () => {
  test('rejects or throws a TypeError for every call', async () => {
    const { table } = await openWatched();
    const syncTable = SyncTable.open(new MemorySource(bytes));
    const cursor = table.cursor();
    const syncCursor = syncTable.cursor();
    const walk = table.entries();
    const syncWalk = syncTable.entries();
    void table.close();
    syncTable.close();
    const errors = [
      await rejection(table.get(key)),
      await rejection(table.getMany([key])),
      await rejection(cursor.seekToFirst()),
      await rejection(walk.next()),
      ...[
        () => table.entries(),
        () => table.keys(),
        () => table.values(),
        () => table.cursor(),
        () => table.mayContain(key),
        () => table.approximateOffset(key),
        () => syncTable.get(key),
        () => syncTable.getMany([key]),
        () => syncTable.cursor(),
        () => syncTable.mayContain(key),
        () => syncTable.approximateOffset(key),
        () => syncTable.entries().next(),
        () => syncTable.keys().next(),
        () => syncTable.values().next(),
        () => syncCursor.seekToFirst(),
        () => syncWalk.next(),
      ].map(caught),
    ];
    const others = errors.filter((error) => !(error instanceof TypeError && error.message === 'the table is closed'));
    expect(others).toEqual([]);
  });

  test('can be closed again, and still describes the table', async () => {
    const { table } = await openWatched();
    void table.close();
    void table.close();
    expect(table.byteLength).toBe(bytes.length);
    expect(table.blockCount).toBeGreaterThan(50);
    expect(table.filterStatus.state).toBe('used');
  });

  test('ends a walk before its end', async () => {
    const { table } = await openWatched();
    const seen: unknown[] = [];
    const error = await rejection(
      (async () => {
        for await (const entry of table) {
          seen.push(entry);
          void table.close();
        }
      })(),
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(seen.length).toBeLessThan(entries.length / 2);
  });
});

test('the opening of a table passes its signal to the source', async () => {
  const source = new WatchedSource(bytes);
  const { signal } = new AbortController();
  await Table.open(source, { signal });
  expect(source.reads[0]?.signal).toBe(signal);
});
