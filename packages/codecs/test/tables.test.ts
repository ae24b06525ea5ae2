import process from 'node:process';
import { entriesSha256, type KeyValue, realTables, seeded } from '@bloom/fixtures';
import { allCodecs, deflateCodec, mojangCodecs, zlibCodec, zstdCodec, zstdOrZlibCodec } from '@bloom/codecs';
import { type Codec, MemorySink, MemorySource, snappyCodec, SyncTable, Table, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { salvagedEntries, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { beforeAll, describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { ReferenceZstd } from './reference-zstd.js';
import { repeatedBlock, zstdFrame } from './zstd-frame.js';
import { sameBytes } from './outcome.js';

async function collect(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const entries = Array.from({ length: 1500 }, (_, i): KeyValue => [utf8(`key ${String(i).padStart(6, '0')}`), utf8(`value ${i} `.repeat(8))]);

function tableOf(options: TableBuilderOptions): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, options);
  for (const [key, value] of entries) builder.add(key, value);
  builder.finish();
  return sink.toBytes();
}

let reference: ReferenceZstd;
beforeAll(async () => {
  reference = await ReferenceZstd.load(2 ** 20);
});

/** zstd as Google's LevelDB writes it: level 1, the contents' size in the header. */
const zstdWriter: Codec = {
  type: 2,
  name: 'zstd writer',
  compress: (contents) => reference.compress(contents, 1),
  decompress: () => {
    throw new Error('only writes');
  },
};

/** The compression types of a table's blocks, by their labels in the layout. */
async function typesOf(bytes: Uint8Array): Promise<Set<string>> {
  const types = new Set<string>();
  for await (const { label, value } of tableLayout(new MemorySource(bytes), { codecs: allCodecs })) {
    if (label.endsWith('compression type')) types.add(value!);
  }
  return types;
}

const ours = entriesSha256(entries);
const entriesOf = (bytes: Uint8Array, codecs: readonly Codec[]): string => entriesSha256(SyncTable.open(new MemorySource(bytes), { codecs }).entries());

describe('a table written with', () => {
  test.each([
    ['zlib', zlibCodec, '2: zstd or zlib'],
    ['raw deflate', deflateCodec, '4: deflate'],
    ['the codec for zstd or zlib', zstdOrZlibCodec, '2: zstd or zlib'],
    ['the reference implementation of zstd', zstdWriter, '2: zstd or zlib'],
  ])('%s is read back', async (_, codec, type) => {
    const bytes = tableOf({ compression: codec, blockSize: 700 });
    expect(await typesOf(bytes)).toContain(type);
    expect(entriesOf(bytes, allCodecs)).toBe(ours);
    const table = await Table.open(new MemorySource(bytes), { codecs: allCodecs });
    const [key, value] = entries[777]!;
    expect(await table.get(key)).toEqual(value);
    expect((await verifyTable(new MemorySource(bytes), { codecs: allCodecs })).findings).toEqual([]);
    expect(bytes.length).toBeLessThan(tableOf({ compression: 'none', blockSize: 700 }).length / 2);
  });

  test('zlib or raw deflate is read with Mojang’s codecs, and one written with zstd is not', () => {
    for (const codec of mojangCodecs) expect(entriesOf(tableOf({ compression: codec }), mojangCodecs)).toBe(ours);
    expect(caught(() => entriesOf(tableOf({ compression: zstdWriter }), mojangCodecs))).toMatchObject({ code: 'BLOOM_BAD_COMPRESSION' });
  });

  test('a different codec for each block is read', async () => {
    const codecs = [zlibCodec, zstdWriter, zstdOrZlibCodec];
    let block = 0;
    const inTurn: Codec = {
      type: 2,
      name: 'in turn',
      compress: (contents) => codecs[block++ % codecs.length]!.compress!(contents),
      decompress: () => new Uint8Array(0),
    };
    expect(entriesOf(tableOf({ compression: inTurn, blockSize: 300 }), allCodecs)).toBe(ours);
    expect(await typesOf(tableOf({ compression: 'snappy' }))).toContain('1: snappy');
    expect(entriesOf(tableOf({ compression: 'snappy' }), allCodecs)).toBe(ours);
  });

  test('zstdCodec is refused by the builder, because zstdCodec only reads', () => {
    expect(() => tableOf({ compression: zstdCodec })).toThrow(RangeError);
  });

  test('a codec that the reader was not given is refused by the reader', () => {
    expect(caught(() => entriesOf(tableOf({ compression: zlibCodec }), []))).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC' });
  });
});

test.each(realTables())('$file of $repo has the recorded entries', (table) => {
  expect(entriesSha256(SyncTable.open(new MemorySource(table.bytes()), { codecs: allCodecs }).entries())).toBe(table.entriesSha256);
});

/** A table in which the stored bytes of data block i are `payload(i)`, unless that is undefined. */
function tableOfPayloads(type: number, blockSize: number, payload: (block: number) => Uint8Array | undefined): Uint8Array {
  let block = 0;
  const codec: Codec = {
    type,
    name: 'payloads',
    // Recognises data blocks by their length. The returned contents, which are not smaller, make the builder store a block raw.
    compress: (contents) => (contents.length >= blockSize && contents.length < 2 * blockSize ? payload(block++) : undefined) ?? contents,
    decompress: () => new Uint8Array(0),
  };
  return tableOf({ compression: codec, blockSize, filterPolicy: null });
}

describe('a block whose contents exceed maxBlockBytes', () => {
  const maxBlockBytes = 2 ** 17;
  const zeros = new Uint8Array(2 ** 24);
  const repeated = (contentBytes?: number): Uint8Array => zstdFrame(Array.from({ length: 128 }, () => repeatedBlock(0, 2 ** 17)), { contentBytes });

  test.each<readonly [what: string, type: number, payload: () => Uint8Array]>([
    ['zlib', 2, () => zlibCodec.compress!(zeros)],
    ['raw deflate', 4, () => deflateCodec.compress!(zeros)],
    ['zstd', 2, () => repeated()],
    ['zstd with a content size', 2, () => repeated(2 ** 24)],
    ['Snappy', 1, () => snappyCodec.compress!(new Uint8Array(2 ** 18))],
  ])('compressed by %s is refused by get, scan and verify in little memory, and the other blocks are read', async (_, type, payload) => {
    const bytes = tableOfPayloads(type, 30_000, (block) => (block === 1 ? payload() : undefined));
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    const table = await Table.open(new MemorySource(bytes), { codecs: allCodecs, maxBlockBytes });
    const expected = { code: 'BLOOM_TOO_LARGE', structure: 'data block' };
    const { findings } = await verifyTable(new MemorySource(bytes), { codecs: allCodecs, maxBlockBytes });
    expect(findings).toEqual([expect.objectContaining(expected)]);
    const sync = SyncTable.open(new MemorySource(bytes), { codecs: allCodecs, maxBlockBytes });
    const [inBlock] = entries.find(([key]) => caught(() => sync.get(key)) !== undefined)!;
    await expect(table.get(inBlock)).rejects.toMatchObject(expected);
    await expect(collect(table.entries())).rejects.toMatchObject(expected);
    const [last, value] = entries.at(-1)!;
    expect(await table.get(last)).toEqual(value);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 24);
  });
});

test('salvage loses only the block in which 2 kB of zstd expand to 64 MiB', async () => {
  const payload = zstdFrame(Array.from({ length: 512 }, () => repeatedBlock(0x61, 2 ** 17)), { contentBytes: 2 ** 26 });
  expect(payload.length).toBeLessThan(2100);
  const bytes = tableOfPayloads(2, 8000, (block) => (block === 1 ? payload : undefined));
  const saved: KeyValue[] = [];
  for await (const entry of salvagedEntries(new MemorySource(bytes), { codecs: allCodecs })) saved.push(entry);
  const lost = entries.length - saved.length;
  expect(lost).toBeGreaterThan(0);
  expect(lost).toBeLessThan(200);
  const lostFrom = entries.findIndex(([key], i) => !sameBytes(key, saved[i]?.[0]));
  expect(entriesSha256(saved)).toBe(entriesSha256([...entries.slice(0, lostFrom), ...entries.slice(lostFrom + lost)]));
});

test('random bytes with correct checksums give only coded errors (seed 9)', async () => {
  const random = seeded(9);
  const starts: number[][] = [[], [0x78, 0x9c], [0x28, 0xb5, 0x2f, 0xfd], [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]];
  const codes = new Map<string, number>();
  for (let i = 0; i < 12; i++) {
    const bytes = tableOfPayloads([1, 2, 4][i % 3]!, 250, () => Uint8Array.of(...random.pick(starts), ...random.bytes(random.below(80))));
    const { findings } = await verifyTable(new MemorySource(bytes), { codecs: allCodecs, maxBlockBytes: 2 ** 16 });
    for (const { code } of findings) codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  expect(codes.get('BLOOM_BAD_COMPRESSION')).toBeGreaterThan(3000);
  // Random bytes are sometimes valid raw deflate, but then the contents are not a valid block.
  expect([...codes.keys()].filter((code) => !['BLOOM_BAD_COMPRESSION', 'BLOOM_BAD_BLOCK', 'BLOOM_TOO_LARGE'].includes(code))).toEqual([]);
});
