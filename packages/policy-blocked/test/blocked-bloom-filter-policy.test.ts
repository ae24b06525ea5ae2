import { fromHex, littleEndian32, seeded } from '@bloom/fixtures';
import { otherKeysTests } from '@bloom/fixtures/key-list-suite';
import { buildFilter, FilterBuffer, type KeyList } from '@bloom/policy';
import { BlockedBloomFilterPolicy, filterByteLength, MAX_PROBES, probesFor } from '@bloom/policy-blocked';
import { describe, expect, test } from 'vitest';
import { modelFilter, modelMayMatch } from './line-model.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const make = (keys: Iterable<Uint8Array>, bitsPerKey = 10): Uint8Array =>
  buildFilter(new BlockedBloomFilterPolicy(bitsPerKey), keys);
const numbered = (count: number): Uint8Array[] => Array.from({ length: count }, (_, i) => littleEndian32(i));
const policy = new BlockedBloomFilterPolicy();

describe('the constructor', () => {
  test('accepts any number above 0 up to 64, and the default is 10', () => {
    for (const bitsPerKey of [Number.MIN_VALUE, 0.5, 10, 22.7, 64]) {
      expect(new BlockedBloomFilterPolicy(bitsPerKey).bitsPerKey).toBe(bitsPerKey);
    }
    expect(policy.bitsPerKey).toBe(10);
  });

  test.each([0, -1, 64.5, Number.NaN, Number.POSITIVE_INFINITY, null, '10', [10]])('rejects %j bits per key', (given) => {
    const bitsPerKey = given as number;
    expect(() => new BlockedBloomFilterPolicy(bitsPerKey)).toThrow(RangeError);
    expect(() => new BlockedBloomFilterPolicy(bitsPerKey)).toThrow('bitsPerKey must be above 0 and at most 64');
  });
});

test('rejects a key or a filter that is not a Uint8Array, instead of reporting a stored key as absent', () => {
  const filter = make([utf8('a')]);
  const detached = utf8('a');
  structuredClone(0, { transfer: [detached.buffer as ArrayBuffer] });
  for (const key of ['a', Uint16Array.of(0x61), detached] as unknown as Uint8Array[]) {
    expect(() => policy.keyMayMatch(key, filter)).toThrow(TypeError);
    expect(() => policy.keyMayMatch(key, filter)).toThrow(/^key must /);
  }
  for (const bytes of [filter.buffer, hex(filter)] as unknown as Uint8Array[]) {
    expect(() => policy.keyMayMatch(utf8('a'), bytes)).toThrow(/^filter must be a Uint8Array, got /);
  }
});

test('rejects a range outside the key’s bytes, whatever the filter', () => {
  for (const filter of [make([utf8('a')]), make([]), Uint8Array.of(0), new Uint8Array(3), new Uint8Array(0)]) {
    for (const [start, end] of [[0, 4], [2, 1], [-1, 2], [Number.NaN, 2]] as const) {
      expect(() => policy.keyMayMatchRange(utf8('abc'), start, end, filter, 0, filter.length)).toThrow(RangeError);
    }
  }
});

test('keys beyond 2^31 bytes of their buffer make the same filter as keys at its start', () => {
  // Pages that are not touched take no memory.
  const bytes = new Uint8Array(2 ** 31 + 2 ** 16);
  const start = 2 ** 31 - 500;
  bytes.set(seeded(3).bytes(2000), start);
  const starts = Array.from({ length: 101 }, (_, i) => start + i * 19);
  const views = starts.slice(1).map((end, i) => bytes.subarray(starts[i], end));
  const keys: KeyList = { bytes, offsets: Uint32Array.from(starts), length: 100, at: (i) => views[i]!, [Symbol.iterator]: () => views.values() };
  const sink = new FilterBuffer();
  policy.createFilter(keys, sink);
  expect(sink.toBytes()).toEqual(make(views.map((key) => key.slice())));
});

