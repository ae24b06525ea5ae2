import { fromHex, seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { murmur3 } from '../src/murmur3.js';
import { modelMurmur3 } from './line-model.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const whole = (key: Uint8Array, seed: number): number => murmur3(key, 0, key.length, seed);

// Published in the answers to https://stackoverflow.com/q/14747343 and in Wikipedia's article on MurmurHash.
test.each([
  ['', 0, 0],
  ['', 1, 0x514e28b7],
  ['', 0xffffffff, 0x81f16f39],
  ['ffffffff', 0, 0x76293b50],
  ['21436587', 0, 0xf55b516b],
  ['21436587', 0x5082edee, 0x2362f9de],
  ['214365', 0, 0x7e4a8634],
  ['2143', 0, 0xa0f7b07a],
  ['21', 0, 0x72661cf4],
  ['00000000', 0, 0x2362f9de],
  ['000000', 0, 0x85f0b427],
  ['0000', 0, 0x30f4c306],
  ['00', 0, 0x514e28b7],
])('the hash of the bytes <%s> with seed %i is the published %i', (key, seed, expected) => {
  expect(whole(fromHex(key), seed)).toBe(expected);
});

test.each([
  ['test', 0, 0xba6bd213],
  ['test', 0x9747b28c, 0x704b81dc],
  ['Hello, world!', 0, 0xc0363e43],
  ['Hello, world!', 0x9747b28c, 0x24884cba],
  ['The quick brown fox jumps over the lazy dog', 0, 0x2e4ff723],
  ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
])('the hash of "%s" with seed %i is the published %i', (key, seed, expected) => {
  expect(whole(utf8(key), seed)).toBe(expected);
});

// The check by MurmurHash's author: hashes the keys [], [0], [0, 1], … [0 to 254] with the seeds 256, 255, … 1, and then
// hashes those hashes.
test('passes the verification of SMHasher', () => {
  const hashes = new DataView(new ArrayBuffer(4 * 256));
  const key = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (let i = 0; i < 256; i++) hashes.setUint32(4 * i, whole(key.subarray(0, i), 256 - i), true);
  expect(whole(new Uint8Array(hashes.buffer), 0)).toBe(0xb0f57ee3);
});

test('the hash of a range equals plain integer arithmetic on its bytes', () => {
  const random = seeded(3);
  const wrong: string[] = [];
  for (let i = 0; i < 2000; i++) {
    const bytes = random.bytes(random.below(40));
    const start = random.below(bytes.length + 1);
    const end = start + random.below(bytes.length - start + 1);
    const seed = random.uint32();
    if (murmur3(bytes, start, end, seed) !== modelMurmur3(bytes.slice(start, end), seed)) wrong.push(`${i}`);
  }
  expect(wrong).toEqual([]);
});
