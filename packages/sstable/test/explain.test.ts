import { seeded } from '@bloom/fixtures';
import { CorruptionError } from '@bloom/bytes';
import { type Comparator, bytewiseComparator, MemorySink, MemorySource, SyncTable, Table, TableBuilder, type TableBuilderOptions, type TableExplanation, type TableOptions } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { assembleTable, blockOf } from './assemble-table.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyOf = (i: number): Uint8Array => utf8(`key${String(i).padStart(4, '0')}`);

/** A table of the even numbers below 600. */
function evenNumbers(options: TableBuilderOptions = {}): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { blockSize: 512, compression: 'none', ...options });
  for (let i = 0; i < 600; i += 2) builder.add(keyOf(i), utf8(`value ${i}`));
  builder.finish();
  return sink.toBytes();
}

/** The same order under another implementation, which no fast path knows. */
const slowly: Comparator = { ...bytewiseComparator, name: 'slow', compare: (a, b) => Buffer.compare(a, b) };

const kinds: readonly (readonly [string, TableBuilderOptions, TableOptions])[] = [
  ['with filters', {}, {}],
  ['without a cache', {}, { cache: null }],
  ['without filters', { filterPolicy: null }, {}],
  ['whose filters are never read', {}, { filters: 'never' }],
  ['in an order of its own', { comparator: slowly, filterPolicy: null }, { comparator: slowly }],
];

describe.each(kinds)('of a table %s', (_, writing, reading) => {
  test('explain gives what get gives, and counts the blocks that were read', async () => {
    const bytes = evenNumbers(writing);
    const table = SyncTable.open(new MemorySource(bytes), reading);
    const other = await Table.open(new MemorySource(bytes), reading);
    const seen = new Set<string>();
    for (let i = 0; i < 610; i++) {
      const before = table.stats;
      const explanation = table.explain(keyOf(i));
      const after = table.stats;
      const { outcome, filter, searched } = explanation;
      const value = table.get(keyOf(i));
      expect(outcome).toEqual(value === undefined ? { kind: 'absent' } : { kind: 'value', value });
      expect(after.blockReads - before.blockReads).toBe(searched?.isCached === false ? 1 : 0);
      expect(after.cacheHits - before.cacheHits).toBe(searched?.isCached === true ? 1 : 0);
      expect(after.filterNegatives - before.filterNegatives).toBe(filter?.answer === 'no' ? 1 : 0);
      if (searched !== undefined) {
        expect(searched.walkStart).toBeLessThan(searched.walkEnd);
        expect(searched.walkEnd).toBeLessThan(searched.byteLength);
      }
      const { searched: again, ...rest } = await other.explain(keyOf(i));
      const { searched: first, ...expected } = explanation;
      expect(rest).toEqual(expected);
      expect({ ...again, isCached: undefined }).toEqual({ ...first, isCached: undefined });
      seen.add(`${filter?.answer} ${outcome.kind}`);
    }
    const answers = writing.filterPolicy === null || reading.filters === 'never' ? ['not-asked absent', 'not-asked value'] : ['maybe value', 'no absent'];
    for (const answer of answers) expect(seen).toContain(answer);
    expect(table.explain(utf8('z'))).toMatchObject({ block: undefined, filter: undefined, searched: undefined, outcome: { kind: 'absent' } });
  });
});

test('the entries that a lookup walked end with the one that it found', () => {
  const table = SyncTable.open(new MemorySource(evenNumbers()));
  for (const i of [0, 2, 30, 32, 34, 100, 598]) {
    const { searched, outcome, block } = table.explain(keyOf(i));
    const value = outcome.kind === 'value' ? outcome.value : undefined;
    const contents = evenNumbers().subarray(block!.offset, block!.offset + block!.size);
    expect(contents.subarray(searched!.walkEnd - value!.length, searched!.walkEnd)).toEqual(value);
    // Every restart of LevelDB's interval has 16 entries.
    expect(searched!.walkEnd - searched!.walkStart).toBeLessThan(16 * 25);
  }
});

describe('a filter', () => {
  const key = utf8('key');
  const tableWith = (filter: Uint8Array, name = 'leveldb.BuiltinBloomFilter2'): SyncTable =>
    SyncTable.open(new MemorySource(assembleTable({ data: [[key, blockOf([[key, utf8('value')]])]], filter: { name, contents: filter } })));

  test('that cannot be read is said to be so, and hides no key', () => {
    // One filter, which starts behind the end of the filters.
    const table = tableWith(Uint8Array.of(50, 0, 0, 0, 0, 0, 0, 0, 11));
    expect(table.filterStatus.state).toBe('used');
    expect(table.explain(key)).toMatchObject({ filter: { answer: 'unreadable', policyName: 'leveldb.BuiltinBloomFilter2', number: 0 }, outcome: { kind: 'value' } });
  });

  test('of an unknown policy is not used, and the state has the reason', () => {
    expect(tableWith(Uint8Array.of(0, 0, 0, 0, 11), 'another').explain(key)).toMatchObject({ filter: { answer: 'not-asked', state: 'unknown-policy' }, outcome: { kind: 'value' } });
  });

  test('has the number, the length and the range that the filter block gives it', () => {
    const { filter } = SyncTable.open(new MemorySource(evenNumbers())).explain(keyOf(598));
    expect(filter).toMatchObject({ answer: 'maybe', policyName: 'leveldb.BuiltinBloomFilter2', number: 2, from: 4096, to: 6144 });
  });
});

test('of a damaged table, explain fails where get fails, says with what, and throws nothing', async () => {
  const random = seeded(5);
  const sound = evenNumbers();
  const dataEnd = SyncTable.open(new MemorySource(sound)).approximateOffset(utf8('z'));
  let failures = 0;
  for (let n = 0; n < 40; n++) {
    const bytes = sound.slice();
    bytes[random.below(dataEnd)]! ^= 1 << random.below(8);
    const table = SyncTable.open(new MemorySource(bytes));
    const other = await Table.open(new MemorySource(bytes));
    for (let i = 0; i < 600; i += 14) {
      let expected: TableExplanation['outcome'];
      try {
        const value = table.get(keyOf(i));
        expected = value === undefined ? { kind: 'absent' } : { kind: 'value', value };
      } catch (error) {
        const { code, structure, offset, file, problem } = error as CorruptionError;
        expect(error).toBeInstanceOf(CorruptionError);
        expected = { kind: 'failed', error: { name: 'CorruptionError', code, structure, offset, file, problem } };
        failures++;
      }
      expect(table.explain(keyOf(i)).outcome).toEqual(expected);
      expect((await other.explain(keyOf(i))).outcome).toEqual(expected);
    }
  }
  expect(failures).toBeGreaterThan(0);
});

test('explain is refused with what get is refused with', async () => {
  const bytes = evenNumbers();
  const table = await Table.open(new MemorySource(bytes));
  const sync = SyncTable.open(new MemorySource(bytes));
  await expect(table.explain(7 as never)).rejects.toThrow('key must be a Uint8Array');
  expect(() => sync.explain(7 as never)).toThrow('key must be a Uint8Array');
  const reason = new Error('enough');
  await expect(table.explain(keyOf(0), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(table.explain(keyOf(0), { signals: [] } as never)).rejects.toThrow('Table.explain');
  await table.close();
  sync.close();
  await expect(table.explain(keyOf(0))).rejects.toThrow('the table is closed');
  expect(() => sync.explain(keyOf(0))).toThrow('the table is closed');
});
