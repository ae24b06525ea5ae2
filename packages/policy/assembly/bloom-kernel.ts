// AssemblyScript. The Bloom filter's two inner loops over many keys, for `src/bloom-kernel.ts`, which lays out the
// memory: all addresses are bytes from its start. The same bits as `src/bloom-filter.ts`, which explains them.

/** Writes the Bloom hash of each key: key i is bytes[offsets[i], offsets[i + 1]). */
export function hashKeys(bytes: usize, offsets: usize, count: u32, hashes: usize): void {
  let start = load<u32>(offsets);
  for (let i: u32 = 0; i < count; i++) {
    const end = load<u32>(offsets + (usize(i + 1) << 2));
    let h: u32 = 0xbc9f1d34 ^ ((end - start) * 0xc6a4a793);
    let at: usize = bytes + start;
    const limit: usize = bytes + end;
    while (at + 4 <= limit) {
      h += load<u32>(at);
      h *= 0xc6a4a793;
      h ^= h >> 16;
      at += 4;
    }
    const tail = limit - at;
    if (tail) {
      if (tail == 3) h += u32(load<u8>(at, 2)) << 16;
      if (tail >= 2) h += u32(load<u8>(at, 1)) << 8;
      h += u32(load<u8>(at));
      h *= 0xc6a4a793;
      h ^= h >> 24;
    }
    store<u32>(hashes + (usize(i) << 2), h);
    start = end;
  }
}

/**
 * Four numbers modulo `bits`, by the reciprocal floor(2^32 / bits): the quotient is at most one too small.
 */
// @ts-ignore: decorator
@inline
function modulo(numbers: v128, bits: v128, reciprocal: v128): v128 {
  const low = i64x2.shr_u(i64x2.extmul_low_i32x4_u(numbers, reciprocal), 32);
  const high = i64x2.shr_u(i64x2.extmul_high_i32x4_u(numbers, reciprocal), 32);
  const quotients = v128.shuffle<i32>(low, high, 0, 2, 4, 6);
  const remainders = i32x4.sub(numbers, i32x4.mul(quotients, bits));
  return i32x4.sub(remainders, v128.and(bits, i32x4.ge_u(remainders, bits)));
}

// @ts-ignore: decorator
@inline
function setBit(filter: usize, bit: u32): void {
  const at = filter + (bit >> 3);
  store<u8>(at, load<u8>(at) | u8(u32(1) << (bit & 7)));
}

// @ts-ignore: decorator
@inline
function hasBit(filter: usize, bit: u32): u32 {
  return u32(load<u8>(filter + (bit >> 3))) >> (bit & 7);
}

/** Sets the bits of each hash. 8 ≤ bits < 2^32, probes ≥ 1. */
export function setBits(hashes: usize, count: u32, filter: usize, bits: u32, probes: u32): void {
  const reciprocals = i32x4.splat(i32((u64(1) << 32) / u64(bits)));
  const moduli = i32x4.splat(i32(bits));
  const steps = i32x4(0, 1, 2, 3);
  for (let i: u32 = 0; i < count; i++) {
    const h = load<u32>(hashes + (usize(i) << 2));
    const delta = (h >> 17) | (h << 15);
    let numbers = i32x4.add(i32x4.splat(i32(h)), i32x4.mul(i32x4.splat(i32(delta)), steps));
    const stride = i32x4.splat(i32(delta << 2));
    let left = probes;
    while (true) {
      const positions = modulo(numbers, moduli, reciprocals);
      setBit(filter, u32(i32x4.extract_lane(positions, 0)));
      if (left == 1) break;
      setBit(filter, u32(i32x4.extract_lane(positions, 1)));
      if (left == 2) break;
      setBit(filter, u32(i32x4.extract_lane(positions, 2)));
      if (left == 3) break;
      setBit(filter, u32(i32x4.extract_lane(positions, 3)));
      if (left == 4) break;
      left -= 4;
      numbers = i32x4.add(numbers, stride);
    }
  }
}

/** Writes 1 for each hash all of whose bits are set, 0 for the others. 8 ≤ bits < 2^32, probes ≥ 1. */
export function testBits(hashes: usize, count: u32, filter: usize, bits: u32, probes: u32, answers: usize): void {
  const reciprocals = i32x4.splat(i32((u64(1) << 32) / u64(bits)));
  const moduli = i32x4.splat(i32(bits));
  const steps = i32x4(0, 1, 2, 3);
  for (let i: u32 = 0; i < count; i++) {
    const h = load<u32>(hashes + (usize(i) << 2));
    const delta = (h >> 17) | (h << 15);
    let numbers = i32x4.add(i32x4.splat(i32(h)), i32x4.mul(i32x4.splat(i32(delta)), steps));
    const stride = i32x4.splat(i32(delta << 2));
    let answer: u32 = 1;
    let left = probes;
    while (true) {
      const positions = modulo(numbers, moduli, reciprocals);
      answer &= hasBit(filter, u32(i32x4.extract_lane(positions, 0)));
      if (left > 1) answer &= hasBit(filter, u32(i32x4.extract_lane(positions, 1)));
      if (!answer) break;
      if (left > 2) answer &= hasBit(filter, u32(i32x4.extract_lane(positions, 2)));
      if (left > 3) answer &= hasBit(filter, u32(i32x4.extract_lane(positions, 3)));
      if (!answer || left <= 4) break;
      left -= 4;
      numbers = i32x4.add(numbers, stride);
    }
    store<u8>(answers + i, u8(answer));
  }
}
