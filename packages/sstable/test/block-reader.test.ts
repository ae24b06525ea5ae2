import { seeded } from '@bloom/fixtures';
import { turns } from '@bloom/fixtures/event-loop';
import { BlockCache, Table } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { BLOCK_TRAILER_LENGTH } from '../src/format/stored-block.js';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { putTogether, type StoredPart, takeApart } from './damage.js';
import { collect, numberedEntries, sameBytes, sameEntries, utf8 } from './entries.js';
import { gate, WatchedSource } from './sources.js';

const entries = numberedEntries(10_000, 90);
/** About 1.1 MB in about 260 blocks of slightly more than 4 KiB, adjacent in the file. */
const bytes = buildTable(entries, { compression: 'none' });

async function opened(options: Parameters<typeof Table.open>[1] = {}): Promise<{ table: Table; source: WatchedSource }> {
  const source = new WatchedSource(bytes);
  const table = await Table.open(source, options);
  source.reads.length = 0;
  return { table, source };
}

function readBytes({ reads }: WatchedSource): number {
  return reads.reduce((sum, { length }) => sum + length, 0);
}

const dataBytes = (await opened()).table.approximateOffset(Uint8Array.of(0xff));

describe('a scan', () => {
  test.each([false, true])('reads windows that double up to the limit, one window ahead (reverse %s)', async (reverse) => {
    const { table, source } = await opened({ readAheadBytes: 64 * 1024, cache: null });
    const all = await collect(table.entries({ reverse }));
    expect(sameEntries(reverse ? all.reverse() : all, entries)).toBe(true);
    const lengths = source.reads.map(({ length }) => length);
    expect(lengths[0]).toBeLessThan(4400);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(64 * 1024);
    expect(Math.max(...lengths)).toBeGreaterThan(55 * 1024);
    // Backwards, the first block that is read is the last one, which is not full.
    for (let i = reverse ? 3 : 1; i < 5; i++) expect(lengths[i]! / lengths[i - 1]!).toBeGreaterThan(1.2);
    // Each block is read once.
    const ordered = [...source.reads].sort((a, b) => a.offset - b.offset);
    const gaps = ordered.slice(1).filter(({ offset }, i) => offset !== ordered[i]!.offset + ordered[i]!.length);
    expect(gaps).toEqual([]);
    expect(lengths.length).toBeLessThan(30);
    expect(readBytes(source)).toBeLessThan(bytes.length);
  });

  test('reads block by block with readAheadBytes 0, and no block ahead', async () => {
    const { table, source } = await opened({ readAheadBytes: 0 });
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(source.reads).toHaveLength(table.blockCount);
    const other = await opened({ readAheadBytes: 0 });
    const iterator = other.table.entries();
    await iterator.next();
    expect(other.source.reads).toHaveLength(1);
  });

  test.each([1, 4200, 9000])('with readAheadBytes %d reads every block once', async (readAheadBytes) => {
    for (const reverse of [false, true]) {
      const { table, source } = await opened({ readAheadBytes, cache: null });
      const all = await collect(table.entries({ reverse }));
      expect(sameEntries(reverse ? all.reverse() : all, entries)).toBe(true);
      expect(readBytes(source)).toBeLessThan(bytes.length);
    }
  });

  test('that is short reads little', async () => {
    const { table, source } = await opened();
    const some = await collect(table.entries({ gte: entries[500]![0], limit: 5 }));
    expect(sameEntries(some, entries.slice(500, 505))).toBe(true);
    expect(readBytes(source)).toBeLessThan(9000);
  });

  test('returns exactly the entries between any bounds, whatever is in the cache (seed 17)', async () => {
    const random = seeded(17);
    const { table, source } = await opened({ cache: new BlockCache(300_000), readAheadBytes: 40_000 });
    const wrong: string[] = [];
    for (let i = 0; i < 60; i++) {
      for (let j = random.below(6); j > 0; j--) await table.get(random.pick(entries)[0]);
      const from = random.below(entries.length);
      const some = entries.slice(from, from + random.pick([1, 30, 300, 1500]));
      const reverse = random.below(2) === 0;
      const given = await collect(table.entries({ gte: some[0]![0], lte: some.at(-1)![0], reverse }));
      if (!sameEntries(reverse ? given.reverse() : given, some)) wrong.push(`${i}: from ${from}, ${some.length} entries`);
    }
    expect(wrong).toEqual([]);
    expect(source.reads.filter(({ offset, length }) => offset + length > dataBytes)).toEqual([]);
  });

  test('takes blocks from the cache in the middle of a window', async () => {
    const { table, source } = await opened();
    const middle = entries.slice(3000, 3500);
    await table.getMany(middle.map(([key]) => key));
    source.reads.length = 0;
    const { cacheHits } = table.stats;
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(table.stats.cacheHits - cacheHits).toBeGreaterThan(10);
    source.reads.length = 0;
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(source.reads).toEqual([]);
  });

  test('that breaks early reads no further, and the table stays usable', async () => {
    const { table, source } = await opened();
    let count = 0;
    for await (const _ of table) if (++count === 500) break;
    const reads = source.reads.length;
    await turns();
    expect(source.reads).toHaveLength(reads);
    expect(readBytes(source)).toBeLessThan(400 * 1024);
    expect(await table.get(entries[9000]![0])).toEqual(entries[9000]![1]);
  });

  test('whose read-ahead fails throws when it reaches that place, and not after a break', async () => {
    const failure = new Error('the disk is gone');
    const { table, source } = await opened({ readAheadBytes: 40_000 });
    const limit = 200_000;
    source.answer = (part, { offset, length }) => {
      if (offset + length > limit) throw failure;
      return part;
    };
    const seen: number[] = [];
    const error = await rejection(
      (async () => {
        for await (const [, value] of table) seen.push(value.length);
      })(),
    );
    expect(error).toBe(failure);
    expect(seen.length).toBeGreaterThan(1000);
    const rejections: unknown[] = [];
    const note = (rejected: unknown): void => void rejections.push(rejected);
    process.on('unhandledRejection', note);
    let count = 0;
    for await (const _ of table) if (++count === seen.length - 1) break;
    await turns();
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
  });

  test('over a damaged block inside a window returns everything before it, and then an error with its offset', async () => {
    const damaged = bytes.slice();
    const offset = (await opened()).table.approximateOffset(entries[5000]![0]);
    damaged[offset + 5]! ^= 1;
    const table = await Table.open(new WatchedSource(damaged));
    let count = 0;
    const error = await rejection(
      (async () => {
        for await (const _ of table) count++;
      })(),
    );
    expect(error).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'data block', offset });
    expect(count).toBeGreaterThan(4900);
    expect(count).toBeLessThanOrEqual(5000);
  });

  test('does not read the bytes between blocks that are not adjacent', async () => {
    const { parts } = takeApart(buildTable(entries.slice(0, 600), { compression: 'none', filterPolicy: null }));
    const meta: StoredPart = { kind: 'meta', key: utf8('other'), payload: new Uint8Array(3000), type: 0 };
    const apart = putTogether(parts.flatMap((part, i) => (i % 4 === 3 ? [part, meta] : [part])));
    for (const reverse of [false, true]) {
      const source = new WatchedSource(apart);
      const table = await Table.open(source, { tailBytes: 2000 });
      source.reads.length = 0;
      const all = await collect(table.entries({ reverse }));
      expect(sameEntries(reverse ? all.reverse() : all, entries.slice(0, 600))).toBe(true);
      expect(source.reads.length).toBeGreaterThan(3);
      expect(readBytes(source)).toBe(parts.reduce((sum, { payload }) => sum + payload.length + BLOCK_TRAILER_LENGTH, 0));
    }
  });

  test('passes an abort to every read of the source', async () => {
    const { table, source } = await opened();
    const controller = new AbortController();
    const reason = new Error('enough');
    const walk = table.entries({ signal: controller.signal });
    for (let i = 0; i < 2000; i++) await walk.next();
    const under: (AbortSignal | undefined)[] = [];
    source.answer = (_, { signal }) => {
      under.push(signal);
      return new Promise(() => undefined);
    };
    const rest = rejection((async () => {
      for await (const entry of walk) expect(entry).toHaveLength(2);
    })());
    await turns();
    controller.abort(reason);
    expect(await rest).toBe(reason);
    // Both the window that it waits for and the next one.
    expect(under.map((signal) => signal?.aborted)).toEqual([true, true]);
  });
});

