import type { LabelledRange } from '@bloom/bytes';
import { fromHex, seeded } from '@bloom/fixtures';
import { FilterBlockBuilder, filterBlockLayout } from '@bloom/filter-block';
import { bloomFilterLayout, BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { testHashPolicy, utf8 } from './test-policies.js';

/** A block with filters for the ranges at 0 and 4096, and an empty filter between them. */
function build(policy: FilterPolicy): Uint8Array {
  const builder = new FilterBlockBuilder(policy);
  builder.startBlock(0);
  builder.addKey(utf8('foo'));
  builder.addKey(utf8('bar'));
  builder.startBlock(4096);
  builder.addKey(utf8('box'));
  return builder.finish();
}

/** Each range as `offset + length: label (value)`. */
function lines(contents: Uint8Array, offset = 0, isBloom = false): string[] {
  const all = [...filterBlockLayout(contents, offset, isBloom)];
  return all.map(({ offset, byteLength, label, value }) => `${offset} + ${byteLength}: ${label}${value === undefined ? '' : ` (${value})`}`);
}

test('labels filters, offsets, the offset of the offsets and baseLg, with their offsets in the file', () => {
  expect(lines(build(testHashPolicy), 1000)).toEqual([
    '1000 + 8: filter 0: bytes',
    '1008 + 4: filter 2: bytes',
    '1012 + 4: offset of filter 0 (0)',
    '1016 + 4: offset of filter 1 (8)',
    '1020 + 4: offset of filter 2 (8)',
    '1024 + 4: offset of the offsets (12)',
    '1028 + 1: baseLg (11: a filter for every 2048 bytes)',
  ]);
});

test('splits LevelDB’s Bloom filters into their parts', () => {
  const contents = build(new BloomFilterPolicy());
  const parts = (i: number, start: number): LabelledRange[] =>
    bloomFilterLayout(contents.subarray(start, start + 9), 1000 + start).map((part) => ({ ...part, label: `filter ${i}: ${part.label}` }));
  const filters = [...parts(0, 0), ...parts(2, 9)];
  const layout = [...filterBlockLayout(contents, 1000, true)];
  expect(filters.length).toBeGreaterThan(2);
  expect(layout.slice(0, filters.length)).toEqual(filters);
  expect(layout[filters.length]).toMatchObject({ offset: 1018, label: 'offset of filter 0' });
});

test('a block without filters has only the offset of the offsets, and baseLg', () => {
  expect(lines(fromHex('000000000b'))).toEqual(['0 + 4: offset of the offsets (0)', '4 + 1: baseLg (11: a filter for every 2048 bytes)']);
});

describe('a damaged block', () => {
  test('that cannot be read as a filter block is one range, or no range if it is empty', () => {
    expect(lines(new Uint8Array(), 7)).toEqual([]);
    for (const contents of ['0b', '0000000b', '010000000b', 'ffffffff0b', '00000000' + '05000000' + '0b']) {
      const bytes = fromHex(contents);
      expect(lines(bytes, 7)).toEqual([`7 + ${bytes.length}: not a filter block`]);
    }
  });

  test('can have bytes of no filter before and after its filters, and after their offsets', () => {
    const filters = '00112233445566778899';
    const offsets = '02000000' + '04000000';
    // Two extra bytes follow the offsets.
    expect(lines(fromHex(`${filters}${offsets}ffff0a0000000b`))).toEqual([
      '0 + 2: bytes of no filter',
      '2 + 2: filter 0: bytes',
      // The end of filter 1 is read from the four bytes after its offset, which begin with the two extra ones. It is past the
      // filters.
      '4 + 6: bytes of no filter',
      '10 + 4: offset of filter 0 (2)',
      '14 + 4: offset of filter 1 (4)',
      '18 + 2: bytes of no filter',
      '20 + 4: offset of the offsets (10)',
      '24 + 1: baseLg (11: a filter for every 2048 bytes)',
    ]);
  });

  test.each([
    { name: 'ends before it starts', offsets: [4, 2], expected: ['0 + 2: bytes of no filter', '2 + 6: filter 1: bytes'] },
    { name: 'ends past the filters', offsets: [2, 9], expected: ['0 + 8: bytes of no filter'] },
    { name: 'ends where the filters end', offsets: [2, 8], expected: ['0 + 2: bytes of no filter', '2 + 6: filter 0: bytes'] },
    {
      name: 'overlaps one before it',
      offsets: [0, 6, 4],
      expected: ['0 + 6: filter 0: bytes', '6 + 2: bytes of no filter'],
    },
  ])('leaves out a filter that $name', ({ offsets, expected }) => {
    const contents = new Uint8Array(8 + offsets.length * 4 + 5);
    const view = new DataView(contents.buffer);
    for (const [i, word] of [...offsets, 8].entries()) view.setUint32(8 + i * 4, word, true);
    contents[contents.length - 1] = 11;
    expect(lines(contents).slice(0, expected.length + 1)).toEqual([...expected, `8 + 4: offset of filter 0 (${offsets[0]})`]);
  });

  test('of random bytes has every byte in exactly one range, in order', () => {
    const random = seeded(31);
    const wrong: string[] = [];
    for (let run = 0; run < 3000; run++) {
      const contents = run % 2 === 0 ? build(run % 3 === 0 ? testHashPolicy : new BloomFilterPolicy()) : random.bytes(random.below(60));
      for (let flips = random.below(4); flips >= 0 && contents.length > 0; flips--) contents[random.below(contents.length)] = random.below(16);
      let position = 500;
      for (const { offset, byteLength } of filterBlockLayout(contents, 500, run % 3 !== 0)) {
        if (offset !== position || byteLength <= 0) wrong.push(`run ${run}: ${byteLength} bytes at ${offset}, not at ${position}`);
        position += byteLength;
      }
      if (position !== 500 + contents.length) wrong.push(`run ${run}: ends at ${position}`);
    }
    expect(wrong.slice(0, 3)).toEqual([]);
  });
});

test('of anything but bytes is refused', () => {
  for (const contents of ['abc', undefined, [1, 2]]) expect(() => [...filterBlockLayout(contents as never, 0, false)]).toThrow(/^contents must be a Uint8Array, got /);
});
