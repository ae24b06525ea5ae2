import { fromHex, seeded } from '@bloom/fixtures';
import { batchTests } from '@bloom/fixtures/hash-filter-suite';
import { otherKeysTests } from '@bloom/fixtures/key-list-suite';
import { buildFilter, KeyBuffer } from '@bloom/policy';
import { type RibbonFilterOptions, RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { describe, expect, test } from 'vitest';
import { type RibbonShape, ribbonShapeOf } from '../src/ribbon-filter.js';
import { modelFilter, modelMayMatch } from './ribbon-model.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const make = (keys: Iterable<Uint8Array>, options?: RibbonFilterOptions): Uint8Array => buildFilter(new RibbonFilterPolicy(options), keys);
const policy = new RibbonFilterPolicy();
const shapeOf = (filter: Uint8Array) => ribbonShapeOf(filter, 0, filter.length);

const settings: RibbonFilterOptions[] = [
  { width: 128 },
  { width: 64, rate: 0.5 },
  { rate: 0.003 },
  { width: 128, rate: 2 ** -16 },
  { width: 64, rate: 2 ** -8 / 0.97 },
];

describe('the constructor', () => {
  test('has a rate of 1%, and a width by the number of keys', () => {
    expect(policy).toMatchObject({ rate: 0.01, width: undefined });
    expect(new RibbonFilterPolicy({ rate: 0.001, width: 128 })).toMatchObject({ rate: 0.001, width: 128 });
  });

  test.each([0, -1, 0.51, 1, 2 ** -17, Number.NaN])('rejects a rate of %d', (rate) => {
    expect(() => new RibbonFilterPolicy({ rate })).toThrow(new RangeError(`rate must be from 2^-16 to 0.5, got ${rate}`));
  });

  test('rejects other widths, and options that there are not', () => {
    expect(() => new RibbonFilterPolicy({ width: 32 as 64 })).toThrow(new RangeError('width must be 64 or 128, got 32'));
    expect(() => new RibbonFilterPolicy({ bitsPerKey: 10 } as RibbonFilterOptions)).toThrow(
      new TypeError('RibbonFilterPolicy has no option "bitsPerKey": it has rate, width'),
    );
    for (const options of [0.001, null, '0.01']) expect(() => new RibbonFilterPolicy(options as RibbonFilterOptions)).toThrow(TypeError);
    for (const rate of [null, '0.01']) expect(() => new RibbonFilterPolicy({ rate: rate as unknown as number })).toThrow(RangeError);
  });
});

// These bytes were made by this package. Changing them means changing the format, which then needs another policy name.
describe('a filter has fixed bytes', () => {
  test.each<[string, string[], RibbonFilterOptions, string]>([
    [
      'two keys',
      ['hello', 'world'],
      {},
      '4a8d2846070001',
    ],
    [
      'thirty keys',
      Array.from({ length: 30 }, (_, i) => `key${i}`),
      {},
      'bc4b78c2a15f6f14d4e19f8cf78c87bd7801272cce69416d0d674007040038',
    ],
    [
      'thirty keys at 0.1%',
      Array.from({ length: 30 }, (_, i) => `key${i}`),
      { rate: 0.001 },
      'bc4b78c2a15f6f6b710514d4e19f8cf78cb2513f87bd7801272cce4520ee69416d0d674007226609040050',
    ],
    [
      'a hundred and fifty keys in rows of 128 bits',
      Array.from({ length: 150 }, (_, i) => `key${i}`),
      { width: 128 },
      '8d344483bea17e6b5a49d32b0d4b6ecdf14f17e079d81281eaf21d083b562216f6e7b64e8822016bafa0b48f26bcf8c1' +
      '2f1ab082a87205f5547352072808e7b6b39ee1056eb5ae4c3c8bfca9e9fc6488932d84929c1683f2b84b14755e44e1bb' +
      'fdb6b767aaf6a2e701c4611ee49aee6a8a44155aa426bdd4b51f5b33685b0e36013308070513003c',
    ],
    [
      'two hundred keys',
      Array.from({ length: 200 }, (_, i) => `key${i}`),
      {},
      'fc53388f472338371bdc2d81dc32d2ae666bab9108aa789e65367b01ee0f23f9eb47768d41bb5e6222d4d8ddd04d467f' +
      '3e157f9a24f39576d70c1f6ba433a103d07e244c446db399b21c2a5a93fb43bd902dba8570d3b7301d2efcc76f14ba38' +
      '495dc5d5e008d2cd6c19fd864d931cfaa839bbfc42e0aea7d222f373f3b4f1411615ae43f31c78934dd704adfde67f7f' +
      'f9c2c6a0325d000000000000df0f8c2fa49ad51133c0b59aae465b3c627964406d4a0c001a0030',
    ],
  ])('%s', (_, keys, options, filter) => {
    expect(hex(make(keys.map(utf8), options))).toBe(filter);
    expect(keys.every((key) => modelMayMatch(utf8(key), fromHex(filter)))).toBe(true);
  });
});

describe('compared with elimination of whole rows of numbers', () => {
  test.each([{}, ...settings])('filters with %o have the same bytes and answers', (options) => {
    const seed = Math.round((options.rate ?? 0.01) * 1e6) + (options.width ?? 0);
    const random = seeded(seed);
    const wrong: string[] = [];
    let solved = 0;
    for (const count of [0, 1, 3, 9, 17, 40, 64, 65, 130, 1 + random.below(300)]) {
      const keys = Array.from({ length: count }, () => random.bytes(random.below(20)));
      const filter = make(keys, options);
      if (shapeOf(filter) !== undefined) {
        solved++;
        if (hex(filter) !== hex(modelFilter(keys, filter) ?? new Uint8Array(0))) wrong.push(`bytes of ${count} keys`);
      }
      for (const key of [...keys, ...Array.from({ length: 60 }, () => random.bytes(random.below(20)))]) {
        if (policy.keyMayMatch(key, filter) !== modelMayMatch(key, filter)) wrong.push(`${hex(key)} in ${count} keys`);
      }
    }
    expect(wrong, `seed ${seed}`).toEqual([]);
    expect(solved).toBeGreaterThan(3);
  });

  test('the seeds before that of a filter have no solution', () => {
    const random = seeded(31);
    let tried = 0;
    for (let i = 0; i < 60; i++) {
      const keys = Array.from({ length: 63 }, () => random.bytes(8));
      const filter = make(keys);
      for (let seed = 0; seed < Math.min(filter.at(-2)!, 6); seed++, tried++) {
        filter[filter.length - 2] = seed;
        expect(modelFilter(keys, filter)).toBeUndefined();
      }
    }
    expect(tried).toBeGreaterThan(10);
  });

  test('damaged filters give the same answers', () => {
    const random = seeded(8);
    const wrong: string[] = [];
    const seen = { yes: 0, no: 0 };
    for (let i = 0; i < 1500; i++) {
      const keys = Array.from({ length: random.below(150) }, () => random.bytes(6));
      const filter = make(keys, random.pick([{}, ...settings]));
      const damaged = i % 2 === 0 ? filter.slice(random.below(3), filter.length - random.below(3)) : filter.slice();
      if (i % 3 !== 0 && damaged.length > 0) damaged[damaged.length - 1 - random.below(Math.min(5, damaged.length))] = random.below(256);
      const key = random.pick([random.bytes(random.below(9)), random.bytes(6), ...keys.slice(0, 4)]);
      const answer = policy.keyMayMatch(key, damaged);
      seen[answer ? 'yes' : 'no']++;
      if (answer !== modelMayMatch(key, damaged)) wrong.push(`${hex(key)} in ${hex(damaged)}`);
    }
    expect(wrong).toEqual([]);
    expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(200);
  }, 60_000);
});

describe('a filter', () => {
  const random = seeded(5);
  const keys = Array.from({ length: 500 }, () => random.bytes(10));

  test('does not depend on the order of its keys, nor on how often each was added', () => {
    const filter = make(keys);
    expect(hex(make([...keys].reverse()))).toBe(hex(filter));
    expect(hex(make([...keys.slice(100), ...keys, ...keys.slice(7)]))).toBe(hex(filter));
  });

  test('of no keys has no bytes, and matches no key', () => {
    expect(make([])).toHaveLength(0);
    expect(policy.keyMayMatch(utf8('a'), new Uint8Array(0))).toBe(false);
  });

  test('of so few keys that columns would be larger is a Bloom filter', () => {
    expect([1, 2, 3].map((count) => shapeOf(make(keys.slice(0, count))))).toEqual([undefined, undefined, undefined]);
    expect(make(keys.slice(0, 2)).at(-1)).toBe(1);
    expect(shapeOf(make(keys.slice(0, 20)))).toEqual({ width: 64, groups: 3, columns: 7, extraGroups: 0 });
  });

  test('has rows of 64 bits with up to 65,536 keys, and of 128 with more', () => {
    const many = Array.from({ length: 65_537 }, (_, i) => utf8(String(i)));
    expect(shapeOf(make(many.slice(1)))?.width).toBe(64);
    expect(shapeOf(make(many))?.width).toBe(128);
  });

  test('of a reserved shape, or whose length is not that of its shape, matches every key', () => {
    const filter = make(keys);
    const reserved = Array.from({ length: 256 }, (_, shape) => shape).filter((shape) => shape >> 3 === 0 || shape >> 3 > 17);
    for (const shape of reserved) {
      if (shape === 1) continue;
      const other = Uint8Array.of(...filter.subarray(0, -1), shape);
      expect(keys.concat(utf8('absent')).every((key) => policy.keyMayMatch(key, other))).toBe(true);
    }
    for (const cut of [1, 40, 300]) {
      const short = filter.subarray(cut);
      if (shapeOf(short) !== undefined) continue;
      expect(Array.from({ length: 300 }, (_, i) => utf8(`absent ${i}`)).every((key) => policy.keyMayMatch(key, short))).toBe(true);
    }
  });
});

test.each([
  { count: 17_000, options: {}, mostBits: 7.1 },
  { count: 17_000, options: { width: 128 as const }, mostBits: 6.9 },
  { count: 1000, options: {}, mostBits: 7.1 },
])('$count keys with $options take at most $mostBits bits each, and at most 1% of others match', ({ count, options, mostBits }) => {
  const random = seeded(count);
  const filter = make(Array.from({ length: count }, () => random.bytes(16)), options);
  expect((filter.length * 8) / count).toBeLessThanOrEqual(mostBits);
  const absent = KeyBuffer.from(Array.from({ length: 200_000 }, () => random.bytes(15)));
  const matched = policy.keysMayMatch(absent, filter).reduce((sum, answer) => sum + answer, 0);
  // Three standard deviations of a sample.
  expect(matched / absent.length).toBeLessThan(0.01 + 3 * Math.sqrt(0.0099 / absent.length));
});

/** The share of absent keys that match a filter of that shape, by where their rows start. */
function rateOf({ width, groups, columns, extraGroups }: RibbonShape): number {
  const slots = groups * 8;
  const span = Math.max(slots, width);
  const lastStart = Math.max(slots - width, 0);
  let sum = 0;
  for (let at = 0; at < span; at++) {
    const start = Math.min(Math.max(at - (width / 2 - 1), 0), lastStart);
    sum += Math.floor(start / 8) < groups - extraGroups ? 2 ** -columns : 2 ** -(columns + 1);
  }
  return sum / span;
}

test.each([undefined, 64, 128] as const)('of any number of keys and any rate keeps its keys and its rate, with a width of %s', (width) => {
  const random = seeded(77);
  const keys = Array.from({ length: 400 }, () => random.bytes(9));
  const wrong: string[] = [];
  let solved = 0;
  for (let exponent = 1; exponent <= 16; exponent += 0.15) {
    const rate = 2 ** -exponent;
    for (const count of [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 23, 30, 50, 63, 64, 90, 128, 150, 250, 400]) {
      const filter = make(keys.slice(0, count), { width, rate });
      const what = `${count} keys at ${rate}`;
      if (!keys.slice(0, count).every((key) => policy.keyMayMatch(key, filter))) wrong.push(`${what}: a false negative`);
      const shape = shapeOf(filter);
      if (shape === undefined) {
        if (filter.at(-1) !== 1) wrong.push(`${what}: no filter`);
        continue;
      }
      solved++;
      const actual = rateOf(shape);
      if (actual > rate * (1 + 1e-9)) wrong.push(`${what}: ${actual}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(solved).toBeGreaterThan(500);
});

describe('keysMayMatch', () => {
  batchTests(
    [{}, ...settings].map((options) => [JSON.stringify(options), () => new RibbonFilterPolicy(options)] as const),
    (keys) => KeyBuffer.from(keys),
  );
});

otherKeysTests(new RibbonFilterPolicy(), buildFilter(new RibbonFilterPolicy(), [Uint8Array.of(1)]));
