// Blocks that lookups add to a full cache get the memory of those that they evict: nobody may still refer to that.
import type { Bytes } from '@bloom/bytes';
import { seeded } from '@bloom/fixtures';
import { BlockCache, bytewiseComparator, type Codec, type Comparator, MemorySource, type Source, SyncTable, type SyncSource, Table } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { buildTable } from '../build-table.js';
import { putTogether, takeApart } from '../damage.js';
import { sameBytes } from '../entries.js';

const ID = 0;

describe('a block cache', () => {
  test('gives a block the memory of the one that it evicts for it', () => {
    const cache = new BlockCache(4096);
    cache.setCopy(ID, new Uint8Array(1000).fill(1));
    const { buffer } = cache.borrow(ID)!;
    for (let id = 1; id < 20; id++) cache.setCopy(id, new Uint8Array(1000).fill(id));
    const kept = Array.from({ length: 20 }, (_, id) => cache.borrow(id)).filter((block) => block !== undefined);
    expect(kept).toHaveLength(3);
    expect(new Set(Array.from({ length: 30 }, (_, i) => {
      cache.setCopy(20 + i, new Uint8Array(1000));
      return cache.borrow(20 + i)!.buffer;
    })).size).toBeLessThanOrEqual(4);
    expect(buffer.byteLength).toBeGreaterThanOrEqual(1000);
  });

  test('does not use the memory of a block again that it gave to someone', () => {
    const cache = new BlockCache(4096);
    const given: Uint8Array[] = [];
    for (let id = 0; id < 40; id++) {
      cache.setCopy(id, new Uint8Array(1000).fill(id));
      given.push(cache.get(id)!);
    }
    expect(given.map((block) => block.every((byte, _, all) => byte === all[0]) && block[0])).toEqual(given.map((_, id) => id));
    expect(new Set(given.map(({ buffer }) => buffer)).size).toBe(given.length);
  });

  test('does not use the memory again of a block that is not its own', () => {
    const cache = new BlockCache(2048);
    const own = Array.from({ length: 10 }, (_, id) => new Uint8Array(1000).fill(id));
    for (const [id, block] of own.entries()) cache.set(id, block);
    for (let id = 100; id < 120; id++) cache.setCopy(id, new Uint8Array(1000).fill(0xff));
    expect(own.map((block) => block[0])).toEqual(own.map((_, id) => id));
  });

  test('copies what it keeps, and counts the memory of it', () => {
    const random = seeded(11);
    const cache = new BlockCache(20_000);
    const expected = new Map<number, Uint8Array>();
    for (let n = 0; n < 3000; n++) {
      const id = random.below(60);
      const block = random.bytes(random.below(n % 3 === 0 ? 6000 : 300));
      cache.setCopy(id, block);
      expected.set(id, block.slice());
      block.fill(0);
      expect(cache.byteLength).toBeLessThanOrEqual(20_000);
      for (const other of [id, random.below(60)]) {
        const kept = random.below(2) === 0 ? cache.borrow(other) : cache.get(other);
        if (kept !== undefined) expect(sameBytes(kept, expected.get(other))).toBe(true);
      }
    }
    cache.drop(0, 60);
    expect(cache.byteLength).toBe(0);
  });

  test.each([3968, 3969, 5000])('keeps no copy of %d bytes if that is more than fits', (length) => {
    const cache = new BlockCache(4096);
    cache.setCopy(1, new Uint8Array(10));
    cache.setCopy(ID, new Uint8Array(length));
    expect([cache.borrow(ID)?.length, cache.borrow(1)?.length]).toEqual(length <= 3968 ? [length, undefined] : [undefined, 10]);
  });
});

const random = seeded(41);
const entries = Array.from({ length: 2000 }, (_, i): [Uint8Array, Uint8Array] => {
  const value = random.bytes(100 + random.below(60));
  value.copyWithin(50, 0);
  return [new TextEncoder().encode(`key ${String(i).padStart(5, '0')}`), value];
});
const keyOf = (i: number): Uint8Array => entries[i]![0];

