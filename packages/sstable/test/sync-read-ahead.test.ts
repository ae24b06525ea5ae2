import { BlockCache, type Codec, SyncTable, type SyncSource } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { encodeBlockHandle } from '../src/format/block-handle.js';
import { encodeFooter } from '../src/format/footer.js';
import { blockOf } from './assemble-table.js';
import { buildTable } from './build-table.js';
import { caught } from '@bloom/fixtures/caught';
import { sealed } from './damage.js';
import { hex, numberedEntries, sameEntries } from './entries.js';

const entries = numberedEntries(3000, 100);
const bytes = buildTable(entries, { compression: 'none' });
const compressed = buildTable(entries, { compression: 'snappy' });

/** A file that records its reads. Before it reads into memory, it fills that memory with other bytes. */
class CopyingSource implements SyncSource {
  readonly byteLength: number;
  readonly name = 'copied.ldb';
  readonly reads: number[] = [];
  /** The offset where the file ends or becomes unreadable. */
  end = Infinity;
  failure: Error | undefined;
  readonly #bytes: Uint8Array;

  constructor(file: Uint8Array) {
    this.#bytes = file;
    this.byteLength = file.length;
  }

  read(offset: number, length: number): Uint8Array {
    const copy = new Uint8Array(length);
    return copy.subarray(0, this.readInto(offset, copy));
  }

  readInto(offset: number, into: Uint8Array): number {
    this.reads.push(into.length);
    into.fill(0xee);
    const end = Math.min(offset + into.length, this.end);
    if (this.failure !== undefined && end < offset + into.length) throw this.failure;
    const part = this.#bytes.subarray(offset, Math.max(offset, end));
    into.set(part);
    return part.length;
  }
}

function* walked(table: SyncTable, reverse = false): Generator<[Uint8Array, Uint8Array]> {
  const cursor = table.cursor();
  for (let more = reverse ? cursor.seekToLast() : cursor.seekToFirst(); more; more = reverse ? cursor.prev() : cursor.next()) {
    yield [cursor.key.slice(), cursor.value.slice()];
  }
}

describe.each([['plain', bytes], ['compressed', compressed]])('a walk through a file of %s blocks', (_, file) => {
  test.each([[0], [1], [5000], [2 ** 18]])('gives its entries in both directions with readAheadBytes: %i', (readAheadBytes) => {
    for (const cache of [null, new BlockCache(30_000)]) {
      const table = SyncTable.open(new CopyingSource(file), { cache, readAheadBytes });
      for (let time = 0; time < 2; time++) {
        expect(sameEntries(walked(table), entries)).toBe(true);
        expect(sameEntries([...walked(table, true)].reverse(), entries)).toBe(true);
        expect(sameEntries(table.entries(), entries)).toBe(true);
        expect(sameEntries([...table.entries({ reverse: true })].reverse(), entries)).toBe(true);
      }
    }
  });

  test('gives its entries while other walks and lookups take place', () => {
    const table = SyncTable.open(new CopyingSource(file), { cache: new BlockCache(20_000) });
    const walks = [walked(table), table.entries(), walked(table, true), table.entries({ reverse: true })];
    const found = walks.map((): [Uint8Array, Uint8Array][] => []);
    for (let i = 0; i < entries.length; i++) {
      for (const [w, walk] of walks.entries()) found[w]!.push(walk.next().value as [Uint8Array, Uint8Array]);
      if (i % 100 === 0) expect(table.get(entries[(i * 7) % 3000]![0])).toEqual(entries[(i * 7) % 3000]![1]);
    }
    for (const w of [2, 3]) found[w]!.reverse();
    for (const list of found) expect(sameEntries(list, entries)).toBe(true);
  });

  test('leaves blocks in the cache that are not changed by later reads', () => {
    const table = SyncTable.open(new CopyingSource(file), { cache: new BlockCache(2 ** 24) });
    expect([...walked(table)]).toHaveLength(3000);
    const { blockReads } = table.stats;
    expect(sameEntries(walked(table), entries)).toBe(true);
    expect(table.stats.blockReads).toBe(blockReads);
  });

  test('can seek the value that its cursor is on', () => {
    const pointers = entries.map(([key], i) => [key, entries[(i * 1237) % 3000]![0]] as const);
    const table = SyncTable.open(new CopyingSource(buildTable(pointers, { compression: file === bytes ? 'none' : 'snappy' })), { cache: null });
    const cursor = table.cursor();
    cursor.seekToFirst();
    cursor.next();
    for (let i = 1, step = 0; step < 200; step++) {
      i = (i * 1237) % 3000;
      expect(cursor.seek(cursor.value) && hex(cursor.key)).toBe(hex(entries[i]![0]));
    }
  });
});

