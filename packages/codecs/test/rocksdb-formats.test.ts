import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { entriesSha256, fromHex, type KeyValue, seeded } from '@bloom/fixtures';
import { caught } from '@bloom/fixtures/caught';
import { allCodecs, deflateCodec, mojangCodecs, zlibCodec, zstdOrZlibCodec } from '@bloom/codecs';
import { type Codec, MemorySink, MemorySource, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { salvageTable, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { sameBytes } from './outcome.js';

// The last data block of a table that RocksDB 7.8.3 wrote with format_version 0, and with a block_size of 300.
const lz4Block = fromHex('5300000000000000e200111f6b6579303031393937010001008276616c756520333008001334080012360f00643335080900382b0044080900390c00800000000001000000');
const deflateBlock = fromHex('631094cf4ead343030b4b43467648080b2c49cd254056303086d02a5cda0c2a61c9c0c1630a540b6258c0d02203600');

const LZ4 = { code: 'BLOOM_UNSUPPORTED_CODEC', message: "this is RocksDB's LZ4, which also has compression type 4, and there is no codec for it: pass one in codecs" };
const DEFLATE = { code: 'BLOOM_UNSUPPORTED_CODEC', message: "this is RocksDB's raw deflate, which also has compression type 2, and there is no codec for it: pass one in codecs" };

/** A length of which 4 bits are in the token, and the rest in further bytes. */
const moreOf = (length: number): number[] => (length < 15 ? [] : [...new Array<number>(Math.floor((length - 15) / 255)).fill(255), (length - 15) % 255]);

/** LZ4 with the length of the contents, as RocksDB writes it. */
function lz4(contents: Uint8Array): Uint8Array {
  const out: number[] = [contents.length & 0xff, (contents.length >> 8) & 0xff, contents.length >> 16, 0, 0, 0, 0, 0];
  const seen = new Map<string, number>();
  let start = 0;
  const put = (end: number, match: { readonly distance: number; readonly length: number } | undefined): void => {
    const [literals, extra] = [end - start, match === undefined ? 0 : match.length - 4];
    out.push((Math.min(15, literals) << 4) | Math.min(15, extra), ...moreOf(literals), ...contents.subarray(start, end));
    if (match !== undefined) out.push(match.distance & 0xff, match.distance >> 8, ...moreOf(extra));
  };
  for (let i = 0; i + 12 < contents.length; i++) {
    const four = contents.subarray(i, i + 4).join();
    const from = seen.get(four);
    seen.set(four, i);
    if (from === undefined || i - from > 0xffff) continue;
    let length = 4;
    while (i + length < contents.length - 5 && contents[from + length] === contents[i + length]) length++;
    put(i, { distance: i - from, length });
    start = i + length;
    i = start - 1;
  }
  put(contents.length, undefined);
  return Uint8Array.from(out);
}

const lz4Writer: Codec = { type: 4, name: 'LZ4', compress: lz4, decompress: () => new Uint8Array(0) };
const rawDeflate: Codec = { type: 2, name: 'raw deflate', compress: (contents) => new Uint8Array(deflateRawSync(contents)), decompress: (stream) => new Uint8Array(inflateRawSync(stream)) };

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const entries = Array.from({ length: 2000 }, (_, i): KeyValue => [utf8(`key ${String(i).padStart(6, '0')}`), utf8(`value ${i} `.repeat(1 + (i % 9)))]);

function tableOf(compression: Codec, blockSize: number): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { compression, blockSize, filterPolicy: null });
  for (const [key, value] of entries) builder.add(key, value);
  builder.finish();
  return sink.toBytes();
}

