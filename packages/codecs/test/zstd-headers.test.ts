import { allocations } from '@bloom/fixtures/allocations';
import { zstdCodec, zstdOrZlibCodec } from '@bloom/codecs';
import { beforeAll, describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { type Block, changedAt, compressedBlock, type FrameParts, rawBlock, repeatedBlock, skippedFrame, zstdFrame } from './zstd-frame.js';
import { ZstdJudges } from './zstd-judges.js';
import { rawLiterals, repeatedLiterals } from './zstd-literals.js';
import { sameBytes } from './outcome.js';

let judges: ZstdJudges;
beforeAll(async () => {
  judges = await ZstdJudges.load();
});

const ABC = [0x61, 0x62, 0x63];
const bytes = (length: number): number[] => Array.from({ length }, (_, i) => i & 0xff);
/** A compressed block that repeats a byte so many times. */
const compressed = (length: number): Block => compressedBlock([...repeatedLiterals(0x61, length, 3), 0]);

describe('the content size of a frame', () => {
  const sizes: readonly FrameParts[] = [
    { isSingleSegment: true, sizeLength: 1, contentBytes: 0 },
    { isSingleSegment: true, sizeLength: 1, contentBytes: 255 },
    { isSingleSegment: true, sizeLength: 2, contentBytes: 256 },
    { isSingleSegment: true, sizeLength: 4, contentBytes: 3 },
    { isSingleSegment: true, sizeLength: 8, contentBytes: 3 },
    { sizeLength: 2, contentBytes: 256 + 0x102 },
    { sizeLength: 4, contentBytes: 0x10203 },
    { sizeLength: 8, contentBytes: 0x10203 },
    { isSingleSegment: true, sizeLength: 2, contentBytes: 300, dictionaryId: [0, 0, 0, 0] },
  ];

  test.each(sizes)('may have 1, 2, 4 or 8 bytes: %o', (parts) => {
    const { contentBytes = 0 } = parts;
    const contents = bytes(contentBytes);
    const stream = zstdFrame([rawBlock(contents)], parts);
    judges.expectRead(stream, contents);
    judges.expectRead(Uint8Array.from([...stream, ...stream]), [...contents, ...contents]);
    judges.expectRefused(zstdFrame([rawBlock([...contents, 1])], parts), `the length of the contents is ${contentBytes + 1}, the frame claims ${contentBytes}`);
  });

  test.each(sizes)('is truncated where the header ends earlier: %o', (parts) => {
    const stream = zstdFrame([rawBlock([])], parts);
    const headerBytes = stream.length - 3;
    for (let length = 5; length < headerBytes; length++) judges.expectRefused(stream.slice(0, length), 'the frame header is truncated');
    for (let length = headerBytes; length < headerBytes + 3; length++) judges.expectRefused(stream.slice(0, length), 'a block header is truncated');
  });

  test.each([
    [{ sizeLength: 4, contentBytes: 4 }, 4],
    [{ sizeLength: 4, contentBytes: 2 ** 32 - 1 }, 2 ** 32 - 1],
    [{ sizeLength: 8, contentBytes: 4 }, 4],
    [{ sizeLength: 8, contentBytes: 2 ** 32 + 1 }, 2 ** 32 + 1],
    [{ sizeLength: 8, contentBytes: 5 * 2 ** 40 }, 5 * 2 ** 40],
    [{ sizeLength: 2, contentBytes: 256 }, 256],
    [{ sizeLength: 1, contentBytes: 4, isSingleSegment: true }, 4],
  ] as const)('is compared with the most that the blocks can have: %o', (parts, claimed) => {
    judges.expectRefused(zstdFrame([rawBlock(ABC)], parts), `the frame claims a length of ${claimed}, but its blocks can hold at most 3`);
    judges.expectRefused(zstdFrame([repeatedBlock(1, 2), rawBlock([1])], parts), `the frame claims a length of ${claimed}, but its blocks can hold at most 3`);
  });

  test('may be less than a compressed block can have, and not more', () => {
    const parts = { windowLog: 10 };
    judges.expectRefused(zstdFrame([compressed(1)], { ...parts, contentBytes: 1025 }), 'the frame claims a length of 1025, but its blocks can hold at most 1024');
    judges.expectRefused(zstdFrame([compressed(1)], { ...parts, contentBytes: 1024 }), 'the length of the contents is 1, the frame claims 1024');
    judges.expectRead(zstdFrame([compressed(1)], { ...parts, contentBytes: 1 }), [0x61]);
  });

  test('is compared with the limit before the blocks are read', () => {
    const damaged = zstdFrame([repeatedBlock(1, 2), compressedBlock([0])], { contentBytes: 100 });
    expect(() => zstdCodec.decompress(damaged, 99)).toThrow(new RangeError('the contents have 100 bytes, the limit is 99'));
    expect(() => zstdCodec.decompress(damaged, 100)).toThrow(new Error('a block is too short for literals'));
  });

  test('that is large costs no memory before contents are produced, and one that is small costs its own size', () => {
    const allocated = (stream: Uint8Array): number => allocations(() => void caught(() => zstdCodec.decompress(stream, 2 ** 30))).total;
    const claimed = zstdFrame(Array.from({ length: 8 }, () => compressed(1)), { contentBytes: 2 ** 20 });
    expect(allocated(claimed)).toBeGreaterThanOrEqual(2 ** 16);
    expect(allocated(claimed)).toBeLessThan(2 ** 16 + 2000);
    expect(allocated(zstdFrame([rawBlock(ABC)], { contentBytes: 3 }))).toBeLessThan(100);
    expect(allocated(zstdFrame([compressed(3)], { contentBytes: 3 }))).toBeLessThan(100);
    expect(allocated(zstdFrame([rawBlock(ABC)]))).toBeLessThan(100);
    // 16 bytes for each byte of a longer stream.
    const long = zstdFrame([rawBlock(bytes(10_000)), compressed(1), compressed(1)], { contentBytes: 270_000 });
    expect(allocated(long)).toBeGreaterThan(160_000);
    expect(allocated(long)).toBeLessThan(160_000 + 20_000);
  });
});

describe('the window of a frame', () => {
  test.each<readonly [FrameParts, most: number]>([
    [{ windowLog: 10 }, 1024],
    [{ windowLog: 10, windowEighths: 1 }, 1152],
    [{ windowLog: 10, windowEighths: 7 }, 1920],
    [{ windowLog: 13, windowEighths: 5 }, 13_312],
    [{ windowLog: 17 }, 131_072],
    [{ windowLog: 17, windowEighths: 1 }, 131_072],
    [{ windowLog: 27 }, 131_072],
    [{ isSingleSegment: true, sizeLength: 2, contentBytes: 700 }, 700],
  ])('%o limits the literals of a block, and a compressed block itself', (parts, most) => {
    const length = parts.contentBytes ?? most;
    judges.expectRead(zstdFrame([compressed(most)], parts), Array<number>(length).fill(0x61));
    judges.expectRefused(zstdFrame([compressed(most + 1)], parts), `a block has ${most + 1} literals, the maximum is ${most}`);
    const fill = bytes(most - 4);
    judges.expectRefused(zstdFrame([compressedBlock([...rawLiterals(fill, 3), 9]), compressed(1)], parts), 'the tables of the sequences are truncated');
    judges.expectRefused(zstdFrame([compressedBlock([...rawLiterals(fill, 3), 9, 0]), compressed(1)], parts), `a block has ${most + 1} bytes, the maximum is ${most}`);
  });

  test('does not limit raw blocks and repeated bytes', () => {
    expect(zstdCodec.decompress(zstdFrame([rawBlock(bytes(2000)), repeatedBlock(7, 2000)], { windowLog: 10 }), 4000)).toEqual(Uint8Array.from([...bytes(2000), ...Array<number>(2000).fill(7)]));
  });

  test('of more than 2 GiB is refused', () => {
    judges.expectRefused(zstdFrame([rawBlock(ABC)], { windowLog: 32 }), 'the window has 2^32 bytes, the maximum is 2^31');
    judges.expectRefused(zstdFrame([rawBlock(ABC)], { windowLog: 41, windowEighths: 7 }), 'the window has 2^41 bytes, the maximum is 2^31');
  });
});

describe('a frame header', () => {
  test.each([
    [[0], ABC],
    [[0, 0], ABC],
    [[0, 0, 0, 0], ABC],
  ])('may have a dictionary id of zeros, %j, and no other', (dictionaryId, contents) => {
    judges.expectRead(zstdFrame([rawBlock(contents)], { dictionaryId, contentBytes: 3 }), contents);
    for (let i = 0; i < dictionaryId.length; i++) judges.expectRefused(zstdFrame([rawBlock(contents)], { dictionaryId: changedAt(dictionaryId, i, 0x80) }), 'the frame needs a dictionary');
  });

  test('with a reserved bit is refused', () => {
    judges.expectRefused(zstdFrame([rawBlock(ABC)], { descriptorBits: 8 }), 'a reserved bit of the frame header is set');
  });

  test('is known by all bytes of its magic number', () => {
    const stream = zstdFrame([rawBlock(ABC)]);
    for (let i = 0; i < 4; i++) judges.expectRefused(Uint8Array.from(changedAt(stream, i, stream[i]! ^ 0x40)), 'not a zstd frame');
  });

  test('tells zstd from zlib by its first four bytes, which may also be those of a skippable frame', () => {
    const zstd = zstdFrame([rawBlock(ABC)]);
    const zlib = zstdOrZlibCodec.compress!(Uint8Array.from(ABC));
    const read = (stream: Uint8Array): number[] => [...zstdOrZlibCodec.decompress(stream, 100)];
    expect(read(zstd)).toEqual(ABC);
    expect(read(zlib)).toEqual(ABC);
    for (const variant of [0, 15]) expect(read(Uint8Array.from([...skippedFrame([1], variant), ...zstd]))).toEqual(ABC);
    const messageOf = (stream: Uint8Array): string => (caught(() => read(stream)) as Error).message;
    // Four bytes are enough to tell, and three are not.
    expect(messageOf(zstd.slice(0, 4))).toBe('the last frame is followed by too few bytes for another one: 4');
    expect(messageOf(zstd.slice(0, 3))).not.toContain('follow the last frame');
    for (let i = 0; i < 4; i++) expect(messageOf(Uint8Array.from(changedAt(zstd, i, zstd[i]! ^ 0x40)))).not.toBe('not a zstd frame');
    for (const variant of [-1, 16]) expect(messageOf(Uint8Array.from(skippedFrame([1], variant)))).not.toBe('not a zstd frame');
  });

  test('needs five bytes', () => {
    const stream = zstdFrame([rawBlock(ABC)]);
    for (let length = 1; length < 5; length++) judges.expectRefused(stream.slice(0, length), `the last frame is followed by too few bytes for another one: ${length}`);
    for (let length = 1; length < 5; length++) judges.expectRefused(Uint8Array.of(...stream, ...stream.slice(0, length)), `the last frame is followed by too few bytes for another one: ${length}`);
  });
});

describe('a skippable frame', () => {
  const plain = [...zstdFrame([rawBlock(ABC)])];

  test('may have any of 16 magic numbers, and no others', () => {
    for (let variant = 0; variant < 16; variant++) judges.expectRead(Uint8Array.of(...skippedFrame([1, 2], variant), ...plain), ABC);
    judges.expectRefused(Uint8Array.of(...skippedFrame([1, 2], 16), ...plain), 'not a zstd frame');
    judges.expectRefused(Uint8Array.of(...skippedFrame([1, 2], -1), ...plain), 'not a zstd frame');
  });

  test('may be all of the stream, and may be empty', () => {
    judges.expectRead(Uint8Array.from(skippedFrame([])), []);
    judges.expectRead(Uint8Array.from(skippedFrame([1, 2, 3])), []);
    judges.expectRead(new Uint8Array(0), []);
    judges.expectRead(Uint8Array.of(...plain, ...skippedFrame([])), ABC);
    judges.expectRead(Uint8Array.of(...skippedFrame(bytes(300)), ...plain), ABC);
  });

  test('is refused where its header or its bytes are truncated', () => {
    const stream = Uint8Array.of(...plain, ...skippedFrame([1, 2, 3]));
    for (let length = plain.length + 5; length < stream.length; length++) judges.expectRefused(stream.slice(0, length), 'a skippable frame is truncated');
  });
});

describe('a block', () => {
  test('is refused where its header, or one of its bytes, is truncated', () => {
    for (const block of [rawBlock(ABC), repeatedBlock(1, 3), compressed(3)]) {
      const stream = zstdFrame([rawBlock(ABC), block]);
      const end = stream.length - block.bytes.length;
      for (let length = end - 3; length < end; length++) judges.expectRefused(stream.slice(0, length), 'a block header is truncated');
      for (let length = end; length < stream.length; length++) judges.expectRefused(stream.slice(0, length), 'a block is truncated');
      judges.expectRead(stream, [...ABC, ...(block.kind === 0 ? ABC : Array<number>(3).fill(block.kind === 1 ? 1 : 0x61))]);
    }
  });

  test('of the reserved kind is refused', () => {
    judges.expectRefused(zstdFrame([{ kind: 3, size: 1, bytes: [0x61] }]), 'a block has the reserved type');
    judges.expectRefused(zstdFrame([{ kind: 3, size: 1, bytes: [] }]), 'a block has the reserved type');
  });

  test('may have a size of 21 bits', () => {
    const stream = zstdFrame([repeatedBlock(5, 0x1f0f01)], { windowLog: 27 });
    expect(sameBytes(zstdCodec.decompress(stream, 2 ** 21), new Uint8Array(0x1f0f01).fill(5))).toBe(true);
    expect(() => zstdCodec.decompress(stream, 0x1f0f00)).toThrow(RangeError);
    expect(() => zstdCodec.decompress(zstdFrame([rawBlock(ABC)]), 2)).toThrow(new RangeError('the contents exceed the limit of 2 bytes'));
  });
});

describe('the checksum of a frame', () => {
  const checksum = [0x99, 0x09, 0x77, 0xad];

  test('is compared with that of its contents alone', () => {
    const frame = zstdFrame([rawBlock(ABC)], { checksum });
    judges.expectRead(frame, ABC);
    judges.expectRead(Uint8Array.of(...frame, ...frame, ...skippedFrame([])), [...ABC, ...ABC]);
    judges.expectRefused(zstdFrame([rawBlock(ABC)], { checksum: [0x99, 0x09, 0x77, 0xac] }), 'the checksum of the contents is 2910259609, but 2893482393 is stored');
  });

  test('is refused where it is truncated', () => {
    const frame = zstdFrame([rawBlock(ABC)], { checksum });
    for (let cut = 1; cut <= 4; cut++) judges.expectRefused(frame.slice(0, -cut), 'the checksum of the contents is truncated');
  });
});
