// AssemblyScript. The Bloom filter's inner loops over many keys, for `src/bloom-kernel.ts`, which lays out the memory:
// all addresses are bytes from its start. The bits are those of `src/bloom-filter.ts`, which explains them.
//
// Keys are handled four at a time, one in each lane of a vector. TypeScript, with which editors check this file, does not
// allow AssemblyScript's decorators on functions: hence each @ts-ignore.
import { writeHashes } from '../../hash/assembly/hash-keys';
import { deltaOf, modulo } from './bloom-probes';

/** Where the filter starts: a constant, because an address that is known at compile time costs nothing. */
export const FILTER_AT: usize = 0x60000;

/**
 * Writes the hash of each key, and repeats the last one up to a multiple of eight. Key i is
 * bytes[offsets[i], offsets[i + 1]). 1 ≤ count.
 */
export function hashKeys(bytes: usize, offsets: usize, count: u32, seed: u32, hashes: usize): void {
  hashes = writeHashes(bytes, offsets, count, seed, hashes);
  const last = load<u32>(hashes - 4);
  for (let i = count; i & 7; i++, hashes += 4) store<u32>(hashes, last);
}

// @ts-ignore: decorator
@inline
function setBit(bit: u32): void {
  const at = usize(bit >> 3);
  store<u8>(at, u32(load<u8>(at, FILTER_AT)) | (u32(1) << (bit & 7)), FILTER_AT);
}

// @ts-ignore: decorator
@inline
function setFour(positions: v128): void {
  const low = i64x2.extract_lane(positions, 0);
  const high = i64x2.extract_lane(positions, 1);
  setBit(u32(low));
  setBit(u32(low >>> 32));
  setBit(u32(high));
  setBit(u32(high >>> 32));
}

/** The bit, with the byte's higher bits above it. */
// @ts-ignore: decorator
@inline
function getBit(bit: u32): u32 {
  return u32(load<u8>(usize(bit >> 3), FILTER_AT)) >> (bit & 7);
}

/**
 * Sets the bits of each hash. 8 ≤ bits < 2^32, 1 ≤ probes ≤ 30.
 *
 * Eight hashes at a time, so that the processor has other work between one bit and the next.
 */
export function setBits(hashes: usize, count: u32, bits: u32, probes: u32): void {
  const moduli = i32x4.splat(bits);
  const reciprocal = i32x4.splat(u32((u64(1) << 32) / u64(bits)));
  for (let i: u32 = 0; i < count; i += 8) {
    let numbers = v128.load(hashes + (usize(i) << 2));
    let others = v128.load(hashes + (usize(i) << 2), 16);
    const delta = deltaOf(numbers);
    const otherDelta = deltaOf(others);
    let left = probes;
    do {
      setFour(modulo(numbers, moduli, reciprocal));
      setFour(modulo(others, moduli, reciprocal));
      numbers = i32x4.add(numbers, delta);
      others = i32x4.add(others, otherDelta);
    } while (--left);
  }
}

/**
 * Writes 1 for each hash whose bits are all set, 0 for the others, and up to three bytes more.
 * 8 ≤ bits < 2^32, 1 ≤ probes ≤ 30.
 *
 * All bits are read, without a branch that would be mispredicted once per absent key.
 */
export function testBits(hashes: usize, count: u32, bits: u32, probes: u32, answers: usize): void {
  const moduli = i32x4.splat(bits);
  const reciprocal = i32x4.splat(u32((u64(1) << 32) / u64(bits)));
  for (let i: u32 = 0; i < count; i += 4) {
    let numbers = v128.load(hashes + (usize(i) << 2));
    const delta = deltaOf(numbers);
    let first: u32 = 1;
    let second: u32 = 1;
    let third: u32 = 1;
    let fourth: u32 = 1;
    let left = probes;
    do {
      const positions = modulo(numbers, moduli, reciprocal);
      const low = i64x2.extract_lane(positions, 0);
      const high = i64x2.extract_lane(positions, 1);
      first &= getBit(u32(low));
      second &= getBit(u32(low >>> 32));
      third &= getBit(u32(high));
      fourth &= getBit(u32(high >>> 32));
      numbers = i32x4.add(numbers, delta);
    } while (--left);
    store<u32>(answers + i, first | (second << 8) | (third << 16) | (fourth << 24));
  }
}

/**
 * Writes the positions of each hash's bits: for every four hashes, for each probe, four numbers; and up to three more
 * for each probe at the end. 8 ≤ bits < 2^32, 1 ≤ probes ≤ 30.
 */
export function locateBits(hashes: usize, count: u32, bits: u32, probes: u32, positions: usize): void {
  const moduli = i32x4.splat(bits);
  const reciprocal = i32x4.splat(u32((u64(1) << 32) / u64(bits)));
  let to = positions;
  for (let i: u32 = 0; i < count; i += 4) {
    let numbers = v128.load(hashes + (usize(i) << 2));
    const delta = deltaOf(numbers);
    const end = to + (usize(probes) << 4);
    do {
      v128.store(to, modulo(numbers, moduli, reciprocal));
      numbers = i32x4.add(numbers, delta);
      to += 16;
    } while (to < end);
  }
}
