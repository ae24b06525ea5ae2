import { seeded } from '@bloom/fixtures';
import { type hash64Each, hash64, hash64Range } from '@bloom/hash';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { modelHash64 } from './model64.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

// Computed by a program in another language, from the description in src/hash64.ts.
test.each([
  ['', 0, 0x000000000ab656acn],
  ['', 1, 0x514e28b7457f061bn],
  ['', 0xffffffff, 0x81f16f3944133870n],
  ['a', 0, 0xddf3e7dc257a7260n],
  ['ab', 1, 0xcf2c24bb7e2001e5n],
  ['foo', 0, 0x99452424349be80an],
  ['foo', 1, 0xdc36d2eb7a0398b9n],
  ['abcd', 0xffffffff, 0x56efe9a0412fa410n],
  ['hello', 0, 0xc92178235c958a70n],
  ['abcdef', 1, 0x81186a695a5dd3ebn],
  ['abcdefg', 0, 0x96ee2cc310e219f7n],
  ['abcdefgh', 0, 0x318b8175d1a42fb6n],
  ['abcdefgh', 0xffffffff, 0x62d8cb40bb6ff74fn],
  ['key:00000042', 1, 0xfadd25a3fdc2f386n],
  ['naïve', 0xffffffff, 0x478dc94b17493a1fn],
  ['The quick brown fox jumps over the lazy dog', 0, 0xaa22d081f48ecfc7n],
])('the 64-bit hash of "%s" with seed %i is %i', (text, seed, expected) => {
  expect(hash64(utf8(text), seed)).toBe(expected);
  expect(modelHash64(utf8(text), seed)).toBe(expected);
});

test('the 64-bit hash of the bytes 0 to 255 is as computed elsewhere', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  expect([0, 1, 0xbc9f1d34].map((seed) => hash64(bytes, seed))).toEqual([0xa1dcb7ad694ceabcn, 0x0ebe30d672cfa0d0n, 0x9bbf9a124c6090e5n]);
});

test('the hash of a range is that of plain integer arithmetic on its bytes, with any seed', () => {
  const random = seeded(6);
  const wrong: string[] = [];
  const lanes = new Uint32Array(2);
  for (let i = 0; i < 3000; i++) {
    const bytes = random.bytes(random.below(60));
    const start = random.below(bytes.length + 1);
    const end = start + random.below(bytes.length - start + 1);
    const seed = random.pick([0, 1, 0x7fffffff, 0x80000000, 0xffffffff, random.uint32()]);
    hash64Range(bytes, start, end, seed, lanes);
    const hash = (BigInt(lanes[1]!) << 32n) | BigInt(lanes[0]!);
    if (hash !== modelHash64(bytes.slice(start, end), seed)) wrong.push(`[${start}, ${end}) with ${seed}`);
  }
  expect(wrong).toEqual([]);
});

test('a seed is taken modulo 2^32', () => {
  expect(hash64(utf8('hello'), -1)).toBe(hash64(utf8('hello'), 0xffffffff));
  expect(hash64(utf8('hello'), 2 ** 32 + 1)).toBe(hash64(utf8('hello'), 1));
  for (const text of ['', 'hello']) expect(hash64(utf8(text), 2 ** 60)).toBe(hash64(utf8(text), 0));
});