describe('getMany', () => {
  test('reads adjacent blocks together, in parts of at most 1 MiB', async () => {
    const { table, source } = await opened();
    const values = await table.getMany(entries.map(([key]) => key));
    expect(values.every((value, i) => sameBytes(value, entries[i]![1]))).toBe(true);
    expect(source.reads.length).toBeLessThanOrEqual(2);
    expect(Math.max(...source.reads.map(({ length }) => length))).toBeLessThanOrEqual(2 ** 20);
  });

  test.each([
    [0, 3],
    [4 * 1024, 3],
    [5 * 1024, 1],
    [1024 * 1024, 1],
  ])('with a gap of %d bytes reads three blocks, with an unneeded block between each two, in %d reads', async (gapBytes, reads) => {
    const { table, source } = await opened({ gapBytes });
    // An entry has about 113 bytes, so a block has 37 entries.
    const first = table.approximateOffset(entries[1000]![0]);
    const keys: Uint8Array[] = [];
    let last = first;
    let block = 0;
    for (const [key] of entries.slice(1000)) {
      const offset = table.approximateOffset(key);
      if (offset !== last) block++;
      last = offset;
      if (block > 4) break;
      if (block % 2 === 0) keys.push(key);
    }
    const values = await table.getMany(keys);
    expect(values).not.toContain(undefined);
    expect(source.reads).toHaveLength(reads);
  });

  test('returns values in the order of the keys, including duplicate and absent keys', async () => {
    const { table } = await opened();
    const [a, b] = [entries[9000]!, entries[20]!];
    const absent = Uint8Array.of(0);
    expect(await table.getMany([a[0], absent, b[0], a[0]])).toEqual([a[1], undefined, b[1], a[1]]);
    expect(await table.getMany([])).toEqual([]);
  });

  test('reads only what is not in the cache', async () => {
    const { table, source } = await opened();
    await table.getMany(entries.slice(100, 400).map(([key]) => key));
    source.reads.length = 0;
    await table.getMany(entries.slice(100, 400).map(([key]) => key));
    expect(source.reads).toEqual([]);
  });

  test('has at most eight pending reads', async () => {
    const { table, source } = await opened({ gapBytes: 0 });
    let under = 0;
    let most = 0;
    source.answer = async (part) => {
      most = Math.max(most, ++under);
      await turns();
      under--;
      return part;
    };
    const far = entries.filter((_, i) => i % 100 === 0).map(([key]) => key);
    expect(await table.getMany(far)).not.toContain(undefined);
    expect(source.reads.length).toBeGreaterThan(80);
    expect(most).toBe(8);
  });

  test('fails as a whole when one read fails, and leaves nothing pending', async () => {
    const { table, source } = await opened({ gapBytes: 0 });
    const failure = new Error('no');
    source.answer = (part, { offset }) => {
      if (offset > 500_000) throw failure;
      return part;
    };
    const far = entries.filter((_, i) => i % 100 === 0).map(([key]) => key);
    expect(await rejection(table.getMany(far))).toBe(failure);
    source.answer = (part) => part;
    expect(await table.getMany(far)).not.toContain(undefined);
  });
});

