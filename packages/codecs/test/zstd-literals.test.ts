import { seeded } from '@bloom/fixtures';
import { beforeAll, describe, expect, test } from 'vitest';
import { changedAt, compressedBlock, type FrameParts, rawBlock, zstdFrame } from './zstd-frame.js';
import { ZstdJudges } from './zstd-judges.js';
import { huffmanLiterals, type HuffmanLiterals, rawLiterals, repeatedLiterals } from './zstd-literals.js';

let judges: ZstdJudges;
beforeAll(async () => {
  judges = await ZstdJudges.load();
});

/** A frame of blocks that have these literals, and no sequences. */
const frameOf = (...literals: readonly (readonly number[])[]): Uint8Array => zstdFrame(literals.map((section) => compressedBlock([...section, 0])));
/** A frame of one block, which has these bytes. */
const frameWith = (bytes: readonly number[], parts?: FrameParts): Uint8Array => zstdFrame([compressedBlock(bytes)], parts);

const numbers = (length: number): number[] => Array.from({ length }, (_, i) => (i * 7) & 0xff);

describe('literals as they are', () => {
  test.each([
    [0, 1], [0, 2], [0, 3], [0, 30], [0, 31],
    [1, 1], [1, 31], [1, 32], [1, 300], [1, 4095],
    [3, 1], [3, 300], [3, 4096], [3, 70_001],
  ] as const)('of form %i may be %i', (form, length) => {
    judges.expectRead(frameOf(rawLiterals(numbers(length), form)), numbers(length));
    judges.expectRead(frameOf(repeatedLiterals(0xa5, length, form)), Array<number>(length).fill(0xa5));
  });

  test('may be none', () => {
    judges.expectRead(frameOf(rawLiterals([])), []);
    judges.expectRead(frameOf(rawLiterals([], 1), rawLiterals([], 3)), []);
  });

  test.each([0, 1, 3] as const)('of form %i are refused where they, or their header, are truncated', (form) => {
    const headerBytes = form === 0 ? 1 : form === 1 ? 2 : 3;
    for (const [section, length] of [[rawLiterals(numbers(5), form), 5], [repeatedLiterals(1, 5, form), 1]] as const) {
      for (let size = 2; size < headerBytes + length; size++) judges.expectRefused(frameWith(section.slice(0, size)), 'the literals are truncated');
      judges.expectRefused(frameWith(section), section.length < 2 ? 'a block is too short for literals' : 'a block has no sequences section');
    }
  });

  test('need a block of two bytes', () => {
    judges.expectRefused(frameWith([]), 'a block is too short for literals');
    judges.expectRefused(frameWith([0]), 'a block is too short for literals');
    judges.expectRead(frameWith([0, 0]), []);
    for (const form of [1, 3] as const) judges.expectRefused(frameWith(rawLiterals([], form)), 'a block has no sequences section');
  });

  test('must fit the largest block', () => {
    for (const form of [1, 3] as const) {
      judges.expectRead(zstdFrame([compressedBlock([...repeatedLiterals(1, 1024, form), 0])], { windowLog: 10 }), Array<number>(1024).fill(1));
      judges.expectRefused(zstdFrame([compressedBlock([...repeatedLiterals(1, 1025, form), 0])], { windowLog: 10 }), 'a block has 1025 literals, the maximum is 1024');
      judges.expectRefused(zstdFrame([compressedBlock([...rawLiterals(numbers(1025), form).slice(0, 900), 0])], { windowLog: 10 }), 'a block has 1025 literals, the maximum is 1024');
    }
  });
});

/** Weights of bytes 0 to 7: codes of 1 to 5 bits. */
const FEW = [5, 0, 4, 3, 1, 2, 1] as const;
/** Weights of 16 bytes with codes of four bits. */
const EQUAL = Array<number>(16).fill(1);
/** Codes of up to 11 bits, the longest that the reference makes. */
const LONG = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1];

function pick(length: number, weights: readonly number[], seed = length): number[] {
  const random = seeded(seed);
  const bytes = weights.flatMap((weight, byte) => (weight === 0 ? [] : [byte]));
  return Array.from({ length }, () => random.pick(bytes));
}

