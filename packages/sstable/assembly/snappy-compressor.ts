// AssemblyScript. Snappy's compressor for one fragment, for `src/compression/snappy-compressor.ts`, which lays out the
// memory and does the same in plain TypeScript: both write the same bytes. All addresses are bytes from the start of the
// memory. AssemblyScript allows decorators on functions and TypeScript, with which editors check this file, does not:
// hence each @ts-ignore.
//
// Copies move 16 bytes at a time, so they may read and write up to 15 bytes past their ends. Each part of the memory has
// that slack.

/** The hash table's address, a constant so that it costs nothing. */
const TABLE_AT: usize = 0;

/** The address of the slot for four bytes. */
// @ts-ignore: decorator
@inline
function slotOf(word: u32, shift: u32): usize {
  return TABLE_AT + (usize((word * 0x1e35a7bd) >> shift) << 1);
}

/** 1 ≤ length ≤ 65,536. */
// @ts-ignore: decorator
@inline
function putLiteral(to: usize, from: usize, length: u32): usize {
  const rest = length - 1;
  if (length <= 16) {
    store<u8>(to, rest << 2);
    v128.store(to + 1, v128.load(from));
    return to + 1 + length;
  }
  if (rest < 60) {
    store<u8>(to, rest << 2);
    to += 1;
  } else if (rest < 256) {
    store<u8>(to, 60 << 2);
    store<u8>(to, rest, 1);
    to += 2;
  } else {
    store<u8>(to, 61 << 2);
    store<u16>(to, rest, 1);
    to += 3;
  }
  const end = to + length;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
  return end;
}

/** 1 ≤ offset < 65,536, 4 ≤ length. */
// @ts-ignore: decorator
@inline
function putCopy(to: usize, offset: u32, length: u32): usize {
  for (; length >= 68; length -= 64, to += 3) store<u32>(to, 2 | (63 << 2) | (offset << 8));
  if (length > 64) {
    store<u32>(to, 2 | (59 << 2) | (offset << 8));
    to += 3;
    length -= 60;
  }
  if (length < 12 && offset < 2048) {
    store<u16>(to, 1 | ((length - 4) << 2) | ((offset >> 8) << 5) | (offset << 8));
    return to + 2;
  }
  store<u32>(to, 2 | ((length - 1) << 2) | (offset << 8));
  return to + 3;
}

/** The address from `later` on at which the bytes first differ from those at `earlier`, or `end`. */
// @ts-ignore: decorator
@inline
function endOfMatch(earlier: usize, later: usize, end: usize): usize {
  for (; later + 8 <= end; later += 8, earlier += 8) {
    const difference = load<u64>(earlier) ^ load<u64>(later);
    if (difference) return later + usize(ctz(difference) >> 3);
  }
  while (later < end && load<u8>(earlier) == load<u8>(later)) {
    earlier++;
    later++;
  }
  return later;
}

function putRest(to: usize, from: usize, end: usize): usize {
  return from < end ? putLiteral(to, from, end - from) : to;
}

/**
 * Compresses the bytes [from, from + length), at most 65,536, to `to`, with a hash table of 2^tableBits slots.
 *
 * @returns the address after the last byte written.
 */
export function compress(from: usize, length: u32, to: usize, tableBits: u32): usize {
  const end = from + length;
  let emitted = from;
  if (length < 16) return putRest(to, emitted, end);
  memory.fill(TABLE_AT, 0, 2 << tableBits);
  const shift = 32 - tableBits;
  const limit = end - 15;
  let at = from + 1;
  let word = load<u32>(at);
  while (true) {
    let skip: u32 = 32;
    let candidate: usize;
    while (true) {
      const slot = slotOf(word, shift);
      const step = skip >> 5;
      skip += step;
      const next = at + step;
      if (next > limit) return putRest(to, emitted, end);
      candidate = from + load<u16>(slot);
      store<u16>(slot, at - from);
      if (load<u32>(candidate) == word) break;
      at = next;
      word = load<u32>(at);
    }
    to = putLiteral(to, emitted, at - emitted);
    while (true) {
      const start = at;
      at = endOfMatch(candidate + 4, at + 4, end);
      to = putCopy(to, start - candidate, at - start);
      emitted = at;
      if (at >= limit) return putRest(to, emitted, end);
      const words = load<u64>(at - 1);
      store<u16>(slotOf(u32(words), shift), at - 1 - from);
      word = u32(words >> 8);
      const slot = slotOf(word, shift);
      candidate = from + load<u16>(slot);
      store<u16>(slot, at - from);
      if (load<u32>(candidate) != word) {
        word = u32(words >> 16);
        at++;
        break;
      }
    }
  }
}