describe('simultaneous lookups in one block', () => {
  test('share one read', async () => {
    const { table, source } = await opened();
    const { opened: go, open } = gate();
    source.answer = async (part) => {
      await go;
      return part;
    };
    const lookups = entries.slice(0, 30).map(([key]) => table.get(key));
    open();
    const values = await Promise.all(lookups);
    expect(values.every((value, i) => sameBytes(value, entries[i]![1]))).toBe(true);
    expect(source.reads).toHaveLength(1);
  });

  test('share one error, and the next lookup reads again', async () => {
    const { table, source } = await opened();
    const failure = new Error('no');
    source.answer = () => Promise.reject(failure);
    const lookups = entries.slice(0, 5).map(([key]) => rejection(table.get(key)));
    expect(await Promise.all(lookups)).toEqual(Array.from({ length: 5 }, () => failure));
    expect(source.reads).toHaveLength(1);
    source.answer = (part) => part;
    expect(await table.get(entries[0]![0])).toEqual(entries[0]![1]);
  });
});

test.each([
  ['readAheadBytes', { readAheadBytes: -1 }],
  ['readAheadBytes', { readAheadBytes: 1.5 }],
  ['gapBytes', { gapBytes: NaN }],
])('rejects a wrong %s by name', async (name, options) => {
  const error = await rejection(Table.open(new WatchedSource(bytes), options));
  expect(error).toBeInstanceOf(RangeError);
  expect((error as Error).message).toContain(name);
});

