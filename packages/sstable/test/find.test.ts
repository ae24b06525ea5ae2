import { type FilterPolicy, KeyBuffer, BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, MemorySource, SyncTable, Table } from '@bloom/sstable';
import type { KeyValue } from '@bloom/fixtures';
import { seeded } from '@bloom/bytes/internal';
import { describe, expect, test } from 'vitest';
import { assembleTable, blockOf } from './assemble-table.js';
import { buildTable } from './build-table.js';
import { caught } from '@bloom/fixtures/caught';
import { hex, utf8 } from './entries.js';

// Keys are a name and one byte of version, newest first as in a database. Index keys may be anything between two blocks, even
// between two versions of one name.
const nameOf = (key: Uint8Array): Uint8Array => key.subarray(0, -1);
const versions: Comparator = {
  name: 'test.Versions',
  compare(a, b) {
    const order = bytewiseComparator.compare(nameOf(a), nameOf(b));
    return order === 0 ? b.at(-1)! - a.at(-1)! : order;
  },
  // The index key of a block is as late as possible, right before the first key of the next block.
  findShortestSeparator: (start, limit) => (limit.at(-1)! < 0xff ? Uint8Array.of(...nameOf(limit), limit.at(-1)! + 1) : start),
  findShortSuccessor: (key) => key,
};

const bloom = new BloomFilterPolicy();
const names: FilterPolicy = {
  name: 'test.NamesBloom',
  createFilter(keys, dst) {
    const buffer = new KeyBuffer();
    for (const key of keys) buffer.push(nameOf(key));
    bloom.createFilter(buffer, dst);
  },
  keyMayMatch: (key, filter) => bloom.keyMayMatch(nameOf(key), filter),
};

const key = (name: string, version: number): Uint8Array => Uint8Array.of(...utf8(name), version);
const newest = (name: string): Uint8Array => key(name, 0xff);
const isOf = (name: string) => (found: Uint8Array): boolean => hex(nameOf(found)) === hex(utf8(name));

describe('find', () => {
  test('continues in the next block when the first one has no entry at or after the key', async () => {
    const data: [Uint8Array, Uint8Array][] = [
      // The index key is valid: it is after all versions of `pear` and before the next block's keys.
      [newest('pear'), blockOf([[key('apple', 9), utf8('apple 9')]])],
      [newest('plum'), blockOf([[key('pear', 7), utf8('pear 7')], [key('pear', 3), utf8('pear 3')]])],
    ];
    const source = new MemorySource(assembleTable({ data }));
    const options = { comparator: versions, filterPolicies: [names] };
    for (const table of [SyncTable.open(source, options), await Table.open(source, options)]) {
      expect(await table.find(newest('pear'), isOf('pear'))).toEqual([key('pear', 7), utf8('pear 7')]);
      expect(await table.find(key('apple', 8), isOf('pear'))).toEqual([key('pear', 7), utf8('pear 7')]);
      expect(await table.find(newest('plum'), () => true)).toBeUndefined();
    }
  });

  test('continues past blocks without entries', () => {
    const empty = blockOf([]);
    const data: [Uint8Array, Uint8Array][] = [
      [key('b', 1), blockOf([[key('a', 1), utf8('1')]])],
      [key('c', 1), empty],
      [key('d', 1), empty],
      [key('e', 1), blockOf([[key('e', 1), utf8('2')]])],
    ];
    const table = SyncTable.open(new MemorySource(assembleTable({ data })), { comparator: versions });
    expect(table.find(key('a', 0), () => true)).toEqual([key('e', 1), utf8('2')]);
  });

  test('calls matches once, with the first entry at or after the key', () => {
    const entries = ['a', 'b', 'c', 'd'].map((name): KeyValue => [key(name, 5), utf8(name)]);
    const table = SyncTable.open(new MemorySource(buildTable(entries, { comparator: versions, filterPolicy: null, blockSize: 1 })), { comparator: versions });
    const asked: string[] = [];
    const found = table.find(newest('b'), (stored) => {
      asked.push(hex(stored));
      return false;
    });
    expect([found, asked]).toEqual([undefined, [hex(key('b', 5))]]);
  });

  // The range of a filter is 2 KiB, and blocks have from one entry to many.
  test.each([1, 2, 3, 4, 5, 6])('agrees with a sorted list, with filters and without (seed %d)', async (seed) => {
    const random = seeded(seed);
    const stored: KeyValue[] = [];
    for (let i = 0; i < 300; i++) {
      const name = `name ${String(i * 2).padStart(4, '0')}`;
      const count = 1 + random.below(6);
      const numbers = Array.from({ length: count }, (_, k) => 200 - k * 30 - random.below(20));
      for (const number of numbers) stored.push([key(name, number), random.bytes(random.below(200))]);
    }
    const blockSize = random.pick([1, 300, 1000, 4096]);
    for (const filterPolicy of [names, null]) {
      const source = new MemorySource(buildTable(stored, { comparator: versions, filterPolicy, blockSize }));
      const options = { comparator: versions, filterPolicies: [names] };
      const syncTable = SyncTable.open(source, options);
      const table = await Table.open(source, options);
      expect(syncTable.filterStatus.state).toBe(filterPolicy === null ? 'absent' : 'used');
      const wrong: string[] = [];
      for (let i = 0; i < 600; i++) {
        const name = `name ${String(i).padStart(4, '0')}`;
        const wanted = key(name, random.pick([255, 150, 90, 0]));
        const first = stored.find(([other]) => versions.compare(other, wanted) >= 0);
        const expected = first && isOf(name)(first[0]) ? hex(first[1]) : 'undefined';
        if (hex(syncTable.find(wanted, isOf(name))?.[1]) !== expected) wrong.push(`${name} without promises`);
        if (i % 10 < 2 && hex((await table.find(wanted, isOf(name)))?.[1]) !== expected) wrong.push(`${name} with promises`);
      }
      expect(wrong).toEqual([]);
      if (filterPolicy !== null) expect(syncTable.stats.filterNegatives).toBeGreaterThan(200);
    }
  });

  test('rejects a callback that is not a function', async () => {
    const source = new MemorySource(buildTable([]));
    const message = new TypeError('matches must be a function, got undefined');
    const nothing = undefined as unknown as () => boolean;
    expect(caught(() => SyncTable.open(source).find(utf8('a'), nothing))).toEqual(message);
    await expect((await Table.open(source)).find(utf8('a'), nothing)).rejects.toEqual(message);
  });
});
