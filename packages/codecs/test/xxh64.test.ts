import { seeded } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { xxh64Low } from '../src/zstd/xxh64.js';

/** XXH64 with BigInt, following its specification. Source: xxHash, doc/xxhash_spec.md. */
function xxh64(bytes: Uint8Array): bigint {
  const [p1, p2, p3, p4, p5] = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n] as const;
  const word = (value: bigint): bigint => BigInt.asUintN(64, value);
  const rotated = (value: bigint, bits: bigint): bigint => word((value << bits) | (value >> (64n - bits)));
  const round = (lane: bigint, input: bigint): bigint => word(rotated(word(lane + input * p2), 31n) * p1);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let hash: bigint = p5;
  if (bytes.length >= 32) {
    const lanes = [word(p1 + p2), p2, 0n, word(-p1)];
    for (; at + 32 <= bytes.length; at += 32) for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i]!, view.getBigUint64(at + 8 * i, true));
    hash = word(lanes.map((lane, i) => rotated(lane, [1n, 7n, 12n, 18n][i]!)).reduce((sum, lane) => sum + lane));
    for (const lane of lanes) hash = word((hash ^ round(0n, lane)) * p1 + p4);
  }
  hash = word(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) hash = word(rotated(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * p1 + p4);
  if (at + 4 <= bytes.length) {
    hash = word(rotated(hash ^ word(BigInt(view.getUint32(at, true)) * p1), 23n) * p2 + p3);
    at += 4;
  }
  for (; at < bytes.length; at++) hash = word(rotated(hash ^ word(BigInt(bytes[at]!) * p5), 11n) * p1);
  hash = word((hash ^ (hash >> 33n)) * p2);
  hash = word((hash ^ (hash >> 29n)) * p3);
  return hash ^ (hash >> 32n);
}

describe('the checksum', () => {
  test.each([
    ['', 0xef46db3751d8e999n],
    ['a', 0xd24ec4f1a98c6e5bn],
    ['abc', 0x44bc2cf5ad770999n],
  ])('of %j is the one in xxHash', (input, expected) => {
    const bytes = new TextEncoder().encode(input);
    expect(xxh64(bytes)).toBe(expected);
    expect(xxh64Low(bytes, 0, bytes.length)).toBe(Number(expected & 0xffff_ffffn));
  });

  test('of a part of an array matches the specification at every length', () => {
    const random = seeded(9);
    const wrong: number[] = [];
    for (let length = 0; length < 300; length++) {
      const bytes = random.pick([random.bytes(length + 7), new Uint8Array(length + 7).fill(0xff)]);
      if (xxh64Low(bytes, 3, 3 + length) !== Number(xxh64(bytes.subarray(3, 3 + length)) & 0xffff_ffffn)) wrong.push(length);
    }
    expect(wrong).toEqual([]);
  });
});
