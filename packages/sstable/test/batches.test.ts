import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyValue } from '@bloom/fixtures';
import { type EntryBatch, MemorySource, SyncTable, Table } from '@bloom/sstable';
import { openTable, openTableSync } from '@bloom/sstable/node';
import { describe, expect, test } from 'vitest';
import { assembleTable, blockOf } from './assemble-table.js';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { hex, numberedEntries, sameEntries, utf8 } from './entries.js';
import { gate, WatchedSource } from './sources.js';

const entries = numberedEntries(3000, 100);
const bytes = buildTable(entries, { compression: 'none' });

function copied(batch: EntryBatch): KeyValue[] {
  return Array.from(batch, ([key, value]) => [key.slice(), value.slice()]);
}

describe.each(['none', 'snappy'] as const)('batches of a file whose compression is %s', (compression) => {
  test('contain every entry exactly once, in both directions, with and without promises', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bloom-batches-'));
    const path = join(folder, 'table.ldb');
    writeFileSync(path, buildTable(entries, { compression }));
    try {
      for (const cache of [null, undefined]) {
        const syncTable = openTableSync(path, { cache, readAheadBytes: 20_000 });
        const table = await openTable(path, { cache, readAheadBytes: 20_000 });
        for (const reverse of [false, true]) {
          const expected = reverse ? [...entries].reverse() : entries;
          const found: KeyValue[] = [];
          for (const batch of syncTable.batches({ reverse })) found.push(...copied(batch));
          expect(sameEntries(found, expected)).toBe(true);
          found.length = 0;
          for await (const batch of table.batches({ reverse })) found.push(...copied(batch));
          expect(sameEntries(found, expected)).toBe(true);
        }
        syncTable.close();
        await table.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('values are views of the block, not copies', () => {
  const file = bytes.slice();
  for (const batch of SyncTable.open(new MemorySource(file)).batches({ limit: 40 })) {
    expect(batch.value(0).buffer).toBe(file.buffer);
  }
});

test('a batch throws a RangeError for an entry that it does not have', () => {
  for (const batch of SyncTable.open(new MemorySource(bytes)).batches({ limit: 3 })) {
    expect(batch.length).toBe(3);
    for (const i of [-1, 3, 0.5, NaN, '0' as unknown as number]) {
      const shown = typeof i === 'string' ? '"0"' : i;
      expect(caught(() => batch.key(i))).toEqual(new RangeError(`i must be a whole number below 3, the number of entries, got ${shown}`));
      expect(caught(() => batch.value(i))).toBeInstanceOf(RangeError);
    }
  }
});

test('a batch has at most 1024 entries, and ends when its keys have 64 KiB', () => {
  const small = Array.from({ length: 5000 }, (_, i): KeyValue => [utf8(String(i).padStart(5, '0')), utf8('')]);
  const lengths = (table: readonly KeyValue[]): number[] =>
    Array.from(SyncTable.open(new MemorySource(buildTable(table, { blockSize: 2 ** 20, compression: 'none' }))).batches(), ({ length }) => length);
  expect(lengths(small)).toEqual([1024, 1024, 1024, 1024, 904]);
  // The keys share nearly all of their bytes, so that each takes three times the memory of the block.
  const long = Array.from({ length: 50 }, (_, i): KeyValue => [utf8('k'.repeat(30_000) + String(i).padStart(5, '0')), utf8('')]);
  expect(lengths(long)).toEqual([...Array.from({ length: 16 }, () => 3), 2]);
});

test('a walk over damage returns the entries before it, then throws the error, and then is done', async () => {
  const good = Array.from({ length: 20 }, (_, i): KeyValue => [utf8(`key ${String(i).padStart(2, '0')}`), utf8(`value ${i}`)]);
  const contents = blockOf(good);
  // The eleventh entry claims to share bytes at a restart.
  const at = contents.length - 4 - 20 * 4 + 10 * 4;
  contents[new DataView(contents.buffer, contents.byteOffset).getUint32(at, true)] = 1;
  const file = assembleTable({ data: [[utf8('z'), contents]] });
  const walk = SyncTable.open(new MemorySource(file)).batches();
  expect(copied((walk.next().value as EntryBatch)).map(([key]) => hex(key))).toEqual(good.slice(0, 10).map(([key]) => hex(key)));
  expect(caught(() => walk.next())).toMatchObject({ code: 'BLOOM_BAD_BLOCK' });
  expect(walk.next().done).toBe(true);
  const asyncWalk = (await Table.open(new MemorySource(file))).batches();
  expect(copied(((await asyncWalk.next()).value as EntryBatch)).length).toBe(10);
  expect(await rejection(asyncWalk.next())).toMatchObject({ code: 'BLOOM_BAD_BLOCK' });
  expect((await asyncWalk.next()).done).toBe(true);
});

test('calls of next that are not awaited settle in order', async () => {
  const walk = (await Table.open(new WatchedSource(bytes), { cache: null })).batches();
  const lengths = await Promise.all(Array.from({ length: 200 }, () => walk.next().then(({ value, done }) => (done === true ? 0 : value.length))));
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(3000);
});

test('an abort, return() and closing the table end the iterator', async () => {
  const source = new WatchedSource(bytes);
  const table = await Table.open(source, { cache: null });
  const controller = new AbortController();
  const aborted = table.batches({ signal: controller.signal });
  await aborted.next();
  controller.abort(new Error('enough'));
  expect(await rejection(aborted.next())).toEqual(new Error('enough'));
  const returned = table.batches();
  await returned.next();
  await returned.return!();
  expect((await returned.next()).done).toBe(true);
  const { opened, open } = gate();
  source.answer = async (answer) => {
    await opened;
    return answer;
  };
  const closed = table.batches();
  const unread = closed.next();
  void table.close();
  expect(await rejection(unread)).toBeInstanceOf(TypeError);
  expect(caught(() => table.batches())).toBeInstanceOf(TypeError);
  open();
  const syncTable = SyncTable.open(new MemorySource(bytes));
  const walk = syncTable.batches();
  walk.next();
  syncTable.close();
  expect(caught(() => walk.next())).toBeInstanceOf(TypeError);
});

test('batches checks its range when it is called', async () => {
  const table = await Table.open(new MemorySource(bytes));
  for (const anyTable of [table, SyncTable.open(new MemorySource(bytes))]) {
    expect(caught(() => anyTable.batches({ from: 'a' } as object))).toBeInstanceOf(TypeError);
    expect(caught(() => anyTable.batches({ limit: -1 }))).toBeInstanceOf(RangeError);
  }
});
