import type { KeyValue } from '@bloom/fixtures';
import { MemorySource, SyncTable, Table } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, SyncDatabaseTable, VALUE } from '@bloom/sstable/database';
import { BloomFilterPolicy } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { type BlockHandle, encodeBlockHandle } from '../src/format/block-handle.js';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { putTogether, takeApart } from './damage.js';
import { hex, numberedEntries, sameBytes, utf8 } from './entries.js';
import { storedDataBlocks } from './stored-data-blocks.js';

// 40 keys per block. The filter of the first range of the file would rule out the keys of any other range.
const entries = numberedEntries(400, 60);
const good = buildTable(entries, { blockSize: 2600, compression: 'none' });
const blocks = storedDataBlocks(new MemorySource(good));
const DAMAGED = 4;

/** The table with the handle of data block 4 replaced, and with correct checksums. */
function withHandle(change: (handle: BlockHandle) => Uint8Array, bytes = good): MemorySource {
  const { parts } = takeApart(bytes);
  const dataParts = parts.flatMap(({ kind }, i) => (kind === 'data' ? [i] : []));
  return new MemorySource(
    putTogether(parts, { listings: (index, _, handles) => (index[DAMAGED]![1] = change(handles[dataParts[DAMAGED]!]!)) }),
  );
}

test('the tables have the blocks and filters that these tests rely on', () => {
  expect(blocks).toHaveLength(10);
  expect(blocks.map(({ entries: own }) => own.length)).toEqual(new Array(10).fill(40));
  expect(SyncTable.open(new MemorySource(good)).filterStatus.state).toBe('used');
});

describe.each<[string, (handle: BlockHandle) => Uint8Array]>([
  ['no bytes', () => new Uint8Array()],
  ['a varint that does not end', () => new Uint8Array(10).fill(0xff)],
  ['an offset without a size', ({ offset }) => encodeBlockHandle({ offset, size: 0 }).subarray(0, -1)],
  ['a size past the end of the file', ({ offset }) => encodeBlockHandle({ offset, size: 2 ** 40 })],
  ['an offset past the end of the file', ({ size }) => encodeBlockHandle({ offset: 2 ** 50, size })],
  ['the last bytes before the footer', ({ size }) => encodeBlockHandle({ offset: good.length - 50, size })],
])('a handle that is %s', (_, change) => {
  const source = withHandle(change);
  const own = new Set(blocks[DAMAGED]!.entries.map(([key]) => hex(key)));
  const isOwn = ([key]: KeyValue): boolean => own.has(hex(key));
  const lost = entries.filter(isOwn);
  const kept = entries.filter((entry) => !isOwn(entry));
  const badHandle = expect.objectContaining({ code: 'BLOOM_BAD_HANDLE' }) as unknown;

  test('causes an error only for lookups of keys of its block', async () => {
    const syncTable = SyncTable.open(source);
    const table = await Table.open(source);
    expect(lost.map(([key]) => caught(() => syncTable.get(key)))).toEqual(lost.map(() => badHandle));
    expect(await Promise.all(lost.map(([key]) => rejection(table.get(key))))).toEqual(lost.map(() => badHandle));
    expect(kept.filter(([key, value]) => !sameBytes(syncTable.get(key), value))).toEqual([]);
    const others = await Promise.all(kept.map(([key]) => table.get(key)));
    expect(others.filter((value, i) => !sameBytes(value, kept[i]![1]))).toEqual([]);
    // Absent keys that would be in the block if they were stored.
    expect(caught(() => syncTable.get(Uint8Array.of(...lost[3]![0], 0)))).toEqual(badHandle);
  });

  test('causes an error in getMany and find before anything is read', async () => {
    let reads = 0;
    const watched = { byteLength: source.byteLength, read: (at: number, length: number) => (reads++, source.read(at, length)) };
    const table = await Table.open(watched);
    reads = 0;
    expect(await rejection(table.getMany([kept[0]![0], lost[0]![0], kept[99]![0]]))).toEqual(badHandle);
    expect(await rejection(table.find(lost[0]![0], () => true))).toEqual(badHandle);
    expect(reads).toBe(0);
    const found = await table.getMany(kept.map(([key]) => key));
    expect(kept.filter(([, value], i) => !sameBytes(found[i], value))).toEqual([]);
    expect(caught(() => SyncTable.open(source).find(lost[0]![0], () => true))).toEqual(badHandle);
    expect(caught(() => SyncTable.open(source).getMany(entries.map(([key]) => key)))).toEqual(badHandle);
  });

  test('makes mayContain true for its keys, and their approximate offset the end of the data', () => {
    const table = SyncTable.open(source);
    expect(entries.filter(([key]) => !table.mayContain(key))).toEqual([]);
    const end = table.approximateOffset(utf8('z'));
    expect(new Set(lost.map(([key]) => table.approximateOffset(key)))).toEqual(new Set([end]));
    expect(kept.filter(([key]) => table.approximateOffset(key) >= end)).toEqual([]);
  });

  test('ends a scan with an error where the block would be, in both directions', async () => {
    for (const reverse of [false, true]) {
      const before = reverse ? [...entries.slice(200)].reverse() : entries.slice(0, 160);
      const seen: Uint8Array[] = [];
      const error = caught(() => {
        for (const key of SyncTable.open(source).keys({ reverse })) seen.push(key);
      });
      expect([error, seen.map(hex)]).toEqual([badHandle, before.map(([key]) => hex(key))]);
      const walk = (await Table.open(source)).keys({ reverse });
      for (const [key] of before) expect((await walk.next()).value).toEqual(key);
      expect(await rejection(walk.next())).toEqual(badHandle);
    }
  });

  test('leaves a cursor on no entry, and the cursor can seek again', async () => {
    const syncCursor = SyncTable.open(source).cursor();
    expect(caught(() => syncCursor.seek(lost[7]![0]))).toEqual(badHandle);
    expect(syncCursor.valid).toBe(false);
    expect(syncCursor.seek(blocks[DAMAGED + 1]!.entries[0]![0])).toBe(true);
    const cursor = (await Table.open(source)).cursor();
    await cursor.seek(blocks[DAMAGED - 1]!.entries.at(-1)![0]);
    expect(await rejection(cursor.next())).toEqual(badHandle);
    expect(cursor.valid).toBe(false);
    expect(await cursor.seekToFirst()).toBe(true);
  });
});

