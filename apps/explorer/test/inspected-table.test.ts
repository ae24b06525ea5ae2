// What the table view says of tables of databases whose entries all have the same sequence, as those of @bloom/bulk have.
import { BloomFilterPolicy } from '@bloom/policy';
import { falsePositivesText } from '@bloom/report';
import { bytewiseComparator, MemorySink, MemorySource, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { InspectedTable } from '../src/table/inspected-table.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const work = { signal: new AbortController().signal, progress: () => undefined };
const userKeys = Array.from({ length: 1000 }, (_, i) => utf8(`key ${String(i).padStart(6, '0')}`));
const storedKeys = userKeys.map((userKey) => encodeInternalKey({ userKey, sequence: 7n, type: VALUE }));

/** A table of the stored keys, with filters made from the user keys or from the stored keys. */
function tableWith(filtered: 'user keys' | 'stored keys' | 'none'): MemorySource {
  const policy = new BloomFilterPolicy();
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { comparator: internalKeyComparator(bytewiseComparator), filterPolicy: filtered === 'none' ? null : filtered === 'user keys' ? internalKeyPolicy(policy) : policy });
  for (const key of storedKeys) builder.add(key, utf8('value'));
  builder.finish();
  return new MemorySource(sink.toBytes(), 'table.ldb');
}

describe('a table whose entries all have the same sequence', () => {
  test('has the keys of a database if its filters were made from user keys', async () => {
    const table = await InspectedTable.open(tableWith('user keys'));
    expect(table.facts.isDatabase).toBe(true);
    const [first] = await table.entries(0, 0, 1, false, work.signal);
    expect([first!.key.bytes, first!.sequence]).toEqual([userKeys[0], '7']);
    expect((await table.check(work)).isSound).toBe(true);
    expect(falsePositivesText(await table.measureFilters(work, 1000))).toMatchObject({ rate: expect.stringMatching(/%$/u) as string });
  });

  test.each(['stored keys', 'none'] as const)('has plain keys if its filters were made from: %s', async (filtered) => {
    expect((await InspectedTable.open(tableWith(filtered))).facts.isDatabase).toBe(false);
  });

  test('has the keys of a database if it belongs to one, with any filters', async () => {
    for (const filtered of ['stored keys', 'none'] as const) {
      const table = await InspectedTable.open(tableWith(filtered), { isOfDatabase: true });
      expect(table.facts.isDatabase).toBe(true);
    }
  });
});

describe('what is known of a table', () => {
  const bytes = (): Uint8Array => {
    const source = tableWith('stored keys');
    return source.read(0, source.byteLength).slice();
  };
  const known = async (changed: Uint8Array): Promise<unknown[]> => {
    const { isIndexRead, filter } = (await InspectedTable.open(new MemorySource(changed, 'table.ldb'))).facts;
    return [isIndexRead, filter.state];
  };
  const flipped = (of: Uint8Array, at: number): Uint8Array => Uint8Array.from(of, (byte, i) => (i === at ? byte ^ 0xff : byte));

  test('is all of a sound one, also of one without entries', async () => {
    expect(await known(bytes())).toEqual([true, 'used']);
    const sink = new MemorySink();
    new TableBuilder(sink, { filterPolicy: null }).finish();
    expect(await known(sink.toBytes())).toEqual([true, 'absent']);
  });

  test('is nothing of another file, neither that it has no entries nor that it has no filter', async () => {
    expect(await known(utf8('a text that is longer than the footer of any table, '.repeat(4)))).toEqual([false, 'unread']);
    expect(await known(new Uint8Array(0))).toEqual([false, 'unread']);
  });

  test('are the filters if only the handle of the index is damaged', async () => {
    const sound = bytes();
    // The handle of the metaindex, two varints, comes first in the footer.
    const footer = sound.subarray(-48);
    let varints = 0;
    let at = 0;
    while (varints < 2) if (footer[at++]! < 0x80) varints++;
    expect(await known(flipped(sound, sound.length - 48 + at + 1))).toEqual([false, 'used']);
  });
});