describe('a stream of RocksDB', () => {
  test.each([
    ['LZ4', deflateCodec, lz4Block, LZ4],
    ['raw deflate', zlibCodec, deflateBlock, DEFLATE],
    ['raw deflate', zstdOrZlibCodec, deflateBlock, DEFLATE],
  ])('in %s is recognized by a codec of its type', (_, codec, stream, error) => {
    expect(caught(() => codec.decompress(stream, 2 ** 20))).toMatchObject(error);
  });

  test('in LZ4 is recognized whatever its contents', () => {
    const random = seeded(3);
    for (let length = 0; length < 70_000; length += 1 + (length >> 3)) {
      for (const contents of [new Uint8Array(length), random.bytes(length), Uint8Array.from({ length }, (_, i) => (i % 1000) >> (i % 7))]) {
        expect(caught(() => deflateCodec.decompress(lz4(contents), 2 ** 20)), `${length}`).toMatchObject(LZ4);
      }
    }
  });

  test('in LZ4 that is truncated, or whose length is wrong, is not recognized', () => {
    for (let i = 0; i < lz4Block.length; i++) {
      expect(caught(() => deflateCodec.decompress(lz4Block.subarray(0, i), 2 ** 20)), `${i}`).not.toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC' });
    }
    for (let i = 0; i < 8; i++) {
      const stream = lz4Block.slice();
      stream[i]! ^= 0x40;
      expect(caught(() => deflateCodec.decompress(stream, 2 ** 20)), `${i}`).not.toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC' });
    }
  });

  test('is not what the codecs write, and random bytes hardly ever', () => {
    const random = seeded(4);
    let recognized = 0;
    for (let i = 0; i < 3000; i++) {
      const contents = random.bytes(random.below(200)).map((byte) => byte % (1 + (i % 9)));
      for (const codec of allCodecs) expect(sameBytes(codec.decompress(codec.compress!(contents), 2 ** 20), contents)).toBe(true);
      const stream = random.bytes(random.below(100));
      for (const { decompress } of allCodecs) {
        const error = caught(() => decompress(stream, 2 ** 20)) as { code?: string } | undefined;
        if (error?.code === 'BLOOM_UNSUPPORTED_CODEC') recognized++;
      }
    }
    expect(recognized).toBeLessThan(30);
  });
});

describe.each([
  ['LZ4', lz4Writer, 'deflate', LZ4],
  ['raw deflate', rawDeflate, 'zstd or zlib', DEFLATE],
] as const)('a table with blocks of RocksDB in %s', (_, writer, name, { message }) => {
  // The first byte of LZ4 is the lowest of the length of the contents, and one in eight of these begins a whole stream of deflate.
  test.each([300, 301, 303, 1000, 4096, 5003])('of %i bytes is unsupported, and not damaged', async (blockSize) => {
    const bytes = tableOf(writer, blockSize);
    const expected = { code: 'BLOOM_UNSUPPORTED_CODEC', problem: `${name}: ${message}` };
    for (const codecs of [allCodecs, mojangCodecs]) {
      const problem = expected.problem.replace('zstd or zlib', codecs === mojangCodecs ? 'zlib' : 'zstd or zlib');
      const { findings } = await verifyTable(new MemorySource(bytes), { codecs });
      expect(findings.length).toBeGreaterThan(0);
      expect(findings.filter((finding) => finding.code !== expected.code || finding.problem !== problem)).toEqual([]);
    }
    const read = (): string => entriesSha256(SyncTable.open(new MemorySource(bytes), { codecs: allCodecs }).entries());
    expect(caught(read)).toMatchObject({ name: 'UnsupportedError', ...expected });
    await expect(Table.open(new MemorySource(bytes), { codecs: allCodecs }).then((table) => table.get(entries[7]![0]))).rejects.toMatchObject({ name: 'UnsupportedError', ...expected });
    const { lost } = await salvageTable(new MemorySource(bytes), () => undefined, { codecs: allCodecs });
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.filter(({ code }) => code !== 'BLOOM_UNSUPPORTED_CODEC')).toEqual([]);
    let end = 0;
    for await (const { offset, byteLength } of tableLayout(new MemorySource(bytes), { codecs: allCodecs })) end = offset + byteLength;
    expect(end).toBe(bytes.length);
  });

  test('is read with a codec for them', () => {
    const codec = writer === rawDeflate ? rawDeflate : { ...lz4Writer, decompress: expandLz4 };
    const bytes = tableOf(writer, 4096);
    expect(entriesSha256(SyncTable.open(new MemorySource(bytes), { codecs: [...allCodecs, codec] }).entries())).toBe(entriesSha256(entries));
  });
});

/** The contents of `lz4`'s result. */
function expandLz4(stream: Uint8Array): Uint8Array {
  const out: number[] = [];
  let position = 8;
  const read = (bits: number): number => {
    let sum = bits;
    if (bits === 15) for (let byte = 255; byte === 255; sum += byte) byte = stream[position++]!;
    return sum;
  };
  while (position < stream.length) {
    const token = stream[position++]!;
    for (let left = read(token >> 4); left > 0; left--) out.push(stream[position++]!);
    if (position === stream.length) break;
    const distance = stream[position]! | (stream[position + 1]! << 8);
    position += 2;
    for (let left = read(token & 15) + 4; left > 0; left--) out.push(out.at(-distance)!);
  }
  return Uint8Array.from(out);
}
