import { runInNewContext } from 'node:vm';
import { fromHex, seeded, vectors } from '@bloom/fixtures';
import { BLOOM_SEED, bloomHash, hash, hashEach, hashRange } from '@bloom/hash';
import { describe, expect, test } from 'vitest';
import { modelHash } from './model.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The first three differences, so that many comparisons need only one `expect`. */
function differences(count: number, compare: (i: number) => string | undefined): string[] {
  const found: string[] = [];
  for (let i = 0; i < count && found.length < 3; i++) {
    const difference = compare(i);
    if (difference !== undefined) found.push(difference);
  }
  return found;
}

/** `count` byte strings of 0 to 100 bytes, each a view at a random offset of its buffer. */
function anyBytes(seed: number, count: number): Uint8Array[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => {
    const start = random.below(9);
    const length = random.below(101);
    return random.bytes(start + length + random.below(4)).subarray(start, start + length);
  });
}

describe('known values', () => {
  // The SCSI read command that is RFC 3720's example for CRCs.
  const readCommand = fromHex(
    '01c00000000000000000000000000000 14000000000004000000001400000018 28000000000000000200000000000000',
  );

  test.each([
    { hex: '', seed: 0xbc9f1d34, expected: 0xbc9f1d34 },
    { hex: '62', seed: 0xbc9f1d34, expected: 0xef1345c4 },
    { hex: 'c397', seed: 0xbc9f1d34, expected: 0x5b663814 },
    { hex: 'e299a5', seed: 0xbc9f1d34, expected: 0x323c078f },
    { hex: 'e180b932', seed: 0xbc9f1d34, expected: 0xed21633a },
  ])('the hash of <$hex> is the one in LevelDB, util/hash_test.cc', ({ hex, seed, expected }) => {
    expect(hash(fromHex(hex), seed)).toBe(expected);
  });

  test('the hash of a 48-byte read command is the one in LevelDB, util/hash_test.cc', () => {
    expect(readCommand).toHaveLength(48);
    expect(hash(readCommand, 0x12345678)).toBe(0xf333dabb);
  });

  test.each([
    { text: 'foo', seed: 0xbc9f1d34, expected: 0x9dfabe14 },
    { text: 'hello', seed: 0xbc9f1d34, expected: 0xf795964e },
    { text: 'world', seed: 0xbc9f1d34, expected: 0x42c4e8fc },
    { text: 'foo', seed: 1, expected: 0xfe7735c4 },
    { text: 'bar', seed: 1, expected: 0xd9738c37 },
    { text: 'box', seed: 1, expected: 0xc80f9626 },
    { text: 'hello', seed: 1, expected: 0x0e8b27bf },
  ])('the hash of "$text" with seed $seed is as measured from LevelDB', ({ text, seed, expected }) => {
    expect(hash(utf8(text), seed)).toBe(expected);
  });

  test('all hashes are as measured from LevelDB', () => {
    for (const { data, seed, hash: expected } of vectors().hashes) expect(hash(data, seed)).toBe(expected);
  });

  test('the hash of no bytes is the seed', () => {
    for (const seed of [0, 1, BLOOM_SEED, 0x80000000, 0xffffffff]) expect(hash(new Uint8Array(), seed)).toBe(seed);
  });
});

describe('hash', () => {
  test('equals plain integer arithmetic for 0 to 100 bytes and any seed', () => {
    const seed = 1;
    const random = seeded(seed);
    const all = anyBytes(seed, 5000);
    expect(
      differences(all.length, (i) => {
        const hashSeed = random.pick([0, 1, BLOOM_SEED, 0x7fffffff, 0x80000000, 0xffffffff, random.uint32()]);
        const actual = hash(all[i]!, hashSeed);
        const expected = modelHash(all[i]!, hashSeed);
        if (actual === expected) return undefined;
        return `<${Buffer.from(all[i]!).toString('hex')}> with seed ${hashSeed}: ${actual}, not ${expected}`;
      }),
      `seed ${seed}`,
    ).toEqual([]);
  });

  test('reads the one to three bytes of the tail as unsigned', () => {
    const tails = [0x7f, 0x80, 0x81, 0xc3, 0xff].flatMap((a) =>
      [0x00, 0x7f, 0x80, 0xff].flatMap((b) => [
        Uint8Array.of(a),
        Uint8Array.of(b, a),
        Uint8Array.of(0xff, b, a),
        Uint8Array.of(1, 2, 3, 4, b, 0xff, a),
      ]),
    );
    expect(tails.map((tail) => hash(tail, 1))).toEqual(tails.map((tail) => modelHash(tail, 1)));
  });

  test('reduces a seed that is not a uint32 modulo 2^32', () => {
    const data = utf8('hello');
    expect(hash(data, -1)).toBe(hash(data, 0xffffffff));
    expect(hash(data, 2 ** 32 + 1)).toBe(hash(data, 1));
  });
});

