import process from 'node:process';
import { mutatedStream, referenceStreams, sampleContents, seeded } from '@bloom/fixtures';
import { referenceCodec, ZSTD_CHECKSUM, ZSTD_SMALL_WINDOW, ZSTD_WITHOUT_SIZE } from '@bloom/native';
import { zstdCodec } from '@bloom/codecs';
import { beforeAll, describe, expect, test } from 'vitest';
import { xxh64Low } from '../src/zstd/xxh64.js';
import { caught, sameBytes, unlessThrown } from './caught.js';
import { ReferenceZstd } from './reference-zstd.js';
import { compressedBlock, MAGIC, rawBlock, repeatedBlock, sequenceBlock, skippedFrame, zstdFrame } from './zstd-frame.js';

/** The number of streams to compare; the long run sets it. */
const STREAMS = Number(process.env.BLOOM_STREAMS ?? 2000);
const SEED = Number(process.env.BLOOM_SEED ?? 1);
const MAX_BYTES = 2 ** 20;

let reference: ReferenceZstd;
beforeAll(async () => {
  reference = await ReferenceZstd.load(2 * MAX_BYTES);
});
const installed = referenceCodec('zstd');

const ascii = (text: string): number[] => [...new TextEncoder().encode(text)];
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const read = (stream: Uint8Array, maxBytes = MAX_BYTES): Uint8Array => zstdCodec.decompress(stream, maxBytes);

