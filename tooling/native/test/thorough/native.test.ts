import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  entriesSha256,
  goldenFilters,
  goldenTables,
  type KeyValue,
  littleEndian32,
  realTables,
  vectors,
} from '@bloom/fixtures';
import { nativeLevelDb, NativeLevelDbError, nativeUnavailableReason } from '@bloom/native';
import { stripTrailingSpaces, trailingSpaceEntries } from '../../src/trailing-space.js';

const available = nativeLevelDb() !== undefined;
const reason = nativeUnavailableReason()?.split('\n')[0] ?? '';

/** Only for tests that run if LevelDB is available. */
function native(): NonNullable<ReturnType<typeof nativeLevelDb>> {
  return nativeLevelDb()!;
}

const bytewise = goldenTables();
const trailingSpace = goldenTables({ comparator: 'trailing-space' });
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

if (!available) {
  test.skip(`LevelDB is not available to compare with: ${reason}`, () => {});
}

describe('golden tables', () => {
  const exact = [...bytewise, ...trailingSpace].filter(({ byteExact }) => byteExact);
  test.runIf(available).each(exact)('LevelDB rebuilds $name byte for byte', (table) => {
    const bytes = native().build(table.input(), table.options);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(table.sha256);
  });

  test.runIf(available).each([...bytewise, ...trailingSpace])('LevelDB reads the entries of $name from which it was built', (table) => {
    const { comparator } = table.options;
    const entries = table.input();
    expect(entriesSha256(native().dump(table.path, { comparator }))).toBe(entriesSha256(entries));
    const keys = entries.map(([key]) => key);
    for (const useFilter of [false, true]) {
      const values = native().get(table.path, keys, { comparator, useFilter });
      expect(values).not.toContain(undefined);
      expect(entriesSha256(keys.map((key, i) => [key, values[i]!]))).toBe(entriesSha256(entries));
    }
  });

  test.runIf(available).each(goldenFilters())(
    'LevelDB rebuilds the filter of $keyCount keys at $bitsPerKey bits per key',
    ({ keys, bitsPerKey, filter }) => {
      expect(native().filter(keys(), bitsPerKey)).toEqual(filter);
    },
  );
});

describe('trailing spaces', () => {
  test('the committed input is what the generator makes', () => {
    expect(trailingSpace[0]?.input()).toEqual(trailingSpaceEntries());
  });

  const respelled = trailingSpaceEntries().map(
    ([key]) => new Uint8Array([...stripTrailingSpaces(key), 0x20, 0x20, 0x20, 0x20, 0x20]),
  );
  const values = trailingSpaceEntries().map(([, value]) => value);

  test.runIf(available).each(trailingSpace)('LevelDB finds every key of $name with different trailing spaces', (table) => {
    const options = { comparator: 'trailing-space', useFilter: true } as const;
    expect(native().get(table.path, respelled, options)).toEqual(values);
  });

  test.runIf(available)('a key with different trailing spaces matches a filter of the trailing-space policy, but not one of the Bloom policy', () => {
    const plain = native().filter([ascii('a')], 10);
    const own = native().filter([ascii('a')], 10, { comparator: 'trailing-space' });
    expect(own).toEqual(plain);
    expect(native().mayMatch(plain, [ascii('a ')])).toEqual([false]);
    expect(native().mayMatch(own, [ascii('a ')], { comparator: 'trailing-space' })).toEqual([true]);
  });
});

describe('real tables', () => {
  // Type 4 is Mojang's raw deflate, which LevelDB does not support.
  const readable = realTables().filter(({ blockTypes }) =>
    Object.values(blockTypes).every((types) => Object.keys(types).every((type) => type === '0' || type === '1')),
  );

  test.runIf(available).each(readable)('LevelDB reads the entries of $file that the index describes', (table) => {
    const entries = native().dump(table.path);
    expect(entries).toHaveLength(table.entries);
    expect(entriesSha256(entries)).toBe(table.entriesSha256);
  });

  test.runIf(available)('LevelDB refuses a block type that it does not know, and a file that is not a table', () => {
    const mojang = realTables().find(({ blockTypes }) => blockTypes.data?.['4'] !== undefined);
    expect(() => native().dump(mojang!.path)).toThrow(NativeLevelDbError);
    expect(() => native().dump(new Uint8Array(48))).toThrow(NativeLevelDbError);
  });
});

