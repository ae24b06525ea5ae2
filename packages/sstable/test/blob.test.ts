import { Blob, File } from 'node:buffer';
import { goldenTables } from '@bloom/fixtures';
import { MemorySource, Table } from '@bloom/sstable';
import { profileTable, salvageTable, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { type BlobLike, BlobSource } from '@bloom/sstable/blob';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries, sameBytes, sameEntries } from './entries.js';

const goldens = goldenTables();
const entries = numberedEntries(5000, 100);
const bytes = buildTable(entries, { compression: 'none' });

test.each(goldens)('$name is read from a Blob and from a File', async (golden) => {
  const input = golden.input();
  for (const blob of [new Blob([golden.bytes()]), new File([golden.bytes()], golden.name)]) {
    const table = await Table.open(new BlobSource(blob));
    expect(sameEntries(await collect(table), input)).toBe(true);
    const some = input.filter((_, i) => i % 97 === 0);
    const values = await table.getMany(some.map(([key]) => key));
    expect(values.every((value, i) => sameBytes(value, some[i]![1]))).toBe(true);
  }
});

describe('a Blob source', () => {
  test('has the length of the Blob, and the name of a File', () => {
    expect(new BlobSource(new Blob([bytes]))).toMatchObject({ byteLength: bytes.length, name: undefined });
    expect(new BlobSource(new File([bytes], 'words.ldb')).name).toBe('words.ldb');
    expect(new BlobSource(new File([bytes], 'words.ldb'), 'other').name).toBe('other');
  });

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['words.ldb', 'string'],
    [{ size: 3 }, 'object without slice()'],
    [new Uint8Array(3), 'an object without size'],
  ])('refuses %s instead of a Blob', (value, kind) => {
    expect(() => new BlobSource(value as unknown as BlobLike)).toThrow(new TypeError(`blob must be a Blob or File, got ${kind}`));
  });

  test('names the file in errors', async () => {
    const damaged = bytes.slice();
    damaged[3]! ^= 1;
    const table = await Table.open(new BlobSource(new File([damaged], 'words.ldb')));
    const error = await rejection(table.get(entries[0]![0]));
    expect(error).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', file: 'words.ldb', offset: 0 });
    const none = await rejection(Table.open(new BlobSource(new File([], 'empty.ldb'))));
    expect(none).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', file: 'empty.ldb' });
  });

  test('reads only the requested bytes', async () => {
    const slices: [number, number][] = [];
    const blob = new Blob([bytes]);
    const watched: BlobLike = {
      size: blob.size,
      slice(start, end) {
        slices.push([start, end]);
        return blob.slice(start, end);
      },
    };
    const table = await Table.open(new BlobSource(watched));
    expect(slices).toEqual([[bytes.length - 65536, bytes.length]]);
    await table.get(entries[7]![0]);
    expect(slices).toHaveLength(2);
    expect(slices[1]![1] - slices[1]![0]).toBeLessThan(4400);
  });

  test('of a slice of a Blob reads only that slice', async () => {
    const around = new Blob([new Uint8Array(1000), bytes, new Uint8Array(500)]);
    const table = await Table.open(new BlobSource(around.slice(1000, 1000 + bytes.length)));
    expect(sameEntries(await collect(table.entries({ limit: 100 })), entries.slice(0, 100))).toBe(true);
  });

  test('splits a large read into pieces of at most 64 MiB, and stops at a short piece', async () => {
    const mib = 2 ** 20;
    const content = new Uint8Array(67 * mib);
    const marks = [10, 10 + 64 * mib, 9 + 64 * mib, 9 + 66 * mib];
    for (const [i, offset] of marks.entries()) content[offset] = i + 1;
    const blob = new Blob([content]);
    const slices: [number, number][] = [];
    const watched = (most: number): BlobLike => ({
      size: blob.size,
      slice(start, end) {
        slices.push([start, end - start]);
        return blob.slice(start, Math.min(end, start + most));
      },
    });
    const read = await new BlobSource(watched(Infinity)).read(10, 66 * mib);
    expect(slices).toEqual([
      [10, 64 * mib],
      [10 + 64 * mib, 2 * mib],
    ]);
    expect(sameBytes(read, content.subarray(10, 10 + 66 * mib))).toBe(true);
    expect((await new BlobSource(watched(5)).read(0, 66 * mib)).length).toBe(5);
  });

  test('that is aborted reads nothing', async () => {
    const reason = new Error('enough');
    const source = new BlobSource(new Blob([bytes]));
    expect(await rejection(Table.open(source, { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  test('that can no longer be read throws the host’s error', async () => {
    const failure = new Error('NotReadableError');
    const gone: BlobLike = { size: bytes.length, slice: () => ({ arrayBuffer: () => Promise.reject(failure) }) };
    expect(await rejection(Table.open(new BlobSource(gone)))).toBe(failure);
  });

  test('that is shorter than its size throws an error', async () => {
    const blob = new Blob([bytes]);
    const short: BlobLike = { size: bytes.length, slice: (start, end) => blob.slice(start, Math.min(end, start + 10)) };
    expect(await rejection(Table.open(new BlobSource(short)))).toMatchObject({ code: 'BLOOM_TRUNCATED' });
  });
});

const reason = new Error('enough');
const aborted = AbortSignal.abort(reason);

test.each([
  ['opening', () => Table.open(new MemorySource(bytes), { signal: aborted })],
  ['a verification', () => verifyTable(new MemorySource(bytes), { signal: aborted })],
  ['a profile', () => profileTable(new MemorySource(bytes), { signal: aborted })],
  ['a layout', () => collect(tableLayout(new MemorySource(bytes), { signal: aborted }))],
  ['a salvage', () => salvageTable(new MemorySource(bytes), () => undefined, { signal: aborted })],
])('%s is ended by its signal even if the source ignores it', async (_, run) => {
  expect(await rejection(run())).toBe(reason);
});
