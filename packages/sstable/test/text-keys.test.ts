// Text for keys and values stands for its UTF-8 bytes; results are bytes.
import { MemorySink, MemorySource, SyncTable, Table, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { DatabaseTable, encodeInternalKey, internalKeyComparator, SyncDatabaseTable } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { utf8 } from './entries.js';

const WORDS = ['', 'apple', 'apricot', 'pear', 'pêche', '桃', '🍑'];
const LONE = 'a\ud800';
const loneError = (name: string): Error => new RangeError(`${name} must be well-formed text, got a string with half of a surrogate pair`);

function build(add: (builder: TableBuilder) => void, options?: TableBuilderOptions): MemorySource {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, options);
  add(builder);
  builder.finish();
  return new MemorySource(sink.toBytes());
}

const source = build((builder) => {
  for (const word of WORDS) builder.add(word, `${word}!`);
});

test('a table built from text has the bytes of one that is built from its UTF-8', () => {
  const other = build((builder) => {
    for (const word of WORDS) builder.add(utf8(word), utf8(`${word}!`));
  });
  expect(source.read(0, source.byteLength)).toEqual(other.read(0, other.byteLength));
});

test('a builder rejects text with half of a surrogate pair, and remains usable', () => {
  const table = SyncTable.open(
    build((builder) => {
      expect(caught(() => builder.add(LONE, 'x'))).toEqual(loneError('key'));
      expect(caught(() => builder.add('x', LONE))).toEqual(loneError('value'));
      builder.add('x', 'y');
    }),
  );
  expect([...table]).toEqual([[utf8('x'), utf8('y')]]);
});

describe.each([
  ['SyncTable', () => SyncTable.open(source)],
  ['Table', () => Table.open(source)],
])('%s', (_, open) => {
  test('finds text', async () => {
    const table = await open();
    for (const word of WORDS) {
      expect(await table.get(word)).toEqual(utf8(`${word}!`));
      expect(await table.has(word)).toBe(true);
      expect(await table.find(word, () => true)).toEqual([utf8(word), utf8(`${word}!`)]);
      expect(await table.explain(word)).toEqual(await table.explain(utf8(word)));
      expect(table.mayContain(word)).toBe(true);
      expect(table.mayContainPrefix(word)).toBe(true);
      expect(table.approximateOffset(word)).toBe(table.approximateOffset(utf8(word)));
    }
    expect(await table.get('pea')).toBeUndefined();
    expect(await table.getMany(['pear', utf8('pear'), 'pea', '桃'])).toEqual([utf8('pear!'), utf8('pear!'), undefined, utf8('桃!')]);
    expect(table.compare('a', utf8('b'))).toBeLessThan(0);
    expect(table.compare('🍑', '桃')).toBeGreaterThan(0);
  });

  test('takes text for the bounds of ranges and cursors', async () => {
    const table = await open();
    const keysOf = async (range: Parameters<typeof table.keys>[0]): Promise<string[]> => {
      const found: string[] = [];
      for await (const key of table.keys(range)) found.push(new TextDecoder().decode(key));
      return found;
    };
    expect(await keysOf({ gte: 'apricot', lt: '桃' })).toEqual(['apricot', 'pear', 'pêche']);
    expect(await keysOf({ gt: 'apricot', lte: utf8('桃'), reverse: true })).toEqual(['桃', 'pêche', 'pear']);
    expect(await keysOf({ prefix: 'ap' })).toEqual(['apple', 'apricot']);
    const cursor = table.cursor({ gte: 'apple', lte: 'pear' });
    expect(await cursor.seek('b')).toBe(true);
    expect(cursor.key).toEqual(utf8('pear'));
    expect(await cursor.seek('q')).toBe(false);
    await cursor.seekToFirst();
    expect(await cursor.nextMany(5, { lt: 'pear' })).toEqual([[utf8('apple'), utf8('apple!')], [utf8('apricot'), utf8('apricot!')]]);
  });

  test('rejects text with half of a surrogate pair', async () => {
    const table = await open();
    const calls: [string, () => unknown][] = [
      ['key', () => table.get(LONE)],
      ['key', () => table.has(LONE)],
      ['key', () => table.find(LONE, () => true)],
      ['keys[1]', () => table.getMany(['a', LONE])],
      ['gte', () => table.entries({ gte: LONE })],
      ['prefix', () => table.entries({ prefix: LONE })],
      ['lt', () => table.cursor({ lt: LONE })],
      ['key', () => table.mayContain(LONE)],
    ];
    for (const [name, call] of calls) expect(await rejection((async () => call())())).toEqual(loneError(name));
  });
});

test.each([
  ['SyncDatabaseTable', (source: MemorySource) => SyncDatabaseTable.open(source)],
  ['DatabaseTable', (source: MemorySource) => DatabaseTable.open(source)],
])('%s takes text for user keys', async (_, open) => {
  const table = await open(
    build((builder) => {
      for (const userKey of ['apple', 'pear'].map(utf8)) builder.add(encodeInternalKey({ userKey, sequence: 1n, type: 1 }), userKey);
    }, { comparator: internalKeyComparator() }),
  );
  expect(await table.get('pear')).toMatchObject({ key: utf8('pear') });
  const found = [];
  for await (const { key } of table.entries({ gt: 'apple' })) found.push(key);
  expect(found).toEqual([utf8('pear')]);
});