test('Symbol.asyncDispose of a table closes it', async () => {
  const { table } = await opened();
  await table[Symbol.asyncDispose]();
  expect(await rejection(table.get(entries[0]![0]))).toBeInstanceOf(TypeError);
});

describe('a cursor', () => {
  test.each([false, true])('reads ahead of moves in one direction as a scan does (reverse %s)', async (reverse) => {
    const { table, source } = await opened({ readAheadBytes: 64 * 1024, cache: null });
    const cursor = table.cursor();
    const all: (readonly [Uint8Array, Uint8Array])[] = [];
    const move = reverse ? () => cursor.prev() : () => cursor.next();
    for (let more = await (reverse ? cursor.seekToLast() : cursor.seekToFirst()); more; more = await move()) {
      all.push([cursor.key.slice(), cursor.value.slice()]);
    }
    expect(sameEntries(reverse ? all.reverse() : all, entries)).toBe(true);
    expect(source.reads.length).toBeLessThan(30);
    expect(readBytes(source)).toBeLessThan(bytes.length);
  });

  test('that only seeks reads one block per seek and nothing ahead', async () => {
    const { table, source } = await opened({ cache: null });
    const cursor = table.cursor();
    for (const i of [9000, 100, 5000, 2000]) await cursor.seek(entries[i]![0]);
    expect(source.reads).toHaveLength(4);
    expect(readBytes(source)).toBeLessThan(4 * 4400);
  });

  test('that seeks aborts the read that was ahead of it', async () => {
    const { table, source } = await opened({ cache: null });
    const cursor = table.cursor();
    const { opened: go, open } = gate();
    await cursor.seekToFirst();
    let windows = 0;
    // The third read is the first read ahead.
    source.answer = (part) => (++windows < 2 ? part : go.then(() => part));
    while (source.reads.length < 3) expect(await cursor.next()).toBe(true);
    const ahead = source.reads[2]!;
    expect(ahead.signal?.aborted).toBe(false);
    source.answer = (part) => part;
    expect(await cursor.seek(entries[7000]![0])).toBe(true);
    expect(ahead.signal?.aborted).toBe(true);
    open();
    expect(await cursor.next()).toBe(true);
    expect(sameBytes(cursor.key, entries[7001]![0])).toBe(true);
  });

  test('that changes direction reads the blocks before it', async () => {
    const { table } = await opened({ cache: null });
    const cursor = table.cursor();
    await cursor.seek(entries[3000]![0]);
    for (let i = 3001; i <= 3500; i++) expect(await cursor.next()).toBe(true);
    for (let i = 3499; i >= 2000; i--) expect(await cursor.prev()).toBe(true);
    expect(sameBytes(cursor.key, entries[2000]![0])).toBe(true);
    expect(await cursor.next()).toBe(true);
    expect(sameBytes(cursor.key, entries[2001]![0])).toBe(true);
  });

  test('whose read ahead fails returns every entry before it, without an unhandled rejection', async () => {
    const { table, source } = await opened({ readAheadBytes: 64 * 1024, cache: null });
    const cursor = table.cursor();
    await cursor.seekToFirst();
    let left = 4;
    source.answer = (part) => {
      if (left-- > 0) return part;
      throw new Error('the source fails');
    };
    const seen = [cursor.key.slice()];
    const error = await rejection(
      (async () => {
        while (await cursor.next()) seen.push(cursor.key.slice());
      })(),
    );
    expect(error).toMatchObject({ message: 'the source fails' });
    expect(seen.length).toBeGreaterThan(200);
    expect(seen.every((key, i) => sameBytes(key, entries[i]![0]))).toBe(true);
    expect(cursor.valid).toBe(false);
  });
});

