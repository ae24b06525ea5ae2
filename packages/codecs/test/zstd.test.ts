import process from 'node:process';
import { mutatedStream, referenceStreams, sampleContents, seeded } from '@bloom/fixtures';
import { allocations } from '@bloom/fixtures/allocations';
import { referenceCodec, ZSTD_CHECKSUM, ZSTD_SMALL_WINDOW, ZSTD_WITHOUT_SIZE } from '@bloom/native';
import { zstdCodec } from '@bloom/codecs';
import { beforeAll, describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { ReferenceZstd } from './reference-zstd.js';
import { compressedBlock, MAGIC, rawBlock, repeatedBlock, zstdFrame } from './zstd-frame.js';
import { sameBytes, unlessThrown } from './outcome.js';

/** The number of streams to compare; the long run sets it. */
const STREAMS = Number(process.env.BLOOM_STREAMS ?? 1000);
const SEED = Number(process.env.BLOOM_SEED ?? 1);
const MAX_BYTES = 2 ** 20;

let reference: ReferenceZstd;
beforeAll(async () => {
  reference = await ReferenceZstd.load(2 * MAX_BYTES);
});
const installed = referenceCodec('zstd');

const read = (stream: Uint8Array, maxBytes = MAX_BYTES): Uint8Array => zstdCodec.decompress(stream, maxBytes);

test('frames of the reference implementation, of many kinds of contents and of up to 700,000 bytes, are read', () => {
  const random = seeded(4);
  const wrong: string[] = [];
  for (const length of [65_535, 65_792, 131_071, 131_072, 131_073, 300_000, 700_000]) {
    for (const level of length < 70_000 ? [1, 3, 9, 19] : [1, 5]) {
      const contents = sampleContents(random, length);
      if (!sameBytes(unlessThrown(() => read(reference.compress(contents, level))), contents)) wrong.push(`${length} at level ${level}`);
    }
  }
  expect(wrong).toEqual([]);
});

describe('the cost of a frame', () => {
  /** The bytes of typed arrays that are allocated while `run` runs. */
  function allocated(run: () => unknown): number {
    return allocations(() => void caught(run)).total;
  }

  test('does not depend on its window: 4 kB of the smallest blocks allocate less than 64 KiB', () => {
    const stream = zstdFrame(Array.from({ length: 1000 }, () => repeatedBlock(0x61, 1)), { windowLog: 27 });
    expect(stream.length).toBeLessThan(4100);
    expect(read(stream)).toHaveLength(1000);
    expect(allocated(() => read(stream))).toBeLessThan(2 ** 16);
  });

  test('is less than 16 allocated bytes per byte for the smallest frames that have their own tables', () => {
    const random = seeded(6);
    const contents = Array.from({ length: 300 }, () => sampleContents(random, 60));
    const streams = contents.map((bytes) => [...reference.compress(bytes, 19)]);
    const many = Uint8Array.from(Array.from({ length: 20 }, () => streams).flat(2));
    expect(allocated(() => read(many)) / many.length).toBeLessThan(16);
  });

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
  'the sequences are truncated',
  'a reserved bit is set before the sequences',
  'bytes follow a block without sequences',
  'there is no Huffman table to reuse',
  /^a block has \d+ (bytes|literals), the maximum is \d+$/,
  /^the offset of a match is 0,/,
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
