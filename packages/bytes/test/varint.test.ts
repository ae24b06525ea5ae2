import fc from 'fast-check';
import { expect, test } from 'vitest';
import { putBigVarint, putVarint, varintLength, VarintReader } from '../src/varint.js';

function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function encoded(value: number): string {
  const bytes = new Uint8Array(10);
  return hex(bytes.subarray(0, putVarint(bytes, 0, value)));
}

// From the definition in Protocol Buffers' encoding guide, which contains 150 and 300.
test.each([
  [0, '00'],
  [1, '01'],
  [127, '7f'],
  [128, '8001'],
  [150, '9601'],
  [300, 'ac02'],
  [2 ** 14 - 1, 'ff7f'],
  [2 ** 14, '808001'],
  [2 ** 31 - 1, 'ffffffff07'],
  [2 ** 31, '8080808008'],
  [2 ** 32 - 1, 'ffffffff0f'],
  [2 ** 32, '8080808010'],
  [2 ** 53 - 1, 'ffffffffffffff0f'],
])('%d is encoded as %s and decoded again', (value, bytes) => {
  expect(encoded(value)).toBe(bytes);
  const reader = new VarintReader(fromHex(bytes));
  expect(reader.varint64()).toBe(value);
  expect(reader.position).toBe(bytes.length / 2);
  if (value < 2 ** 32) expect(new VarintReader(fromHex(bytes)).varint32()).toBe(value);
});

// LevelDB, util/coding_test.cc, Varint64: powers of two and their neighbours.
test('every power of two up to 2^52 and its neighbours survive encoding and decoding', () => {
  const wrong: number[] = [];
  for (let i = 0; i <= 52; i++) {
    for (const value of [2 ** i - 1, 2 ** i, 2 ** i + 1]) {
      if (new VarintReader(fromHex(encoded(value))).varint64() !== value) wrong.push(value);
    }
  }
  expect(wrong).toEqual([]);
});

test('consecutive varints are decoded in order', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat()), (values) => {
      const bytes = fromHex(values.map(encoded).join(''));
      const reader = new VarintReader(bytes);
      return values.every((value) => reader.varint64() === value) && reader.position === bytes.length;
    }),
  );
});

// LevelDB, util/coding_test.cc, Varint32Truncation and Varint32Overflow.
test.each(['', '80', '8080', '80808080', 'ffffffff', '8182838485', '818283848511'])(
  'varint32 finds no complete number in %j',
  (bytes) => {
    expect(new VarintReader(fromHex(bytes)).varint32()).toBe(-1);
  },
);

// LevelDB, util/coding_test.cc, Varint64Truncation and Varint64Overflow.
test.each(['', '80', '808080808080808080', '8182838485818283848511'])('varint64 finds no complete number in %j', (bytes) => {
  expect(new VarintReader(fromHex(bytes)).varint64()).toBe(-1);
});

test('a reader stops at its end even if there are more bytes', () => {
  const bytes = fromHex('ac02');
  expect(new VarintReader(bytes, 0, 1).varint32()).toBe(-1);
  expect(new VarintReader(bytes, 0, 1).varint64()).toBe(-1);
  expect(new VarintReader(bytes, 1).varint32()).toBe(2);
});

// LevelDB, util/coding_test.cc, Varint64: powers of two and their neighbours.
test('every power of two up to 2^63 and its neighbours survive encoding and decoding as bigints', () => {
  const values = Array.from({ length: 64 }, (_, i) => 2n ** BigInt(i)).flatMap((power) => [power - 1n, power, power + 1n]);
  for (const value of [...values, 2n ** 64n - 1n]) {
    const bytes = new Uint8Array(10);
    const end = putBigVarint(bytes, 0, value);
    const reader = new VarintReader(bytes, 0, end);
    expect(reader.bigVarint64()).toBe(value);
    expect(reader.position).toBe(end);
    expect(new VarintReader(bytes, 0, end - 1).bigVarint64()).toBeUndefined();
  }
});

test('2^64 - 1 takes ten bytes, and bits past the 64th are dropped', () => {
  const bytes = new Uint8Array(10);
  expect(putBigVarint(bytes, 0, 2n ** 64n - 1n)).toBe(10);
  expect(hex(bytes)).toBe('ffffffffffffffffff01');
  expect(new VarintReader(fromHex('ffffffffffffffffff7f')).bigVarint64()).toBe(2n ** 64n - 1n);
  expect(new VarintReader(fromHex('ffffffffffffffffffff01')).bigVarint64()).toBeUndefined();
});

test.each([-1, 0.5, NaN, Infinity, 2 ** 53, '5'])('the length of %o is refused', (value) => {
  expect(() => varintLength(value as number)).toThrow(new RangeError(`value must be a whole number from 0 to 2^53 - 1, got ${value === '5' ? '"5"' : value}`));
});

test.each([-1n, 2n ** 64n, -(2n ** 60n)])('%s is not written as a varint64', (value) => {
  const bytes = new Uint8Array(10);
  expect(() => putBigVarint(bytes, 0, value)).toThrow(new RangeError(`value must be from 0 to 2^64 - 1, got ${value}`));
  expect(hex(bytes)).toBe('00'.repeat(10));
});