// With blocks of 6 KB, most ranges of 2 KiB have no block, and an empty filter, which rules out every key.
test('a wrong handle whose range has an empty filter is still followed', () => {
  const large = buildTable(numberedEntries(80, 600), { blockSize: 6000, compression: 'none' });
  const [, , , , damaged] = storedDataBlocks(new MemorySource(large));
  const source = withHandle(({ offset, size }) => encodeBlockHandle({ offset: offset + 2500, size }), large);
  const table = SyncTable.open(source);
  expect(damaged!.entries.length).toBeGreaterThan(5);
  for (const [key] of damaged!.entries) {
    expect(table.mayContain(key)).toBe(true);
    expect(caught(() => table.get(key))).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
  }
});

test('a table of a database with a damaged handle does not silently lose versions', () => {
  const versions = numberedEntries(400, 60).map(([userKey, value], i): KeyValue => [
    encodeInternalKey({ userKey, sequence: BigInt(i), type: VALUE }),
    value,
  ]);
  const bytes = buildTable(versions, {
    comparator: internalKeyComparator(),
    filterPolicy: internalKeyPolicy(new BloomFilterPolicy()),
    blockSize: 2600,
    compression: 'none',
  });
  const table = SyncDatabaseTable.open(withHandle(() => new Uint8Array(10).fill(0xff), bytes));
  const outcomes = numberedEntries(400).map(([userKey]) => {
    const error = caught(() => {
      if (table.get(userKey) === undefined) throw new Error('called absent');
    });
    return error === undefined ? 'found' : ((error as { code?: string }).code ?? (error as Error).message);
  });
  expect([...new Set(outcomes)].sort()).toEqual(['BLOOM_BAD_HANDLE', 'found']);
  expect(outcomes.filter((outcome) => outcome === 'found').length).toBeGreaterThan(350);
});
