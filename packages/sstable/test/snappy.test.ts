import process from 'node:process';
import { fromHex, goldenTables, mutatedStream, randomSnappyStream, referenceStreams, sampleContents, seeded } from '@bloom/fixtures';
import { referenceCodec } from '@bloom/native';
import { BloomFilterPolicy } from '@bloom/policy';
import { snappyCodec } from '@bloom/sstable';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { compressBy, PlainSnappyCompressor, SnappyCompressorKernel } from '../src/compression/snappy-compressor.js';
import { decompressBy, plainSnappyDecompressor, SnappyDecompressorKernel } from '../src/compression/snappy-decompressor.js';
import { buildTable } from './build-table.js';
import { caught } from '@bloom/fixtures/caught';
import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { hex } from './entries.js';

/** The number of streams to compare; the long run sets it. */
const STREAMS = Number(process.env.BLOOM_STREAMS ?? 1000);
const SEED = Number(process.env.BLOOM_SEED ?? 1);
const MAX_BYTES = 2 ** 20;

const compressors = { kernel: SnappyCompressorKernel.create()!, plain: new PlainSnappyCompressor() };
const decompressors = { kernel: SnappyDecompressorKernel.create()!, plain: plainSnappyDecompressor };
const reference = referenceCodec('snappy');

if (reference === undefined) test.skip('Google’s Snappy or a C++ compiler is not available to compare with', () => {});

/** The contents by one implementation, or undefined if it refuses the stream. */
function contentsBy(path: keyof typeof decompressors, stream: Uint8Array, maxBytes = MAX_BYTES): Uint8Array | undefined {
  try {
    return decompressBy(decompressors[path], stream, maxBytes);
  } catch {
    return undefined;
  }
}

function same(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
}

/** The first few streams on which the two implementations, and the reference if it is installed, disagree. */
function disagreements(streams: readonly Uint8Array[]): string[] {
  const wrong: string[] = [];
  const references = reference?.decode(streams, MAX_BYTES);
  streams.forEach((stream, i) => {
    const kernel = contentsBy('kernel', stream);
    const plain = contentsBy('plain', stream);
    if (!same(kernel, plain)) wrong.push(`the paths differ: ${hex(stream)}`);
    if (references !== undefined && !same(kernel, references[i])) wrong.push(`not as the reference: ${hex(stream)}`);
  });
  return wrong.slice(0, 5);
}

const zeroTo = (end: number): string => hex(Uint8Array.from({ length: end }, (_, i) => i));

describe('a valid stream is read:', () => {
  test.each<readonly [name: string, stream: string, contents: string]>([
    ['nothing', '00', ''],
    ['nothing, its length in five bytes', '8080808000', ''],
    ['a literal', '03 08 616263', '616263'],
    ['a literal, its length in two bytes', '8300 08 616263', '616263'],
    ['a literal of 61 bytes', `3d f03c ${zeroTo(61)}`, zeroTo(61)],
    ['a literal whose length takes one byte more than it needs', '03 f002 616263', '616263'],
    ['a literal whose length takes four bytes', '03 fc02000000 616263', '616263'],
    ['a literal of 2^32 bytes, which Google’s decoder reads as 0 bytes', '03 fcffffffff 08 616263', '616263'],
    ['a literal of 2^32 bytes after the last byte', '03 08 616263 fcffffffff', '616263'],
    ['a copy with an offset of one byte', '07 08 616263 0103', '61626361626361'],
    ['a copy with an offset of two bytes', '06 08 616263 0a0300', '616263616263'],
    ['a copy with an offset of four bytes', '06 08 616263 0b03000000', '616263616263'],
    ['a copy of one byte', '02 00 61 020100', '6161'],
    ...[1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63].map((offset) => {
      const literal = zeroTo(offset);
      const stream = `${(offset + 64).toString(16)} ${offset > 60 ? 'f0' : ''}${(offset > 60 ? offset - 1 : (offset - 1) << 2).toString(16).padStart(2, '0')} ${literal} fe ${offset.toString(16).padStart(2, '0')}00`;
      const contents = hex(Uint8Array.from({ length: offset + 64 }, (_, i) => i % offset));
      return [`a copy of 64 bytes from ${offset} before`, stream.replace(/^([89a-f].) /, '$101 '), contents] as const;
    }),
  ])('%s', (_, stream, contents) => {
    const bytes = fromHex(stream);
    expect(hex(decompressBy(decompressors.kernel, bytes, MAX_BYTES))).toBe(contents);
    expect(hex(decompressBy(decompressors.plain, bytes, MAX_BYTES))).toBe(contents);
    if (reference !== undefined) expect(hex(reference.decode([bytes], MAX_BYTES)[0])).toBe(contents);
  });
});

