import { fromHex, goldenFilters, littleEndian32, seeded, vectors } from '@bloom/fixtures';
import { bloomHash } from '@bloom/hash';
import {
  BloomFilterPolicy,
  buildFilter,
  fillBloomFilter,
  filterByteLength,
  KeyBuffer,
  MAX_PROBES,
  MIN_BITS,
  probesFor,
} from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { modelByteLength, modelFilter, modelMayMatch, modelProbes } from './bloom-model.js';
import { crc32c } from './crc32c.js';
import { anyKeys, hex, utf8 } from './keys.js';

const make = (keys: readonly Uint8Array[], bitsPerKey = 10): Uint8Array =>
  buildFilter(new BloomFilterPolicy(bitsPerKey), keys);
const policy = new BloomFilterPolicy();

test('the name is the one in LevelDB, util/bloom.cc, for any bits per key', () => {
  for (const bitsPerKey of [0, 1, 10, 100]) {
    expect(new BloomFilterPolicy(bitsPerKey).name).toBe('leveldb.BuiltinBloomFilter2');
  }
});

describe('the constructor', () => {
  test('accepts whole numbers from 0 to 2^31 - 1, and the default is 10', () => {
    for (const bitsPerKey of [0, 1, 10, 2 ** 31 - 1]) {
      expect(new BloomFilterPolicy(bitsPerKey).bitsPerKey).toBe(bitsPerKey);
    }
    expect(new BloomFilterPolicy().bitsPerKey).toBe(10);
    // Not -0.
    expect(new BloomFilterPolicy(-0).bitsPerKey).toBe(0);
  });

  test.each([-1, 0.5, 10.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses %d bits per key',
    (bitsPerKey) => {
      expect(() => new BloomFilterPolicy(bitsPerKey)).toThrow(RangeError);
      expect(() => new BloomFilterPolicy(bitsPerKey)).toThrow(`bitsPerKey must be a whole number`);
    },
  );
});

describe('a filter', () => {
  test.each(vectors().bloomSizes)(
    'of one key at $bitsPerKey bits has $byteLength bytes and $probes probes, as measured from LevelDB',
    ({ bitsPerKey, probes, byteLength }) => {
      const filter = make([utf8('a')], bitsPerKey);
      expect(filter).toHaveLength(byteLength);
      expect(filter.at(-1)).toBe(probes);
      expect(probesFor(bitsPerKey)).toBe(probes);
      expect(filterByteLength(1, bitsPerKey)).toBe(byteLength);
    },
  );

  test('has 0.69 probes per bit, from 1 to 30', () => {
    expect([1, 3, 5, 9, 10, 11, 16, 20, 43, 44, 45, 2 ** 31 - 1].map(probesFor)).toEqual([
      1, 2, 3, 6, 6, 7, 11, 13, 29, 30, 30, 30,
    ]);
    const settings = Array.from({ length: 200 }, (_, i) => i);
    expect(settings.map(probesFor)).toEqual(settings.map(modelProbes));
    expect(MAX_PROBES).toBe(30);
  });

  test('has at least 64 bits, rounded up to whole bytes, plus one byte', () => {
    expect(MIN_BITS).toBe(64);
    expect([0, 1, 6, 7, 8, 10, 1000].map((keys) => filterByteLength(keys, 10))).toEqual([9, 9, 9, 10, 11, 14, 1251]);
    expect(filterByteLength(0, 0)).toBe(9);
    expect(filterByteLength(1_000_000, 0)).toBe(9);
  });

  test('has the right length past 2^31 and 2^32 bits', () => {
    for (const [keys, bitsPerKey] of [
      [2 ** 28, 8],
      [2 ** 29, 8],
      [429_496_730, 10],
      [1_000_000_000, 10],
      [3, 2 ** 31 - 1],
      [4_000_000, 2 ** 31 - 1],
    ] as const) {
      expect(BigInt(filterByteLength(keys, bitsPerKey))).toBe(modelByteLength(keys, bitsPerKey));
    }
  });
});

describe('a filter', () => {
  test("of hello and world is LevelDB's, byte for byte", () => {
    expect(hex(make([utf8('hello'), utf8('world')]))).toBe('114000414410401006');
  });

  test('of no keys has 64 zero bits and the number of probes, and rejects every key (LevelDB, util/bloom_test.cc)', () => {
    expect(hex(make([]))).toBe('000000000000000006');
    for (const key of ['', 'hello', 'world']) expect(policy.keyMayMatch(utf8(key), make([]))).toBe(false);
  });

  test('of hello and world matches both, and neither x nor foo (LevelDB, util/bloom_test.cc)', () => {
    const filter = make([utf8('hello'), utf8('world')]);
    expect(['hello', 'world', 'x', 'foo'].map((key) => policy.keyMayMatch(utf8(key), filter))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('is the one measured from LevelDB', () => {
    for (const { keys, bitsPerKey, filter } of vectors().bloomFilters) {
      expect(hex(make(keys, bitsPerKey))).toBe(hex(filter));
    }
  });

  test.each(goldenFilters())(
    'of the $keyCount keys LE32(0), LE32(1), … at $bitsPerKey bits is the one that LevelDB wrote',
    ({ keys, bitsPerKey, filter }) => {
      expect(Buffer.compare(make(keys(), bitsPerKey), filter)).toBe(0);
      expect(keys().filter((key) => !policy.keyMayMatch(key, filter))).toEqual([]);
    },
  );

  test('counts duplicate keys in its size', () => {
    const key = utf8('again');
    const filter = make(Array.from({ length: 100 }, () => key));
    expect(filter).toHaveLength(126);
    expect(Buffer.compare(filter, modelFilter(Array.from({ length: 100 }, () => key), 10))).toBe(0);
  });

  test('can be filled from the Bloom hashes of the keys', () => {
    const filter = new Uint8Array(filterByteLength(2, 10));
    fillBloomFilter(filter, Uint32Array.of(bloomHash(utf8('hello')), bloomHash(utf8('world'))), probesFor(10));
    expect(hex(filter)).toBe('114000414410401006');
  });

  test('that is filled from hashes must have at least two bytes', () => {
    const filter = new Uint8Array(2);
    fillBloomFilter(filter, Uint32Array.of(5), 1);
    expect(hex(filter)).toBe('2001');
    for (const byteLength of [0, 1]) {
      expect(() => {
        fillBloomFilter(new Uint8Array(byteLength), Uint32Array.of(5), 1);
      }).toThrow(new RangeError(`filter must have at least 2 bytes, got ${byteLength}`));
    }
  });

  test('does not depend on the order of the keys', () => {
    const random = seeded(6);
    const keys = anyKeys(random, 300);
    expect(Buffer.compare(make(random.shuffle([...keys])), make(keys))).toBe(0);
  });
});

describe('compared with plain integer arithmetic', () => {
  test.each(Array.from({ length: 51 }, (_, bitsPerKey) => bitsPerKey))(
    'filters of random keys at %d bits have the same bytes and give the same answers',
    (bitsPerKey) => {
      const seed = 100 + bitsPerKey;
      const random = seeded(seed);
      const wrong: string[] = [];
      for (const count of [0, 1, 2, 6, 7, 8, 30, 1 + random.below(200)]) {
        const keys = anyKeys(random, count);
        const filter = make(keys, bitsPerKey);
        if (Buffer.compare(filter, modelFilter(keys, bitsPerKey)) !== 0) wrong.push(`bytes of ${count} keys`);
        if (keys.some((key) => !policy.keyMayMatch(key, filter))) wrong.push(`a key of ${count} is missed`);
        for (const key of anyKeys(random, 30)) {
          if (policy.keyMayMatch(key, filter) !== modelMayMatch(key, filter)) wrong.push(`${hex(key)} in ${count} keys`);
        }
      }
      expect(wrong, `seed ${seed}`).toEqual([]);
    },
  );
});

describe('the statistics of LevelDB, util/bloom_test.cc', () => {
  const { rows, good, mediocre } = vectors().falsePositives;
  const results = rows.map(({ n }) => {
    const keys = Array.from({ length: n }, (_, i) => littleEndian32(i));
    const filter = make(keys);
    let falsePositives = 0;
    for (let i = 0; i < 10_000; i++) if (policy.keyMayMatch(littleEndian32(1_000_000_000 + i), filter)) falsePositives++;
    const falseNegatives = keys.filter((key) => !policy.keyMayMatch(key, filter)).length;
    return { n, bytes: filter.length, falsePositives, falseNegatives, crc32c: crc32c(filter) };
  });

  test('use a CRC-32C that gives the values measured from LevelDB', () => {
    for (const { data, crc32c: expected } of vectors().crcs) expect(crc32c(data)).toBe(expected);
  });

  test('use lengths from 1 to 10,000 in growing steps', () => {
    const lengths = [1, 10, 100, 1000].flatMap((step) => Array.from({ length: 9 }, (_, i) => (i + 2) * step));
    expect(rows.map(({ n }) => n)).toEqual([1, ...lengths]);
  });

  test('give the sizes, checksums and exact numbers of false positives measured from LevelDB for filters of every length', () => {
    expect(results).toEqual(rows.map((row) => ({ ...row, falseNegatives: 0 })));
  });

  test('no filter is longer than n * 10 / 8 + 40 bytes', () => {
    expect(results.filter(({ n, bytes }) => bytes > (n * 10) / 8 + 40)).toEqual([]);
  });

  test('no rate is over 2%, and 4 rates are over 1.25%, at most a fifth of the other 33', () => {
    expect(results.filter(({ falsePositives }) => falsePositives > 200)).toEqual([]);
    const over = results.filter(({ falsePositives }) => falsePositives > 125).length;
    expect([results.length - over, over]).toEqual([good, mediocre]);
    expect([good, mediocre]).toEqual([33, 4]);
    expect(over).toBeLessThanOrEqual((results.length - over) / 5);
  });
});

describe('keyMayMatch', () => {
  test('reads the probes from the filter, not from its own bits per key', () => {
    const random = seeded(7);
    const keys = anyKeys(random, 50);
    const others = anyKeys(random, 500);
    for (const bitsPerKey of [1, 5, 10, 20, 44]) {
      const filter = make(keys, bitsPerKey);
      const answers = [...keys, ...others].map((key) => new BloomFilterPolicy(bitsPerKey).keyMayMatch(key, filter));
      expect(answers.slice(0, keys.length)).not.toContain(false);
      for (const own of [0, 1, 10, 50]) {
        const reader = new BloomFilterPolicy(own);
        expect([...keys, ...others].map((key) => reader.keyMayMatch(key, filter))).toEqual(answers);
      }
    }
  });

  test('matches no key in a filter shorter than 2 bytes', () => {
    for (const filter of ['', '00', '06', '1f', 'ff']) {
      expect(policy.keyMayMatch(utf8('hello'), fromHex(filter))).toBe(false);
    }
  });

  test('matches every key when the probe count is over 30, which is reserved', () => {
    const answers = Array.from({ length: 256 }, (_, k) => policy.keyMayMatch(utf8('hello'), Uint8Array.of(0, 0, 0, k)));
    expect(answers).toEqual(answers.map((_, k) => k === 0 || k > 30));
  });

  test('matches every key in a filter of zeros with 0 probes', () => {
    expect(policy.keyMayMatch(utf8('hello'), fromHex('0000'))).toBe(true);
    expect(policy.keyMayMatch(new Uint8Array(), fromHex('00000000'))).toBe(true);
  });

  test('reads a filter at any offset of a larger buffer', () => {
    const filter = make([utf8('hello'), utf8('world')]);
    for (let at = 0; at < 9; at++) {
      const greater = new Uint8Array(filter.length + 20).fill(0xff);
      greater.set(filter, at);
      const view = greater.subarray(at, at + filter.length);
      expect(['hello', 'world', 'x', 'foo'].map((key) => policy.keyMayMatch(utf8(key), view))).toEqual([
        true,
        true,
        false,
        false,
      ]);
    }
  });

  test('never throws on random bytes, and agrees with plain integer arithmetic', () => {
    const seed = 8;
    const random = seeded(seed);
    const wrong: string[] = [];
    for (let i = 0; i < 10_000; i++) {
      const filter = random.bytes(random.below(40));
      // Otherwise most probe counts would be reserved.
      if (filter.length > 0 && random.below(4) > 0) filter[filter.length - 1] = random.below(32);
      const key = random.bytes(random.below(12));
      if (policy.keyMayMatch(key, filter) !== modelMayMatch(key, filter)) wrong.push(`${hex(key)} in ${hex(filter)}`);
    }
    expect(wrong, `seed ${seed}`).toEqual([]);
  });

  test('rejects a key or a filter that is not a Uint8Array, instead of reporting a stored key as absent', () => {
    const filter = make([utf8('a')]);
    for (const key of ['a', Uint16Array.of(0x61), undefined] as unknown as Uint8Array[]) {
      expect(() => policy.keyMayMatch(key, filter)).toThrow(/^key must be a Uint8Array, got /);
    }
    for (const bytes of [filter.buffer, hex(filter), new DataView(filter.buffer), undefined] as unknown as Uint8Array[]) {
      expect(() => policy.keyMayMatch(utf8('a'), bytes)).toThrow(/^filter must be a Uint8Array, got /);
      expect(() => policy.keysMayMatch(KeyBuffer.from([utf8('a')]), bytes)).toThrow(/^filter must be a Uint8Array, got /);
      expect(() => policy.keyMayMatchRange(utf8('a'), 0, 1, bytes, 0, 2)).toThrow(/^filterBytes must be a Uint8Array, got /);
    }
    const answers = [0] as unknown as Uint8Array;
    expect(() => policy.keysMayMatch(KeyBuffer.from([utf8('a')]), filter, answers)).toThrow('answers must be a Uint8Array, got an Array');
  });

  test('rejects a key and a filter whose buffers were transferred', () => {
    const filter = make([utf8('a')]);
    const key = utf8('a');
    structuredClone(0, { transfer: [key.buffer as ArrayBuffer] });
    expect(() => policy.keyMayMatch(key, filter)).toThrow('key must be a Uint8Array with its bytes');
    structuredClone(0, { transfer: [filter.buffer as ArrayBuffer] });
    expect(() => policy.keyMayMatch(utf8('a'), filter)).toThrow('filter must be a Uint8Array with its bytes');
    expect(() => policy.keyMayMatchRange(utf8('a'), 0, 1, filter, 0, 0)).toThrow('filterBytes must be a Uint8Array with its bytes');
  });

  test('is found within other bytes, as is the key', () => {
    const filter = make([utf8('a')]);
    const bytes = Uint8Array.of(9, ...filter, 9, 9);
    expect(policy.keyMayMatchRange(utf8('xa'), 1, 2, bytes, 1, 1 + filter.length)).toBe(true);
    expect(policy.keyMayMatchRange(utf8('xa'), 0, 1, bytes, 1, 1 + filter.length)).toBe(policy.keyMayMatch(utf8('x'), filter));
    expect(policy.keyMayMatchRange(utf8('xa'), 1, 2, new Uint8Array(0), 0, 0)).toBe(false);
  });

  test('changes neither key nor filter', () => {
    const key = utf8('hello');
    const filter = make([key]);
    const before = hex(filter);
    policy.keyMayMatch(key, filter);
    expect([hex(key), hex(filter)]).toEqual([hex(utf8('hello')), before]);
  });
});

test('the parts of a filter refuse arguments with which they would be wrong', () => {
  const filter = new Uint8Array(9);
  expect(() => fillBloomFilter([0, 0] as never, Uint32Array.of(1), 6)).toThrow(new TypeError('filter must be a Uint8Array, got an Array'));
  expect(() => fillBloomFilter(filter, [1] as never, 6)).toThrow(new TypeError('hashes must be a Uint32Array, got an Array'));
  for (const probes of [0, 31, 1.5, NaN, '6']) expect(() => fillBloomFilter(filter, Uint32Array.of(1), probes as number)).toThrow(/^probes must be a whole number, from 1 to 30/);
  expect([...filter]).toEqual(new Array(9).fill(0));
  for (const [bits, shown] of [[NaN, 'NaN'], [undefined, 'undefined'], ['10', '"10"']] as const) {
    expect(() => probesFor(bits as number)).toThrow(new RangeError(`bitsPerKey must be a number, got ${shown}`));
    expect(() => filterByteLength(1, bits as number)).toThrow(new RangeError(`bitsPerKey must be a number, got ${shown}`));
  }
  for (const keys of [-1, 0.5, NaN, '1']) expect(() => filterByteLength(keys as number, 10)).toThrow(/^keys must be a whole number, at least 0/);
});
