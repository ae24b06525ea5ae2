import { allocations } from '@bloom/fixtures/allocations';
import { seeded } from '@bloom/fixtures';
import { zstdCodec } from '@bloom/codecs';
import { beforeAll, describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { type Block, compressedBlock, type FrameParts, rawBlock, repeatedBlock, zstdFrame } from './zstd-frame.js';
import { ZstdJudges } from './zstd-judges.js';
import { rawLiterals, repeatedLiterals } from './zstd-literals.js';
import { type CodeTable, describedTable, executed, predefined, type Sequence, sequenceCount, sequencesSection, type SequenceTables, singleTable, tableAgain } from './zstd-sequences.js';

let judges: ZstdJudges;
beforeAll(async () => {
  judges = await ZstdJudges.load();
});

const ABC = [0x61, 0x62, 0x63];
/** A number of literals and a match, by its distance. */
const back = (literals: number, distance: number, match: number): Sequence => ({ literals, offset: distance + 3, match });
/** The same with an offset that was used before: 1 for the last one, or, without literals, the one before. */
const again = (literals: number, which: 1 | 2 | 3, match: number): Sequence => ({ literals, offset: which, match });

const block = (literals: readonly number[], sequences: readonly Sequence[], tables?: SequenceTables): Block => compressedBlock([...rawLiterals(literals, 3), ...sequencesSection(sequences, tables)]);

/** Expects a frame of a block of these literals and sequences to be read, after ABC. */
function expectRead(literals: readonly number[], sequences: readonly Sequence[], tables?: SequenceTables): void {
  const { contents } = executed(literals, sequences, { contents: ABC, offsets: [1, 4, 8] });
  judges.expectRead(zstdFrame([rawBlock(ABC), block(literals, sequences, tables)]), contents);
}

/** A block with the literals `a` and `b`, and this after them. */
const blockWith = (...section: readonly number[]): Block => compressedBlock([...rawLiterals([0x61, 0x62]), ...section]);
const frameWith = (...section: readonly number[]): Uint8Array => zstdFrame([blockWith(...section)]);

/** Tables of one symbol for sequences of one literal, and three bytes at the offset that was used last. */
const ONE_LITERAL = { literals: singleTable(1), offset: singleTable(0), match: singleTable(0) };
/** The same without literals, at the offset that was used before the last. */
const NO_LITERALS = { ...ONE_LITERAL, literals: singleTable(0) };

describe('the number of sequences', () => {
  test.each([
    [1, 1], [127, 1],
    [1, 2], [127, 2], [128, 2], [255, 2], [256, 2], [0x1ff, 2], [0x7eff, 2],
    [0x7f00, 3], [0x7fff, 3], [0x8102, 3],
  ] as const)('%i may be in %i bytes', (count, length) => {
    const sequences = Array.from({ length: count }, () => again(0, 1, 3));
    const bytes = sequencesSection(sequences, NO_LITERALS, sequenceCount(count, length));
    const before = [...ABC, 1, 2];
    const stream = zstdFrame([rawBlock(before), compressedBlock([...rawLiterals([9]), ...bytes])]);
    judges.expectRead(stream, executed([9], sequences, { contents: before, offsets: [1, 4, 8] }).contents);
  });

  test('is refused where it is truncated, or missing', () => {
    judges.expectRefused(frameWith(), 'a block has no sequences section');
    judges.expectRefused(frameWith(0x80), 'the number of sequences is truncated');
    judges.expectRefused(frameWith(0xfe), 'the number of sequences is truncated');
    judges.expectRefused(frameWith(0xff), 'the number of sequences is truncated');
    judges.expectRefused(frameWith(0xff, 1), 'the number of sequences is truncated');
    for (const count of [[1], [0x80, 1], [0xff, 0, 0]]) judges.expectRefused(frameWith(...count), 'the tables of the sequences are truncated');
  });

  test('may be 0, and nothing follows then', () => {
    judges.expectRead(frameWith(0), [0x61, 0x62]);
    judges.expectRead(frameWith(0x80, 0), [0x61, 0x62]);
    judges.expectRefused(frameWith(0, 0), 'bytes follow a block without sequences');
    judges.expectRefused(frameWith(0x80, 0, 0), 'bytes follow a block without sequences');
  });
});


describe('the tables of sequences', () => {
  const TWO = [back(1, 4, 3), back(1, 4, 3)];
  const kinds: Record<string, Required<SequenceTables>> = {
    'known to every decoder': predefined,
    'of one symbol': { literals: singleTable(1), offset: singleTable(2), match: singleTable(0) },
    described: { literals: describedTable([10, 20, 2], 5), offset: describedTable([1, 1, 28, 2], 5), match: describedTable([30, 1, 1], 5) },
  };
  const names = Object.keys(kinds);
  const parts = ['literals', 'offset', 'match'] as const;
  const combinations = names.flatMap((literals) => names.flatMap((offset) => names.map((match) => ({ literals, offset, match }))));

  test.each(combinations)('may be $literals for literal lengths, $offset for offsets and $match for match lengths, and used again', (chosen) => {
    const tables = { literals: kinds[chosen.literals]!.literals, offset: kinds[chosen.offset]!.offset, match: kinds[chosen.match]!.match };
    expectRead([1, 2, 3], TWO, tables);
    const first = { contents: ABC, offsets: [1, 4, 8] as [number, number, number] };
    // Each table alone is used again, and all of them together.
    for (const which of [...parts.map((part) => [part]), parts]) {
      const others = Object.fromEntries(parts.map((part) => [part, which.includes(part) ? tableAgain(tables[part]) : kinds['of one symbol']![part]]));
      const stream = zstdFrame([rawBlock(ABC), block([1, 2, 3], TWO, tables), rawBlock([]), blockWith(0), block([4, 5], TWO, others)]);
      const before = executed([1, 2, 3], TWO, first);
      judges.expectRead(stream, executed([4, 5], TWO, { ...before, contents: [...before.contents, 0x61, 0x62] }).contents);
    }
  });

  test('may be used again more than once', () => {
    const tables = kinds.described!;
    const repeated = { literals: tableAgain(tables.literals), offset: tableAgain(tables.offset), match: tableAgain(tables.match) };
    const sections = [tables, repeated, repeated];
    let state = executed(ABC, []);
    for (let i = 0; i < 3; i++) state = executed([i, i], TWO, state);
    judges.expectRead(zstdFrame([rawBlock(ABC), ...sections.map((section, i) => block([i, i], TWO, section))]), state.contents);
  });

  test.each([0x40, 0x10, 0x04])('cannot be repeated at the start of a frame, or from another frame (%i)', (part) => {
    // Three times this is the kind of a table that is used again.
    const stream = frameWith(1, 3 * part, 0, 0, 0, 1);
    judges.expectRefused(stream, 'there is no FSE table to reuse');
    judges.expectRefused(Uint8Array.of(...zstdFrame([rawBlock(ABC), block([1, 2, 3], TWO)]), ...stream), 'there is no FSE table to reuse');
  });

  test('of one symbol have a symbol that is defined', () => {
    const message = 'the only symbol of an RLE table is missing or undefined';
    for (const bytes of [[], [1], [1, 0]]) judges.expectRefused(frameWith(1, 0x54, ...bytes), message);
    for (const bytes of [[36, 0, 0], [1, 32, 0], [1, 0, 53], [255, 0, 0]]) judges.expectRefused(frameWith(1, 0x54, ...bytes, 1), message);
    judges.expectRefused(frameWith(1, 0x54, 1, 0, 0), 'a stream of bits has no end mark');
    // The highest ones need more bits than there are.
    for (const bytes of [[35, 0, 0], [1, 31, 0], [1, 0, 52]]) judges.expectRefused(frameWith(1, 0x54, ...bytes, 1), 'the sequences are truncated');
  });

  test.each([
    ['literals', 36, 9, 0x80],
    ['offset', 32, 8, 0x20],
    ['match', 53, 9, 0x08],
  ] as const)('that are described for %s have at most %i symbols and an accuracy of %i', (part, symbols, accuracy, kind) => {
    const counts = (length: number, rows: number): number[] => [rows - length + 1, ...Array<number>(length - 1).fill(1)];
    expectRead([1, 2, 3], TWO, { [part]: describedTable(counts(symbols, 2 ** accuracy), accuracy) });
    const tooMany = describedTable(counts(symbols + 1, 2 ** accuracy), accuracy);
    judges.expectRefused(frameWith(1, kind, ...tooMany.description, 0, 0, 0, 1), 'the probabilities of an FSE table do not add up');
    const tooExact = describedTable(counts(symbols, 2 ** (accuracy + 1)), accuracy + 1);
    judges.expectRefused(frameWith(1, kind, ...tooExact.description, 0, 0, 0, 1), `an FSE table has an accuracy of ${accuracy + 1}, the maximum is ${accuracy}`);
    // A description that the block's end cuts.
    const cut = describedTable(counts(symbols, 2 ** accuracy), accuracy).description.slice(0, -1);
    judges.expectRefused(frameWith(1, kind, ...cut), 'the probabilities of an FSE table do not add up');
  });

  test('are refused where a reserved bit is set before them', () => {
    for (const bit of [1, 2]) judges.expectRefused(frameWith(1, 0x54 | bit, 1, 0, 0, 1), 'a reserved bit is set before the sequences');
  });
});

describe('the lengths of sequences', () => {
  /** The lowest and the highest length of each code of the RFC that has extra bits, and some others. */
  const lengths = [16, 17, 18, 19, 20, 21, 22, 23, 24, 27, 28, 31, 32, 39, 40, 47, 48, 63, 64, 127, 128, 255, 256, 511, 512, 1023, 1024, 2047, 2048, 4095, 4096, 8191, 8192, 16_383, 16_384, 32_767, 32_768, 65_535, 65_536, 100_001];

  test('may be those of all codes of literals', () => {
    for (const length of [...Array(16).keys(), ...lengths]) {
      if (length > 60_000) continue;
      const literals = Array.from({ length: length + 1 }, (_, i) => (i * 31) & 0xff);
      expectRead(literals, [back(length, length + 3, 3)]);
    }
    // The longest are all of one byte, and show by what the match copies after them.
    for (const length of [65_535, 65_536, 100_001]) {
      const sequences = [back(length, length + 3, 3)];
      const { contents } = executed(Array<number>(length + 1).fill(9), sequences, executed(ABC, []));
      judges.expectRead(zstdFrame([rawBlock(ABC), compressedBlock([...repeatedLiterals(9, length + 1, 3), ...sequencesSection(sequences)])]), contents);
    }
  });

  test('may be those of all codes of matches', () => {
    for (const length of [...Array(32).keys(), ...lengths]) expectRead([7], [back(1, 4, length + 3)]);
  });

  test('are copied the same from near and from far', () => {
    const literals = Array.from({ length: 200 }, (_, i) => (i * 31) & 0xff);
    for (const count of [30, 31, 32, 33, 34, 100]) {
      for (const distance of [1, 2, count - 1, count, count + 1, count + 3]) {
        for (const match of [3, 31, 32, 33, 34, count, 200]) expectRead(literals, [back(count, distance, match), back(40, distance + 20, match), again(3, 2, 5)]);
      }
    }
  });
});

describe('the offsets of sequences', () => {
  /** Literals, so that each match is known by its bytes. */
  const literals = Array.from({ length: 60 }, (_, i) => 100 + i);

  test('may be any of the three that were used last, in this block and in the one before', () => {
    for (const count of [0, 1]) {
      for (const which of [1, 2, 3] as const) {
        for (const next of [1, 2, 3] as const) {
          const sequences = [back(20, 7, 3), back(1, 9, 4), back(1, 12, 5), again(count, which, 3), again(1, next, 4), again(0, next, 3), again(2, 2, 3), again(1, 3, 3)];
          expectRead(literals, sequences);
          const before = executed(literals, sequences, executed(ABC, []));
          const more = [again(count, which, 4), again(1, 1, 3), again(1, 2, 3), again(1, 3, 3)];
          const stream = zstdFrame([rawBlock(ABC), block(literals, sequences), rawBlock([]), block([1, 2, 3, 4, 5], more)]);
          judges.expectRead(stream, executed([1, 2, 3, 4, 5], more, before).contents);
        }
      }
    }
  });

  test('are 1, 4 and 8 at first, in each frame', () => {
    for (const count of [0, 1]) {
      for (const which of [1, 2, 3] as const) {
        if (count === 0 && which === 3) continue;
        const sequences = [again(10, 1, 3), again(count, which, 3), again(1, 2, 3)];
        const stream = zstdFrame([rawBlock(ABC), block(literals, sequences)]);
        const { contents } = executed(literals, sequences, executed(ABC, []));
        judges.expectRead(stream, contents);
        judges.expectRead(Uint8Array.of(...stream, ...stream), [...contents, ...contents]);
      }
    }
  });

  test('may be as large as what was made before', () => {
    const random = seeded(1);
    const history = Array.from({ length: 100 }, () => random.below(256));
    for (const length of [0, 65_436, 131_072, 300_000]) {
      const blocks = Array.from({ length: Math.ceil(length / 131_072) }, (_, i) => repeatedBlock(7, Math.min(131_072, length - i * 131_072)));
      for (const distance of [length + 101, length + 100, length + 64]) {
        const sequences = [back(1, distance, 40)];
        const { contents } = executed([1, 2], sequences, executed([...history, ...Array<number>(length).fill(7)], []));
        judges.expectRead(zstdFrame([rawBlock(history), ...blocks, block([1, 2], sequences)], { windowLog: 20 }), contents);
      }
    }
  });

  test('are refused where they reach before the frame', () => {
    const message = (distance: number, before: number): string => `the offset of a match is ${distance}, but the match starts at ${before} of the frame`;
    const plain = zstdFrame([rawBlock(ABC)]);
    for (const distance of [6, 7, 100, 2 ** 16 - 3, 2 ** 17 - 4, 2 ** 17 - 3, 0x12345, 0x1234567, 2 ** 31 - 3, 0x92345678, 2 ** 32 - 4]) {
      const stream = zstdFrame([rawBlock(ABC), block([1, 2, 3], [back(2, distance, 3)], { offset: singleTable(31 - Math.clz32(distance + 3)) })]);
      judges.expectRefused(stream, message(distance, 5));
      judges.expectRefused(Uint8Array.of(...plain, ...stream), message(distance, 5));
    }
    judges.expectRefused(zstdFrame([block([1, 2, 3], [again(3, 2, 3)])]), message(4, 3));
    judges.expectRefused(zstdFrame([block([1, 2, 3], [again(0, 1, 3)])]), message(4, 0));
  });

  test('of 0, which is one less than the last, are refused', () => {
    judges.expectRefused(zstdFrame([rawBlock(ABC), block([], [again(0, 3, 3)])]), 'the offset of a match is 0, but the match starts at 3 of the frame');
  });
});

describe('the contents of a block', () => {
  const parts: FrameParts = { windowLog: 10 };
  const tooLong = 'a block has more than 1024 bytes of contents';

  test('end where the largest block does', () => {
    judges.expectRead(zstdFrame([block([1], [again(1, 1, 1023)])], parts), Array<number>(1024).fill(1));
    judges.expectFaulty(zstdFrame([block([1], [again(1, 1, 1024)])], parts), tooLong);
    judges.expectRead(zstdFrame([block([1, 1], [again(1, 1, 1022)])], parts), Array<number>(1024).fill(1));
    judges.expectFaulty(zstdFrame([block([1, 1], [again(1, 1, 1023)])], parts), tooLong);
    // It is refused before there is memory for it.
    expect(caught(() => zstdCodec.decompress(zstdFrame([block([1], [again(1, 1, 1024)])], parts), 1024))).toEqual(new Error(tooLong));
    // The same after another block.
    judges.expectRead(zstdFrame([rawBlock(ABC), block([1, 1], [again(1, 1, 1022)])], parts), [...ABC, ...Array<number>(1024).fill(1)]);
    judges.expectFaulty(zstdFrame([rawBlock(ABC), block([1], [again(1, 1, 1024)])], parts), tooLong);
    judges.expectFaulty(zstdFrame([rawBlock(ABC), block([1, 1], [again(1, 1, 1023)])], parts), tooLong);
  });

  test('have at most the literals of the block', () => {
    const message = 'the sequences use more literals than the block has';
    expectRead([1, 2], [again(2, 1, 3)]);
    judges.expectRefused(zstdFrame([block([1, 2], [again(3, 1, 3)])]), message);
    judges.expectRefused(zstdFrame([block([1, 2], [again(1, 1, 3), again(2, 1, 3)])]), message);
    judges.expectRefused(zstdFrame([block([1, 2], [again(50, 1, 3)])]), message);
  });

  test('keep what was made so far when they need more memory', () => {
    const random = seeded(2);
    const literals = Array.from({ length: 20 }, () => random.below(256));
    // The sizes are not in the header, and a short stream is first given 64 KiB.
    for (const match of [32_763, 32_764, 32_765, 40_000]) {
      const sequences = [back(4, 4, match), back(3, 3, match), back(5, 5, 3), back(3, 9, 40_000)];
      expectRead(literals, sequences);
    }
    const blocks = [block(literals, [back(9, 9, 65_000)]), block(literals, [back(9, 900, 520), again(5, 1, 9)]), block(literals, [back(9, 9, 100)])];
    const before = executed(literals, [back(9, 900, 520), again(5, 1, 9)], executed(literals, [back(9, 9, 65_000)]));
    judges.expectRead(zstdFrame(blocks), executed(literals, [back(9, 9, 100)], before).contents);
  });

  test('take as much memory as they need, at most twice as much, and no more than the limit', () => {
    const stream = zstdFrame([block([1, 2, 3, 4], [back(4, 4, 40_000), back(0, 7, 100), back(0, 7, 80_000)])]);
    const allocated = allocations(() => void zstdCodec.decompress(stream, 2 ** 20)).total;
    // The first 64 KiB, the double of that, and a copy of the contents.
    expect(allocated).toBeGreaterThan(3 * 2 ** 16);
    expect(allocated).toBeLessThan(3 * 2 ** 16 + 120_104 + 2000);
    const { length } = zstdCodec.decompress(stream, 120_104);
    expect(length).toBe(120_104);
    for (const limit of [0, 3, 40_003, 40_004, 120_103]) {
      expect(caught(() => zstdCodec.decompress(stream, limit))).toEqual(new RangeError(`the contents exceed the limit of ${limit} bytes`));
    }
    const rest = zstdFrame([block([1, 2, 3, 4], [again(1, 1, 3)])]);
    expect(caught(() => zstdCodec.decompress(rest, 6))).toEqual(new RangeError('the contents exceed the limit of 6 bytes'));
    expect(zstdCodec.decompress(rest, 7)).toEqual(Uint8Array.of(1, 1, 1, 1, 2, 3, 4));
  });
});

describe('the bits of sequences', () => {
  /** The bits of these sequences, without those that are read last. */
  const cut = (sequences: readonly Sequence[], tables: SequenceTables, count: number): number[] => {
    const section = sequencesSection(sequences, tables);
    const start = section.length - bytesOfBits(sequences, tables);
    const stream = section.slice(start).reduce((bits, byte, i) => bits + (BigInt(byte) << BigInt(8 * i)), 0n) >> BigInt(count);
    const bytes: number[] = [];
    for (let rest = stream; rest > 0n; rest >>= 8n) bytes.push(Number(rest & 0xffn));
    return [...section.slice(0, start), ...bytes];
  };
  const bytesOfBits = (sequences: readonly Sequence[], tables: SequenceTables): number => {
    const { literals, offset, match } = { ...predefined, ...tables };
    return sequencesSection(sequences, tables).length - 2 - [literals, offset, match].reduce((sum, { description }) => sum + description.length, 0);
  };

  test.each<readonly [what: string, sequences: readonly Sequence[], tables: SequenceTables, bits: number]>([
    ['the first states', [again(1, 1, 3)], {}, 17],
    ['the extra bits of an offset', [back(1, 4, 3)], { ...ONE_LITERAL, offset: singleTable(2) }, 2],
    ['the extra bits of a match length', [again(1, 1, 40)], { ...ONE_LITERAL, match: singleTable(34) }, 1],
    ['the extra bits of a literal length', [again(17, 1, 3)], { ...ONE_LITERAL, literals: singleTable(16) }, 1],
    ['the extra bits of all three', [back(20, 20, 50)], { literals: singleTable(18), offset: singleTable(4), match: singleTable(37) }, 7],
    ['the next state of literal lengths', [again(1, 1, 3), again(1, 1, 3)], { ...ONE_LITERAL, literals: describedTable([16, 16], 5) }, 6],
    ['the next state of match lengths', [again(1, 1, 3), again(1, 1, 3)], { ...ONE_LITERAL, match: describedTable([16, 16], 5) }, 6],
    ['the next state of offsets', [again(1, 1, 3), again(1, 1, 3)], { ...ONE_LITERAL, offset: describedTable([16, 16], 5) }, 6],
    ['the next states of all three', [again(1, 1, 3), again(1, 1, 3)], { literals: describedTable([16, 16], 5), match: describedTable([16, 16], 5), offset: describedTable([16, 16], 5) }, 18],
  ])('are refused where %s are truncated', (_, sequences, tables, bits) => {
    const literals = Array.from({ length: 30 }, (_, i) => i);
    expectRead(literals, sequences, tables);
    for (let count = 1; count <= bits; count++) {
      judges.expectRefused(zstdFrame([rawBlock(ABC), compressedBlock([...rawLiterals(literals), ...cut(sequences, tables, count)])]), 'the sequences are truncated');
    }
  });

  test('are refused where some are left', () => {
    for (const sequences of [[again(1, 1, 3)], [back(1, 2, 3), back(1, 2, 3), back(1, 1, 40)]]) {
      for (const more of [1, 7, 8]) {
        const section = sequencesSection(sequences, {}, sequenceCount(sequences.length), [[0, more]]);
        judges.expectRefused(zstdFrame([rawBlock(ABC), compressedBlock([...rawLiterals([1, 2, 3]), ...section])]), 'bits follow the last sequence');
      }
    }
  });

  test('are refused where their last byte is zero', () => {
    judges.expectRefused(frameWith(1, 0x54, 1, 0, 0, 0), 'a stream of bits has no end mark');
  });
});

test('frames of random literals and sequences give what these make', () => {
  for (let seed = 0; seed < 20; seed++) {
    const random = seeded(seed);
    const any = (symbols: number, accuracy: number): CodeTable => {
      const counts = Array.from({ length: symbols }, () => 1);
      for (let left = 2 ** accuracy - symbols; left > 0; left--) counts[random.below(symbols)]!++;
      // A share of less than one row.
      return describedTable(counts.map((count) => (count === 1 && random.below(2) === 0 ? -1 : count)), accuracy);
    };
    let state = executed(ABC, []);
    let tables: Required<SequenceTables> = { literals: any(36, 6 + random.below(4)), offset: any(20, 5 + random.below(4)), match: any(53, 6 + random.below(4)) };
    const blocks: Block[] = [rawBlock(ABC)];
    for (let i = 0; i < 3; i++) {
      const sequences: Sequence[] = [];
      let made = state.contents.length;
      let used = 0;
      for (let count = 1 + random.below(60); count > 0; count--) {
        const literals = random.pick([0, 0, 1, 2, 5, 17, 30, 70]);
        const match = 3 + random.pick([0, 1, 2, 10, 31, 40, 100, 300]);
        const offset = random.below(3) === 0 && made > 20 && literals > 0 ? 1 + random.below(3) : 3 + 1 + random.below(made + literals);
        sequences.push({ literals, offset, match });
        made += literals + match;
        used += literals;
      }
      const literals = Array.from({ length: used + random.below(4) }, () => random.below(256));
      const next = executed(literals, sequences, state);
      // An offset that is used again may reach before the frame.
      if (next.contents.includes(undefined as never)) continue;
      state = next;
      blocks.push(block(literals, sequences, tables));
      tables = { literals: tableAgain(tables.literals), offset: tableAgain(tables.offset), match: tableAgain(tables.match) };
    }
    judges.expectRead(zstdFrame(blocks), state.contents);
  }
});