describe('the size of a filter', () => {
  test('is a whole number of 64-byte lines, at least one if there is a key, plus one byte', () => {
    expect([1, 2, 51, 52, 102, 103, 1000].map((keys) => filterByteLength(keys, 10))).toEqual([
      65, 65, 65, 129, 129, 193, 1281,
    ]);
    expect(filterByteLength(1, Number.MIN_VALUE)).toBe(65);
    expect(filterByteLength(1024, 0.5)).toBe(65);
    expect(filterByteLength(1025, 0.5)).toBe(129);
    expect(make(numbered(103))).toHaveLength(193);
  });

  test('of no keys is one byte, the number of probes', () => {
    expect(filterByteLength(0, 10)).toBe(1);
    expect(hex(make([]))).toBe('06');
  });

  test('is exact beyond 2^32 bytes', () => {
    expect(filterByteLength(2 ** 32 - 1, 64)).toBe(64 * (2 ** 29) + 1);
  });
});

// These bytes were made by this package. Changing them means changing the format, which then needs another policy name.
describe('a filter has fixed bytes', () => {
  test.each([
    {
      keys: [],
      bitsPerKey: 10,
      filter:
        '06',
    },
    {
      keys: [''],
      bitsPerKey: 10,
      filter:
        '0000001000000000000000000000000080000000000000000000000000000000' +
        '0000100000000000400000000000000000000000000000000000800000020000' +
        '06',
    },
    {
      keys: ['hello', 'world'],
      bitsPerKey: 10,
      filter:
        '0080000004000000020000200000000000000002000000008000000000000000' +
        '0000000000000000200010000402000000000000000000000000000000000820' +
        '06',
    },
    {
      keys: ['hello', 'world'],
      bitsPerKey: 0.5,
      filter:
        '0000000000000000000000000000000000000000000000000000000000000000' +
        '0000000000000000000000000000000000000000000000000000000000000820' +
        '01',
    },
    {
      keys: ['hello', 'world'],
      bitsPerKey: 64,
      filter:
        '0080000005000000020040200000000001000022000000008100000002000100' +
        '400000900010000234081108840240000040000009200020000c800000400820' +
        '14',
    },
    {
      keys: ['a', 'bc', 'def', 'ghij', 'klmno', 'naïve', 'zürich', 'a key of 19 bytes'],
      bitsPerKey: 64,
      filter:
        '451c1b80981100404c14b41024c08ae1110a4140ac2520930080714408001000' +
        '02851a88203e024a86000a0205c2094a0ec5000d881880203780190080454d0c' +
        '14',
    },
    {
      keys: Array.from({ length: 30 }, (_, i) => `key${i}`),
      bitsPerKey: 44,
      filter:
        '180404c009000039844182049801226c0356002b04030000180048040620a810' +
        '8100e100010400060a453a1c04a00a22109010000a000284c61c00010170020d' +
        'ac6c4e26621110703087146020e5a31a09102484a8c246005882800038e889e5' +
        '06b0061b10502b007624736a34a810442100930dac5c018ebb122410c2099909' +
        'e009805028035413902209f0229404464c1d54112020c4801c957c8012c0809a' +
        '02020e915c98e0810900002f804b0e9820b6223830c308c0102086e8085c2458' +
        '11',
    },
  ])('for $keys at $bitsPerKey bits', ({ keys, bitsPerKey, filter }) => {
    expect(hex(make(keys.map(utf8), bitsPerKey))).toBe(filter);
    expect(hex(modelFilter(keys.map(utf8), bitsPerKey, fromHex(filter).at(-1)!))).toBe(filter);
  });
});