describe('an invalid stream is refused:', () => {
  test.each([
    ['nothing at all', ''],
    ['a length that does not end', 'ff'],
    ['a length of six bytes', '808080808000'],
    ['a length of more than 32 bits', '8080808010'],
    ['a length of 2^32 - 1 and little else', 'ffffffff0f 00 61'],
    ['a length and nothing else', '05'],
    ['fewer bytes than the length says', '05 08 616263'],
    ['more bytes than the length says', '02 08 616263'],
    ['more bytes than the length says, by a copy', '04 08 616263 0a0300'],
    ['bytes after an empty stream', '00 00'],
    ['a byte after the contents', '03 08 616263 00'],
    ['a tag of a copy after the contents', '03 08 616263 01'],
    ['a literal that runs past the end', '05 10 6162'],
    ['a literal of 61 bytes without its length', '3d f0'],
    ['a literal whose length is truncated', '3d f401'],
    ['a literal whose length of two bytes is truncated', '03 f402'],
    ['a literal whose length of three bytes is truncated', '03 f80200'],
    ['a literal whose length of four bytes is truncated', '03 fc020000'],
    ['a literal of 2^32 - 1 bytes', '03 fcfeffffff 616263'],
    ['a literal of 2^31 bytes', '03 fcffffff7f 616263'],
    ['a literal of 2^31 + 1 bytes after the contents', '03 08 616263 fc00000080'],
    ['a literal of 2^32 - 1 bytes after the contents', '03 08 616263 fcfeffffff'],
    ['a copy with nothing before it', '04 0101'],
    ['a copy with offset 0, of one byte', '07 08 616263 0100'],
    ['a copy with offset 0, of two bytes', '06 08 616263 0a0000'],
    ['a copy with offset 0, of four bytes', '06 08 616263 0b00000000'],
    ['a copy from before the start, of one byte', '07 08 616263 0104'],
    ['a copy from before the start, of two bytes', '06 08 616263 0a0400'],
    ['a copy from before the start, of four bytes', '06 08 616263 0b04000000'],
    ['a copy from 2^32 - 1 bytes before', '06 08 616263 0bffffffff'],
    ['a copy from 2^31 bytes before', '06 08 616263 0b00000080'],
    ['a copy of one byte, cut', '07 08 616263 01'],
    ['a copy of two bytes, cut', '06 08 616263 0a03'],
    ['a copy of four bytes, cut', '06 08 616263 0b030000'],
  ])('%s', (_, stream) => {
    const bytes = fromHex(stream);
    // The result must not depend on what is in the kernel's memory after the stream.
    const kernels = [0, 1, 0xff].map((before) => {
      decompressBy(decompressors.kernel, compressBy(compressors.kernel, new Uint8Array(2000).fill(before)), MAX_BYTES);
      return caught(() => decompressBy(decompressors.kernel, bytes, MAX_BYTES));
    });
    const [kernel] = kernels;
    expect(kernels).toEqual([kernel, kernel, kernel]);
    const plain = caught(() => decompressBy(decompressors.plain, bytes, MAX_BYTES));
    expect(kernel).toBeInstanceOf(Error);
    expect(kernel).not.toBeInstanceOf(RangeError);
    expect(plain).toEqual(kernel);
    if (reference !== undefined) expect(reference.decode([bytes], MAX_BYTES)).toEqual([undefined]);
  });

  test('more bytes than the kernel’s memory has room for, after a small length', () => {
    const stream = new Uint8Array(400_000);
    stream.set([0x80, 0x08, 0x00, 0x61]);
    for (let i = 4; i + 3 <= stream.length; i += 3) stream.set([0xfe, 0x01, 0x00], i);
    for (const path of ['kernel', 'plain'] as const) {
      expect(() => decompressBy(decompressors[path], stream, MAX_BYTES)).toThrow(new Error('not a Snappy stream of 1024 bytes'));
    }
  });

  test('contents larger than the limit are refused with a RangeError, and contents of that size are read', () => {
    const stream = snappyCodec.compress!(new Uint8Array(1000));
    expect(() => snappyCodec.decompress(stream, 999)).toThrow(new RangeError('the contents have 1000 bytes, the limit is 999'));
    expect(snappyCodec.decompress(stream, 1000)).toEqual(new Uint8Array(1000));
  });

  test('a length that the stream cannot expand to is refused before anything is allocated', () => {
    collectGarbage();
    for (const [elementBytes, byteLength] of [[2, 64], [3, 65], [1000, 21_334], [1000, 2 ** 31]] as const) {
      const stream = new Uint8Array(5 + elementBytes);
      stream.set([0x80, 0x80, 0x80, 0x80, 0x00].map((byte, i) => byte | (i < 4 ? Math.floor(byteLength / 2 ** (7 * i)) % 128 : byteLength >>> 28)));
      const before = process.memoryUsage().arrayBuffers;
      expect(() => snappyCodec.decompress(stream, 2 ** 32)).toThrow(`${elementBytes} bytes cannot expand to ${byteLength}`);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20);
    }
  });
});

