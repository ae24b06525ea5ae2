import { BloomFilterPolicy, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { MemorySink, MemorySource, TableBuilder } from '@bloom/sstable';
import { expect, test } from 'vitest';
import type { TableFacts } from '../src/table/table-facts.js';
import { absentNeighbours } from '../src/trial/absent-keys.js';
import { FilterTrials } from '../src/trial/filter-trials.js';
import { tableTrial } from '../src/trial/table-trial.js';
import type { TriedPolicy } from '../src/trial/trial-facts.js';
import type { Work } from '../src/worker/calls.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const numbered = (number: number): string => String(number).padStart(16, '0');
const work: Work = { signal: new AbortController().signal, progress: () => undefined };

/** A table of even numbers: 19 or so fall into each of its filters, with which LevelDB's length is at its worst. */
function tableWith(filterPolicy: FilterPolicy): { readonly bytes: Uint8Array; readonly filterBytes: number } {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { compression: 'none', filterPolicy });
  for (let i = 0; i < 2000; i++) builder.add(utf8(numbered(1000 + 2 * i)), new Uint8Array(200).fill(i));
  const { filterBytes } = builder.finish();
  return { bytes: sink.toBytes(), filterBytes };
}

function trialsOf({ bytes, filterBytes }: { readonly bytes: Uint8Array; readonly filterBytes: number }): FilterTrials {
  const facts = { name: 'numbers.ldb', isDatabase: false, isIndexedDb: false } as TableFacts;
  return new FilterTrials(tableTrial(new MemorySource(bytes), facts, () => Promise.resolve({ filterBytes, filters: 1 })));
}

async function* keysOf(names: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const name of names) yield await Promise.resolve(utf8(name));
}

async function neighbours(names: readonly string[], seed = 1): Promise<string[]> {
  return (await absentNeighbours(keysOf(names), (key) => Promise.resolve(names.includes(text(key))), seed, work.signal)).map(text).sort();
}

test('absent neighbours are the nearest numbers that are not stored, each once', async () => {
  expect(await neighbours(['user:10:mail', 'user:12:mail', 'user:13:mail', 'user:20:mail'])).toEqual(['user:11:mail', 'user:14:mail', 'user:21:mail']);
  expect(await neighbours(['a', 'b', 'c'])).toEqual(['d']);
  expect(await neighbours([])).toEqual([]);
  expect(await neighbours(['key'])).toEqual(['kez']);
});

test('fitted filters are those that the policy writes, and spare most reads for the numbers between the stored ones', async () => {
  const plain = tableWith(new BloomFilterPolicy());
  const fittedTable = tableWith(new FittedBloomFilterPolicy());
  const trials = trialsOf(plain);
  const start = await trials.start(work, 'neighbours', 1);
  expect(start.keys.count).toBe(2000);
  const tried = async (policy: TriedPolicy) => trials.try(work, { policy, bitsPerKey: 10, filterRange: 2048 });
  const leveldb = await tried('leveldb');
  const fitted = await tried('fitted');
  expect(leveldb).toMatchObject({ filterBytes: plain.filterBytes, reads: start.stored.reads, wrong: start.stored.wrong });
  expect(fitted.filterBytes).toBe(fittedTable.filterBytes);
  expect(leveldb.wrong).toBeGreaterThan(100);
  expect(fitted.wrong).toBeLessThan(leveldb.wrong / 10);
  expect(fitted.reads).toBeLessThan(leveldb.reads);
});
