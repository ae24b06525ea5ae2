import { fromHex, realTables } from '@bloom/fixtures';
import { FilterBlockBuilder, FilterBlockReader } from '@bloom/filter-block';
import { BloomFilterPolicy, PrefixFilterPolicy, prefixThrough } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { hex, listPolicy, testHashPolicy, utf8 } from './test-policies.js';

/** A filter block for data blocks with these offsets and keys. */
function build(blocks: readonly (readonly [number, readonly string[]])[], policy = testHashPolicy): Uint8Array {
  const builder = new FilterBlockBuilder(policy);
  for (const [offset, keys] of blocks) {
    builder.startBlock(offset);
    for (const key of keys) builder.addKey(utf8(key));
  }
  return builder.finish();
}

/** A filter block made of these parts, in hex. */
function contentsOf(filters: string, offsets: readonly number[], offsetsStart: number, baseLg = 11): Uint8Array {
  const words = new Uint8Array((offsets.length + 1) * 4);
  const view = new DataView(words.buffer);
  for (const [i, offset] of [...offsets, offsetsStart].entries()) view.setUint32(i * 4, offset, true);
  return Uint8Array.of(...fromHex(filters), ...words, baseLg);
}

describe('the answers of LevelDB, table/filter_block_test.cc', () => {
  const answers = (contents: Uint8Array, offset: number, keys: readonly string[]): boolean[] => {
    const reader = new FilterBlockReader(testHashPolicy, contents);
    return keys.map((key) => reader.keyMayMatch(offset, utf8(key)));
  };

  test('EmptyBuilder: without filters, every key matches', () => {
    expect(answers(build([]), 0, ['foo'])).toEqual([true]);
    expect(answers(build([]), 100_000, ['foo'])).toEqual([true]);
  });

  test('SingleChunk: the keys of the range match, and others do not', () => {
    const contents = build([
      [100, ['foo', 'bar', 'box']],
      [200, ['box']],
      [300, ['hello']],
    ]);
    expect(answers(contents, 100, ['foo', 'bar', 'box', 'hello', 'missing', 'other'])).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  test.each([
    { offset: '0', yes: 'foo bar', no: 'box hello' },
    { offset: '2000', yes: 'foo bar', no: 'box hello' },
    { offset: '3100', yes: 'box', no: 'foo bar hello' },
    { offset: '4100', yes: '', no: 'foo bar box hello' },
    { offset: '9000', yes: 'box hello', no: 'foo bar' },
  ])('MultiChunk at $offset: of the words, "$yes" match', ({ offset, yes, no }) => {
    const contents = build([
      [0, ['foo']],
      [2000, ['bar']],
      [3100, ['box']],
      [9000, ['box', 'hello']],
    ]);
    const words = [...yes.split(' '), ...no.split(' ')].filter((word) => word !== '');
    const matching = words.filter((word) => answers(contents, Number(offset), [word])[0]);
    expect(matching.join(' ')).toBe(yes);
  });
});

describe('past the filters', () => {
  const contents = build([[0, ['foo']]]);

  test('every key matches', () => {
    const reader = new FilterBlockReader(testHashPolicy, contents);
    for (const offset of [2048, 4096, 2 ** 31, 2 ** 32, 2 ** 32 + 2048, 2 ** 43, 2 ** 53 - 1]) {
      expect(reader.keyMayMatch(offset, utf8('bar'))).toBe(true);
    }
    expect(reader.keyMayMatch(2047, utf8('bar'))).toBe(false);
  });

  test('filterAt returns undefined', () => {
    const reader = new FilterBlockReader(testHashPolicy, contents);
    expect([-1, 1, 2 ** 32, 0.5, Number.NaN].map((i) => reader.filterAt(i))).toEqual(Array(5).fill(undefined));
    expect(hex(reader.filterAt(0)!)).toBe('c43577fe');
  });
});

test('a range without keys matches no key, and the policy is not called', () => {
  const contents = build([
    [0, ['foo']],
    [5000, ['bar']],
  ]);
  const yes = new FilterBlockReader({ ...testHashPolicy, keyMayMatch: () => true }, contents);
  expect([0, 2048, 4096].map((offset) => yes.keyMayMatch(offset, utf8('foo')))).toEqual([true, false, true]);
});

test('a policy gets plain arrays of a block in a Buffer, so that the slice that it writes to is a copy', () => {
  const wiping = {
    ...testHashPolicy,
    keyMayMatch(key: Uint8Array, filter: Uint8Array) {
      const copy = filter.slice();
      const answer = testHashPolicy.keyMayMatch(key, copy);
      copy.fill(0);
      return answer;
    },
  };
  const reader = new FilterBlockReader(wiping, Buffer.from(build([[0, ['foo']]])));
  expect([1, 2].map(() => reader.keyMayMatch(0, utf8('foo')))).toEqual([true, true]);
  expect([1, 2].map(() => reader.denies(0, utf8('foo'), 0, 3))).toEqual([false, false]);
});

test('a word before the offsets is not the offset of a filter', () => {
  expect(new FilterBlockReader(testHashPolicy, contentsOf('00000000', [0], 4)).filterAt(-1)).toBeUndefined();
});

test('base is 2^baseLg if the block can be read, even without filters, and 2048 otherwise', () => {
  const baseOf = (contents: string): number => new FilterBlockReader(testHashPolicy, fromHex(contents)).base;
  expect(['0000000005', '378c73d9' + '0400000005'].map(baseOf)).toEqual([32, 32]);
  expect(['ffffffff05', '378c73d9' + '0500000005', '00000005', ''].map(baseOf)).toEqual([2048, 2048, 2048, 2048]);
});

describe('a reader', () => {
  test('returns the filters, base and length of a block', () => {
    const contents = build([
      [0, ['foo']],
      [5000, ['bar']],
    ]);
    const reader = new FilterBlockReader(testHashPolicy, contents);
    expect(reader).toMatchObject({ filterCount: 3, base: 2048, byteLength: contents.length });
    expect([0, 1, 2].map((i) => hex(reader.filterAt(i)!))).toEqual(['c43577fe', '', '378c73d9']);
  });

  const stored = realTables().filter(
    ({ filter, blockTypes }) => filter !== null && Object.keys(blockTypes.filter ?? {}).join() === '0',
  );

  test('the fixtures have real tables with filters', () => {
    expect(stored).not.toHaveLength(0);
  });

  test.each(stored)('the real table $file has the recorded number of filters, all complete', ({ filter, bytes }) => {
    const { offset, size, filterCount, baseLg } = filter!;
    const reader = new FilterBlockReader(new BloomFilterPolicy(), bytes().subarray(offset, offset + size));
    expect(reader).toMatchObject({ filterCount, base: 2 ** baseLg });
    const filters = Array.from({ length: filterCount }, (_, i) => reader.filterAt(i));
    // Each filter is empty, for a range in which no block starts, or ends with its number of probes.
    expect(filters.filter((each) => each === undefined || (each.length > 0 && each.at(-1)! > 30))).toEqual([]);
    expect(filters.some((each) => each!.length > 8)).toBe(true);
  });
});

describe('a damaged block', () => {
  const foo = utf8('foo');
  const reads = (contents: Uint8Array, offset = 0): boolean =>
    new FilterBlockReader(testHashPolicy, contents).keyMayMatch(offset, foo);

  test('shorter than 5 bytes matches every key', () => {
    for (const contents of ['', '0b', '000b', '00000b', '0000000b', '00000000']) {
      expect(reads(fromHex(contents))).toBe(true);
      expect(new FilterBlockReader(testHashPolicy, fromHex(contents)).filterCount).toBe(0);
    }
  });

  test('whose offsets start past their own offset matches every key', () => {
    // If it were read, the filter of "bar" would not match "foo".
    expect(reads(contentsOf('378c73d9', [0], 4))).toBe(false);
    for (const offsetsStart of [9, 10, 0x7fffffff, 0x80000000, 0xffffffff]) {
      expect(reads(contentsOf('378c73d9', [0], offsetsStart))).toBe(true);
      expect(new FilterBlockReader(testHashPolicy, contentsOf('378c73d9', [0], offsetsStart)).filterCount).toBe(0);
    }
  });

  test('whose offsets start at their own offset has no filters', () => {
    expect(reads(contentsOf('378c73d9', [0], 8))).toBe(true);
    expect(new FilterBlockReader(testHashPolicy, contentsOf('378c73d9', [0], 8)).filterCount).toBe(0);
  });

  test('ignores an incomplete offset', () => {
    // One offset, followed by one to three more bytes.
    for (const offsetsStart of [1, 2, 3]) {
      const reader = new FilterBlockReader(testHashPolicy, contentsOf('378c73d9', [0], offsetsStart));
      expect(reader.filterCount).toBe(1);
      expect(reader.keyMayMatch(2048, foo)).toBe(true);
    }
  });

  test('matches every key in a range whose filter ends before it starts', () => {
    const contents = contentsOf('378c73d9378c73d9', [0, 8, 4], 8);
    expect([0, 2048, 4096].map((offset) => reads(contents, offset))).toEqual([false, true, false]);
  });

  test('matches every key in a range whose filter ends past the start of the offsets', () => {
    const contents = contentsOf('378c73d9378c73d9', [0, 9, 0xffffffff], 8);
    expect([0, 2048, 4096].map((offset) => reads(contents, offset))).toEqual([true, true, true]);
  });

  test("matches every key in a range whose filter starts past the start of the offsets, where LevelDB's reader matches none", () => {
    for (const offset of [9, 100, 0x80000000, 0xffffffff]) {
      expect(reads(contentsOf('378c73d9', [offset, offset], 4))).toBe(true);
    }
  });

  test('matches no key in a range whose filter is empty', () => {
    for (const offset of [0, 1, 4]) expect(reads(contentsOf('378c73d9', [offset, offset], 4))).toBe(false);
  });
});

describe('baseLg', () => {
  const two = '378c73d9c43577fe'; // bar | foo
  const range = (baseLg: number, offset: number): 'bar' | 'foo' | 'both' | 'neither' => {
    const reader = new FilterBlockReader(testHashPolicy, contentsOf(two, [0, 4], 8, baseLg));
    const [bar, foo] = ['bar', 'foo'].map((key) => reader.keyMayMatch(offset, utf8(key)));
    return bar === true ? (foo === true ? 'both' : 'bar') : foo === true ? 'foo' : 'neither';
  };

  test('of 0 to 52 divides the file into ranges of 2^baseLg bytes', () => {
    for (let baseLg = 0; baseLg <= 52; baseLg++) {
      const base = 2 ** baseLg;
      expect([0, base - 1].map((offset) => range(baseLg, offset))).toEqual(['bar', 'bar']);
      expect([base, base * 2 - 1].map((offset) => range(baseLg, offset))).toEqual(['foo', 'foo']);
      if (baseLg < 52) expect(range(baseLg, base * 2)).toBe('both');
    }
  });

  test('of 53 to 63 makes the whole file one range', () => {
    for (let baseLg = 53; baseLg < 64; baseLg++) {
      expect([0, 2 ** 32, 2 ** 53 - 1].map((offset) => range(baseLg, offset))).toEqual(['bar', 'bar', 'bar']);
    }
  });

  test('of 64 or more, which is not a valid shift in C++, matches every key', () => {
    for (let baseLg = 64; baseLg < 256; baseLg++) {
      expect([0, 2048, 2 ** 53 - 1].map((offset) => range(baseLg, offset))).toEqual(['both', 'both', 'both']);
    }
  });
});

describe('a range of bytes as the key', () => {
  const contents = build([
    [0, ['foo']],
    [5000, ['bar']],
  ]);
  const inside = utf8('xfooy');

  test.each([
    ['a policy that answers for ranges', new BloomFilterPolicy(), true],
    ['a policy that answers only for whole keys', listPolicy, false],
  ])('%s gets exactly the bytes of the key', (_, policy, answersForRanges) => {
    expect(typeof policy.keyMayMatchRange === 'function').toBe(answersForRanges);
    const reader = new FilterBlockReader(policy, build([[0, ['foo']]], policy));
    const denied = (keyBytes: Uint8Array, start: number, end: number): boolean => reader.denies(0, keyBytes, start, end);
    expect([denied(inside, 1, 4), denied(utf8('fooy'), 0, 3), denied(utf8('xfoo'), 1, 4), denied(utf8('foo'), 0, 3)]).toEqual([false, false, false, false]);
    expect([denied(inside, 0, 4), denied(inside, 1, 5), denied(inside, 0, 5), denied(utf8('fooy'), 0, 4)]).toEqual([true, true, true, true]);
  });

  test('is not denied by an empty filter, which contradicts the index', () => {
    const reader = new FilterBlockReader(testHashPolicy, contents);
    expect([0, 2048, 4096].map((offset) => reader.denies(offset, inside, 1, 4))).toEqual([false, false, true]);
  });
});

describe('prefixes', () => {
  const policy = new PrefixFilterPolicy(prefixThrough(0x2f));
  const contents = build(
    [
      [0, ['box/1', 'box/2']],
      [5000, ['fox/1']],
    ],
    policy,
  );
  const reader = new FilterBlockReader(policy, contents);

  test('are those of the policy', () => {
    expect(reader.prefixes).toBe(policy.prefixes);
    expect(new FilterBlockReader(testHashPolicy, contents).prefixes).toBeUndefined();
  });

  test('are denied by the filter of the range in which no key has them', () => {
    const denied = (prefix: string, offset: number): boolean => reader.deniesPrefix(offset, utf8(prefix));
    expect(['box/', 'fox/', 'cat/'].map((prefix) => denied(prefix, 0))).toEqual([false, true, true]);
    expect(['box/', 'fox/', 'cat/'].map((prefix) => denied(prefix, 4096))).toEqual([true, false, true]);
  });

  test('are denied neither by an empty filter nor past the filters', () => {
    expect([2048, 4096 + 2048, 2 ** 40].map((offset) => reader.deniesPrefix(offset, utf8('cat/')))).toEqual([false, false, false]);
  });

  test('are denied neither by a damaged filter nor by a policy without prefixes', () => {
    const damaged = new FilterBlockReader(policy, contentsOf('00'.repeat(8), [0, 9], 8));
    expect([0, 2048].map((offset) => damaged.deniesPrefix(offset, utf8('cat/')))).toEqual([false, false]);
    expect(new FilterBlockReader(new BloomFilterPolicy(), contents).deniesPrefix(0, utf8('cat/'))).toBe(false);
  });
});

test('filterAt returns undefined for a filter that ends before it starts, or past the start of the offsets', () => {
  const reader = new FilterBlockReader(testHashPolicy, contentsOf('378c73d9378c73d9', [0, 8, 4, 9], 8));
  expect([0, 1, 2, 3].map((i) => reader.filterAt(i)?.length)).toEqual([8, undefined, undefined, undefined]);
});

test('reads contents at any offset of a larger buffer', () => {
  const contents = build([[0, ['foo']]], listPolicy);
  for (let at = 0; at < 9; at++) {
    const greater = new Uint8Array(contents.length + 20).fill(0xff);
    greater.set(contents, at);
    const reader = new FilterBlockReader(listPolicy, greater.subarray(at, at + contents.length));
    expect(['foo', 'bar'].map((key) => reader.keyMayMatch(0, utf8(key)))).toEqual([true, false]);
  }
});

test('does not change the contents', () => {
  const contents = build([[0, ['foo']]]);
  const before = hex(contents);
  new FilterBlockReader(testHashPolicy, contents).keyMayMatch(0, utf8('bar'));
  expect(hex(contents)).toBe(before);
});
