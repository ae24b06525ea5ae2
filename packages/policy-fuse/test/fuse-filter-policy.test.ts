import { fromHex, seeded } from '@bloom/fixtures';
import { batchTests } from '@bloom/fixtures/hash-filter-suite';
import { otherKeysTests } from '@bloom/fixtures/key-list-suite';
import { buildFilter, KeyBuffer } from '@bloom/policy';
import { type FingerprintBits, FuseFilterPolicy } from '@bloom/policy-fuse';
import { describe, expect, test } from 'vitest';
import { fuseMayMatch, fuseShapeFor, fuseShapeOf, scaled64 } from '../src/fuse-filter.js';
import { modelMayMatch, modelPositions } from './fuse-model.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const make = (keys: Iterable<Uint8Array>, bits: FingerprintBits = 8): Uint8Array => buildFilter(new FuseFilterPolicy(bits), keys);
const policy = new FuseFilterPolicy();
const shapeOf = (filter: Uint8Array) => fuseShapeOf(filter, 0, filter.length);

test('the constructor takes 8 or 16 bits, and refuses others', () => {
  expect(policy.fingerprintBits).toBe(8);
  expect(new FuseFilterPolicy(16).fingerprintBits).toBe(16);
  for (const bits of [0, 7, 32, '8']) {
    expect(() => new FuseFilterPolicy(bits as 8)).toThrow(new RangeError(`fingerprintBits must be 8 or 16, got ${bits === '8' ? '"8"' : bits}`));
  }
});

// Printed by a program that calls binaryfusefilter.h of FastFilter/xor_singleheader: for each hash its three positions, and the
// lowest 16 bits of its fingerprint.
const reference: {
  count: number;
  segment: number;
  length: number;
  hashes: [hash: bigint, p0: number, p1: number, p2: number, fingerprint: number][];
}[] = [
  { count: 2, segment: 4, length: 12, hashes: [[0xe5fdc025e13eeed5n, 3, 4, 10, 0x2ef0], [0xe85028e6b31f8e7an, 3, 4, 9, 0xa69c], [0xa288ccdc266474e3n, 2, 7, 9, 0xb83f], [0xfffffffffffffff9n, 3, 4, 10, 0x0006]] },
  { count: 10, segment: 16, length: 48, hashes: [[0x8f9cc2f91f84b8a4n, 8, 25, 44, 0x7a5d], [0x037cad89b07249c5n, 0, 28, 37, 0xe44c], [0xb4fd2b980a7b907an, 11, 21, 33, 0xbbe2], [0xfffffffffffffffbn, 15, 16, 36, 0x0004]] },
  { count: 100, segment: 64, length: 192, hashes: [[0xb58959ef8c37f43dn, 45, 96, 144, 0xadd2], [0x452ace994d43d10en, 17, 65, 159, 0x1f97], [0x73fd45ee7731e5a5n, 28, 80, 185, 0xa04b], [0xffffffffffffffffn, 63, 64, 128, 0x0000]] },
  { count: 1000, segment: 128, length: 1408, hashes: [[0x7f0a245737730d49n, 571, 743, 882, 0x291e], [0x2491d4f20892b447n, 164, 256, 483, 0x60b5], [0x95be92e6ce13fbaen, 673, 805, 911, 0x6948], [0xfffffffffffffffan, 1151, 1152, 1285, 0x0005]] },
  { count: 17000, segment: 1024, length: 21504, hashes: [[0xe00c4d58d6fa8bc6n, 17027, 18237, 18757, 0xc69e], [0x565e12ff1aaebaadn, 6563, 7944, 8974, 0xa852], [0x9916e49d64072ae7n, 11634, 12403, 14229, 0xce7a], [0xfffffffffffffffen, 19455, 19456, 20481, 0x0001]] },
  { count: 100000, segment: 2048, length: 118784, hashes: [[0x41ef9706c479b061n, 29539, 31357, 33538, 0x2767], [0x0c89d8b1454dcf5dn, 5617, 7330, 8876, 0x17ec], [0xf194242bcb282523n, 108227, 109577, 111584, 0x0108], [0xfffffffffffffff9n, 114687, 114688, 116742, 0x0006]] },
  { count: 1000000, segment: 8192, length: 1130496, hashes: [[0xf09c0e5248f22200n, 1047132, 1050720, 1063004, 0x2c52], [0x9ba37bb28499d5d7n, 677339, 685309, 688140, 0xae65], [0x29c0899caa4456e2n, 181705, 192344, 201515, 0xdf7e], [0xfffffffffffffffdn, 1114111, 1114112, 1122306, 0x0002]] },
  { count: 10000000, segment: 32768, length: 11272192, hashes: [[0xdb8cdc9d57f10a16n, 9611031, 9663211, 9678081, 0xd68b], [0x0d667541270ae500n, 586608, 604850, 628336, 0x9041], [0xf5123b3856a3aa79n, 10728237, 10757765, 10787156, 0x9141], [0xffffffffffffffffn, 11206655, 11206656, 11239424, 0x0000]] },
];

