import { seeded } from '@bloom/fixtures';
import { bytewiseComparator, type Comparator, MemorySink, MemorySource, type SyncCursor, SyncTable, TableBuilder } from '@bloom/sstable';
import { compareRangeOf } from '@bloom/sstable/internal';
import { expect, test } from 'vitest';
import { EntryBatch } from '../../src/formats/entry-batch.js';
import { MergedEntries } from '../../src/inputs/merged-entries.js';

/** Latin-1 strings, whose order is that of their bytes. */
type Entries = ReadonlyMap<string, string>;

const reverse: Comparator = {
  name: 'test.Reverse',
  compare: (a, b) => bytewiseComparator.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

function cursorOver(entries: Entries, comparator: Comparator): SyncCursor {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { comparator, filterPolicy: null, blockSize: 64 });
  for (const [key, value] of sorted(entries, comparator)) builder.add(Buffer.from(key, 'latin1'), Buffer.from(value, 'latin1'));
  builder.finish();
  return SyncTable.open(new MemorySource(sink.toBytes()), { comparator }).cursor();
}

function sorted(entries: Entries, comparator: Comparator): [string, string][] {
  return [...entries].sort(([a], [b]) => comparator.compare(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1')));
}

/** All entries, taken in batches of so many bytes. */
function taken(merged: MergedEntries, maxBytes: number): [string, string][] {
  const entries: [string, string][] = [];
  for (let mayBeMore = true; mayBeMore;) {
    const batch = new EntryBatch(16, 1);
    mayBeMore = merged.fill(batch, maxBytes);
    for (let i = 0; i < batch.length; i++) entries.push([Buffer.from(batch.key(i)).toString('latin1'), Buffer.from(batch.value(i)).toString('latin1')]);
  }
  return entries;
}

const orderOf = (comparator: Comparator): ConstructorParameters<typeof MergedEntries>[1] => ({
  compare: compareRangeOf(comparator),
  isBytewise: comparator === bytewiseComparator,
});

// Codes could go wrong for the empty key, for keys that are the start of others, for zeros, and for equal keys in many tables.
test.each([
  ['bytewise', bytewiseComparator],
  ['reverse', reverse],
])('for each key, the entry of the first table that has it is returned, in %s order', (_, comparator) => {
  const random = seeded(1);
  const parts = ['', '\0', '\0\0', 'a', 'ab', 'aaaaaaaaaaaaaaaa', '\xff', '\xff\xff'];
  for (let round = 0; round < 400; round++) {
    const front = random.pick(['', '\0', 'user:', 'x'.repeat(300)]);
    const randomKey = (): string => front + Array.from({ length: random.below(5) }, () => random.pick(parts)).join('');
    const tables = Array.from(
      { length: random.below(round % 20 === 0 ? 70 : 8) },
      (__, table) => new Map(Array.from({ length: random.below(40) }, (___, i): [string, string] => [randomKey(), `${table} ${i}`])),
    );
    const [gte, lt] = random.below(3) === 0 ? [randomKey(), randomKey()] : [undefined, undefined];
    const isInRange = (key: string): boolean =>
      [gte, lt].every((bound, i) => bound === undefined || comparator.compare(Buffer.from(key, 'latin1'), Buffer.from(bound, 'latin1')) >= 0 === (i === 0));
    const all = new Map([...tables].reverse().flatMap((table) => [...table]));
    const expected = sorted(new Map([...all].filter(([key]) => isInRange(key))), comparator);
    const range = { gte: gte === undefined ? undefined : Buffer.from(gte, 'latin1'), lt: lt === undefined ? undefined : Buffer.from(lt, 'latin1') };
    const merged = new MergedEntries(tables.map((table) => cursorOver(table, comparator)), orderOf(comparator), range);
    expect(taken(merged, 1 + random.below(400)), `round ${round}`).toEqual(expected);
  }
});

test.each([
  ['bytewise', bytewiseComparator, reverse],
  ['reverse', reverse, bytewiseComparator],
])('a table that is not in %s order is an error that says which', (_, comparator, other) => {
  for (const keys of [['b', 'a'], ['ab', 'a'], ['', 'a'], ['a\0', 'a']]) {
    const entries = new Map(keys.map((key) => [key, 'value']));
    const cursors = [cursorOver(new Map([['a', 'value']]), comparator), cursorOver(entries, other)];
    const merged = new MergedEntries(cursors, orderOf(comparator));
    expect(() => taken(merged, 1000)).toThrow(expect.objectContaining({ name: 'CursorError', age: 1 }));
  }
});
