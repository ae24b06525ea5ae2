import { seeded } from '@bloom/fixtures';
import { bytewiseComparator, type Comparator, MemorySource, type Source, SyncTable, Table } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { numberedEntries, sameEntries, utf8 } from './entries.js';

const entries = numberedEntries(1200, 50);
const bytes = buildTable(entries, { compression: 'none', blockSize: 400 });
const keyOf = (i: number): Uint8Array => entries[i]![0];
const sizeOf = ([key, value]: readonly [Uint8Array, Uint8Array]): number => key.length + value.length;

/** Answers every other read with a promise alone. */
function now(contents: Uint8Array): Source {
  let reads = 0;
  return {
    byteLength: contents.length,
    read: (offset, length, signal) => {
      signal?.throwIfAborted();
      return Promise.resolve(contents.slice(offset, offset + length));
    },
    readAtOnce: (offset, length) => (reads++ % 2 === 0 ? contents.slice(offset, offset + length) : undefined),
  };
}

/** What one call must give from entry `at` on, and the entry that it must end on. */
function expected(at: number, reverse: boolean, count: number, bound: number | undefined, inclusive: boolean, maxBytes: number): [(readonly [Uint8Array, Uint8Array])[], number] {
  const step = reverse ? -1 : 1;
  const taken: (readonly [Uint8Array, Uint8Array])[] = [];
  let i = at;
  for (let sum = 0; i >= 0 && i < entries.length && taken.length < count && sum < maxBytes; i += step) {
    if (bound !== undefined && (reverse ? i < bound : i > bound)) break;
    if (bound === i && !inclusive) break;
    taken.push(entries[i]!);
    sum += sizeOf(entries[i]!);
  }
  return [taken, i];
}

test('random calls give what single moves give, with promises and without, and end where these end', async () => {
  const table = await Table.open(now(bytes), { cache: null });
  const sync = SyncTable.open(new MemorySource(bytes), { cache: null });
  const random = seeded(51);
  const cursor = table.cursor();
  const syncCursor = sync.cursor();
  for (let round = 0; round < 150; round++) {
    let at = random.below(entries.length);
    await cursor.seek(keyOf(at));
    syncCursor.seek(keyOf(at));
    const kept: [[Uint8Array, Uint8Array][], (readonly [Uint8Array, Uint8Array])[]][] = [];
    for (let call = 0; call < 4 && at >= 0 && at < entries.length; call++) {
      const reverse = random.below(2) === 0;
      const count = 1 + random.below(60);
      const bound = random.below(3) === 0 ? undefined : Math.max(0, Math.min(entries.length - 1, at + random.below(80) - 40));
      const inclusive = random.below(2) === 0;
      const maxBytes = random.below(2) === 0 ? undefined : 1 + random.below(3000);
      const [taken, end] = expected(at, reverse, count, bound, inclusive, maxBytes ?? Infinity);
      const name = reverse ? (inclusive ? 'gte' : 'gt') : inclusive ? 'lte' : 'lt';
      const options = { maxBytes, ...(bound !== undefined && { [name]: keyOf(bound) }) };
      const found = await (reverse ? cursor.prevMany(count, options) : cursor.nextMany(count, options));
      const foundSync = reverse ? syncCursor.prevMany(count, options) : syncCursor.nextMany(count, options);
      for (const each of [found, foundSync]) {
        expect(sameEntries(each, taken)).toBe(true);
        kept.push([each, taken]);
      }
      at = end;
      for (const each of [cursor, syncCursor]) {
        expect(each.valid).toBe(at >= 0 && at < entries.length);
        if (each.valid) expect(each.key).toEqual(keyOf(at));
      }
    }
    for (const [found, taken] of kept) expect(sameEntries(found, taken)).toBe(true);
  }
});

test('a cursor on no entry gives none', async () => {
  const cursor = (await Table.open(now(bytes))).cursor();
  expect(await cursor.nextMany(10)).toEqual([]);
  await cursor.seek(utf8('zzz'));
  expect(await cursor.prevMany(10)).toEqual([]);
  await cursor.seekToLast();
  expect(await cursor.nextMany(10)).toHaveLength(1);
  expect(await cursor.nextMany(10)).toEqual([]);
});