describe('the recorded verdicts of Google’s decoder', () => {
  const streams = referenceStreams('snappy');

  test.each(['kernel', 'plain'] as const)('are reproduced: %s', (path) => {
    const wrong = streams.filter(({ stream, byteLength, isContents }) => {
      const contents = contentsBy(path, stream);
      return contents?.length !== byteLength || (contents !== undefined && !isContents(contents));
    });
    expect(wrong.map(({ what, stream }) => `${what}: ${hex(stream)}`)).toEqual([]);
    expect(streams.filter(({ byteLength }) => byteLength === undefined).length).toBeGreaterThan(100);
  });
});

test('copies with every offset from 1 to 20 and every length from 1 to 64 are read, at the end of the contents and before a literal', () => {
  const wrong: string[] = [];
  for (let offset = 1; offset <= 20; offset++) {
    for (let length = 1; length <= 64; length++) {
      const before = Uint8Array.from({ length: offset + 3 }, (_, i) => 100 + i);
      const contents = [...before];
      for (let i = 0; i < length; i++) contents.push(contents.at(-offset)!);
      const elements = [(before.length - 1) << 2, ...before, 2 | ((length - 1) << 2), offset, 0];
      for (const after of [[], [7], Array.from({ length: 60 }, (_, i) => i)]) {
        const literal = after.length === 0 ? [] : [(after.length - 1) << 2, ...after];
        const whole = [...contents, ...after];
        const stream = Uint8Array.of(...(whole.length < 128 ? [whole.length] : [(whole.length & 0x7f) | 0x80, whole.length >>> 7]), ...elements, ...literal);
        for (const path of ['kernel', 'plain'] as const) {
          if (!same(contentsBy(path, stream), Uint8Array.from(whole))) wrong.push(`${path}: offset ${offset}, length ${length}, then a literal of ${after.length}`);
        }
      }
    }
  }
  expect(wrong).toEqual([]);
});