describe('compared with a model that keeps a set of bit numbers', () => {
  test.each([0.5, 1, 2.5, 7, 10, 16, 22.7, 33, 44, 64])('filters at %d bits have the same bytes and answers', (bitsPerKey) => {
    const seed = 40 + bitsPerKey;
    const random = seeded(seed);
    const wrong: string[] = [];
    for (const count of [0, 1, 2, 10, 52, 1 + random.below(400)]) {
      const keys = Array.from({ length: count }, () => random.bytes(random.below(20)));
      const filter = make(keys, bitsPerKey);
      if (hex(filter) !== hex(modelFilter(keys, bitsPerKey, probesFor(bitsPerKey)))) wrong.push(`bytes of ${count} keys`);
      for (const key of [...keys, ...Array.from({ length: 100 }, () => random.bytes(random.below(20)))]) {
        if (policy.keyMayMatch(key, filter) !== modelMayMatch(key, filter)) wrong.push(`${hex(key)} in ${count} keys`);
      }
    }
    expect(wrong, `seed ${seed}`).toEqual([]);
  });

  test('damaged filters and random bytes give the same answers', () => {
    const random = seeded(8);
    const wrong: string[] = [];
    const seen = { yes: 0, no: 0 };
    for (let i = 0; i < 3000; i++) {
      const filter = make(Array.from({ length: random.below(120) }, () => random.bytes(6)), 1 + random.below(40));
      const damaged = i % 2 === 0 ? filter.slice(random.below(3), filter.length - random.below(3)) : filter;
      if (i % 3 === 0 && damaged.length > 0) damaged[damaged.length - 1] = random.below(256);
      const key = random.bytes(random.below(9));
      const answer = policy.keyMayMatch(key, damaged);
      seen[answer ? 'yes' : 'no']++;
      if (answer !== modelMayMatch(key, damaged)) wrong.push(`${hex(key)} in ${hex(damaged)}`);
    }
    expect(wrong).toEqual([]);
    expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(500);
  });
});

describe('a filter', () => {
  test('of 0 bytes or 1 byte has no lines and matches no key', () => {
    // Enough keys that some of them would read the last byte as bits.
    const keys = numbered(5000);
    for (const filter of ['', '01', '06', '20'].map(fromHex)) {
      expect(keys.filter((key) => policy.keyMayMatch(key, filter))).toEqual([]);
    }
  });

  test('whose number of probes is reserved, 0 or more than 32, matches every key', () => {
    for (const lines of [0, 1, 2]) {
      const matching = Array.from({ length: 256 }, (_, k) => k).filter((k) =>
        policy.keyMayMatch(utf8('hello'), Uint8Array.of(...new Uint8Array(64 * lines), k)),
      );
      expect(matching).toEqual([0, ...Array.from({ length: 223 }, (_, i) => 33 + i)]);
    }
    expect(MAX_PROBES).toBe(32);
  });

  test('whose length is not a whole number of lines plus one byte matches every key', () => {
    const matching = Array.from({ length: 200 }, (_, length) => length).filter((length) =>
      policy.keyMayMatch(utf8('hello'), new Uint8Array(length).fill(1).fill(0, 0, -1)),
    );
    const others = [0, 1, 65, 129, 193];
    expect(matching).toEqual(Array.from({ length: 200 }, (_, length) => length).filter((length) => !others.includes(length)));
  });

  test('is read at any offset of a larger buffer', () => {
    const filter = make(numbered(100));
    const around = Uint8Array.of(0, 0, 0, ...filter, 99, 99).subarray(3, 3 + filter.length);
    expect(numbered(3000).filter((key) => policy.keyMayMatch(key, filter) !== policy.keyMayMatch(key, around))).toEqual([]);
  });
});

describe('the number of probes', () => {
  test('grows from 1 to 20 with the bits per key', () => {
    expect([0.5, 1, 2, 3, 5, 8, 10, 12, 16, 20, 24, 32, 44, 64].map(probesFor)).toEqual([
      1, 1, 1, 2, 3, 5, 6, 8, 9, 11, 12, 15, 17, 20,
    ]);
  });
});

otherKeysTests(new BlockedBloomFilterPolicy(), buildFilter(new BlockedBloomFilterPolicy(), [Uint8Array.of(1)]));
