import process from 'node:process';
import { deflateRawSync, deflateSync, inflateRawSync, inflateSync, constants } from 'node:zlib';
import { mutatedStream, type Random, sampleContents, seeded } from '@bloom/fixtures';
import { deflateCodec, mojangCodecs, zlibCodec } from '@bloom/codecs';
import { describe, expect, test } from 'vitest';
import * as elsewhere from '../src/deflate.default.js';
import * as inNode from '../src/deflate.node.js';
import { caught, sameBytes, unlessThrown } from './caught.js';

/** The number of streams to compare; the long run sets it. */
const STREAMS = Number(process.env.BLOOM_STREAMS ?? 800);
const SEED = Number(process.env.BLOOM_SEED ?? 1);
const MAX_BYTES = 2 ** 20;

const implementations = { 'in Node': inNode, elsewhere };
const formats = [
  { format: 'zlib', isRaw: false, write: deflateSync, reference: inflateSync },
  { format: 'raw deflate', isRaw: true, write: deflateRawSync, reference: inflateRawSync },
];
const cases = Object.entries(implementations).flatMap(([where, { inflate, deflate }]) => formats.map((each) => ({ where, inflate, deflate, ...each })));

const strategies = [constants.Z_DEFAULT_STRATEGY, constants.Z_FILTERED, constants.Z_HUFFMAN_ONLY, constants.Z_RLE, constants.Z_FIXED];

/** Compresses with zlib, with random settings. */
function written(random: Random, contents: Uint8Array, write: typeof deflateSync): Uint8Array {
  const options = { level: random.below(10), strategy: random.pick(strategies), windowBits: 9 + random.below(7), memLevel: 1 + random.below(9) };
  return new Uint8Array(write(contents, options));
}