describe('contents of many sizes', () => {
  const sizes = [...Array.from({ length: 140 }, (_, i) => i), 255, 256, 257, 258, 1000, 4096, 16_383, 16_384, 65_535, 65_536, 65_537, 131_072, 200_000];
  const random = seeded(2);
  const samples = sizes.flatMap((size) => Array.from({ length: size < 300 ? 12 : 4 }, () => sampleContents(random, size)));

  test('are compressed to the same bytes with and without the kernel', () => {
    const different = samples.filter((contents) => !same(compressBy(compressors.kernel, contents), compressBy(compressors.plain, contents)));
    expect(different.map(({ length }) => length)).toEqual([]);
  });

  test('survive a round trip through the kernel, the plain loops and Google’s decoder', () => {
    const streams = samples.map((contents) => compressBy(compressors.kernel, contents));
    const references = reference?.decode(streams, MAX_BYTES) ?? samples;
    const wrong = samples.filter((contents, i) => {
      const ways = [contentsBy('kernel', streams[i]!), contentsBy('plain', streams[i]!), references[i]];
      return !ways.every((way) => same(way, contents));
    });
    expect(wrong.map(({ length }) => length)).toEqual([]);
  });

  test.runIf(reference !== undefined)('compressed by Google’s encoder are read', () => {
    const streams = reference!.encode(samples);
    const wrong = samples.filter((contents, i) => !same(contentsBy('kernel', streams[i]!), contents) || !same(contentsBy('plain', streams[i]!), contents));
    expect(wrong.map(({ length }) => length)).toEqual([]);
  });

  test.each([
    [6_000_000, true],
    [18_000_000, false],
  ])('that exceed the first memory of the kernel (%d bytes) are read with more of it: %s, or by the plain loops', (length, isTaken) => {
    const kernel = SnappyDecompressorKernel.create()!;
    const contents = sampleContents(seeded(3), length);
    const stream = compressBy(compressors.kernel, contents);
    expect(same(stream, compressBy(compressors.plain, contents))).toBe(true);
    expect(kernel.takes(stream.length, contents.length)).toBe(isTaken);
    expect(same(decompressBy(kernel, stream, contents.length), contents)).toBe(true);
    expect(same(decompressBy(kernel, compressBy(compressors.kernel, contents.subarray(0, 5000)), 5000), contents.subarray(0, 5000))).toBe(true);
  });

  test.each([
    [64, 0],
    [64, 1],
    [64, 2],
    [256, 0],
    [256, 1],
    [256, 2],
  ])('around the size of the kernel’s memory, %d pages, survive a round trip (%d bytes less or more)', (pages, less) => {
    const contents = seeded(4).bytes(31_000 * pages);
    const literal = Uint8Array.of(0x80 | (contents.length & 0x7f), 0x80 | ((contents.length >>> 7) & 0x7f), 0x80 | ((contents.length >>> 14) & 0x7f), contents.length >>> 21, 62 << 2, ...[0, 8, 16].map((shift) => ((contents.length - 1) >>> shift) & 0xff));
    // Empty literals lengthen the stream without adding contents.
    const most = pages * 65_536 - 16 - 64 - contents.length - literal.length - contents.length;
    for (const extra of [most - less, most + 1 + less]) {
      const padding = Math.floor(extra / 5);
      const stream = new Uint8Array(literal.length + contents.length + 5 * padding);
      stream.set(literal);
      stream.set(contents, literal.length);
      for (let i = 0; i < padding; i++) stream.set([0xfc, 0xff, 0xff, 0xff, 0xff], literal.length + contents.length + 5 * i);
      expect(same(decompressBy(SnappyDecompressorKernel.create()!, stream, contents.length), contents)).toBe(true);
    }
  });
});

