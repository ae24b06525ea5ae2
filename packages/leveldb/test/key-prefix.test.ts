import { seeded } from '@bloom/fixtures';
import { Database, DatabaseReader, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { BloomFilterPolicy, type FilterPolicy, PrefixFilterPolicy, prefixOfLength, prefixThrough } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';
import { collect } from './collect.js';
import { reverseComparator } from './reverse-comparator.js';
import { small } from './some-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (key: Uint8Array): string => Buffer.from(key).toString('hex');
const ALPHABET = [0x00, 0x2f, 0x61, 0xfe, 0xff];

const POLICIES: [string, FilterPolicy | null, number | undefined][] = [
  ['no filters', null, undefined],
  ['filters without prefixes', new BloomFilterPolicy(), undefined],
  ['prefixes of a byte', new PrefixFilterPolicy(prefixOfLength(1)), undefined],
  ['prefixes up to a slash, in one filter for each table', new PrefixFilterPolicy(prefixThrough(0x2f)), 2 ** 40],
];

describe.each(POLICIES)('entries with a prefix, of a database with %s,', (_, filterPolicy, filterRange) => {
  test('are those of a model: random writes, deletions, snapshots and compactions', async () => {
    const random = seeded(5);
    const someKey = (): Uint8Array => Uint8Array.from({ length: random.below(6) }, () => random.pick(ALPHABET));
    const folder = new WritableMemoryFolder();
    const options = { ...small, filterPolicy, filterRange };
    let database = await Database.open(folder, options);
    const model = new Map<string, string>();
    const matching = (state: ReadonlyMap<string, string>, prefix: Uint8Array, reverse: boolean, limit = Infinity): [string, string][] => {
      const found = [...state].filter(([key]) => key.startsWith(hex(prefix))).sort(([a], [b]) => (a < b ? -1 : 1));
      return (reverse ? found.reverse() : found).slice(0, limit);
    };
    const text = (entries: Iterable<readonly [Uint8Array, Uint8Array]>): [string, string][] => Array.from(entries, ([key, value]) => [hex(key), hex(value)]);
    for (let round = 0; round < 7; round++) {
      for (let i = 0; i < 40; i++) {
        const key = someKey();
        if (random.below(3) === 0) {
          await database.delete(key);
          model.delete(hex(key));
        } else {
          const value = random.bytes(3);
          await database.put(key, value);
          model.set(hex(key), hex(value));
        }
      }
      const before = new Map(model);
      const snapshot = database.snapshot();
      await database.put(Uint8Array.of(0x61, 0x2f, round), Uint8Array.of(round));
      model.set(hex(Uint8Array.of(0x61, 0x2f, round)), hex(Uint8Array.of(round)));
      if (round % 2 === 0) await database.flush();
      if (round === 5) await database.compactRange();
      for (let i = 0; i < 20; i++) {
        const prefix = someKey().subarray(0, random.below(4));
        const reverse = random.below(2) === 0;
        const limit = random.below(3) === 0 ? 2 : undefined;
        expect(text(database.entriesSync({ prefix, reverse, limit }))).toEqual(matching(model, prefix, reverse, limit));
        if (i > 4) continue;
        expect(text(await collect(database.entries({ prefix, reverse, limit })))).toEqual(matching(model, prefix, reverse, limit));
        const { sequence } = snapshot;
        expect((await collect(database.keys({ prefix, sequence }))).map(hex)).toEqual(matching(before, prefix, false).map(([key]) => key));
        expect((await collect(database.values({ prefix, sequence }))).map(hex)).toEqual(matching(before, prefix, false).map(([, value]) => value));
      }
      snapshot.release();
      if (round === 4) {
        await database.close();
        database = await Database.open(folder, options);
      }
    }
    await database.close();
    const filterPolicies = filterPolicy === null ? [] : [filterPolicy];
    const reader = await DatabaseReader.open(new MemoryFolder(folder.files()), { filterPolicies, openTables: 'when-needed' });
    const sync = SyncDatabaseReader.open(new MemoryFolder(folder.files()), { filterPolicies });
    for (let i = 0; i < 60; i++) {
      const prefix = someKey().subarray(0, random.below(4));
      const expected = matching(model, prefix, false);
      expect(text(await collect(reader.entries({ prefix })))).toEqual(expected);
      expect(text(sync.entries({ prefix }))).toEqual(expected);
    }
    await reader.close();
    sync.close();
  });
});

describe('a prefix', () => {
  /** Tables of level 0 that overlap: each has a tenth of the users of even numbers, from all over. */
  const tables = Array.from({ length: 100 }, (_, number) => ({
    level: 0,
    number: number + 5,
    versions: Array.from({ length: 40 }, (__, i) => ({ key: utf8(`user${String(2 * ((i * 101 + number * 7) % 4000)).padStart(5, '0')}/a`), sequence: 1 + number * 40 + i, value: utf8('value') })).concat(
      [0, 1].map((end) => ({ key: utf8(`user${end === 0 ? '00000' : '99999'}/end`), sequence: 5000 + 2 * number + end, value: utf8('end') })),
    ),
  }));
  const policy = new PrefixFilterPolicy(prefixThrough(0x2f));

  test('that no key has takes at most two requests over 100 tables that overlap, where filters are read', async () => {
    const requestsFor = async (filterPolicy: FilterPolicy): Promise<number[]> => {
      const bytes = assembleDatabase({ tables, filterPolicy, lastSequence: 10_000 });
      let requests = 0;
      const fetched: typeof fetch = (input, init) => {
        requests++;
        const name = new Request(input).url.slice('http://bloom.test/'.length);
        const file = bytes.get(name);
        if (file === undefined) return Promise.resolve(new Response(null, { status: 404 }));
        const range = new Headers(init?.headers).get('range');
        const [, start, end] = /^bytes=(\d*)-(\d*)$/.exec(range ?? 'bytes=0-')!;
        const first = start === '' ? Math.max(0, file.length - Number(end)) : Number(start);
        const part = file.slice(first, start === '' || end === '' ? file.length : Number(end) + 1);
        return Promise.resolve(new Response(part, { status: 206, headers: { etag: '"one"', 'content-range': `bytes ${first}-${first + part.length - 1}/${file.length}` } }));
      };
      const folder = new HttpFolder('http://bloom.test/', { files: [...bytes.keys()], fetch: fetched, tailBytes: 1024, maxWholeBytes: 0 });
      const reader = await DatabaseReader.open(folder, { filterPolicies: [filterPolicy], filters: 'at-opening', openTables: 'at-opening', cache: null, readAheadBytes: 0 });
      const counts: number[] = [];
      for (const i of [1, 2001, 3333, 7777]) {
        requests = 0;
        expect(await collect(reader.keys({ prefix: utf8(`user${String(i).padStart(5, '0')}/`) }))).toEqual([]);
        counts.push(requests);
      }
      requests = 0;
      const [found] = await collect(reader.keys({ prefix: utf8('user00014/') }));
      expect(new TextDecoder().decode(found)).toBe('user00014/a');
      await reader.close();
      return counts;
    };
    expect(Math.max(...(await requestsFor(policy)))).toBeLessThanOrEqual(2);
    // Without prefixes in the filters, a block of each table.
    expect(Math.min(...(await requestsFor(new BloomFilterPolicy())))).toBeGreaterThanOrEqual(50);
  });

  test('opens only tables that may have it', async () => {
    const parts = [0, 1, 2, 3].map((i) => ({ level: 1, number: 5 + i, versions: [{ key: utf8(`${i}/a`), sequence: 1 + i, value: utf8('') }] }));
    const reader = await DatabaseReader.open(new MemoryFolder(assembleDatabase({ tables: parts, filterPolicy: policy, lastSequence: 9 })), { openTables: 'when-needed', filterPolicies: [policy] });
    expect(await collect(reader.keys({ prefix: utf8('2/') }))).toEqual([utf8('2/a')]);
    expect(reader.describe().levels[1]!.map(({ filterStatus }) => filterStatus.state)).toEqual(['unopened', 'unopened', 'used', 'unopened']);
    expect(await collect(reader.keys({ prefix: utf8('2/'), reverse: true }))).toEqual([utf8('2/a')]);
    expect(reader.describe().levels[1]!.map(({ filterStatus }) => filterStatus.state)).toEqual(['unopened', 'unopened', 'used', 'unopened']);
    await reader.close();
  });

  test('is refused where the keys that have it may be anywhere, and unless it is bytes or text', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { comparator: reverseComparator, lock: 'none' });
    expect(() => database.entriesSync({ prefix: utf8('a') })).toThrow(/prefix needs keys in bytewise order/);
    expect(() => database.entries({ prefix: utf8('a') })).toThrow(RangeError);
    expect(() => database.keysSync({ prefix: 5 as never })).toThrow(/prefix must be a Uint8Array/);
    await database.close();
  });
});
