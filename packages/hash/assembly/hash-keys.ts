// AssemblyScript. LevelDB's hash of many keys, for the kernels of this package and of `@bloom/policy`. `src/hash.ts`
// explains it.
//
// Adjacent keys of the same length are hashed four at a time, one in each lane of a vector. TypeScript, with which editors
// check this file, does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.

const M: u32 = 0xc6a4a793;

// @ts-ignore: decorator
@inline
function mixWords(h: v128, words: v128): v128 {
  const mixed = i32x4.mul(i32x4.add(h, words), i32x4.splat(M));
  return v128.xor(mixed, i32x4.shr_u(mixed, 16));
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

/** The hash of bytes[at, end). */
function hashKey(at: usize, end: usize, seed: u32): u32 {
  let h = seed ^ (u32(end - at) * M);
  for (; at + 4 <= end; at += 4) {
    h = (h + load<u32>(at)) * M;
    h ^= h >> 16;
  }
  if (at == end) return h;
  for (let shift: u32 = 0; at < end; at++, shift += 8) h += u32(load<u8>(at)) << shift;
  h *= M;
  return h ^ (h >> 24);
}

/** The hashes of four adjacent keys of `length` bytes, at least 4. */
function hashFour(at: usize, length: u32, seed: u32): v128 {
  let h = i32x4.splat(seed ^ (length * M));
  let left = length;
  for (; left >= 4; left -= 4) {
    h = mixWords(h, wordsAt(at, length));
    at += 4;
  }
  if (!left) return h;
  // The last `left` bytes of each key, out of its last four.
  const ends = i32x4.shr_u(wordsAt(at + left - 4, length), (4 - left) << 3);
  const mixed = i32x4.mul(i32x4.add(h, ends), i32x4.splat(M));
  return v128.xor(mixed, i32x4.shr_u(mixed, 24));
}

/** Writes the hash of each key. Key i is bytes[offsets[i], offsets[i + 1]). @returns where the hashes end. */
// @ts-ignore: decorator
@inline
export function writeHashes(bytes: usize, offsets: usize, count: u32, seed: u32, hashes: usize): usize {
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
      v128.store(hashes, hashFour(bytes + start, length, seed));
      offsets += 16;
      hashes += 16;
    } else {
      store<u32>(hashes, hashKey(bytes + start, bytes + start + length, seed));
      offsets += 4;
      hashes += 4;
    }
  }
  return hashes;
}