describe('a scratch array', () => {
  const contents = sampleContents(seeded(5), 5000);
  const stream = compressBy(compressors.kernel, contents);

  test.each(['kernel', 'plain'] as const)('that is long enough receives the contents or the stream: %s', (path) => {
    const scratch = new Uint8Array(6000).fill(0xee);
    const read = decompressBy(decompressors[path], stream, MAX_BYTES, scratch);
    expect(read.buffer).toBe(scratch.buffer);
    expect(same(read, contents)).toBe(true);
    expect(scratch.subarray(5000).every((byte) => byte === 0xee)).toBe(true);
    const written = compressBy(compressors[path], contents, scratch);
    expect(written.buffer).toBe(scratch.buffer);
    expect(same(written, stream)).toBe(true);
  });

  test.each(['kernel', 'plain'] as const)('that is too short is left unchanged: %s', (path) => {
    const scratch = new Uint8Array(Math.min(stream.length, contents.length) - 1).fill(0xee);
    expect(same(decompressBy(decompressors[path], stream, MAX_BYTES, scratch), contents)).toBe(true);
    expect(same(compressBy(compressors[path], contents, scratch), stream)).toBe(true);
    expect(scratch.every((byte) => byte === 0xee)).toBe(true);
  });

  test('is optional: without it the result has a buffer of its own', () => {
    expect(snappyCodec.decompress(stream, MAX_BYTES).buffer.byteLength).toBe(5000);
    expect(snappyCodec.compress!(contents).buffer.byteLength).toBe(stream.length);
  });
});

describe('a view inside a larger buffer', () => {
  test.each(['kernel', 'plain'] as const)('is compressed and decompressed like a copy of its bytes: %s', (path) => {
    const contents = sampleContents(seeded(6), 3000);
    const stream = compressBy(compressors[path], contents);
    const around = new Uint8Array(5001).fill(0xaa);
    around.set(contents, 7);
    expect(same(compressBy(compressors[path], around.subarray(7, 3007)), stream)).toBe(true);
    around.fill(0xaa).set(stream, 11);
    expect(same(contentsBy(path, around.subarray(11, 11 + stream.length)), contents)).toBe(true);
  });
});

test(`${STREAMS} mutated streams: the kernel, the plain loops and the reference agree (seed ${SEED})`, { timeout: 3_600_000 }, () => {
  const random = seeded(SEED);
  let wrong: string[] = [];
  for (let left = STREAMS; left > 0 && wrong.length === 0; left -= 1000) {
    const contents = Array.from({ length: 40 }, () => sampleContents(random, random.below(random.pick([10, 100, 3000]))));
    const streams = [...contents.map((bytes) => compressBy(compressors.plain, bytes)), ...(reference?.encode(contents) ?? [])];
    wrong = disagreements(Array.from({ length: Math.min(left, 1000) }, () => mutatedStream(random, random.pick(streams), random.pick(streams))));
  }
  expect(wrong).toEqual([]);
});

test(`${STREAMS} streams of random elements: the kernel, the plain loops and the reference agree (seed ${SEED})`, { timeout: 3_600_000 }, () => {
  const random = seeded(SEED + 1);
  let wrong: string[] = [];
  let accepted = 0;
  for (let left = STREAMS; left > 0 && wrong.length === 0; left -= 1000) {
    const streams = Array.from({ length: Math.min(left, 1000) }, () => randomSnappyStream(random));
    accepted += streams.filter((stream) => contentsBy('kernel', stream) !== undefined).length;
    wrong = disagreements(streams);
  }
  expect(wrong).toEqual([]);
  // Both verdicts must be frequent.
  expect(accepted).toBeGreaterThan(STREAMS * 0.3);
  expect(accepted).toBeLessThan(STREAMS * 0.9);
});

