import process from 'node:process';
import { constants, type deflateSync } from 'node:zlib';
import { mutatedStream, type Random, sampleContents, seeded } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { cases } from './deflate-cases.js';
import { sameBytes, unlessThrown } from './outcome.js';

/** The number of streams to compare; the long run sets it. */
const STREAMS = Number(process.env.BLOOM_STREAMS ?? 300);
const SEED = Number(process.env.BLOOM_SEED ?? 1);
const MAX_BYTES = 2 ** 20;

const strategies = [constants.Z_DEFAULT_STRATEGY, constants.Z_FILTERED, constants.Z_HUFFMAN_ONLY, constants.Z_RLE, constants.Z_FIXED];

/** Compresses with zlib, with random settings. */
function written(random: Random, contents: Uint8Array, write: typeof deflateSync): Uint8Array {
  const options = { level: random.below(10), strategy: random.pick(strategies), windowBits: 9 + random.below(7), memLevel: 1 + random.below(9) };
  return new Uint8Array(write(contents, options));
}

describe.each(cases)('$format $where', ({ inflate, isRaw, write, reference }) => {
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

  test('refuses a stream that is truncated at any length', () => {
    const wrong: number[] = [];
    const stream = new Uint8Array(write(sampleContents(seeded(4), 2000)));
    for (let length = 0; length < stream.length; length++) {
      const error = caught(() => inflate(stream.subarray(0, length), isRaw, MAX_BYTES));
      if (!(error instanceof Error) || error instanceof RangeError) wrong.push(length);
    }
    expect(wrong).toEqual([]);
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

  test('allocates at most 8 MiB for a stream of 32 MiB when the limit is 1 MiB', () => {
    const bomb = new Uint8Array(write(new Uint8Array(2 ** 25), { level: 9 }));
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    expect(() => inflate(bomb, isRaw, 2 ** 20)).toThrow(RangeError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  });
});
