// Orders that call different keys equal, and do not say so.
import { arrayRun, assemble, type BulkEntry, MemoryStore, merge, type Part, PartWriter, writeParts } from '@bloom/bulk';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { collected, utf8 } from './model.js';

const lowerCase = (key: Uint8Array): Uint8Array => key.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));
const comparator: Comparator = {
  name: 'test.Caseless',
  compare: (a, b) => bytewiseComparator.compare(lowerCase(a), lowerCase(b)),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};
const entry = (key: string): BulkEntry => [utf8(key), utf8('1')];

async function partOf(store: MemoryStore, ...keys: string[]): Promise<Part> {
  const entries = merge([arrayRun(keys.map(entry), comparator)], { comparator });
  const parts = await collected(writeParts(store, entries, { sequence: 1n, comparator }));
  return parts[0]!;
}

async function merged(...runs: string[][]): Promise<unknown> {
  return collected(merge(runs.map((keys) => arrayRun(keys.map(entry), comparator)), { comparator }));
}

test.each<[string, () => Promise<unknown>]>([
  ['merging two runs', () => merged(['a', 'Apple', 'z'], ['apple', 'b'])],
  ['merging one run', () => merged(['Apple', 'apple'])],
  ['a range of a run', () => collected(arrayRun([entry('Apple')], comparator).entries({ gte: utf8('apple') }))],
  ['writing a part', () => {
    const writer = new PartWriter({ sequence: 1n, comparator });
    writer.put(utf8('Apple'), utf8('1'));
    return Promise.resolve().then(() => writer.put(utf8('apple'), utf8('2')));
  }],
  ['assembling parts', async () => {
    const store = new MemoryStore();
    return assemble(store, [await partOf(store, 'a', 'Apple'), await partOf(store, 'apple', 'b')], { comparator });
  }],
])('%s throws a ComparatorError for different keys that compare as 0', async (_, run) => {
  await expect(run()).rejects.toMatchObject({ name: 'ComparatorError', code: 'BLOOM_UNDECLARED_EQUIVALENCE', comparator: 'test.Caseless' });
});

test('with a keyEquivalence, merging gives of such keys that of the newest run', async () => {
  const declared: Comparator = { ...comparator, keyEquivalence: 'ASCII letters without case' };
  const runs = [['Apple'], ['apple', 'b']].map((keys) => arrayRun(keys.map(entry), declared));
  const entries = (await collected(merge(runs, { comparator: declared }))).flat();
  expect(entries.map(([key]) => Buffer.from(key).toString())).toEqual(['Apple', 'b']);
});