describe('sizes', () => {
  const goldens = goldenTables().filter(({ options }) => options.compression === 'snappy');

  test.each(goldens)('$name has the size of LevelDB’s file, within 2%', (golden) => {
    const { blockSize, blockRestartInterval, bitsPerKey } = golden.options;
    const filterPolicy = bitsPerKey === null ? null : new BloomFilterPolicy(bitsPerKey);
    const bytes = buildTable(golden.input(), { blockSize, blockRestartInterval, filterPolicy, compression: 'snappy' });
    expect(bytes.length / golden.bytes().length).toBeGreaterThan(0.98);
    expect(bytes.length / golden.bytes().length).toBeLessThan(1.02);
  });

  test.runIf(reference !== undefined).each([1024, 4096, 16_384, 65_536])('blocks of %d bytes of each golden table compress to 0.98 to 1.02 of the size by Google’s encoder', (blockSize) => {
    const tables: { readonly name: string; readonly blocks: readonly Uint8Array[] }[] = [];
    for (const golden of goldenTables().filter(({ options }) => options.compression === 'none')) {
      const blocks: Uint8Array[] = [];
      const keeps = { type: 77, name: 'keeps', compress: (contents: Uint8Array) => (blocks.push(contents.slice()), contents), decompress: (bytes: Uint8Array) => bytes };
      buildTable(golden.input(), { blockSize, compression: keeps });
      // In tables of at most one entry, a single byte is more than 2%.
      if (blocks.length < 4) continue;
      tables.push({ name: golden.name, blocks });
    }
    // One process of Google's encoder for all of them.
    const references = reference!.encode(tables.flatMap(({ blocks }) => blocks));
    const total = (list: readonly Uint8Array[]): number => list.reduce((sum, { length }) => sum + length, 0);
    const outside: string[] = [];
    let at = 0;
    for (const { name, blocks } of tables) {
      const ratio = total(blocks.map((block) => compressBy(compressors.kernel, block))) / total(references.slice(at, (at += blocks.length)));
      if (!(ratio >= 0.98 && ratio <= 1.02)) outside.push(`${name}: ${ratio.toFixed(4)}`);
    }
    expect(outside).toEqual([]);
  });
});

/** The types of Node 20 do not declare it as a value. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (binary: Uint8Array) => object; Instance: unknown; CompileError: new (message: string) => Error };
};

describe('WebAssembly', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  /** A fresh instance of the codec's module, and the number of WebAssembly modules that it compiled. */
  async function freshCodec(Module: (new (binary: Uint8Array) => object) | undefined): Promise<{ codec: typeof snappyCodec; compiled: () => number }> {
    let compiled = 0;
    vi.resetModules();
    vi.stubGlobal(
      'WebAssembly',
      Module && {
        Instance: WebAssembly.Instance,
        Module: class extends Module {
          constructor(binary: Uint8Array) {
            compiled++;
            super(binary);
          }
        },
      },
    );
    const { snappyCodec: codec } = await import('../src/compression/snappy.js');
    return { codec, compiled: () => compiled };
  }

  const contents = sampleContents(seeded(7), 3000);
  const stream = compressBy(compressors.plain, contents);

  test('is compiled once per direction, at first use rather than at import', async () => {
    const { codec, compiled } = await freshCodec(WebAssembly.Module);
    expect(compiled()).toBe(0);
    expect(same(codec.decompress(stream, MAX_BYTES), contents)).toBe(true);
    codec.decompress(stream, MAX_BYTES);
    expect(compiled()).toBe(1);
    expect(same(codec.compress!(contents), stream)).toBe(true);
    codec.compress!(contents);
    expect(compiled()).toBe(2);
  });

  class ForbiddenModule {
    readonly binary: Uint8Array;

    constructor(binary: Uint8Array) {
      this.binary = binary;
      throw new WebAssembly.CompileError('not here');
    }
  }

  test.each<readonly [string, (new (binary: Uint8Array) => object) | undefined]>([
    ['without it', undefined],
    ['if it is forbidden or has no SIMD', ForbiddenModule],
  ])('is not required: %s', async (_, Module) => {
    const { codec } = await freshCodec(Module);
    for (let i = 0; i < 2; i++) {
      expect(same(codec.compress!(contents), stream)).toBe(true);
      expect(same(codec.decompress(stream, MAX_BYTES), contents)).toBe(true);
      expect(() => codec.decompress(stream.subarray(1), MAX_BYTES)).toThrow(Error);
    }
  });
});
