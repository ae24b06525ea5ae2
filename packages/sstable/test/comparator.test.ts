import { vectors } from '@bloom/fixtures';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareBytes, compareInternalBytes } from '../src/format/bytewise-order.js';
import { compareRangeOf } from '../src/format/checked-comparator.js';
import { bytewiseComparator, type Comparator } from '../src/format/comparator.js';
import { encodeInternalKey, internalKeyComparator } from '../src/format/internal-key.js';
import { hex, utf8 } from './entries.js';

const { separators, successors } = vectors();
const compare = (a: Uint8Array, b: Uint8Array): number => bytewiseComparator.compare(a, b);

test('the name is the one in LevelDB', () => {
  expect(bytewiseComparator.name).toBe('leveldb.BytewiseComparator');
  expect(bytewiseComparator.keyEquivalence).toBeUndefined();
});

// Measured from LevelDB.
test.each(separators.map((vector) => [hex(vector.start), hex(vector.limit), hex(vector.separator), vector] as const))(
  'the shortest separator of %j and %j is %j, as in LevelDB',
  (_start, _limit, separator, vector) => {
    expect(hex(bytewiseComparator.findShortestSeparator(vector.start, vector.limit))).toBe(separator);
  },
);

// Measured from LevelDB.
test.each(successors.map((vector) => [hex(vector.key), hex(vector.successor), vector] as const))(
  'the short successor of %j is %j, as in LevelDB',
  (_key, successor, vector) => {
    expect(hex(bytewiseComparator.findShortSuccessor(vector.key))).toBe(successor);
  },
);

test('bytes are compared as unsigned, and a prefix comes first', () => {
  const ascending = ['', '00', '0000', '01', '7f', '80', '80ff', 'ff', 'ff00', 'ffff'].map((key) => Buffer.from(key, 'hex'));
  const wrong: string[] = [];
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) {
      if (Math.sign(compare(a, b)) !== Math.sign(i - j)) wrong.push(`${hex(a)} and ${hex(b)}`);
    }
  }
  expect(wrong).toEqual([]);
});

// Only a few letters and 0xff, so that there are shared prefixes and carries.
const key = fc.array(fc.constantFrom(0x00, 0x61, 0x62, 0xfe, 0xff), { maxLength: 6 }).map((bytes) => Uint8Array.from(bytes));

test('the order is the same as memcmp', () => {
  fc.assert(fc.property(key, key, (a, b) => Math.sign(compare(a, b)) === Buffer.compare(a, b)));
});

test('the order of two ranges does not depend on where they are in their arrays', () => {
  const padding = fc.uint8Array({ maxLength: 3 });
  fc.assert(
    fc.property(key, key, padding, padding, padding, padding, (a, b, beforeA, afterA, beforeB, afterB) => {
      const inA = Uint8Array.of(...beforeA, ...a, ...afterA);
      const inB = Uint8Array.of(...beforeB, ...b, ...afterB);
      const order = compareBytes(inA, beforeA.length, beforeA.length + a.length, inB, beforeB.length, beforeB.length + b.length);
      return Math.sign(order) === Buffer.compare(a, b);
    }),
  );
});

test('a separator is at or after the start, before the limit, and no longer than the start', () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      fc.pre(compare(a, b) < 0);
      const separator = bytewiseComparator.findShortestSeparator(a, b);
      return compare(a, separator) <= 0 && compare(separator, b) < 0 && separator.length <= a.length;
    }),
  );
});

test('a successor is at or after its key, and no longer than it', () => {
  fc.assert(
    fc.property(key, (a) => {
      const successor = bytewiseComparator.findShortSuccessor(a);
      return compare(a, successor) <= 0 && successor.length <= a.length;
    }),
  );
});

test('findShortestSeparator and findShortSuccessor do not change their arguments', () => {
  const start = utf8('abc1');
  const limit = utf8('abe');
  bytewiseComparator.findShortestSeparator(start, limit);
  bytewiseComparator.findShortSuccessor(start);
  expect([start, limit]).toEqual([utf8('abc1'), utf8('abe')]);
});

test('a comparator without compareRange is called with views', () => {
  const { compareRange: _, ...withoutRanges } = bytewiseComparator;
  const compareRange = compareRangeOf(withoutRanges);
  const keys = utf8('..abc..abd');
  expect(compareRange(keys, 2, 5, keys, 7, 10)).toBeLessThan(0);
  expect(compareRange(keys, 2, 4, keys, 7, 9)).toBe(0);
  expect(compareRange(keys, 7, 10, keys, 2, 5)).toBeGreaterThan(0);
});

test('compareRange is called as a method of its comparator', () => {
  const backwards: Comparator & { readonly sign: number } = {
    ...bytewiseComparator,
    sign: -1,
    compare: () => expect.unreachable('compareRange is there to be used'),
    compareRange(...ranges) {
      return this.sign * compareBytes(...ranges);
    },
  };
  const keys = utf8('..abc..abd');
  expect(compareRangeOf(backwards)(keys, 2, 5, keys, 7, 10)).toBeGreaterThan(0);
});

test('LevelDB’s two orders are returned as they are, because searches recognise them by identity', () => {
  expect(compareRangeOf(bytewiseComparator)).toBe(compareBytes);
  expect(compareRangeOf(internalKeyComparator())).toBe(compareInternalBytes);
});

test('a copy of the bytewise comparator with a compare of its own orders by that', () => {
  const backwards = { ...bytewiseComparator, name: 'test.Backwards', compare: (a: Uint8Array, b: Uint8Array) => bytewiseComparator.compare(b, a) };
  const compareRange = compareRangeOf(backwards);
  expect(compareRange(Uint8Array.of(1), 0, 1, Uint8Array.of(2), 0, 1)).toBeGreaterThan(0);
  const internal = compareRangeOf(internalKeyComparator(backwards));
  const [one, two] = [1, 2].map((byte) => encodeInternalKey({ userKey: Uint8Array.of(byte), sequence: 1n, type: 1 })) as [Uint8Array, Uint8Array];
  expect(internal(one, 0, one.length, two, 0, two.length)).toBeGreaterThan(0);
});