describe('vectors', () => {
  const { tables, tableChecksums, bloomFilters, bloomSizes, falsePositives, approximateOffsets } = vectors();

  test.runIf(available).each(tables)('LevelDB builds the table "$name"', ({ entries, bitsPerKey, bytes }) => {
    expect(native().build(entries, { bitsPerKey })).toEqual(bytes);
  });

  test.runIf(available)('LevelDB reads the table of internal keys', () => {
    const { bytes, entries } = vectors().internalKeyTable;
    expect(native().dump(bytes)).toEqual(entries);
  });

  test.runIf(available)('LevelDB builds the table for which only a checksum is recorded', () => {
    const { entries, size, crc32c: expected } = tableChecksums.find(({ compression }) => compression === 'none')!;
    const bytes = native().build(entries(), { bitsPerKey: 10 });
    expect([bytes.length, crc32c(bytes)]).toEqual([size, expected]);
  });

  test.runIf(available)('LevelDB builds the recorded filters', () => {
    for (const { keys, bitsPerKey, filter } of bloomFilters) {
      expect(native().filter(keys, bitsPerKey)).toEqual(filter);
    }
    for (const { bitsPerKey, probes, byteLength } of bloomSizes) {
      const filter = native().filter([ascii('one key')], bitsPerKey);
      expect([filter.length, filter.at(-1)]).toEqual([byteLength, probes]);
    }
  });

  test.runIf(available)('LevelDB gives the recorded numbers of false positives', () => {
    const probes = Array.from({ length: 10_000 }, (_, i) => littleEndian32(1_000_000_000 + i));
    const measured = falsePositives.rows.map(({ n }) => {
      const keys = Array.from({ length: n }, (_, i) => littleEndian32(i));
      const filter = native().filter(keys, 10);
      const hits = native().mayMatch(filter, probes).filter(Boolean).length;
      return { n, bytes: filter.length, falsePositives: hits, crc32c: crc32c(filter) };
    });
    expect(measured).toEqual(falsePositives.rows);
  });

  test.runIf(available)('LevelDB returns the recorded approximate offsets', () => {
    const table = native().build(approximateOffsets.entries(), { blockSize: 1024 });
    expect(table).toHaveLength(approximateOffsets.fileSize);
    const keys = approximateOffsets.offsets.map(({ key }) => key);
    expect(native().approximateOffsets(table, keys)).toEqual(approximateOffsets.offsets.map(({ offset }) => offset));
  });
});

test.runIf(available)('a lookup uses the filter only if useFilter is set', () => {
  const key = ascii('hello');
  const table = native().build([[key, ascii('world')]], { bitsPerKey: 10 });
  const filter = native().filter([key], 10);
  const start = Buffer.from(table).indexOf(filter);
  table.fill(0, start, start + filter.length - 1);
  // The block: the filter, two offsets, baseLg; then its type byte and its masked checksum.
  const end = start + filter.length + 9 + 1;
  const crc = crc32c(table.subarray(start, end));
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
  new DataView(table.buffer).setUint32(end, masked, true);
  expect(native().get(table, [key], { useFilter: true })).toEqual([undefined]);
  expect(native().get(table, [key])).toEqual([ascii('world')]);
});

test.runIf(available)('LevelDB rejects keys that are out of order', () => {
  const entry = (key: string): KeyValue => [ascii(key), ascii('')];
  expect(() => native().build([entry('b'), entry('a')])).toThrow('keys must ascend');
  expect(() => native().build([entry('a'), entry('a ')], { comparator: 'trailing-space' })).toThrow('keys must ascend');
});

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
