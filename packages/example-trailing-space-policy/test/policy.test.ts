import { TrailingSpacePolicy, trailingSpaceComparator } from '@bloom/example-trailing-space-policy';
import { BloomFilterPolicy, buildFilter, type FilterPolicy, type FilterSink, type KeyList } from '@bloom/policy';
import { MemorySink, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { catalogue, tableOf, text, utf8 } from './catalogue.js';

test('the policy name contains the name of the inner policy', () => {
  expect(new TrailingSpacePolicy().name).toBe('bloom.example.TrailingSpace(leveldb.BuiltinBloomFilter2)');
});

test('a filter is the one that the inner policy makes of the trimmed keys', () => {
  const filter = buildFilter(new TrailingSpacePolicy(), ['hello  ', 'world '].map(utf8));
  expect(filter).toEqual(buildFilter(new BloomFilterPolicy(), ['hello', 'world'].map(utf8)));
});

test('refuses an inner policy that has its own key equivalence', () => {
  expect(() => new TrailingSpacePolicy(new TrailingSpacePolicy())).toThrow(RangeError);
  expect(() => new TrailingSpacePolicy(new TrailingSpacePolicy())).toThrow(/inner must distinguish all keys/);
});

test('refuses a key or a filter that is not bytes and a class in place of an inner policy, and names the argument', () => {
  const policy = new TrailingSpacePolicy();
  const filter = buildFilter(policy, [utf8('a')]);
  expect(() => policy.keyMayMatch('a ' as unknown as Uint8Array, filter)).toThrow(new TypeError('key must be a Uint8Array, got string'));
  expect(() => policy.keyMayMatch(utf8('a'), 'a' as unknown as Uint8Array)).toThrow(new TypeError('filter must be a Uint8Array, got string'));
  const Class = BloomFilterPolicy as unknown as FilterPolicy;
  expect(() => new TrailingSpacePolicy(Class)).toThrow(/^inner must be a FilterPolicy, got a function: if BloomFilterPolicy is a class/);
});

/** The Bloom policy, which distinguishes "a" from "a ", but declares that it does not, so the guard accepts it. */
class WronglyFlaggedPolicy implements FilterPolicy {
  readonly name = 'test.WronglyFlagged';
  readonly keyEquivalence = 'trailing-spaces';
  readonly #bloom = new BloomFilterPolicy();

  createFilter(keys: KeyList, dst: FilterSink): void {
    this.#bloom.createFilter(keys, dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return this.#bloom.keyMayMatch(key, filter);
  }
}

describe('with a policy that deceives the guard, a present key', () => {
  const source = tableOf(catalogue, new WronglyFlaggedPolicy());
  const table = SyncTable.open(source, {
    comparator: trailingSpaceComparator,
    filterPolicies: [new WronglyFlaggedPolicy()],
  });

  test('is found with its stored number of spaces', () => {
    expect(table.filterStatus.state).toBe('used');
    expect(catalogue.map(([key]) => text(table.get(key)))).toEqual(['shelf 1', 'shelf 2', 'shelf 3', 'shelf 4', 'shelf 5']);
  });

  test('is reported as absent with another number of spaces', () => {
    expect(table.get(utf8('Emma '))).toBeUndefined();
    expect(table.get(utf8('Beowulf'))).toBeUndefined();
    const withoutFilter = SyncTable.open(source, { comparator: trailingSpaceComparator, filterPolicies: [] });
    expect(text(withoutFilter.get(utf8('Emma ')))).toBe('shelf 5');
    expect(text(withoutFilter.get(utf8('Beowulf')))).toBe('shelf 1');
  });
});

describe('the guard refuses', () => {
  const refusal = /^filter policy leveldb\.BuiltinBloomFilter2 distinguishes all keys, comparator bloom\.example\.TrailingSpaceComparator treats keys as equal by "trailing-spaces"/;
  const wrong = { comparator: trailingSpaceComparator, filterPolicies: [new BloomFilterPolicy()] };
  const source = tableOf(catalogue, new TrailingSpacePolicy());

  test('the plain Bloom policy for this comparator when a table is built', () => {
    const build = (): TableBuilder => new TableBuilder(new MemorySink(), { comparator: trailingSpaceComparator });
    expect(build).toThrow(RangeError);
    expect(build).toThrow(refusal);
  });

  test('the plain Bloom policy for this comparator when a table is opened', async () => {
    expect(() => SyncTable.open(source, wrong)).toThrow(RangeError);
    expect(() => SyncTable.open(source, wrong)).toThrow(refusal);
    await expect(Table.open(source, wrong)).rejects.toThrow(RangeError);
    await expect(Table.open(source, wrong)).rejects.toThrow(refusal);
  });

  test('this policy for the bytewise comparator', () => {
    expect(() => new TableBuilder(new MemorySink(), { filterPolicy: new TrailingSpacePolicy() })).toThrow(RangeError);
  });
});

describe('a table with this policy', () => {
  const options = { comparator: trailingSpaceComparator, filterPolicies: [new TrailingSpacePolicy()] };
  const source = tableOf(catalogue, new TrailingSpacePolicy());

  test('finds every title with any number of trailing spaces, through its filter', async () => {
    const table = SyncTable.open(source, options);
    const promised = await Table.open(source, options);
    expect(table.filterStatus).toEqual({ state: 'used', policyName: new TrailingSpacePolicy().name });
    for (const [key, value] of catalogue) {
      const title = text(key)!.trimEnd();
      for (const spaces of [0, 1, 5, 20]) {
        const asked = utf8(title + ' '.repeat(spaces));
        expect([table.get(asked), await promised.get(asked)], `"${title}" and ${spaces} spaces`).toEqual([value, value]);
      }
    }
  });

  test('reports other titles as absent without a read', () => {
    const table = SyncTable.open(source, options);
    for (const absent of ['Emm', ' Emma', 'Em ma', 'Emma.', 'Carmilla']) expect(table.get(utf8(absent))).toBeUndefined();
    expect(table.stats.filterNegatives).toBeGreaterThan(0);
  });

  test('rejects a title that it already has with another number of spaces', () => {
    const builder = new TableBuilder(new MemorySink(), { comparator: options.comparator, filterPolicy: new TrailingSpacePolicy() });
    builder.add(utf8('Emma'), utf8('shelf 5'));
    expect(() => builder.add(utf8('Emma '), utf8('shelf 6'))).toThrow(RangeError);
  });
});
