// A search that assembles no keys must find what a walk finds, or give up.
import { CorruptionError } from '@bloom/bytes';
import { seeded, type Random } from '@bloom/bytes/internal';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../../src/format/block-builder.js';
import { BlockSearch } from '../../src/format/block-search.js';
import { compareBytes, compareInternalBytes, type CompareRange } from '../../src/format/bytewise-order.js';
import { BytewiseSearch, OTHER, PAST, SAME, UNKNOWN } from '../../src/format/bytewise-search.js';
import { encodeInternalKey } from '../../src/format/internal-key.js';

interface Order {
  readonly name: string;
  readonly compare: CompareRange;
  readonly trailerLength: number;
  key(random: Random): Uint8Array;
}

/** Keys of few different bytes, so that many are prefixes of others. */
function shortKey(random: Random): Uint8Array {
  const start = random.below(4) === 0 ? 'common prefix of many keys ' : '';
  return Uint8Array.of(...Buffer.from(start), ...random.bytes(random.below(9)).map((byte) => byte & 3));
}

const ORDERS: readonly Order[] = [
  { name: 'bytewise keys', compare: compareBytes, trailerLength: 0, key: shortKey },
  {
    name: 'internal keys',
    compare: compareInternalBytes,
    trailerLength: 8,
    key: (random) => encodeInternalKey({ userKey: shortKey(random), sequence: BigInt(random.below(300)), type: random.below(2) }),
  },
];

/** Lengths that take one to three bytes, mostly one. */
const VALUE_LENGTHS = [0, 1, 100, 127, 128, 129, 300, 16_400];

function block(random: Random, { compare, key }: Order, valueLengths = VALUE_LENGTHS): { readonly contents: Uint8Array; readonly keys: Uint8Array[] } {
  const builder = new BlockBuilder(1 + random.below(20));
  const drawn = Array.from({ length: 1 + random.below(60) }, () => key(random));
  drawn.sort((a, b) => compare(a, 0, a.length, b, 0, b.length));
  const keys = drawn.filter((bytes, i) => i === 0 || Buffer.compare(bytes, drawn[i - 1]!) !== 0);
  for (const bytes of keys) builder.add(bytes, random.bytes(random.pick(valueLengths)));
  return { contents: builder.finish(), keys };
}

/** What a walk that assembles every key finds, and where the entry is. */
function walked(contents: Uint8Array, { compare, trailerLength }: Order, target: Uint8Array): readonly number[] {
  // No search recognises this order.
  const walk = new BlockSearch((...ranges) => compare(...ranges), 'data block');
  walk.reset(contents, 0);
  if (!walk.seek(target)) return [PAST];
  const userKey = walk.keyBytes.subarray(0, walk.keyLength - trailerLength);
  const isSame = Buffer.compare(userKey, target.subarray(0, target.length - trailerLength)) === 0;
  return [isSame ? SAME : OTHER, walk.entryStart, walk.valueStart, walk.valueEnd];
}

/** What a search finds, which may be that it cannot tell. */
function searched(contents: Uint8Array, { compare }: Order, target: Uint8Array, start = 0, end = target.length): readonly number[] {
  const search = new BytewiseSearch(compare);
  const outcome = search.search(contents, target, start, end);
  return outcome === PAST || outcome === UNKNOWN ? [outcome] : [outcome, search.entryStart, search.valueStart, search.valueEnd];
}

describe.each(ORDERS)('a search for $name', (order) => {
  const { trailerLength } = order;

  test('finds the entry that a walk finds, and says whether its user key is the same', () => {
    const random = seeded(81);
    const outcomes = new Map<number, number>();
    for (let round = 0; round < 300; round++) {
      const { contents, keys } = block(random, order);
      for (const target of [...keys, ...Array.from({ length: 60 }, () => order.key(random))]) {
        // The key is in the middle of a larger array, like the keys of a batch.
        const start = random.below(12);
        const array = Uint8Array.of(...random.bytes(start), ...target, ...random.bytes(9));
        const found = searched(contents, order, array, start, start + target.length);
        outcomes.set(found[0]!, (outcomes.get(found[0]!) ?? 0) + 1);
        if (found[0] !== UNKNOWN) expect(found).toEqual(walked(contents, order, target));
      }
    }
    for (const outcome of [PAST, OTHER, SAME]) expect(outcomes.get(outcome)).toBeGreaterThan(500);
    // It gives up only where an entry may share bytes of a trailer.
    expect(outcomes.get(UNKNOWN) ?? 0)[trailerLength > 0 ? 'toBeGreaterThan' : 'toBe'](0);
  });

  test('does not give up on keys none of which is a prefix of another', () => {
    const random = seeded(82);
    const stored = (i: number): Uint8Array => {
      const userKey = Buffer.from(`key ${String(i).padStart(6, '0')}`);
      return trailerLength > 0 ? encodeInternalKey({ userKey, sequence: 7n, type: 1 }) : userKey;
    };
    const builder = new BlockBuilder(16);
    const count = 500;
    for (let i = 0; i < count; i++) builder.add(stored(i * 2), random.bytes(random.pick(VALUE_LENGTHS)));
    const contents = builder.finish();
    for (let i = 0; i < count; i++) {
      expect(searched(contents, order, stored(i * 2))[0]).toBe(SAME);
      expect(searched(contents, order, stored(i * 2 + 1))[0]).toBe(i === count - 1 ? PAST : OTHER);
    }
  });

  test('finds the same as a walk in a damaged block too, and gives up where the walk reports damage', () => {
    const random = seeded(83);
    let reported = 0;
    let found = 0;
    for (let round = 0; round < 4000; round++) {
      const { contents, keys } = block(random, order, [0, 1, 2]);
      for (let i = 1 + random.below(8); i > 0; i--) contents[random.below(contents.length)] = random.pick([0, 1, 0x80, random.below(256)]);
      const target = random.pick(keys);
      const result = searched(contents, order, target);
      try {
        const expected = walked(contents, order, target);
        if (result[0] !== UNKNOWN) expect(result, `round ${round}`).toEqual(expected);
        found++;
      } catch (error) {
        if (!(error instanceof CorruptionError)) throw error;
        expect(result, `round ${round}`).toEqual([UNKNOWN]);
        reported++;
      }
    }
    expect(Math.min(found, reported)).toBeGreaterThan(500);
  });
});

test('a search in another order gives up at once', () => {
  const { contents, keys } = block(seeded(84), ORDERS[0]!);
  const backwards: CompareRange = (a, aStart, aEnd, b, bStart, bEnd) => -compareBytes(a, aStart, aEnd, b, bStart, bEnd);
  expect(new BytewiseSearch(backwards).search(contents, keys[0]!, 0, keys[0]!.length)).toBe(UNKNOWN);
});

test.each([0, 1, 7])('%i bytes are not a block to search', (length) => {
  const key = Uint8Array.of(1);
  expect(new BytewiseSearch(compareBytes).search(new Uint8Array(length), key, 0, 1)).toBe(UNKNOWN);
});