describe.each(cases)('$format $where', ({ inflate, deflate, isRaw, write, reference }) => {
  test('reads what zlib writes with any settings, with the exact size as the limit', () => {
    const random = seeded(2);
    const wrong: number[] = [];
    for (const length of [0, 1, 2, 10, 100, 1000, 4096, 16_384, 32_768, 32_769, 65_536, 300_000]) {
      for (let i = 0; i < 6; i++) {
        const contents = sampleContents(random, length);
        const stream = written(random, contents, write);
        if (!sameBytes(unlessThrown(() => inflate(stream, isRaw, length)), contents)) wrong.push(length);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('writes streams that it and zlib read back', () => {
    const random = seeded(3);
    for (const length of [0, 1, 100, 5000, 100_000]) {
      const contents = sampleContents(random, length);
      const stream = deflate(contents, isRaw);
      expect(sameBytes(inflate(stream, isRaw, MAX_BYTES), contents)).toBe(true);
      expect(sameBytes(reference(stream), contents)).toBe(true);
    }
  });

  test('returns contents in a new buffer', () => {
    for (const length of [10, 5000, 50_000]) expect(inflate(new Uint8Array(write(new Uint8Array(length))), isRaw, MAX_BYTES).buffer.byteLength).toBe(length);
  });

  test('throws a RangeError for contents one byte longer than the limit', () => {
    for (const length of [1, 2, 1000, 50_000]) {
      const stream = new Uint8Array(write(sampleContents(seeded(length), length)));
      expect(() => inflate(stream, isRaw, length - 1)).toThrow(new RangeError(`the contents have more than ${length - 1} bytes, the limit`));
    }
  });

  test('refuses a stream that is truncated at any length', () => {
    const wrong: number[] = [];
    const stream = new Uint8Array(write(sampleContents(seeded(4), 2000)));
    for (let length = 0; length < stream.length; length++) {
      const error = caught(() => inflate(stream.subarray(0, length), isRaw, MAX_BYTES));
      if (!(error instanceof Error) || error instanceof RangeError) wrong.push(length);
    }
    expect(wrong).toEqual([]);
  });

  test('ignores bytes after the end, as Mojang’s LevelDB does', () => {
    const contents = sampleContents(seeded(5), 500);
    const stream = Uint8Array.from([...write(contents), 0, 1, 2, 3]);
    expect(sameBytes(inflate(stream, isRaw, MAX_BYTES), contents)).toBe(true);
  });

  test('reads a view inside a larger buffer', () => {
    const contents = sampleContents(seeded(6), 500);
    const stream = new Uint8Array(write(contents));
    const around = new Uint8Array(stream.length + 20).fill(0xff);
    around.set(stream, 13);
    expect(sameBytes(inflate(around.subarray(13, 13 + stream.length), isRaw, MAX_BYTES), contents)).toBe(true);
  });

  test(`agrees with zlib on ${STREAMS} mutated streams (seed ${SEED})`, { timeout: 3_600_000 }, () => {
    const random = seeded(SEED);
    const wrong: string[] = [];
    let accepted = 0;
    for (let i = 0; i < STREAMS && wrong.length < 3; ) {
      const streams = Array.from({ length: 60 }, () => written(random, sampleContents(random, random.below(random.pick([10, 100, 3000]))), write));
      for (let j = 0; j < 500 && i < STREAMS; i++, j++) {
        const stream = mutatedStream(random, random.pick(streams), random.pick(streams));
        const expected = unlessThrown(() => reference(stream, { maxOutputLength: MAX_BYTES }));
        if (expected !== undefined) accepted++;
        if (!sameBytes(unlessThrown(() => inflate(stream, isRaw, MAX_BYTES)), expected)) wrong.push(Buffer.from(stream).toString('hex'));
      }
    }
    expect(wrong).toEqual([]);
    expect(accepted).toBeGreaterThan(STREAMS * 0.03);
    expect(accepted).toBeLessThan(STREAMS * 0.9);
  });

  test('allocates at most 8 MiB for a stream of 64 MiB when the limit is 1 MiB', () => {
    const bomb = new Uint8Array(write(new Uint8Array(2 ** 26), { level: 9 }));
    const before = process.memoryUsage().arrayBuffers;
    expect(() => inflate(bomb, isRaw, 2 ** 20)).toThrow(RangeError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  });
});

describe.each(Object.entries(implementations))('zlib %s', (_, { inflate }) => {
  const contents = sampleContents(seeded(7), 300);
  const stream = new Uint8Array(deflateSync(contents));

  test.each([1, 2, 3, 4])('checks the Adler-32: byte %d from the end', (fromEnd) => {
    const changed = stream.slice();
    changed[changed.length - fromEnd]! ^= 1;
    expect(caught(() => inflate(changed, false, MAX_BYTES))).toBeInstanceOf(Error);
  });

  test.each<readonly [what: string, header: readonly number[]]>([
    ['a method other than deflate', [0x79, 0x9c]],
    ['a window of 64 KiB', [0x88, 0x1c]],
    ['a header whose check is wrong', [0x78, 0x9d]],
    ['a preset dictionary', [0x78, 0xbb]],
    ['the header of gzip', [0x1f, 0x8b]],
  ])('refuses %s', (what, header) => {
    const changed = Uint8Array.from([...header, ...stream.subarray(2)]);
    expect(caught(() => inflate(changed, false, MAX_BYTES))).toBeInstanceOf(Error);
    if (what === 'a preset dictionary') {
      const withDictionary = new Uint8Array(deflateSync(contents, { dictionary: contents.subarray(0, 100) }));
      expect(caught(() => inflate(withDictionary, false, MAX_BYTES))).toBeInstanceOf(Error);
    }
  });
});

test('Mojang’s codecs are zlib as type 2 and raw deflate as type 4', () => {
  expect(mojangCodecs).toEqual([zlibCodec, deflateCodec]);
  expect(mojangCodecs.map(({ type, name }) => [type, name])).toEqual([
    [2, 'zlib'],
    [4, 'deflate'],
  ]);
});

test('a limit of 0 allows empty contents only', () => {
  for (const { inflate } of Object.values(implementations)) {
    expect(inflate(new Uint8Array(deflateSync('')), false, 0)).toHaveLength(0);
    expect(() => inflate(new Uint8Array(deflateSync('a')), false, 0)).toThrow(RangeError);
  }
});
