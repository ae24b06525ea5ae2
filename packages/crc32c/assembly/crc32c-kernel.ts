// AssemblyScript. CRC-32C for `src/crc32c-kernel.ts`, which writes the tables of `src/crc-tables.ts` and the data into the
// memory. All addresses are bytes from its start.
//
// Bytes are a polynomial over GF(2), and CRC-32C is its remainder modulo P. Long data is first made short, without a table,
// by a multiple of P that has few terms:
//
//     S = x^79 + x^75 + x^71 + x^58 + x^18 + x^12 + x + 1
//
// Squaring doubles the exponents, so S^32 has the same terms 32 times as far apart, and P divides it too. Hence a word of 32
// bits may be removed from the data when it is added (XOR) 4, 8, 21, 61, 67, 78 and 79 words later. Here each word collects
// what is added to it. As no distance is less than four words, a vector takes four words at once. Only the last 79 words
// remain, for the tables.
//
// TypeScript, with which editors check this file, does not allow AssemblyScript's decorators on functions: hence each
// @ts-ignore.
//
// Source of the idea: Sam Russell, Chorba: A novel CRC32 implementation, 2024, arXiv:2412.16398. S is the only multiple of P
// with eight terms and a degree of at most 79. With fewer terms, the least degree is 209.

/** 16 tables of 256 numbers. Table `k` has the remainder of each byte when `k` bytes follow it. */
export const TABLES_AT: usize = 0x400;

/** Where the data starts. The 79 words before it are always zeros. */
export const DATA_AT: usize = 0x4540;

/** There is room for this many bytes of data: more than a log block has. */
export const DATA_BYTES: usize = 0x8000;

/** What remains of long data. */
const REST_AT: usize = DATA_AT + DATA_BYTES + 0x40;

/** The words that remain, in whole vectors: 80 words. */
const REST_BYTES: usize = 320;

/** Data of this many bytes is made short. For fewer, the tables alone are as fast. */
const MIN_LONG: usize = 448;

/** The sum of a vector of data and of those before it that are added to it, without those 4 and 8 words before. */
// @ts-ignore: decorator
@inline
function collected(at: usize): v128 {
  const near = v128.xor(v128.load(at), v128.load(at - 4 * 21));
  const far = v128.xor(v128.load(at - 4 * 61), v128.load(at - 4 * 67));
  return v128.xor(v128.xor(near, far), v128.xor(v128.load(at - 4 * 78), v128.load(at - 4 * 79)));
}

/** Makes [at, end) short. The rest, for a register of zero, starts at `REST_AT`. @returns its end. */
function shorten(at: usize, end: usize): usize {
  const lastAt = at + ((end - at - REST_BYTES) & ~15);
  const zero = i32x4.splat(0);
  // The last two vectors are kept, because storing and loading them would take longer than all else.
  let last = zero;
  let lastButOne = zero;
  for (; at < lastAt; at += 16) {
    const vector = v128.xor(collected(at), v128.xor(last, lastButOne));
    v128.store(at, vector);
    lastButOne = last;
    last = vector;
  }
  // The words of the rest are not removed, so nothing of them is added to later ones: they become zeros.
  let to = REST_AT;
  for (const restEnd = at + REST_BYTES; at < restEnd; at += 16, to += 16) {
    v128.store(to, v128.xor(collected(at), v128.xor(last, lastButOne)));
    v128.store(at, zero);
    lastButOne = last;
    last = zero;
  }
  // Fewer than 16 bytes are left.
  v128.store(to, v128.load(at));
  return to + end - at;
}

// @ts-ignore: decorator
@inline
function remainder(table: usize, byte: u32): u32 {
  return load<u32>((table << 10) + (usize(byte) << 2), TABLES_AT);
}

/** The remainder of eight bytes when `following` bytes follow them. */
// @ts-ignore: decorator
@inline
function remainderOfEight(bytes: u64, following: usize): u32 {
  const low = u32(bytes);
  const high = u32(bytes >> 32);
  return (
    remainder(following + 7, low & 0xff) ^
    remainder(following + 6, (low >> 8) & 0xff) ^
    remainder(following + 5, (low >> 16) & 0xff) ^
    remainder(following + 4, low >> 24) ^
    remainder(following + 3, high & 0xff) ^
    remainder(following + 2, (high >> 8) & 0xff) ^
    remainder(following + 1, (high >> 16) & 0xff) ^
    remainder(following, high >> 24)
  );
}

/** The register after the bytes [at, end), by tables. */
function byTables(register: u32, at: usize, end: usize): u32 {
  if (end - at >= 32) {
    // Every other eight bytes go into a register of their own, so that the processor works on two at once.
    let even = register;
    let odd: u32 = 0;
    for (; end - at >= 32; at += 16) {
      even = remainderOfEight(load<u64>(at) ^ u64(even), 8);
      odd = remainderOfEight(load<u64>(at, 8) ^ u64(odd), 8);
    }
    register = remainderOfEight(load<u64>(at) ^ u64(even), 0);
    register = remainderOfEight(load<u64>(at, 8) ^ u64(odd ^ register), 0);
    at += 16;
  }
  for (; end - at >= 8; at += 8) register = remainderOfEight(load<u64>(at) ^ u64(register), 0);
  for (; at < end; at++) register = remainder(0, (register ^ load<u8>(at)) & 0xff) ^ (register >> 8);
  return register;
}

/** The register after the first `length` bytes of the data, which are overwritten. */
export function update(register: u32, length: usize): u32 {
  if (length < MIN_LONG) return byTables(register, DATA_AT, DATA_AT + length);
  store<u32>(DATA_AT, load<u32>(DATA_AT) ^ register);
  return byTables(0, REST_AT, shorten(DATA_AT, DATA_AT + length));
}
