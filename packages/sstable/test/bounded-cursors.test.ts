import { PrefixFilterPolicy, prefixOfLength } from '@bloom/policy';
import { MemorySource, SyncTable, Table } from '@bloom/sstable';
import { boundedCursorProblem, randomBounds, seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each(['Table', 'SyncTable'])('random moves of a cursor of a %s stay between any bounds', async (kind) => {
  for (let seed = 0; seed < 60; seed++) {
    const random = seeded(seed);
    // Of few bytes, so that bounds and keys often meet, and many keys have a prefix.
    const randomKey = (): Uint8Array => random.bytes(random.below(4)).map((byte) => [0, 1, 255][byte % 3]!);
    const keys = [...new Set(Array.from({ length: random.below(60) }, () => Buffer.from(randomKey()).toString('hex')))].sort().map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));
    const bytes = buildTable(keys.map((key) => [key, utf8('value')] as const), { compression: 'none', blockSize: 1 + random.below(60) });
    const table = kind === 'Table' ? await Table.open(new MemorySource(bytes)) : SyncTable.open(new MemorySource(bytes));
    for (let round = 0; round < 8; round++) {
      const bounds = randomBounds(random, randomKey);
      expect(await boundedCursorProblem(table.cursor({ ...bounds, fillCache: random.below(2) === 0 }), keys, bounds, random, randomKey), `seed ${seed}`).toBeUndefined();
    }
  }
});

test('a cursor with a prefix that the filter denies reads nothing', async () => {
  const filterPolicy = new PrefixFilterPolicy(prefixOfLength(4));
  const bytes = buildTable(['aaaa1', 'cccc1', 'eeee1'].map((key) => [utf8(key), utf8('value')] as const), { filterPolicy, filterRange: 2 ** 40 });
  const table = await Table.open(new MemorySource(bytes), { filterPolicies: [filterPolicy], cache: null });
  const { blockReads } = table.stats;
  const denied = table.cursor({ prefix: utf8('bbbb') });
  for (const move of ['seekToFirst', 'seekToLast'] as const) expect(await denied[move]()).toBe(false);
  expect(await denied.seek(utf8('bbbb'))).toBe(false);
  expect(table.stats.blockReads).toBe(blockReads);
  expect(await table.cursor({ prefix: utf8('cccc') }).seekToFirst()).toBe(true);
  expect(table.stats.blockReads).toBeGreaterThan(blockReads);
});

test('the bounds of a cursor are bytes or text, and copied', async () => {
  const table = await Table.open(new MemorySource(buildTable([[utf8('a'), utf8('1')], [utf8('b'), utf8('2')]])));
  expect(() => table.cursor({ gte: 7 as unknown as Uint8Array })).toThrow(TypeError);
  expect(() => table.cursor({ limit: 1 } as object)).toThrow(/limit/);
  const bound = utf8('b');
  const cursor = table.cursor({ gte: bound });
  bound[0] = 0x61;
  expect(await cursor.seekToFirst()).toBe(true);
  expect(cursor.key).toEqual(utf8('b'));
});
