import { type FilterPolicy, BloomFilterPolicy, KeyBuffer } from '@bloom/policy';
import { bytewiseComparator, type Comparator, MemorySource, SyncTable, Table } from '@bloom/sstable';
import { profileTable, verifyTable } from '@bloom/sstable/inspect';
import {
  DatabaseTable,
  DELETION,
  encodeInternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  SyncDatabaseTable,
  VALUE,
} from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, hex, numberedEntries, sameEntries, utf8 } from './entries.js';

const backwards: Comparator = {
  name: 'test.Backwards',
  compare: (a, b) => bytewiseComparator.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

const lowerCase = (key: Uint8Array): Uint8Array => key.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));

/** A comparator that ignores the case of letters. */
const caseless: Comparator = {
  name: 'test.Caseless',
  keyEquivalence: 'ASCII letters without case',
  compare: (a, b) => bytewiseComparator.compare(lowerCase(a), lowerCase(b)),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

const bloom = new BloomFilterPolicy();

const caselessPolicy: FilterPolicy = {
  name: 'test.CaselessBloom',
  keyEquivalence: 'ASCII letters without case',
  createFilter(keys, dst) {
    const lowered = new KeyBuffer();
    for (const key of keys) lowered.push(lowerCase(key));
    bloom.createFilter(lowered, dst);
  },
  keyMayMatch: (key, filter) => bloom.keyMayMatch(lowerCase(key), filter),
};

describe('a table whose comparator the reader does not know', () => {
  const entries = numberedEntries(2000, 50).reverse();
  const source = new MemorySource(buildTable(entries, { comparator: backwards }));

  test('is scanned in the order of the file, in both directions', async () => {
    const syncTable = SyncTable.open(source);
    const table = await Table.open(source);
    expect(syncTable.blockCount).toBeGreaterThan(10);
    expect(sameEntries(syncTable.entries(), entries)).toBe(true);
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(sameEntries([...syncTable.entries({ reverse: true })].reverse(), entries)).toBe(true);
    expect(sameEntries((await collect(table.entries({ reverse: true }))).reverse(), entries)).toBe(true);
    expect((await profileTable(source)).entries).toBe(2000);
  });

  test('is walked by a cursor from end to end and back', () => {
    const cursor = SyncTable.open(source).cursor();
    const keys: string[] = [];
    for (let more = cursor.seekToFirst(); more; more = cursor.next()) keys.push(hex(cursor.key));
    for (let more = cursor.seekToLast(); more; more = cursor.prev()) keys.push(hex(cursor.key));
    const forwards = entries.map(([key]) => hex(key));
    expect(keys).toEqual([...forwards, ...[...forwards].reverse()]);
  });

  test('is searched if its comparator is passed', async () => {
    const syncTable = SyncTable.open(source, { comparator: backwards });
    const table = await Table.open(source, { comparator: backwards });
    const keys = entries.map(([key]) => key);
    const values = entries.map(([, value]) => value);
    expect(syncTable.getMany(keys)).toEqual(values);
    expect(await table.getMany(keys)).toEqual(values);
    const cursor = syncTable.cursor();
    // Backwards, the first at or after 000700x is 000700.
    expect([cursor.seek(utf8('key 000700x')), hex(cursor.key)]).toEqual([true, hex(utf8('key 000700'))]);
    const range = { gte: utf8('key 000500'), lt: utf8('key 000490') };
    expect(sameEntries(syncTable.entries(range), entries.slice(1499, 1509))).toBe(true);
    // With the wrong comparator most keys are not found, even though the filters are right.
    expect(SyncTable.open(source).getMany(keys).filter((value) => value !== undefined).length).toBeLessThan(1000);
  });
});

describe('a database with a custom comparator and policy', () => {
  // Each key has three spellings and three versions. The last version of every fifth key is a deletion.
  const spellings = ['key', 'Key', 'KEY'];
  const versions = numberedEntries(600).flatMap(([key, value], i) => {
    const number = new TextDecoder().decode(key).slice(3);
    return [2, 1, 0].map((spelling) => ({
      userKey: utf8(spellings[spelling]! + number),
      sequence: BigInt(i * 10 + spelling),
      type: i % 5 === 0 && spelling === 2 ? DELETION : VALUE,
      value: Uint8Array.of(...value, spelling),
    }));
  });
  const bytes = buildTable(
    versions.map((version) => [encodeInternalKey(version), version.value] as const),
    { comparator: internalKeyComparator(caseless), filterPolicy: internalKeyPolicy(caselessPolicy) },
  );
  const options = { comparator: caseless, filterPolicies: [caselessPolicy] };
  const stored = { comparator: internalKeyComparator(caseless), filterPolicies: [internalKeyPolicy(caselessPolicy)] };
  const source = new MemorySource(bytes);

  test('returns the newest version at or below a sequence for every spelling of the key', async () => {
    const syncTable = SyncDatabaseTable.open(source, options);
    const table = await DatabaseTable.open(source, options);
    expect(syncTable.table.filterStatus).toEqual({ state: 'used', policyName: caselessPolicy.name });
    const wrong: string[] = [];
    for (const [i, [key]] of numberedEntries(600).entries()) {
      const userKey = utf8(`kEy${new TextDecoder().decode(key).slice(3)}`);
      for (const newest of [2, 1, 0]) {
        const sequence = newest === 2 ? undefined : BigInt(i * 10 + newest);
        const expected = `${i * 10 + newest} ${i % 5 === 0 && newest === 2 ? 'deletion' : 'value'}`;
        const found = syncTable.get(userKey, { sequence });
        if (`${found?.sequence} ${found?.kind}` !== expected) wrong.push(`${i} at ${sequence}: ${found?.sequence} ${found?.kind}`);
        const later = i % 20 < 2 ? await table.get(userKey, { sequence }) : found;
        if (later?.sequence !== found?.sequence) wrong.push(`${i} at ${sequence}, with promises`);
      }
      if (i > 0 && syncTable.get(userKey, { sequence: BigInt(i * 10 - 1) }) !== undefined) wrong.push(`${i} before it was written`);
    }
    expect(wrong).toEqual([]);
  });

  test('ends lookups of absent user keys at its filter', () => {
    const table = SyncDatabaseTable.open(source, options);
    for (const [key] of numberedEntries(600)) expect(table.get(Uint8Array.of(...key, 0x78))).toBeUndefined();
    expect(table.table.stats.filterNegatives).toBeGreaterThan(550);
  });

  test('is scanned by its user keys', async () => {
    const table = await DatabaseTable.open(source, options);
    const found = await collect(table.entries({ gte: utf8('KEY 000100'), lt: utf8('key 000102') }));
    expect(found.map(({ sequence }) => sequence)).toEqual([1002n, 1001n, 1000n, 1012n, 1011n, 1010n]);
    expect((await verifyTable(source, stored)).findings).toEqual([]);
  });

  test('is read without filters if its policy is not passed', () => {
    const table = SyncDatabaseTable.open(source, { comparator: caseless });
    expect(table.table.filterStatus).toEqual({ state: 'unknown-policy', policyNames: [caselessPolicy.name] });
    expect(table.get(utf8('KEY 000007'))?.sequence).toBe(72n);
  });
});

test.each(['a seek within a block', 'a seek to another block'])('a comparator that throws during %s leaves the cursor on no entry', async (kind) => {
  let isBroken = false;
  const comparator: Comparator = {
    name: 'test.Broken',
    compare(a, b) {
      if (isBroken) throw new Error('broken');
      return bytewiseComparator.compare(a, b);
    },
    findShortestSeparator: (start) => start,
    findShortSuccessor: (key) => key,
  };
  const entries = numberedEntries(300, 20);
  const bytes = buildTable(entries, { comparator, filterPolicy: null, blockSize: kind === 'a seek within a block' ? 1e6 : 100 });
  for (const table of [SyncTable.open(new MemorySource(bytes), { comparator }), await Table.open(new MemorySource(bytes), { comparator })]) {
    const cursor = table.cursor();
    expect(await cursor.seek(entries[100]![0])).toBe(true);
    isBroken = true;
    expect(await rejection(Promise.resolve().then(() => cursor.seek(entries[250]![0])))).toMatchObject({ message: 'broken' });
    isBroken = false;
    expect([cursor.valid, await cursor.next(), await cursor.prev()]).toEqual([false, false, false]);
  }
});