test('past 2^31 bytes a range has the hash of the same bytes elsewhere', () => {
  // Pages that are not touched take no memory.
  const bytes = new Uint8Array(2 ** 31 + 4096);
  bytes.set(seeded(12).bytes(4200), 2 ** 31 - 104);
  const lanes = new Uint32Array(2);
  const wrong: string[] = [];
  for (const start of [2 ** 31 - 100, 2 ** 31 - 9, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 3]) {
    for (let size = 0; size <= 30; size++) {
      hash64Range(bytes, start, start + size, 1, lanes);
      const hash = (BigInt(lanes[1]!) << 32n) | BigInt(lanes[0]!);
      if (hash !== modelHash64(bytes.slice(start, start + size), 1)) wrong.push(`${start} + ${size}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('two million keys that are alike have different hashes', () => {
  const hashes = new BigUint64Array(2_000_000);
  const lanes = new Uint32Array(hashes.buffer);
  const key = utf8('user:000000000');
  for (let i = 0; i < hashes.length; i++) {
    for (let at = 13, left = i; at > 4; at--, left = Math.floor(left / 10)) key[at] = 0x30 + (left % 10);
    hash64Range(key, 0, key.length, 0, lanes.subarray(2 * i));
  }
  hashes.sort();
  expect(hashes.findIndex((hash, i) => hash === hashes[i - 1])).toBe(-1);
});

test('rejects values other than bytes, and ranges outside of them', () => {
  expect(() => hash64('a' as unknown as Uint8Array, 0)).toThrow(new TypeError('data must be a Uint8Array, got string'));
  const lanes = new Uint32Array(2);
  expect(() => hash64Range(Uint16Array.of(1) as unknown as Uint8Array, 0, 1, 0, lanes)).toThrow('bytes must be a Uint8Array');
  for (const [start, end] of [[-1, 2], [0, 6], [3, 2], [Number.NaN, 2]] as const) {
    expect(() => hash64Range(utf8('hello'), start, end, 0, lanes)).toThrow(/start and end .* 5 bytes/);
  }
});

describe('hash64Each', () => {
  /** `hash64Each` of a new module, as in a new program. */
  async function newHash64Each(): Promise<typeof hash64Each> {
    vi.resetModules();
    return (await import('@bloom/hash')).hash64Each;
  }

  /** Keys one after the other, some bytes into their buffer. */
  function keysOf(lengths: readonly number[]): { bytes: Uint8Array; offsets: Uint32Array } {
    const offsets = new Uint32Array(lengths.length + 1);
    offsets[0] = 5;
    for (const [i, length] of lengths.entries()) offsets[i + 1] = offsets[i]! + length;
    return { bytes: seeded(lengths.length).bytes(offsets[lengths.length]! + 3), offsets };
  }

  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  const lists: [string, number[]][] = [
    ['keys of every length, a few times each', Array.from({ length: 5000 }, (_, i) => Math.floor(i / 7) % 50)],
    ['keys of 16 bytes', Array.from({ length: 5000 }, () => 16)],
    ['keys that are longer than the kernel has room for', Array.from({ length: 5000 }, (_, i) => (i % 1000 === 999 ? 70_000 : 9))],
  ];
  for (const [host, hasWebAssembly] of [['with', true], ['without', false]] as const) {
    test.each(lists)(`${host} WebAssembly gives the hash of each of %s`, async (_, lengths) => {
      if (!hasWebAssembly) vi.stubGlobal('WebAssembly', undefined);
      const each = await newHash64Each();
      const { bytes, offsets } = keysOf(lengths);
      const hashes = each(bytes, offsets, 77);
      expect(hashes).toHaveLength(2 * lengths.length);
      const wrong = lengths.flatMap((_, i) => {
        const hash = (BigInt(hashes[2 * i + 1]!) << 32n) | BigInt(hashes[2 * i]!);
        return hash === hash64(bytes.subarray(offsets[i], offsets[i + 1]), 77) ? [] : [i];
      });
      expect(wrong).toEqual([]);
    });
  }

  test('fills the given array, refuses one that is too short, and offsets that descend', async () => {
    const each = await newHash64Each();
    const out = new Uint32Array(5).fill(9);
    expect(each(utf8('foobar'), Uint32Array.of(0, 3, 6), 1, out)).toBe(out);
    expect([...out.subarray(0, 2), out[4]]).toEqual([0x7a0398b9, 0xdc36d2eb, 9]);
    expect(() => each(utf8('foobar'), Uint32Array.of(0, 3, 6), 1, new Uint32Array(3))).toThrow(/out must have at least 4 .* 3$/);
    const many = Uint32Array.from({ length: 5001 }, (_, i) => (i === 4500 ? 0 : i));
    expect(() => each(new Uint8Array(5001), many, 1)).toThrow('start and end must be in order and within the 5001 bytes, got 4499 and 0');
  });
});