test('entries before a damaged block are given, then its error once, and a seek forgets it', async () => {
  const damaged = bytes.slice();
  damaged[bytes.length >> 1]! ^= 1;
  const table = await Table.open(now(damaged), { cache: null });
  const sync = SyncTable.open(new MemorySource(damaged), { cache: null }).cursor();
  const cursor = table.cursor();
  for (const after of ['nextMany', 'next', 'seek'] as const) {
    await cursor.seekToFirst();
    sync.seekToFirst();
    const found = await cursor.nextMany(entries.length);
    expect(found.length).toBeGreaterThan(100);
    expect(found.length).toBeLessThan(entries.length - 100);
    expect(sameEntries(found, entries.slice(0, found.length))).toBe(true);
    expect(sameEntries(sync.nextMany(entries.length), found)).toBe(true);
    expect([cursor.valid, sync.valid]).toEqual([false, false]);
    if (after === 'seek') {
      expect([await cursor.seek(keyOf(3)), sync.seek(keyOf(3))]).toEqual([true, true]);
      expect([await cursor.nextMany(1), sync.nextMany(1)]).toEqual([[entries[3]], [entries[3]]]);
      continue;
    }
    const error = { code: 'BLOOM_BAD_CHECKSUM', structure: 'data block' };
    expect(await rejection(after === 'next' ? cursor.next() : cursor.nextMany(5))).toMatchObject(error);
    expect(caught(() => (after === 'next' ? sync.next() : sync.nextMany(5)))).toMatchObject(error);
    expect(await cursor.nextMany(5)).toEqual([]);
    expect(sync.nextMany(5)).toEqual([]);
  }
});

test('a comparator that fails for the bound fails the call that has no entry, and keeps the entries of one that has', async () => {
  let failsOn = -1;
  const comparator: Comparator = {
    ...bytewiseComparator,
    name: 'test.Failing',
    compare: (a, b) => {
      if (failsOn >= 0 && bytewiseComparator.compare(a, keyOf(failsOn)) === 0) throw new Error('the comparator fails');
      return bytewiseComparator.compare(a, b);
    },
  };
  const own = buildTable(entries, { comparator, compression: 'none', blockSize: 400 });
  const cursor = (await Table.open(now(own), { comparator })).cursor();
  const sync = SyncTable.open(new MemorySource(own), { comparator }).cursor();
  for (const reverse of [false, true]) {
    await cursor.seek(keyOf(600));
    sync.seek(keyOf(600));
    failsOn = reverse ? 598 : 602;
    const many = (): Promise<unknown> => (reverse ? cursor.prevMany(5, { gt: keyOf(10) }) : cursor.nextMany(5, { lt: keyOf(1100) }));
    const manySync = (): unknown => (reverse ? sync.prevMany(5, { gt: keyOf(10) }) : sync.nextMany(5, { lt: keyOf(1100) }));
    const taken = reverse ? [entries[600], entries[599]] : [entries[600], entries[601]];
    expect([await many(), manySync()]).toEqual([taken, taken]);
    // The error behind these entries, then the error of the entry that the cursor is on.
    for (let call = 0; call < 3; call++) {
      expect(await rejection(many())).toMatchObject({ message: 'the comparator fails' });
      expect(caught(manySync)).toMatchObject({ message: 'the comparator fails' });
    }
    failsOn = -1;
    expect(await many()).toHaveLength(5);
    expect(manySync()).toHaveLength(5);
  }
});

test('an abort or the closing of the table ends a call that waits, and a second call must wait for the first', async () => {
  let hangs = false;
  const source: Source = {
    byteLength: bytes.length,
    read: (offset, length, signal) =>
      hangs
        ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
        : Promise.resolve(bytes.slice(offset, offset + length)),
  };
  const table = await Table.open(source, { cache: null, readAheadBytes: 0 });
  const cursor = table.cursor();
  await cursor.seekToFirst();
  hangs = true;
  const controller = new AbortController();
  const aborted = rejection(cursor.nextMany(500, { signal: controller.signal }));
  expect((await rejection(cursor.nextMany(1))) as Error).toMatchObject({ message: 'the cursor is still moving: await a move before the next' });
  expect((await rejection(cursor.next())) as Error).toMatchObject({ message: 'the cursor is still moving: await a move before the next' });
  controller.abort(new Error('enough'));
  expect(await aborted).toMatchObject({ message: 'enough' });
  hangs = false;
  expect(await cursor.seekToFirst()).toBe(true);
  hangs = true;
  const closed = rejection(cursor.nextMany(500));
  await table.close();
  expect(await closed).toBeInstanceOf(TypeError);
  expect(await rejection(cursor.nextMany(1))).toMatchObject({ message: 'the table is closed' });
});

test('arguments that are wrong are refused by name', () => {
  const cursor = SyncTable.open(new MemorySource(bytes)).cursor();
  cursor.seekToFirst();
  const messageOf = (count: number, options?: object): string => (caught(() => cursor.nextMany(count, options)) as Error).message;
  expect(messageOf(0)).toMatch(/^count must be a whole number, at least 1/);
  expect(messageOf(1.5)).toMatch(/^count must be/);
  expect(messageOf(1, { maxBytes: 0 })).toMatch(/^maxBytes must be/);
  expect(messageOf(1, { gt: keyOf(1) })).toMatch(/SyncCursor\.nextMany.*gt/);
  expect(messageOf(1, { lt: 1 })).toMatch(/^lt must be a Uint8Array/);
  expect((caught(() => cursor.prevMany(1, { lt: keyOf(1) } as object)) as Error).message).toMatch(/SyncCursor\.prevMany.*lt/);
  expect(cursor.nextMany(1)).toEqual([entries[0]]);
});