describe('for equal hashes, the reference implementation and this one agree', () => {
  test.each(reference)('with $count keys', ({ count, segment, length, hashes }) => {
    expect(fuseShapeFor(count, 8)).toEqual({ fingerprintBits: 8, segmentLog: Math.log2(segment), length });
    for (const [hash, p0, p1, p2, fingerprint] of hashes) {
      expect(modelPositions(hash, segment, length)).toEqual([p0, p1, p2]);
      const low = Number(hash & 0xffffffffn);
      const high = Number(hash >> 32n);
      for (const bits of [8, 16] as const) {
        const shape = fuseShapeFor(count, bits);
        const array = new Uint8Array((length * bits) / 8);
        // A key matches by the bytes at each of its positions, and by no others.
        for (const position of [p0, p1, p2]) {
          expect(fuseMayMatch(low, high, array, 0, shape)).toBe((fingerprint & (2 ** bits - 1)) === 0);
          for (let byte = 0; byte < bits / 8; byte++) array[(position * bits) / 8 + byte] = fingerprint >> (8 * byte);
          expect(fuseMayMatch(low, high, array, 0, shape)).toBe(true);
          array.fill(0, (position * bits) / 8, ((position + 1) * bits) / 8);
        }
      }
    }
  });

  test('floor(hash * n / 2^64) is exact', () => {
    const random = seeded(64);
    const wrong: string[] = [];
    for (const n of [1, 3, 1000, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 11_206_656, 2 ** 31 + 7, 2 ** 32 - 1]) {
      const exact = (low: number, high: number): number => Number((((BigInt(high) << 32n) | BigInt(low)) * BigInt(n)) >> 64n);
      const lanes: [number, number][] = Array.from({ length: 500 }, () => [random.uint32(), random.uint32()]);
      // Hashes whose products are just below and at a multiple of 2^64.
      for (let i = 1n; i < 200n && i <= BigInt(n); i++) {
        const least = ((i << 64n) + BigInt(n) - 1n) / BigInt(n);
        for (const hash of [least, least - 1n]) lanes.push([Number(hash & 0xffffffffn), Number((hash >> 32n) & 0xffffffffn)]);
      }
      for (const [low, high] of lanes) if (scaled64(low, high, n) !== exact(low, high)) wrong.push(`${high}:${low} of ${n}`);
    }
    expect(wrong).toEqual([]);
  });
});

// These bytes were made by this package. Changing them means changing the format, which then needs another policy name.
describe('a filter has fixed bytes', () => {
  test.each<[string, string[], FingerprintBits, string]>([
    [
      'two keys',
      ['hello', 'world'],
      8,
      '4a8d2866080001',
    ],
    [
      'thirty keys with 16 bits',
      Array.from({ length: 30 }, (_, i) => `key${i}`),
      16,
      '537f7b6d2f638632ab3d560924263bd73e7c865bf8eb4631e1080da44766a0ea0da4d823d187fc8a6b68f6bcac89ce11' +
      '19db7125804fbf7bd0bc1b60279cc0bf370caf9845628ae63007ef1e7fc080a91878432c7d4e607af1100001',
    ],
  ])('%s', (_, keys, bits, filter) => {
    expect(hex(make(keys.map(utf8), bits))).toBe(filter);
    expect(keys.every((key) => modelMayMatch(utf8(key), fromHex(filter)))).toBe(true);
  });

  test('a thousand keys', () => {
    const filter = make(Array.from({ length: 1000 }, (_, i) => utf8(`key${i}`)));
    expect(filter).toHaveLength(1411);
    expect(hex(filter.subarray(0, 40))).toBe('00000000000000000000d300000098002600f10000760000960000009e7600000046000094fd0000');
    expect(hex(filter.subarray(-40))).toBe('00d781dd0000d10013b33e0000008d5513dc005e007700000066230005588b0c0015006300000708');
  });
});