test('a walk makes few reads, of which the first is one block and none is more than 256 KiB', () => {
  const source = new CopyingSource(bytes);
  const table = SyncTable.open(source, { cache: null });
  source.reads.length = 0;
  expect(sameEntries(walked(table), entries)).toBe(true);
  expect(source.reads.length).toBeLessThan(10);
  expect(source.reads[0]).toBeLessThan(5000);
  expect(Math.max(...source.reads)).toBeLessThanOrEqual(2 ** 18);
});

test('random seeks read one block each', () => {
  const source = new CopyingSource(bytes);
  const table = SyncTable.open(source, { cache: null });
  const cursor = table.cursor();
  source.reads.length = 0;
  for (let i = 0; i < 100; i++) expect(cursor.seek(entries[(i * 787) % 3000]![0])).toBe(true);
  expect(source.reads.filter((length) => length > 5000)).toEqual([]);
});

describe.each([['ends early', undefined], ['fails', new Error('EIO: i/o error, read')]])('where a read %s', (_, failure) => {
  test('a walk returns the entries before that place and then throws the error', () => {
    const source = new CopyingSource(bytes);
    const table = SyncTable.open(source, { cache: null });
    source.end = 200_000;
    source.failure = failure;
    const found: [Uint8Array, Uint8Array][] = [];
    const error = caught(() => {
      for (const entry of walked(table)) found.push(entry);
    });
    expect(error).toMatchObject(failure ?? { code: 'BLOOM_TRUNCATED' });
    expect(found.length).toBeGreaterThan(1700);
    expect(sameEntries(found, entries.slice(0, found.length))).toBe(true);
  });

  test('a cursor still finds the same entries', () => {
    const source = new CopyingSource(bytes);
    const table = SyncTable.open(source, { cache: null });
    const cursor = table.cursor();
    // Makes the memory large enough for any block.
    for (let i = 0; i < 300; i++) cursor.seek(entries[i]![0]);
    expect(cursor.seek(entries[10]![0])).toBe(true);
    source.end = 200_000;
    source.failure = failure;
    caught(() => cursor.seek(entries[2900]![0]));
    expect(cursor.valid).toBe(false);
    expect([cursor.seek(entries[11]![0]), hex(cursor.key), hex(cursor.value)]).toEqual([true, hex(entries[11]![0]), hex(entries[11]![1])]);
  });
});

test('a source whose readInto does not return the number of bytes is refused', () => {
  const source = new CopyingSource(bytes);
  const table = SyncTable.open(source, { cache: null });
  for (const answer of [-1, 1e9, NaN, '4096', undefined]) {
    source.readInto = () => answer as number;
    expect(caught(() => table.cursor().seekToFirst())).toBeInstanceOf(Error);
    expect(String(caught(() => table.cursor().seekToFirst()))).toContain('the result of source.readInto');
  }
});

test('the cache keeps a copy if a codec returns a view of its input', () => {
  const identity: Codec = { type: 77, name: 'identity', decompress: (stored) => stored };
  const parts = Array.from({ length: 30 }, (_, i) => entries.slice(i * 100, i * 100 + 100));
  const blocks: Uint8Array[] = [];
  let length = 0;
  const append = (contents: Uint8Array, type: number): { offset: number; size: number } => {
    blocks.push(sealed(contents, type));
    length += contents.length + 5;
    return { offset: length - contents.length - 5, size: contents.length };
  };
  const index = parts.map((part) => [part.at(-1)![0], encodeBlockHandle(append(blockOf(part), identity.type))] as const);
  const footer = { metaindex: append(blockOf([]), 0), index: append(blockOf(index), 0) };
  const file = new Uint8Array(Buffer.concat([...blocks, encodeFooter(footer)]));
  const table = SyncTable.open(new CopyingSource(file), { codecs: [identity], readAheadBytes: 30_000 });
  for (let time = 0; time < 2; time++) expect(sameEntries(walked(table), entries)).toBe(true);
  expect(table.stats.cacheHits).toBe(30);
});