describe('bloomHash', () => {
  test('is the hash with the seed in LevelDB, util/bloom.cc', () => {
    expect(BLOOM_SEED).toBe(0xbc9f1d34);
    for (const data of anyBytes(2, 100)) expect(bloomHash(data)).toBe(modelHash(data, 0xbc9f1d34));
  });
});

describe('hashRange', () => {
  test('equals the hash of the slice, at any offset of range and view', () => {
    const seed = 3;
    const random = seeded(seed);
    const pool = random.bytes(4096);
    expect(
      differences(20_000, () => {
        const view = pool.subarray(random.below(9), pool.length - random.below(9));
        const start = random.below(view.length + 1);
        const end = start + random.below(Math.min(100, view.length - start) + 1);
        const hashSeed = random.uint32();
        if (hashRange(view, start, end, hashSeed) === hash(view.slice(start, end), hashSeed)) return undefined;
        return `[${start}, ${end}) of the view at ${view.byteOffset} with seed ${hashSeed}`;
      }),
      `seed ${seed}`,
    ).toEqual([]);
  });

  test('the hash of an empty range is the seed, even at the end', () => {
    const bytes = utf8('hello');
    for (let at = 0; at <= bytes.length; at++) expect(hashRange(bytes, at, at, 7)).toBe(7);
  });

  test.each([
    [-1, 2],
    [0, 6],
    [5, 6],
    [6, 6],
    [3, 2],
    [Number.NaN, 2],
    [0, Number.NaN],
    [0, Number.POSITIVE_INFINITY],
  ])('rejects [%d, %d) of five bytes', (start, end) => {
    expect(() => hashRange(utf8('hello'), start, end, 1)).toThrow(RangeError);
    expect(() => hashRange(utf8('hello'), start, end, 1)).toThrow(/start and end .* 5 bytes/);
  });
});

