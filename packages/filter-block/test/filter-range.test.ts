import { FILTER_BASE, FilterBlockBuilder, FilterBlockReader, MAX_FILTER_RANGE } from '@bloom/filter-block';
import { expect, test } from 'vitest';
import { hex, listPolicy, utf8 } from './test-policies.js';

/** The filter block for data blocks at these offsets. The key of each is its offset. */
const OFFSETS = [0, 15, 16, 40, 2047, 2048, 5000, 9000, 70_000];

function contentsWith(filterRange?: number): Uint8Array {
  const builder = new FilterBlockBuilder(listPolicy, filterRange);
  for (const offset of OFFSETS) {
    builder.startBlock(offset);
    builder.addKey(utf8(String(offset)));
  }
  return builder.finish();
}

test.each([1, 2, 16, 1024, 2048, 4096, 2 ** 16, 2 ** 32, MAX_FILTER_RANGE])(
  'each key is in the filter of its range of %i bytes, and in no other',
  (range) => {
    const reader = new FilterBlockReader(listPolicy, contentsWith(range));
    expect(reader.base).toBe(range);
    for (const asked of OFFSETS) {
      const yes = OFFSETS.filter((offset) => reader.keyMayMatch(asked, utf8(String(offset))));
      expect(yes).toEqual(OFFSETS.filter((offset) => Math.floor(offset / range) === Math.floor(asked / range)));
    }
  },
);

test('without a range, a filter covers 2 KiB', () => {
  expect(hex(contentsWith())).toBe(hex(contentsWith(FILTER_BASE)));
});

test('the widest range makes one filter of all keys', () => {
  expect(new FilterBlockReader(listPolicy, contentsWith(MAX_FILTER_RANGE)).filterCount).toBe(1);
});

test.each([0, 3, -2048, 2.5, 0.5, 2048 * (1 + Number.EPSILON), 2 ** 41, Number.NaN, Infinity, '2048' as unknown as number, null as unknown as number])(
  'a range of %s is refused',
  (range) => {
    expect(() => new FilterBlockBuilder(listPolicy, range)).toThrow(
      new RangeError(`filterRange must be a power of two from 1 to 2^40, got ${typeof range === 'string' ? '"2048"' : String(range)}`),
    );
  },
);

test('an offset with 2^30 ranges before it is refused', () => {
  expect(() => {
    new FilterBlockBuilder(listPolicy, 16).startBlock(2 ** 34);
  }).toThrow(new RangeError(`blockOffset must be below ${2 ** 34}, got ${2 ** 34}`));
});