describe('compared with whole numbers of 64 bits', () => {
  test.each([8, 16] as const)('filters of %i bits give the same answers', (bits) => {
    const random = seeded(bits);
    const wrong: string[] = [];
    for (const count of [0, 1, 5, 60, 900, 1500, 3000]) {
      const keys = Array.from({ length: count }, () => random.bytes(random.below(20)));
      const filter = make(keys, bits);
      for (const key of [...keys, ...Array.from({ length: 500 }, () => random.bytes(random.below(20)))]) {
        if (policy.keyMayMatch(key, filter) !== modelMayMatch(key, filter)) wrong.push(`${hex(key)} in ${count} keys`);
      }
      if (!keys.every((key) => modelMayMatch(key, filter))) wrong.push(`a key of ${count}`);
    }
    expect(wrong).toEqual([]);
  });

  test('damaged filters give the same answers', () => {
    const random = seeded(8);
    const wrong: string[] = [];
    const seen = { yes: 0, no: 0 };
    const whole = ([8, 16] as const).flatMap((bits) =>
      [1, 30, 1000, 2000].map((count) => make(Array.from({ length: count }, (_, i) => utf8(`key${i}`)), bits)),
    );
    for (let i = 0; i < 3000; i++) {
      const filter = random.pick(whole);
      const damaged = i % 2 === 0 ? filter.slice(random.below(3) * random.below(130), filter.length - random.below(3)) : filter.slice();
      if (i % 3 !== 0 && damaged.length > 0) damaged[damaged.length - 1 - random.below(Math.min(4, damaged.length))] = random.below(256);
      const key = random.pick([random.bytes(random.below(9)), utf8(`key${random.below(1000)}`)]);
      const answer = policy.keyMayMatch(key, damaged);
      seen[answer ? 'yes' : 'no']++;
      if (answer !== modelMayMatch(key, damaged)) wrong.push(`${hex(key)} in ${hex(damaged.subarray(-40))}`);
    }
    expect(wrong).toEqual([]);
    expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(200);
  });
});

describe('a filter', () => {
  const random = seeded(5);
  const keys = Array.from({ length: 2000 }, () => random.bytes(10));

  test('does not depend on the order of its keys, nor on how often each was added', () => {
    const filter = make(keys);
    expect(shapeOf(filter)).toEqual(fuseShapeFor(2000, 8));
    expect(hex(make([...keys].reverse()))).toBe(hex(filter));
    expect(hex(make([...keys.slice(100), ...keys, ...keys.slice(7)]))).toBe(hex(filter));
  });

  test('of no keys has no bytes, and matches no key', () => {
    expect(make([])).toHaveLength(0);
    expect(policy.keyMayMatch(utf8('a'), new Uint8Array(0))).toBe(false);
  });

  test('of so few keys that an array would be larger is a Bloom filter', () => {
    expect([1, 10, 100, 500].map((count) => shapeOf(make(keys.slice(0, count))))).toEqual([undefined, undefined, undefined, undefined]);
    expect(make(keys.slice(0, 500)).at(-1)).toBe(1);
    expect(shapeOf(make(keys.slice(0, 500), 16))).toBeUndefined();
    expect(shapeOf(make(keys.slice(0, 1000), 16))).toEqual(fuseShapeFor(1000, 16));
  });

  test('whose last two bytes are reserved, or whose length is not that of its shape, matches every key', () => {
    const filter = make(keys);
    const absent = Array.from({ length: 300 }, (_, i) => utf8(`absent ${i}`));
    const matchesAll = (bytes: Uint8Array): boolean => absent.every((key) => policy.keyMayMatch(key, bytes));
    expect(matchesAll(filter)).toBe(false);
    const last = Array.from({ length: 256 }, (_, value) => value).filter((value) => matchesAll(Uint8Array.of(...filter.subarray(0, -1), value)));
    // An array of bytes in place of 16-bit fingerprints has a length of whole segments too.
    expect(last.filter((value) => value !== 16)).toEqual(Array.from({ length: 256 }, (_, value) => value).filter((value) => ![8, 16].includes(value)));
    const reserved = [0, 1, 19, 200, 255];
    expect(reserved.filter((log) => !matchesAll(Uint8Array.of(...filter.subarray(0, -2), log, 8)))).toEqual([]);
    expect([1, 2, 100].filter((cut) => !matchesAll(filter.subarray(cut)))).toEqual([]);
  });
});

test('17,000 keys that 8 bits distinguish take 10.2 bits each, and 0.39% of others match', () => {
  const random = seeded(17);
  const filter = make(Array.from({ length: 17_000 }, () => random.bytes(16)));
  expect((filter.length * 8) / 17_000).toBeLessThan(10.2);
  const absent = KeyBuffer.from(Array.from({ length: 200_000 }, () => random.bytes(15)));
  const matched = policy.keysMayMatch(absent, filter).reduce((sum, answer) => sum + answer, 0);
  expect(matched / absent.length).toBeLessThan(1 / 256 + 3 * Math.sqrt(1 / 256 / absent.length));
});

describe('keysMayMatch', () => {
  batchTests(
    [
      ['8 bits', () => policy],
      ['16 bits', () => new FuseFilterPolicy(16)],
    ],
    (keys) => KeyBuffer.from(keys),
  );
});

otherKeysTests(new FuseFilterPolicy(), buildFilter(new FuseFilterPolicy(), [Uint8Array.of(1)]));