/** A file, as far as memory for its bytes goes: sometimes its bytes are at hand, and sometimes not. */
class FileLike implements SyncSource {
  readonly byteLength: number;
  readonly #bytes: Uint8Array;
  #reads = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.byteLength = bytes.length;
  }

  read(offset: number, length: number): Uint8Array {
    return this.#bytes.slice(offset, offset + length);
  }

  readInto(offset: number, bytes: Uint8Array): number {
    bytes.set(this.#bytes.subarray(offset, offset + bytes.length));
    return bytes.length;
  }

  readAtOnce(offset: number, length: number, into?: Bytes): Bytes | undefined {
    if (this.#reads++ % 4 === 3) return undefined;
    const bytes = into ?? new Uint8Array(length);
    this.readInto(offset, bytes);
    return bytes;
  }
}

/** The same, whose reads take a turn. */
function later(source: FileLike): Source {
  return {
    byteLength: source.byteLength,
    read: (offset, length) => new Promise((resolve) => void setImmediate(() => resolve(source.read(offset, length)))),
    readAtOnce: (offset, length, into) => source.readAtOnce(offset, length, into),
  };
}

/** Looks up a key while it compares. */
function curious(lookUp: () => void): Comparator {
  return { ...bytewiseComparator, compare: (a, b) => (lookUp(), bytewiseComparator.compare(a, b)) };
}

describe.each(['none', 'snappy'] as const)('a table with a cache of a few blocks, compression %s', (compression) => {
  const bytes = buildTable(entries, { compression, blockSize: 1024 });
  const cache = (): BlockCache => new BlockCache(4 * 1200);

  test('cursors and walks keep their place while lookups replace all cached blocks', () => {
    const table = SyncTable.open(new FileLike(bytes), { cache: cache() });
    const elsewhere = (i: number): void => {
      for (let k = 0; k < 8; k++) {
        const j = (i + 137 * (k + 1)) % entries.length;
        expect(sameBytes(table.get(keyOf(j)), entries[j]![1])).toBe(true);
      }
    };
    const cursor = table.cursor();
    for (let i = 0; i < entries.length; i += 61) {
      // The block that the cursor goes to was cached by a lookup.
      table.get(keyOf(i));
      expect(cursor.seek(keyOf(i))).toBe(true);
      elsewhere(i);
      for (let n = i; n < Math.min(i + 12, entries.length); n++, cursor.next()) {
        expect(sameBytes(cursor.key, keyOf(n))).toBe(true);
        expect(sameBytes(cursor.value, entries[n]![1])).toBe(true);
        if (n % 3 === 0) elsewhere(n);
      }
      let n = i;
      table.get(keyOf(i));
      for (const batch of table.batches({ gte: keyOf(i), limit: 5 })) {
        elsewhere(i);
        for (const [key, value] of batch) {
          expect(sameBytes(key, keyOf(n))).toBe(true);
          expect(sameBytes(value, entries[n++]![1])).toBe(true);
        }
      }
    }
  });

  test('concurrent lookups and walks get their own bytes', async () => {
    const table = await Table.open(later(new FileLike(bytes)), { cache: cache() });
    const wrong: string[] = [];
    const caller = async (first: number): Promise<void> => {
      for (let i = first; i < entries.length; i += 16) {
        if (!sameBytes(await table.get(keyOf(i)), entries[i]![1])) wrong.push(`get ${i}`);
        if (i % 5 === 0 && !sameBytes((await table.find(keyOf(i), () => true))?.[1], entries[i]![1])) wrong.push(`find ${i}`);
        if (i % 7 === 0) {
          const values = await table.getMany([keyOf(i), keyOf((i * 7) % entries.length)]);
          if (!sameBytes(values[0], entries[i]![1]) || !sameBytes(values[1], entries[(i * 7) % entries.length]![1])) wrong.push(`getMany ${i}`);
        }
        if (i % 11 !== 0) continue;
        let n = i;
        for await (const [key, value] of table.entries({ gte: keyOf(i), limit: 15 })) {
          if (!sameBytes(key, keyOf(n)) || !sameBytes(value, entries[n]![1])) wrong.push(`entry ${n}`);
          n++;
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, i) => caller(i)));
    expect(wrong).toEqual([]);
  });

  test('a lookup whose comparator, signal or callback looks up other keys gets its own value', async () => {
    let depth = 0;
    let quiet = 0;
    let lookUp = (): void => undefined;
    const inner = (): void => {
      if (depth > 0 || quiet-- > 0) return;
      depth++;
      lookUp();
      depth--;
    };
    const shared = cache();
    const table = SyncTable.open(new FileLike(bytes), { cache: shared, comparator: curious(inner) });
    const other = SyncTable.open(new FileLike(bytes), { cache: shared });
    let j = 0;
    lookUp = () => {
      for (let k = 0; k < 5; k++) {
        j = (j + 331) % entries.length;
        // Also of the table itself, whose searches use memory again too.
        expect(sameBytes((k % 2 === 0 ? other : table).get(keyOf(j)), entries[j]![1])).toBe(true);
        expect(table.has(keyOf(j))).toBe(true);
      }
    };
    for (let i = 0; i < entries.length; i += 29) {
      // From the first comparison on, or from one on that is made in the block, which the quiet lookup has put into the cache.
      for (quiet of [0, 7, 8, 9, 10]) {
        depth++;
        table.get(keyOf(i));
        depth--;
        expect(sameBytes(table.get(keyOf(i)), entries[i]![1])).toBe(true);
        expect(table.has(keyOf(i))).toBe(true);
        expect(sameBytes(table.find(keyOf(i), () => true)?.[1], entries[i]![1])).toBe(true);
      }
    }

    const plain = SyncTable.open(new FileLike(bytes), { cache: cache() });
    for (let i = 0; i < entries.length; i += 13) {
      const matches = (): boolean => {
        for (let k = 1; k < 9; k++) plain.get(keyOf((i + 137 * k) % entries.length));
        return true;
      };
      expect(sameBytes(plain.find(keyOf(i), matches)?.[1], entries[i]![1])).toBe(true);
    }

    const asked = await Table.open(new MemorySource(bytes), { cache: cache() });
    const signal = Object.assign(Object.create(new EventTarget()) as AbortSignal, {
      aborted: false,
      throwIfAborted: () => void asked.get(keyOf((j = (j + 331) % entries.length))),
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    });
    for (let i = 0; i < entries.length; i += 13) expect(sameBytes(await asked.get(keyOf(i), { signal }), entries[i]![1])).toBe(true);
  });
});

/** Blocks of many lengths, and now and then a long one. */
const uneven = Array.from({ length: 1500 }, (_, i): [Uint8Array, Uint8Array] => {
  const value = random.bytes(random.pick([10, 100, 150, 400, 3000]));
  return [new TextEncoder().encode(`key ${String(i).padStart(5, '0')}`), value];
});

/** What codecs do with the memory that they may use. Each of them only copies. */
const returned: Record<string, Codec['decompress']> = {
  'memory of their own': (stored) => stored.slice(),
  'what is stored': (stored) => stored.subarray(0),
  'the memory that they are given, if it is long enough': (stored, _, scratch) => {
    if (scratch === undefined || scratch.length < stored.length) return stored.slice();
    scratch.set(stored);
    return scratch.subarray(0, stored.length);
  },
  'all of the memory that they are given, used before they fail': (stored, _, scratch) => {
    scratch?.fill(0xee);
    if (random.below(3) === 0) throw new Error('not now');
    return stored.slice();
  },
};

test.each(Object.entries(returned))('lookups of blocks whose codec returns %s find what was stored', (_, decompress) => {
  const codec: Codec = { type: 77, name: 'copying', decompress };
  const { parts } = takeApart(buildTable(uneven, { compression: 'none', blockSize: 1024 }));
  const bytes = putTogether(parts.map((part) => (part.kind === 'data' ? { ...part, type: codec.type } : part)));
  const cache = new BlockCache(12_000);
  const table = SyncTable.open(new FileLike(bytes), { cache, codecs: [codec] });
  const wrong: number[] = [];
  let failures = 0;
  for (let n = 0; n < 6000; n++) {
    const i = random.below(3) === 0 ? random.below(uneven.length) : (n * 7) % uneven.length;
    let value: Uint8Array | undefined;
    try {
      value = table.get(uneven[i]![0]);
    } catch {
      failures++;
      continue;
    }
    if (!sameBytes(value, uneven[i]![1])) wrong.push(i);
    expect(cache.byteLength).toBeLessThanOrEqual(12_000);
  }
  expect(wrong).toEqual([]);
  expect(failures > 0).toBe(String(decompress).includes('not now'));
  expect(table.stats.cacheHits).toBeGreaterThan(50);
});

test('a source may answer from another place of the memory that it is given', async () => {
  const bytes = buildTable(entries, { compression: 'snappy', blockSize: 1024 });
  let elsewhere = 0;
  const source: Source = {
    byteLength: bytes.length,
    read: (offset, length) => bytes.slice(offset, offset + length),
    readAtOnce(offset, length, into) {
      const room = into === undefined ? 0 : into.buffer.byteLength - length;
      if (room <= 0) return undefined;
      elsewhere++;
      const answer = new Uint8Array(into!.buffer, room, length);
      answer.set(bytes.subarray(offset, offset + length));
      return answer;
    },
  };
  const table = await Table.open(source, { cache: new BlockCache(5000) });
  for (let i = 0; i < entries.length; i += 7) expect(sameBytes(await table.get(keyOf(i)), entries[i]![1])).toBe(true);
  expect(elsewhere).toBeGreaterThan(50);
});