describe('past 2^31 bytes', () => {
  // Pages that are not touched take no memory.
  const length = 2 ** 31 + 4096;
  const bytes = new Uint8Array(length);
  bytes.set(seeded(12).bytes(4200), 2 ** 31 - 104);

  test('hashRange equals the hash of the slice on both sides of 2^31', () => {
    const wrong: string[] = [];
    for (const start of [2 ** 31 - 100, 2 ** 31 - 9, 2 ** 31 - 7, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 3, length - 50]) {
      for (let size = 0; size <= 50; size++) {
        if (hashRange(bytes, start, start + size, 1) !== modelHash(bytes.slice(start, start + size), 1)) wrong.push(`${start} + ${size}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('hashEach accepts offsets past 2^31', () => {
    const offsets = Uint32Array.of(2 ** 31 - 7, 2 ** 31, 2 ** 31 + 4, length);
    const expected = [0, 1, 2].map((i) => modelHash(bytes.slice(offsets[i], offsets[i + 1]), 7));
    expect([...hashEach(bytes, offsets, 7)]).toEqual(expected);
  });
});

describe('every function', () => {
  const detached = new Uint8Array(8);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });

  test.each<[string, unknown, string]>([
    ['a string', 'a', 'must be a Uint8Array, got string'],
    ['undefined', undefined, 'must be a Uint8Array, got undefined'],
    ['null', null, 'must be a Uint8Array, got null'],
    ['a list of numbers', [1, 2], 'must be a Uint8Array, got an Array'],
    ['an ArrayBuffer', new ArrayBuffer(4), 'must be a Uint8Array, got an ArrayBuffer'],
    ['wider numbers', Uint16Array.of(0x161), 'must be a Uint8Array, got a Uint16Array'],
    ['signed bytes', Int8Array.of(-1), 'must be a Uint8Array, got an Int8Array'],
    ['a DataView', new DataView(new ArrayBuffer(4)), 'must be a Uint8Array, got a DataView'],
    ['a detached array', detached, 'must be a Uint8Array with its bytes, got one whose ArrayBuffer is detached'],
  ])('rejects %s', (_, value, message) => {
    const bytes = value as Uint8Array;
    expect(() => hash(bytes, 1)).toThrow(new TypeError(`data ${message}`));
    expect(() => bloomHash(bytes)).toThrow(new TypeError(`key ${message}`));
    for (const end of [0, 1]) {
      expect(() => hashRange(bytes, 0, end, 1)).toThrow(new TypeError(`bytes ${message}`));
      expect(() => hashEach(bytes, Uint32Array.of(0, end), 1)).toThrow(new TypeError(`bytes ${message}`));
    }
  });

  test('accepts an empty array, a Buffer and an array of another realm', () => {
    const foreign = runInNewContext('Uint8Array.of(102, 111, 111)') as Uint8Array;
    expect(foreign instanceof Uint8Array).toBe(false);
    expect([new Uint8Array(), Buffer.from('foo'), foreign].map((data) => hash(data, 1))).toEqual([1, 0xfe7735c4, 0xfe7735c4]);
    expect(hash(runInNewContext('new Uint8Array()') as Uint8Array, 9)).toBe(9);
    expect(hash(new Uint8Array(new ArrayBuffer(0)), 9)).toBe(9);
  });
});

describe('hashEach', () => {
  test('returns the hash of each key', () => {
    const seed = 4;
    const random = seeded(seed);
    const wrong = differences(300, () => {
      const keys = anyBytes(random.uint32(), random.below(40));
      const offsets = Uint32Array.from([0, ...keys.map((_, i) => sum(keys.slice(0, i + 1)))]);
      const hashSeed = random.uint32();
      const hashes = hashEach(Uint8Array.from(Buffer.concat(keys)), offsets, hashSeed);
      const same = hashes.length === keys.length && keys.every((key, i) => hashes[i] === hash(key, hashSeed));
      return same ? undefined : `${keys.length} keys with seed ${hashSeed}`;
    });
    expect(wrong, `seed ${seed}`).toEqual([]);
  });

  test('ignores bytes before the first key and after the last one', () => {
    expect(hashEach(utf8('..foobar..'), Uint32Array.of(2, 5, 8), 1)).toEqual(Uint32Array.of(0xfe7735c4, 0xd9738c37));
  });

  test('returns no hashes for a single offset or an empty list of offsets', () => {
    expect(hashEach(utf8('foo'), Uint32Array.of(3), 1)).toHaveLength(0);
    expect(hashEach(utf8('foo'), new Uint32Array(), 1)).toHaveLength(0);
  });

  test('fills the given array, and leaves elements past the last key unchanged', () => {
    const out = new Uint32Array(4).fill(9);
    expect(hashEach(utf8('foobar'), Uint32Array.of(0, 3, 6), 1, out)).toBe(out);
    expect(out).toEqual(Uint32Array.of(0xfe7735c4, 0xd9738c37, 9, 9));
  });

  test('rejects an array with fewer elements than keys', () => {
    const offsets = Uint32Array.of(0, 3, 6);
    expect(() => hashEach(utf8('foobar'), offsets, 1, new Uint32Array(1))).toThrow(RangeError);
    expect(() => hashEach(utf8('foobar'), offsets, 1, new Uint32Array(1))).toThrow(/out must have at least 2 .* 1$/);
  });

  test('rejects offsets that descend or lie outside the bytes', () => {
    for (const offsets of [
      [0, 4, 3],
      [3, 0],
      [0, 7],
      [7, 7],
      [0, 3, 0xffffffff],
    ]) {
      expect(() => hashEach(utf8('foobar'), Uint32Array.from(offsets), 1), offsets.join()).toThrow(RangeError);
    }
  });
});

test('no function changes its arguments', () => {
  const bytes = seeded(5).bytes(100);
  const offsets = Uint32Array.of(0, 1, 3, 6, 10, 100);
  const before = bytes.slice();
  hash(bytes, 1);
  bloomHash(bytes);
  hashRange(bytes, 3, 98, 1);
  hashEach(bytes, offsets, 1);
  expect(bytes).toEqual(before);
  expect(offsets).toEqual(Uint32Array.of(0, 1, 3, 6, 10, 100));
});

function sum(keys: readonly Uint8Array[]): number {
  return keys.reduce((total, key) => total + key.length, 0);
}

test.each([[0.5, 2], [0, 1.5], ['0', 2], [0, '2']])('a range from %s to %s is refused, because it is not of whole numbers', (start, end) => {
  expect(() => hashRange(new Uint8Array(3), start as number, end as number, 1)).toThrow(new RangeError(`start and end must be whole numbers, got ${start} and ${end}`));
});
