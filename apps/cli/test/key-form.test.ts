import { allCodecs } from '@bloom/codecs';
import { goldenTables, realTables, seeded } from '@bloom/fixtures';
import { MemorySink, MemorySource, SyncTable, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { bytewiseComparator } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { BloomFilterPolicy } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { keyFormOf } from '../src/inputs/key-form.js';

const random = seeded(11);

async function looksInternal(bytes: Uint8Array): Promise<boolean> {
  const source = new MemorySource(bytes);
  return (await keyFormOf(source, SyncTable.open(source, { codecs: allCodecs }), 0)).isInternal;
}

function table(keys: readonly Uint8Array[], options: TableBuilderOptions = {}): Uint8Array {
  const { compare } = options.comparator ?? bytewiseComparator;
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, options);
  const distinct = new Map(keys.map((key) => [Buffer.from(key).toString('hex'), key]));
  for (const key of [...distinct.values()].sort(compare)) builder.add(key, Uint8Array.of(1));
  builder.finish();
  return sink.toBytes();
}

describe.each(realTables())('the keys of $file', ({ keyKind, bytes }) => {
  test(`are detected as ${keyKind}`, async () => {
    expect(await looksInternal(bytes())).toBe(keyKind === 'internal');
  });
});

describe.each(goldenTables())('the keys of $name', ({ bytes }) => {
  test('are detected as plain', async () => {
    expect(await looksInternal(bytes())).toBe(false);
  });
});

function words(count: number, ...parts: ((i: number) => { bytes: number; value: number; big: boolean })[]): Uint8Array[] {
  return Array.from({ length: count }, (_, i) =>
    Buffer.concat(
      parts.map((part) => {
        const { bytes, value, big } = part(i);
        const buffer = Buffer.alloc(bytes);
        if (big) buffer.writeUIntBE(value, Math.max(0, bytes - 6), Math.min(bytes, 6));
        else buffer.writeUIntLE(value, 0, Math.min(bytes, 6));
        return buffer;
      }),
    ),
  );
}

const prefix = (i: number) => ({ bytes: 6, value: i, big: true });

describe('plain keys of 8 bytes or more are not mistaken for internal keys', () => {
  test.each([
    ['counters, big-endian', words(500, (i) => ({ bytes: 8, value: i, big: true }))],
    ['counters, little-endian', words(500, (i) => ({ bytes: 8, value: i, big: false }))],
    ['times in nanoseconds', words(500, (i) => ({ bytes: 8, value: 2 ** 41 + i * 9973, big: true }))],
    ['ids and counters', words(500, prefix, (i) => ({ bytes: 8, value: i, big: true }))],
    ['two numbers, little-endian', words(500, (i) => ({ bytes: 4, value: i % 2, big: false }), (i) => ({ bytes: 4, value: i, big: false }))],
    ['ids and columns', words(500, prefix, (i) => ({ bytes: 8, value: i % 5, big: false }))],
    ['ids and zeros', words(500, prefix, () => ({ bytes: 8, value: 0, big: false }))],
    ['hashes', Array.from({ length: 500 }, () => random.bytes(20))],
    ['text', Array.from({ length: 500 }, (_, i) => Buffer.from(`customer/${i}/invoices`))],
    ['text in UTF-16', Array.from({ length: 500 }, (_, i) => Buffer.from(`customer/${i}`, 'utf16le'))],
    ['one text', [Buffer.from('a key of some length')]],
    ['one number', [Buffer.alloc(8, 1)]],
  ] as const)('%s', async (_, keys) => {
    expect(await looksInternal(table(keys))).toBe(false);
    expect(await looksInternal(table(keys, { filterPolicy: null }))).toBe(false);
  });

  test('filters decide if the keys do not', async () => {
    // One version of each user key, all with sequence 0, as in bulk-loaded tables.
    const keys = words(500, prefix, () => ({ bytes: 8, value: VALUE, big: false }));
    expect(await looksInternal(table(keys, { filterPolicy: null }))).toBe(true);
    expect(await looksInternal(table(keys))).toBe(false);
    const filterPolicy = internalKeyPolicy(new BloomFilterPolicy());
    expect(await looksInternal(table(keys, { filterPolicy, comparator: internalKeyComparator() }))).toBe(true);
  });
});

test('a single internal key, many versions of one key, and an empty user key are detected as internal keys', async () => {
  const versions = (userKey: string, count: number): Uint8Array[] =>
    Array.from({ length: count }, (_, i) =>
      encodeInternalKey({ userKey: Buffer.from(userKey), sequence: BigInt(i * 7 + 1), type: i % 2 }),
    );
  for (const keys of [versions('a', 1), versions('key', 300), versions('', 300)]) {
    const bytes = table(keys, { comparator: internalKeyComparator(), filterPolicy: null });
    expect(await looksInternal(bytes)).toBe(true);
  }
});
