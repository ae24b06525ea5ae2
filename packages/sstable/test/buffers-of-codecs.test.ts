import { deflateSync, inflateSync } from 'node:zlib';
import { mustBeBytes } from '@bloom/bytes/internal';
import { BlockCache, type Codec, MemorySource, type ReadingOptions, SyncTable, Table, type TableOptions } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught } from '@bloom/fixtures/caught';
import { putTogether, takeApart } from './damage.js';
import { collect, numberedEntries, sameEntries } from './entries.js';
import { WatchedSource } from './sources.js';

const entries = numberedEntries(3000);
const deflating = { type: 2, name: 'deflate', compress: (contents: Uint8Array) => deflateSync(contents) };

/** Returns Buffers, whose `slice` does not copy. */
const zlibCodec: Codec = { ...deflating, decompress: (stored) => inflateSync(stored) };
/** Returns a view of what is stored. */
const viewingCodec: Codec = { type: 77, name: 'view', decompress: (stored) => Buffer.from(stored.buffer, stored.byteOffset, stored.length) };

/** A table whose data blocks are said to be compressed by `viewingCodec`. */
function tableOfViews(): Uint8Array {
  const { parts } = takeApart(buildTable(entries, { compression: 'none' }));
  return putTogether(parts.map((part) => (part.kind === 'data' ? { ...part, type: viewingCodec.type } : part)));
}

describe.each([
  ['made by zlib', zlibCodec, buildTable(entries, { compression: zlibCodec })],
  ['that are views of what is stored', viewingCodec, tableOfViews()],
])('blocks that are Buffers %s', (_, codec, bytes) => {
  const options = (): TableOptions & ReadingOptions => ({ codecs: [codec], cache: new BlockCache(2 ** 26), readAheadBytes: 16_384 });

  test('are kept in the cache as they were, without promises', () => {
    const table = SyncTable.open(new LendingSource(bytes), options());
    for (let pass = 0; pass < 2; pass++) expect(sameEntries(table.entries(), entries)).toBe(true);
    expect(table.stats.cacheHits).toBeGreaterThan(10);
  });

  test('are kept in the cache as they were, with promises', async () => {
    const table = await Table.open(new WatchedSource(bytes), options());
    for (let pass = 0; pass < 2; pass++) expect(sameEntries(await collect(table), entries)).toBe(true);
  });
});

test('a codec that returns no bytes is said to be wrong', () => {
  const broken = { ...deflating, decompress: () => 'text' as unknown as Uint8Array };
  const source = new MemorySource(buildTable(entries, { compression: broken }));
  expect(caught(() => SyncTable.open(source, { codecs: [broken] }).get(entries[0]![0]))).toMatchObject({
    name: 'TypeError',
    message: 'the result of codec.decompress must be a Uint8Array, got string',
  });
});

/** Reads into the memory that it is given, as files do. */
class LendingSource extends MemorySource {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super(bytes);
    this.#bytes = bytes;
  }

  readInto(offset: number, into: Uint8Array): number {
    into.set(this.#bytes.subarray(offset, offset + into.length));
    return into.length;
  }
}

test.each([
  ['a string', 'abc'],
  ['a promise', Promise.resolve(new Uint8Array(3))],
  ['an ArrayBuffer', new ArrayBuffer(3)],
  ['a Uint16Array', new Uint16Array(3)],
])('a codec that compresses to %s is refused', (_, result) => {
  const codec = { ...zlibCodec, compress: () => result as never };
  expect(caught(() => buildTable(entries, { compression: codec }))).toMatchObject({
    name: 'TypeError',
    message: (caught(() => mustBeBytes('the result of codec.compress', result)) as Error).message,
  });
});
