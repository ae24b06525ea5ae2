import { zstdCodec } from '@bloom/codecs';
import { expect, test, vi } from 'vitest';
import { deflate, inflate } from '../src/deflate.default.js';
import { caught } from '@bloom/fixtures/caught';
import { compressedBlock, zstdFrame } from './zstd-frame.js';

/** The bytes of the largest array that a call makes. */
function largestArrayOf(call: () => void): number {
  let largest = 0;
  const Counted = class extends Uint8Array {
    constructor(...given: unknown[]) {
      super(...(given as [number]));
      if (typeof given[0] === 'number') largest = Math.max(largest, given[0]);
    }
  };
  vi.stubGlobal('Uint8Array', Counted);
  try {
    call();
  } finally {
    vi.unstubAllGlobals();
  }
  return largest;
}

const MIB = 2 ** 20;

test('a long stream of few contents gets no more memory at once than the stream has', () => {
  const stream = new Uint8Array(4 * MIB);
  stream.set(deflate(new Uint8Array(100), false));
  expect(largestArrayOf(() => expect(inflate(stream, false, 2 ** 28)).toHaveLength(100))).toBeLessThanOrEqual(4 * MIB);
});

test('a frame with a large size in its header, whose first block is damaged, gets no more memory at once than the stream has', () => {
  const blocks = Array.from({ length: 128 }, () => compressedBlock(new Array<number>(8 * 1024).fill(0)));
  const stream = zstdFrame(blocks, { contentBytes: 16 * MIB, isSingleSegment: true });
  expect(largestArrayOf(() => expect(caught(() => zstdCodec.decompress(stream, 2 ** 28))).toBeInstanceOf(Error))).toBeLessThanOrEqual(stream.length + 7);
});