test('all calls of getMany of a remote table together run at most 16 reads at the same time, of one block or of several', async () => {
  let now = 0;
  let most = 0;
  const source = {
    byteLength: bytes.length,
    isRemote: true,
    async read(offset: number, length: number): Promise<Uint8Array> {
      most = Math.max(most, ++now);
      await turns();
      now--;
      return bytes.slice(offset, offset + length);
    },
  };
  const table = await Table.open(source, { cache: null, gapBytes: 0 });
  // Pairs of keys in adjacent blocks, and single ones.
  const wanted = (start: number): Uint8Array[] => Array.from({ length: 60 }, (_, i) => start + i * 160 + (i % 3 === 0 ? 0 : (i % 2) * 40)).map((i) => entries[i % entries.length]![0]);
  const pairs = (start: number): Uint8Array[] => Array.from({ length: 60 }, (_, i) => entries[(start + (i >> 1) * 300 + (i & 1) * 40) % entries.length]![0]);
  const lists = [wanted(1), pairs(3), pairs(100), pairs(200), wanted(7)];
  const found = await Promise.all(lists.map((keys) => table.getMany(keys)));
  expect(most).toBe(16);
  for (const [i, keys] of lists.entries()) {
    expect(found[i]!.every((value) => value !== undefined)).toBe(true);
    expect(found[i]).toHaveLength(keys.length);
  }
});

test('a getMany that waits for room for its reads ends with the table, or when it is aborted', async () => {
  const source = {
    byteLength: bytes.length,
    isRemote: true,
    hangs: false,
    read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
      if (!this.hangs) return Promise.resolve(bytes.slice(offset, offset + length));
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  };
  const table = await Table.open(source, { cache: null, gapBytes: 0 });
  source.hangs = true;
  const pairs = (start: number): Uint8Array[] => Array.from({ length: 60 }, (_, i) => entries[(start + (i >> 1) * 300 + (i & 1) * 40) % entries.length]![0]);
  const first = rejection(table.getMany(pairs(0)));
  const controller = new AbortController();
  const aborted = rejection(table.getMany(pairs(100), { signal: controller.signal }));
  const second = rejection(table.getMany(pairs(200)));
  await turns();
  controller.abort(new Error('enough'));
  expect(await aborted).toMatchObject({ message: 'enough' });
  await table.close();
  expect(await first).toMatchObject({ message: 'the table was closed' });
  expect(await second).toMatchObject({ message: 'the table was closed' });
});

test.each([false, true])('getMany gives no signal to more reads than Node lets listen to it (remote: %s)', async (isRemote) => {
  const readsOf = new Map<AbortSignal, number>();
  const source = {
    byteLength: bytes.length,
    isRemote,
    async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
      if (signal !== undefined) readsOf.set(signal, (readsOf.get(signal) ?? 0) + 1);
      await turns();
      return bytes.slice(offset, offset + length);
    },
  };
  const table = await Table.open(source, { cache: null, gapBytes: 0 });
  // Pairs of keys in adjacent blocks.
  const pairs = Array.from({ length: 60 }, (_, i) => entries[(i >> 1) * 300 + (i & 1) * 40]![0]);
  expect((await table.getMany(pairs)).every((value) => value !== undefined)).toBe(true);
  expect(readsOf.size).toBeGreaterThan(0);
  expect(Math.max(...readsOf.values())).toBeLessThanOrEqual(10);
});
