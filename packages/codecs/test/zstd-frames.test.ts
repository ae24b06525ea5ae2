import { referenceStreams, sampleContents, seeded } from '@bloom/fixtures';
import { zstdCodec } from '@bloom/codecs';
import { beforeAll, describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { ReferenceZstd } from './reference-zstd.js';
import { compressedBlock, rawBlock, repeatedBlock, sequenceBlock, skippedFrame, zstdFrame } from './zstd-frame.js';
import { sameBytes, unlessThrown } from './outcome.js';

const MAX_BYTES = 2 ** 20;

let reference: ReferenceZstd;
beforeAll(async () => {
  reference = await ReferenceZstd.load(2 * MAX_BYTES);
});

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

  test('of many kinds of contents and of up to 4,096 bytes are read', () => {
    const random = seeded(3);
    const wrong: string[] = [];
    for (const length of [0, 1, 2, 3, 50, 255, 256, 257, 1000, 4096]) {
      for (const level of [1, 3, 9, 19]) {
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
    ['followed by a skippable frame that is truncated', Uint8Array.from([...plain, ...skippedFrame([1, 2, 3]).slice(0, -1)])],
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
    ['with a block that is truncated', zstdFrame([{ kind: 0, size: 4, bytes: ascii('abc') }])],
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
    expect(() => read(stream)).toThrow(new Error('the frame claims a length of 4294967295, but its blocks can hold at most 3'));
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