describe('frames of the reference implementation', () => {
  test('of several levels and settings are read', () => {
    const streams = referenceStreams('zstd');
    const wrong = streams.filter(({ stream, byteLength, isContents }) => {
      const contents = unlessThrown(() => read(stream));
      return contents?.length !== byteLength || !isContents(contents!);
    });
    expect(wrong.map(({ what, byteLength }) => `${what}, ${byteLength} bytes`)).toEqual([]);
    expect(streams).toHaveLength(80);
  });

  test('of many kinds of contents and sizes are read', () => {
    const random = seeded(3);
    const wrong: string[] = [];
    for (const length of [0, 1, 2, 3, 50, 255, 256, 257, 1000, 4096, 65_535, 65_792, 131_071, 131_072, 131_073, 300_000, 700_000]) {
      for (const level of length < 70_000 ? [1, 3, 9, 19] : [1, 5]) {
        const contents = sampleContents(random, length);
        if (!sameBytes(unlessThrown(() => read(reference.compress(contents, level))), contents)) wrong.push(`${length} at level ${level}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('are read when the limit is exactly their size, and refused when it is one less', () => {
    for (const length of [1, 100, 5000, 200_000]) {
      const stream = reference.compress(sampleContents(seeded(length), length), 3);
      expect(read(stream, length)).toHaveLength(length);
      expect(() => read(stream, length - 1)).toThrow(RangeError);
    }
  });

  test('give contents in a new buffer', () => {
    for (const length of [10, 5000]) expect(read(reference.compress(new Uint8Array(length), 1)).buffer.byteLength).toBe(length);
  });
});

describe('a frame', () => {
  test.each<readonly [what: string, stream: Uint8Array, contents: string]>([
    ['of a raw block', zstdFrame([rawBlock(ascii('abc'))]), 'abc'],
    ['of a repeated byte', zstdFrame([repeatedBlock(0x61, 5)]), 'aaaaa'],
    ['of an empty block', zstdFrame([rawBlock([])]), ''],
    ['with its size', zstdFrame([rawBlock(ascii('abc'))], { contentBytes: 3 }), 'abc'],
    ['with its checksum', zstdFrame([rawBlock(ascii('abc'))], { checksum: [0x99, 0x09, 0x77, 0xad] }), 'abc'],
    ['with a dictionary id of 0', zstdFrame([rawBlock(ascii('abc'))], { dictionaryId: [0, 0] }), 'abc'],
    ['with the unused bit set', zstdFrame([rawBlock(ascii('abc'))], { descriptorBits: 0x10 }), 'abc'],
    ['with a window of 1 GiB', zstdFrame([rawBlock(ascii('abc'))], { windowLog: 30 }), 'abc'],
    ['with a match at the largest valid offset', zstdFrame([sequenceBlock({ literals: ascii('abcdef'), literalCode: 6, offsetCode: 3, matchCode: 0, bits: 1 })]), 'abcdefabc'],
    ['with a match that overlaps itself', zstdFrame([sequenceBlock({ literals: ascii('ab'), literalCode: 2, offsetCode: 2, matchCode: 4, bits: 1 })]), 'ab' + 'abababa'],
    ['with a repeated offset, which is 1 at first', zstdFrame([sequenceBlock({ literals: ascii('a'), literalCode: 1, offsetCode: 0, matchCode: 2 })]), 'aaaaaa'],
    ['with a match into the previous block', zstdFrame([rawBlock(ascii('xyz')), sequenceBlock({ literals: ascii('abc'), literalCode: 3, offsetCode: 3, matchCode: 0, bits: 1 })]), 'xyzabcxyz'],
    ['with literals after the last match', zstdFrame([sequenceBlock({ literals: ascii('abc'), literalCode: 1, offsetCode: 0, matchCode: 0 })]), 'aaaabc'],
  ])('%s is read', (_, stream, contents) => {
    expect(text(read(stream))).toBe(contents);
    expect(text(reference.decompress(stream))).toBe(contents);
  });

  test('with a window of 2 GiB is read, as a 64-bit build of the reference does', () => {
    expect(text(read(zstdFrame([rawBlock(ascii('abc'))], { windowLog: 31 })))).toBe('abc');
  });

  test('is read after other frames and between skippable frames', () => {
    const frame = [...zstdFrame([rawBlock(ascii('abc'))])];
    const stream = Uint8Array.from([...skippedFrame([1, 2, 3]), ...frame, ...skippedFrame([], 15), ...frame, ...skippedFrame([9])]);
    expect(text(read(stream))).toBe('abcabc');
    expect(text(reference.decompress(stream))).toBe('abcabc');
  });

  const plain = zstdFrame([rawBlock(ascii('abc'))]);
  const zeros = [0, 0, 0, 0];

  test.each<readonly [what: string, stream: Uint8Array]>([
    ['of another format', Uint8Array.from(ascii('not zstd at all'))],
    ['of zstd 0.7', Uint8Array.from([0x27, ...plain.subarray(1)])],
    ['followed by one byte', Uint8Array.from([...plain, 0])],
    ['followed by garbage', Uint8Array.from([...plain, ...ascii('garbage')])],
    ['followed by a skippable frame that is cut short', Uint8Array.from([...plain, ...skippedFrame([1, 2, 3]).slice(0, -1)])],
    ['followed by a skippable frame that claims 4 GiB', Uint8Array.from([...plain, 0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff])],
    ['with a reserved bit in its header', zstdFrame([rawBlock(ascii('abc'))], { descriptorBits: 8 })],
    ['with a window of 4 GiB', zstdFrame([rawBlock(ascii('abc'))], { windowLog: 32 })],
    ['with a dictionary id of one byte', zstdFrame([rawBlock(ascii('abc'))], { dictionaryId: [1] })],
    ['with a dictionary id of two bytes', zstdFrame([rawBlock(ascii('abc'))], { dictionaryId: [0, 1] })],
    ['with a dictionary id of four bytes', zstdFrame([rawBlock(ascii('abc'))], { dictionaryId: [0, 0, 0, 1] })],
    ['that claims a byte less than it has', zstdFrame([rawBlock(ascii('abc'))], { contentBytes: 2 })],
    ['that claims a byte more than it has', zstdFrame([rawBlock(ascii('abc'))], { contentBytes: 4 })],
    ['that claims more than its compressed block yields', zstdFrame([compressedBlock([8, 0x61, 0])], { contentBytes: 2 })],
    ['with a wrong checksum', zstdFrame([rawBlock(ascii('abc'))], { checksum: zeros })],
    ['whose checksum is cut', zstdFrame([rawBlock(ascii('abc'))], { checksum: zeros.slice(1) })],
    ['with a block of the reserved kind', zstdFrame([{ kind: 3, size: 1, bytes: [0x61] }])],
    ['with a block that is cut short', zstdFrame([{ kind: 0, size: 4, bytes: ascii('abc') }])],
    ['with a block whose repeated byte is missing', zstdFrame([{ kind: 1, size: 4, bytes: [] }])],
    ['without a last block', zstdFrame([rawBlock(ascii('abc')), rawBlock([])]).subarray(0, -3)],
    ['with an empty compressed block', zstdFrame([compressedBlock([])])],
    ['with a match one byte before its start', zstdFrame([sequenceBlock({ literals: ascii('abc'), literalCode: 3, offsetCode: 3, matchCode: 0, bits: 0 })])],
    ['with a match far before its start', zstdFrame([sequenceBlock({ literals: ascii('abc'), literalCode: 3, offsetCode: 31, matchCode: 0, bits: 0 })])],
    ['with a match into the previous frame', Uint8Array.from([...plain, ...zstdFrame([sequenceBlock({ literals: ascii('abc'), literalCode: 3, offsetCode: 3, matchCode: 0, bits: 1 })])])],
    ['with an offset of 0: one less than the last', zstdFrame([rawBlock(ascii('abc')), sequenceBlock({ literals: [], literalCode: 0, offsetCode: 1, matchCode: 0, bits: 1 })])],
    ['with a sequence that uses more literals than the block has', zstdFrame([sequenceBlock({ literals: ascii('abc'), literalCode: 4, offsetCode: 0, matchCode: 0 })])],
    ['with a bit left after the sequences', zstdFrame([sequenceBlock({ literals: ascii('abc'), literalCode: 3, offsetCode: 0, matchCode: 0, bitCount: 1 })])],
    ['with a bit missing from the sequences', zstdFrame([sequenceBlock({ literals: ascii('abcdefgh'), literalCode: 8, offsetCode: 3, matchCode: 0, bitCount: 2 })])],
    ['without an end mark after the sequences', zstdFrame([compressedBlock([8, 0x61, 1, 0x54, 1, 0, 0, 0])])],
    ['with a reserved bit set before the sequences', zstdFrame([sequenceBlock({ literals: ascii('a'), literalCode: 1, offsetCode: 0, matchCode: 0, kinds: 0x55 })])],
    ['with an undefined literal length code', zstdFrame([sequenceBlock({ literals: ascii('a'), literalCode: 36, offsetCode: 0, matchCode: 0 })])],
    ['with an undefined offset code', zstdFrame([sequenceBlock({ literals: ascii('a'), literalCode: 1, offsetCode: 32, matchCode: 0 })])],
    ['with an undefined match length code', zstdFrame([sequenceBlock({ literals: ascii('a'), literalCode: 1, offsetCode: 0, matchCode: 53 })])],
    ['that repeats FSE tables before there are any', zstdFrame([compressedBlock([8, 0x61, 1, 0xfc, 1])])],
    ['that repeats a Huffman table before there is one', zstdFrame([compressedBlock([0x03 | (1 << 4), 0x40, 0, 1, 0])])],
    ['with bytes after an empty sequences section', zstdFrame([compressedBlock([8, 0x61, 0, 0])])],
  ])('%s is refused', (_, stream) => {
    const error = caught(() => read(stream));
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RangeError);
    expect((error as Error).constructor).toBe(Error);
    expect(reference.decompress(stream)).toBeUndefined();
  });

  test('that claims more bytes than its blocks can have is damaged, even if the claim also exceeds the limit', () => {
    const stream = zstdFrame([rawBlock(ascii('abc'))], { contentBytes: 2 ** 32 - 1 });
    expect(() => read(stream)).toThrow(new Error('the frame claims 4294967295 bytes, its blocks can have at most 3'));
  });

  test('that is truncated at any length is refused', () => {
    const wrong: number[] = [];
    const contents = sampleContents(seeded(8), 2000);
    for (const stream of [reference.compress(contents, 3), zstdFrame([rawBlock(ascii('abc'))], { contentBytes: 3 })]) {
      // An empty stream has no frame and is valid.
      for (let length = 1; length < stream.length; length++) if (caught(() => read(stream.subarray(0, length))) === undefined) wrong.push(length);
    }
    expect(wrong).toEqual([]);
  });

  test('is read from a view inside a larger buffer', () => {
    const around = new Uint8Array(100).fill(0xff);
    around.set(plain, 33);
    expect(text(read(around.subarray(33, 33 + plain.length)))).toBe('abc');
  });
});

/** XXH64 with BigInt, following its specification. Source: xxHash, doc/xxhash_spec.md. */
function xxh64(bytes: Uint8Array): bigint {
  const [p1, p2, p3, p4, p5] = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n] as const;
  const word = (value: bigint): bigint => BigInt.asUintN(64, value);
  const rotated = (value: bigint, bits: bigint): bigint => word((value << bits) | (value >> (64n - bits)));
  const round = (lane: bigint, input: bigint): bigint => word(rotated(word(lane + input * p2), 31n) * p1);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let hash: bigint = p5;
  if (bytes.length >= 32) {
    const lanes = [word(p1 + p2), p2, 0n, word(-p1)];
    for (; at + 32 <= bytes.length; at += 32) for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i]!, view.getBigUint64(at + 8 * i, true));
    hash = word(lanes.map((lane, i) => rotated(lane, [1n, 7n, 12n, 18n][i]!)).reduce((sum, lane) => sum + lane));
    for (const lane of lanes) hash = word((hash ^ round(0n, lane)) * p1 + p4);
  }
  hash = word(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) hash = word(rotated(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * p1 + p4);
  if (at + 4 <= bytes.length) {
    hash = word(rotated(hash ^ word(BigInt(view.getUint32(at, true)) * p1), 23n) * p2 + p3);
    at += 4;
  }
  for (; at < bytes.length; at++) hash = word(rotated(hash ^ word(BigInt(bytes[at]!) * p5), 11n) * p1);
  hash = word((hash ^ (hash >> 33n)) * p2);
  hash = word((hash ^ (hash >> 29n)) * p3);
  return hash ^ (hash >> 32n);
}

describe('the checksum', () => {
  test.each([
    ['', 0xef46db3751d8e999n],
    ['a', 0xd24ec4f1a98c6e5bn],
    ['abc', 0x44bc2cf5ad770999n],
  ])('of %j is the one in xxHash', (input, expected) => {
    const bytes = Uint8Array.from(ascii(input));
    expect(xxh64(bytes)).toBe(expected);
    expect(xxh64Low(bytes, 0, bytes.length)).toBe(Number(expected & 0xffff_ffffn));
  });

  test('of a part of an array matches the specification at every length', () => {
    const random = seeded(9);
    const wrong: number[] = [];
    for (let length = 0; length < 300; length++) {
      const bytes = random.pick([random.bytes(length + 7), new Uint8Array(length + 7).fill(0xff)]);
      if (xxh64Low(bytes, 3, 3 + length) !== Number(xxh64(bytes.subarray(3, 3 + length)) & 0xffff_ffffn)) wrong.push(length);
    }
    expect(wrong).toEqual([]);
  });
});

describe('the cost of a frame', () => {
  /** Milliseconds of processor time. */
  function milliseconds(run: () => unknown): number {
    const before = process.cpuUsage();
    caught(run);
    return process.cpuUsage(before).user / 1000;
  }

  test('does not depend on its window: 4 kB of the smallest blocks take less than 50 ms', () => {
    const stream = zstdFrame(Array.from({ length: 1000 }, () => repeatedBlock(0x61, 1)), { windowLog: 27 });
    expect(stream.length).toBeLessThan(4100);
    expect(read(stream)).toHaveLength(1000);
    expect(Math.min(...[1, 2, 3].map(() => milliseconds(() => read(stream))))).toBeLessThan(50);
  });

  test('is less than 5 µs per byte for the smallest frames that have their own tables', () => {
    const random = seeded(6);
    const contents = Array.from({ length: 300 }, () => sampleContents(random, 60));
    const streams = contents.map((bytes) => [...reference.compress(bytes, 19)]);
    const many = Uint8Array.from(Array.from({ length: 20 }, () => streams).flat(2));
    expect(Math.min(...[1, 2, 3].map(() => milliseconds(() => read(many)))) / many.length).toBeLessThan(0.005);
  });

  /** The bytes of typed arrays that are allocated while `run` runs. */
  function allocated(run: () => unknown): number {
    const { Uint8Array, Uint16Array, Uint32Array, Int16Array } = globalThis;
    let bytes = 0;
    const counting = <T extends typeof Uint8Array | typeof Uint16Array | typeof Uint32Array | typeof Int16Array>(type: T): T =>
      new Proxy(type, {
        construct(target, args: [number]) {
          const made = Reflect.construct(target, args) as Uint8Array;
          if (typeof args[0] === 'number') bytes += made.byteLength;
          return made;
        },
      });
    Object.assign(globalThis, { Uint8Array: counting(Uint8Array), Uint16Array: counting(Uint16Array), Uint32Array: counting(Uint32Array), Int16Array: counting(Int16Array) });
    try {
      caught(run);
    } finally {
      Object.assign(globalThis, { Uint8Array, Uint16Array, Uint32Array, Int16Array });
    }
    return bytes;
  }

  const MIB = 2 ** 20;
  const bombs: [string, Uint8Array][] = [
    ['claims 4 GiB and has a byte', zstdFrame([rawBlock([0x61])], { contentBytes: 2 ** 32 - 1 })],
    ['claims 64 MiB, which its blocks could have, and has 512 bytes', zstdFrame(Array.from({ length: 512 }, () => compressedBlock([8, 0x61, 0])), { contentBytes: 64 * MIB })],
    ['has a window of 2 GiB', zstdFrame([rawBlock([0x61])], { windowLog: 31 })],
    ['is damaged after a block', zstdFrame([rawBlock([0x61]), ...Array.from({ length: 512 }, () => repeatedBlock(0x61, 2 ** 17)), compressedBlock([0])])],
  ];

  test.each(bombs.slice(0, 3))('is less than 1 MiB of memory when it %s', (_, stream) => {
    expect(allocated(() => read(stream, 256 * MIB))).toBeLessThan(MIB);
  });

  test('is memory of at most four times the contents and at most four times the limit', () => {
    const [, stream] = bombs[3]!;
    expect(allocated(() => read(stream, 256 * MIB))).toBeLessThan(4 * 64 * MIB + MIB);
    expect(allocated(() => read(stream, MIB))).toBeLessThan(4 * MIB);
    for (const blocks of [1, 8, 64]) {
      const made = blocks * 2 ** 17;
      const sized = zstdFrame(Array.from({ length: blocks }, () => repeatedBlock(0x61, 2 ** 17)), { contentBytes: made });
      expect(allocated(() => read(sized, 256 * MIB))).toBeLessThan(4 * made + MIB / 4);
      expect(read(sized, made)).toHaveLength(made);
      expect(() => read(sized, made - 1)).toThrow(new RangeError(`the contents have ${made} bytes, the limit is ${made - 1}`));
    }
  });
});

/** Messages of `zstdCodec` for frames that the reference may accept; its documentation says why. */
const beyondTheRfc = [
  'a Huffman stream does not end where its literals do',
  'a stream of bits has no end mark',
  /^a block has more than \d+ bytes of contents$/,
];

/** The same for versions of the reference before 1.5.6. */
const beyondTheRfcBefore = [
  'bits follow the last sequence',
  'the sequences are cut short',
  'a reserved bit is set before the sequences',
  'bytes follow a block without sequences',
  'there is no Huffman table to use again',
  /^a block has \d+ (bytes|literals), the most is \d+$/,
  /^a match is 0 bytes back/,
  /^the window has/,
];

/** Whether a frame in the stream has a window of 2 GiB, which a 32-bit build of the reference refuses. */
function hasLargestWindow(stream: Uint8Array): boolean {
  return stream.some((_, i) => MAGIC.every((byte, j) => stream[i + j] === byte) && (stream[i + 4]! & 0x20) === 0 && stream[i + 5]! >>> 3 === 21);
}

function disagreement(stream: Uint8Array, expected: Uint8Array | undefined, exceptions: readonly (string | RegExp)[]): string | undefined {
  let contents: Uint8Array | undefined;
  let refusal = '';
  try {
    contents = read(stream);
  } catch (error) {
    const isExpected = error instanceof Error && (error.constructor === Error || error.constructor === RangeError) && /^[a-z0-9]/.test(error.message);
    if (!isExpected) return `${String(error)}: ${Buffer.from(stream).toString('hex')}`;
    refusal = error.message;
  }
  if (sameBytes(contents, expected)) return undefined;
  const isExcepted = contents === undefined && exceptions.some((exception) => (typeof exception === 'string' ? exception === refusal : exception.test(refusal)));
  return isExcepted ? 'excepted' : `${contents === undefined ? refusal : 'accepted'}: ${Buffer.from(stream).toString('hex')}`;
}

test(`${STREAMS} mutated frames get the same verdicts and contents as from the reference (seed ${SEED})`, { timeout: 3_600_000 }, () => {
  const random = seeded(SEED);
  let wrong: string[] = [];
  let accepted = 0;
  let excepted = 0;
  for (let left = STREAMS; left > 0 && wrong.length === 0; left -= 1000) {
    const streams: Uint8Array[] = referenceStreams('zstd').map(({ stream }) => stream);
    for (let i = 0; i < 100; i++) streams.push(reference.compress(sampleContents(random, random.below(random.pick([10, 100, 3000]))), random.pick([1, 3, 9, 19])));
    if (installed !== undefined) {
      const settings = random.pick([0, ZSTD_CHECKSUM, ZSTD_WITHOUT_SIZE, ZSTD_SMALL_WINDOW]);
      streams.push(...installed.encode(Array.from({ length: 50 }, () => sampleContents(random, random.below(2000))), random.pick([1, 6, 19]) + settings));
    }
    const mutated = Array.from({ length: Math.min(left, 1000) }, () => mutatedStream(random, random.pick(streams), random.pick(streams))).filter((stream) => !hasLargestWindow(stream));
    const expected = mutated.map((stream) => reference.decompress(stream, MAX_BYTES));
    accepted += expected.filter((contents) => contents !== undefined).length;
    const found = mutated.map((stream, i) => disagreement(stream, expected[i], beyondTheRfc));
    if (installed !== undefined) {
      const byInstalled = installed.decode(mutated, MAX_BYTES);
      found.push(...mutated.map((stream, i) => disagreement(stream, byInstalled[i], [...beyondTheRfc, ...beyondTheRfcBefore])));
    }
    excepted += found.filter((each) => each === 'excepted').length;
    wrong = found.filter((each) => each !== undefined && each !== 'excepted') as string[];
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(accepted).toBeGreaterThan(STREAMS * 0.03);
  // Such frames are rare.
  expect(excepted).toBeLessThan(STREAMS * 0.01);
});
