// AssemblyScript. The 64-bit hashes of many keys, for the kernel of this package. `src/hash64.ts` explains them.
//
// Adjacent keys of the same length are hashed four at a time, one in each lane of a vector. TypeScript, with which editors
// check this file, does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.

/** The hash of bytes[at, end): the high lane above the low one. */
function hashKey(at: usize, end: usize, seed: u32): u64 {
  let a = seed + 0x9e3779b1;
  let b = seed ^ (u32(end - at) * 0x165667b1);
  while (at < end) {
    let w: u32 = 0;
    let x: u32 = 0;
    if (at + 8 <= end) {
      w = load<u32>(at);
      x = load<u32>(at, 4);
    } else {
      for (let shift: u32 = 0; shift < 32 && at + (shift >> 3) < end; shift += 8) w |= u32(load<u8>(at + (shift >> 3))) << shift;
      for (let shift: u32 = 0; at + 4 + (shift >> 3) < end; shift += 8) x |= u32(load<u8>(at + 4 + (shift >> 3))) << shift;
    }
    b = rotl<u32>(b + x * 0xc2b2ae3d, 13);
    a = rotl<u32>(a + w * 0xcc9e2d51, 15) + b;
    b = (b * 0x27d4eb2f) ^ rotl<u32>(a, 7);
    at += 8;
  }
  a = (a ^ (a >> 15)) * 0x85ebca77;
  a = (a ^ (a >> 13)) * 0xc2b2ae3d;
  b = (b ^ (b >> 16)) * 0x85ebca6b;
  b = (b ^ (b >> 13)) * 0xc2b2ae35;
  return (u64(b ^ (b >> 16)) << 32) | u64(a ^ (a >> 16));
}

/** The words at four addresses `stride` bytes apart. */
// @ts-ignore: decorator
@inline
function wordsAt(at: usize, stride: usize): v128 {
  let words = v128.load32_zero(at);
  words = v128.load_lane<u32>(at + stride, words, 1);
  words = v128.load_lane<u32>(at + stride * 2, words, 2);
  return v128.load_lane<u32>(at + stride * 3, words, 3);
}

// @ts-ignore: decorator
@inline
function times(words: v128, factor: u32): v128 {
  return i32x4.mul(words, i32x4.splat(factor));
}

// @ts-ignore: decorator
@inline
function rotated(words: v128, by: i32): v128 {
  return v128.or(i32x4.shl(words, by), i32x4.shr_u(words, 32 - by));
}

// @ts-ignore: decorator
@inline
function shifted(words: v128, by: i32): v128 {
  return v128.xor(words, i32x4.shr_u(words, by));
}

/** Writes the hashes of four adjacent keys of `length` bytes, at least 4. */
function hashFour(at: usize, length: u32, seed: u32, hashes: usize): void {
  let a = i32x4.splat(seed + 0x9e3779b1);
  let b = i32x4.splat(seed ^ (length * 0x165667b1));
  let left = i32(length);
  while (left > 0) {
    let w: v128;
    let x = i32x4.splat(0);
    if (left >= 4) {
      w = wordsAt(at, length);
      if (left >= 8) x = wordsAt(at + 4, length);
      // The last one to three bytes of each key, out of its last four.
      else if (left > 4) x = i32x4.shr_u(wordsAt(at + left - 4, length), (8 - left) << 3);
    } else {
      w = i32x4.shr_u(wordsAt(at + left - 4, length), (4 - left) << 3);
    }
    b = rotated(i32x4.add(b, times(x, 0xc2b2ae3d)), 13);
    a = i32x4.add(rotated(i32x4.add(a, times(w, 0xcc9e2d51)), 15), b);
    b = v128.xor(times(b, 0x27d4eb2f), rotated(a, 7));
    at += 8;
    left -= 8;
  }
  a = times(shifted(a, 15), 0x85ebca77);
  a = shifted(times(shifted(a, 13), 0xc2b2ae3d), 16);
  b = times(shifted(b, 16), 0x85ebca6b);
  b = shifted(times(shifted(b, 13), 0xc2b2ae35), 16);
  v128.store(hashes, v128.shuffle<i32>(a, b, 0, 4, 1, 5));
  v128.store(hashes, v128.shuffle<i32>(a, b, 2, 6, 3, 7), 16);
}

/** Writes the hash of each key: eight bytes, the low lane first. Key i is bytes[offsets[i], offsets[i + 1]). */
export function writeHashes64(bytes: usize, offsets: usize, count: u32, seed: u32, hashes: usize): void {
  const end = offsets + (usize(count) << 2);
  while (offsets < end) {
    const start = load<u32>(offsets);
    const length = load<u32>(offsets, 4) - start;
    const isFour =
      length >= 4 &&
      offsets + 16 <= end &&
      load<u32>(offsets, 8) == start + length * 2 &&
      load<u32>(offsets, 12) == start + length * 3 &&
      load<u32>(offsets, 16) == start + length * 4;
    if (isFour) {
      hashFour(bytes + start, length, seed, hashes);
      offsets += 16;
      hashes += 32;
    } else {
      store<u64>(hashes, hashKey(bytes + start, bytes + start + length, seed));
      offsets += 4;
      hashes += 8;
    }
  }
}