describe('literals in a Huffman code', () => {
  test.each([
    [0, 1], [0, 2], [0, 3], [0, 5], [0, 17], [0, 64], [0, 700], [0, 1023],
    [1, 6], [1, 7], [1, 9], [1, 10], [1, 255], [1, 1023],
    [2, 6], [2, 11], [2, 1024], [2, 9001], [2, 16_383],
    [3, 6], [3, 1024], [3, 16_384], [3, 40_003],
  ] as const)('of form %i may be %i', (form, length) => {
    for (const weights of [FEW, EQUAL, LONG]) {
      // As many as the header has bits for, in the longest codes.
      const literals = pick(length, weights);
      judges.expectRead(frameOf(huffmanLiterals(literals, { weights, form })), literals);
      // The table of the block before is used again, also after a block that has none.
      const more = pick(length, weights, length + 1);
      const stream = frameOf(huffmanLiterals(literals, { weights, form }), rawLiterals([1, 2, 3]), repeatedLiterals(9, 2), huffmanLiterals(more, { weights, form, isTreeless: true }));
      judges.expectRead(stream, [...literals, 1, 2, 3, 9, 9, ...more]);
    }
  });

  test('may use the table again that came last', () => {
    const stream = frameOf(huffmanLiterals([0, 2, 6], { weights: FEW }), huffmanLiterals([1, 2, 15], { weights: EQUAL }), huffmanLiterals([3, 4, 5], { weights: EQUAL, isTreeless: true }), huffmanLiterals([14], { weights: EQUAL, isTreeless: true }));
    judges.expectRead(stream, [0, 2, 6, 1, 2, 15, 3, 4, 5, 14]);
  });

  test('may not use a table of another frame', () => {
    const frame = frameOf(huffmanLiterals([0, 2, 6], { weights: FEW }));
    judges.expectRefused(Uint8Array.of(...frame, ...frameOf(huffmanLiterals([0, 2], { weights: FEW, isTreeless: true }))), 'there is no Huffman table to reuse');
  });

  test('need a block of five bytes', () => {
    const section = huffmanLiterals([1], { weights: EQUAL, isTreeless: true });
    expect(section).toHaveLength(4);
    judges.expectRefused(frameWith(section), 'a block is too short for compressed literals');
    judges.expectRefused(frameWith([...section, 0]), 'there is no Huffman table to reuse');
    judges.expectRead(zstdFrame([compressedBlock([...huffmanLiterals([0], { weights: EQUAL }), 0]), compressedBlock([...section, 0])]), [0, 1]);
  });

  test.each([0, 1, 2, 3] as const)('of form %i are refused where their streams end after the block', (form) => {
    const literals = pick(100, FEW);
    for (const isTreeless of [false, true]) {
      const refused = (parts: Partial<HuffmanLiterals>, after: readonly number[], message: string): void => {
        const first = compressedBlock([...huffmanLiterals([0], { weights: FEW }), 0]);
        judges.expectRefused(zstdFrame([first, compressedBlock([...huffmanLiterals(literals, { weights: FEW, form, isTreeless, ...parts }), ...after])]), message);
      };
      refused({ moreBytes: 1 }, [], 'the literals are truncated');
      refused({ moreBytes: 2 }, [0], 'the literals are truncated');
      // A stream that ends with the block leaves nothing for the sequences.
      refused({}, [], 'a block has no sequences section');
      refused({ moreBytes: 1 }, [0], 'a stream of bits has no end mark');
    }
  });

  test('are refused without a table, or without a stream after it', () => {
    judges.expectRefused(frameWith([...changedAt(huffmanLiterals([], { weights: FEW, isTreeless: true, streams: [[]] }), 0, 2), 0, 0]), 'there is no Huffman table');
    for (const form of [0, 1] as const) judges.expectRefused(frameWith([...huffmanLiterals([], { weights: EQUAL, form, length: 6, streams: [[]] }), 0]), 'the literals are truncated');
  });

  test('must be at least six for four streams', () => {
    for (const form of [1, 2, 3] as const) {
      judges.expectRefused(frameOf(huffmanLiterals([0, 2, 3, 4, 5], { weights: FEW, form })), '5 literals are too few for four streams');
      judges.expectRefused(frameOf(huffmanLiterals([], { weights: FEW, form })), '0 literals are too few for four streams');
    }
  });

  test('need ten bytes for four streams', () => {
    const first = compressedBlock([...huffmanLiterals([0], { weights: [1, 1] }), 0]);
    // Three streams have two bits and an end mark, the last one has nothing but that.
    const parts = { weights: [1, 1], form: 1, isTreeless: true, length: 6 } as const;
    judges.expectRead(zstdFrame([first, compressedBlock([...huffmanLiterals([], { ...parts, streams: [[0b101], [0b110], [0b111], [1]] }), 0])]), [0, 0, 1, 1, 0, 1, 1]);
    judges.expectRefused(zstdFrame([first, compressedBlock([...huffmanLiterals([], { ...parts, streams: [[0b101], [0b110], [0b111], []] }), 0])]), 'the literals are truncated');
    judges.expectRefused(zstdFrame([first, compressedBlock([...huffmanLiterals([], { ...parts, streams: [[0b101], [0b110], [], [1]] }), 0])]), 'the literals are truncated');
  });

  test.each([0, 1, 2])('whose stream %i is said to end after the last stream are refused', (which) => {
    const literals = pick(100, FEW);
    const section = huffmanLiterals(literals, { weights: FEW, form: 1 });
    const [headerBytes, tableBytes] = [3, 1 + 3];
    const lengths = headerBytes + tableBytes + 2 * which;
    const room = section.length - headerBytes - tableBytes - 6;
    const before = Array.from({ length: which }, (_, i) => section[headerBytes + tableBytes + 2 * i]!).reduce((sum, length) => sum + length, 0);
    judges.expectRefused(frameOf(changedAt(section, lengths, room - before + 1)), 'the literals are truncated');
    judges.expectRefused(frameOf(changedAt(section, lengths + 1, 1)), 'the literals are truncated');
  });

  test('are refused where a stream has more or fewer codes than there are literals', () => {
    const message = 'a Huffman stream does not end where its literals do';
    for (const count of [2, 3, 9, 50, 99]) {
      for (const weights of [EQUAL, LONG]) {
        const literals = pick(count, weights);
        judges.expectFaulty(frameOf(huffmanLiterals(literals, { weights, length: count - 1 })), message);
        judges.expectFaulty(frameOf(huffmanLiterals(literals, { weights, length: count + 1 })), message);
        judges.expectFaulty(frameOf(huffmanLiterals(literals, { weights, length: count + 2 })), message);
      }
    }
    // Far fewer bits than literals, and a pair of codes of 12 bits that nobody asked for.
    judges.expectFaulty(frameOf(huffmanLiterals([1, 2, 3], { weights: EQUAL, length: 1023 })), message);
    judges.expectFaulty(frameOf(huffmanLiterals([1, 2, 3], { weights: EQUAL, form: 3, length: 100_000, streams: [[0x12], [0x12], [0x12], [0x12, 1]] })), message);
    for (const length of [0, 1]) judges.expectFaulty(frameOf(huffmanLiterals([11, 12], { weights: [12, ...LONG], length })), message);
    const literals = pick(100, EQUAL);
    const section = huffmanLiterals(literals, { weights: EQUAL, form: 1 });
    const quarters = frameOf(section);
    judges.expectRead(quarters, literals);
    judges.expectFaulty(frameOf(huffmanLiterals(literals, { weights: EQUAL, form: 1, length: 97 })), message);
    judges.expectFaulty(frameOf(huffmanLiterals(literals, { weights: EQUAL, form: 1, length: 103 })), message);
  });

  test('must fit the largest block', () => {
    const literals = pick(1024, FEW);
    const parts = { windowLog: 10 };
    judges.expectRead(frameWith([...huffmanLiterals(literals, { weights: FEW, form: 2 }), 0], parts), literals);
    judges.expectRefused(frameWith([...huffmanLiterals(literals, { weights: FEW, form: 2, length: 1025 }), 0], parts), 'a block has 1025 literals, the maximum is 1024');
    judges.expectRefused(frameWith([...huffmanLiterals(literals, { weights: FEW, form: 3, length: 2 ** 18 - 1 }), 0], parts), 'a block has 262143 literals, the maximum is 1024');
  });

  test('are followed by the sequences of their block, and by other blocks', () => {
    // One sequence of one literal and three more of the same byte, in tables of one symbol each.
    const sequences = [1, 0x54, 1, 0, 0, 1];
    const stream = zstdFrame([compressedBlock([...huffmanLiterals([3, 4, 5], { weights: FEW }), ...sequences]), rawBlock([7])]);
    judges.expectRead(stream, [3, 3, 3, 3, 4, 5, 7]);
  });
});
