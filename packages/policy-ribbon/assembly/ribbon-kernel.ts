// AssemblyScript. The loops over many keys of a Ribbon filter, for `src/ribbon-kernel.ts`, which lays out the memory: all
// addresses are bytes from its start. `src/ribbon-filter.ts` explains the equations, `src/build-ribbon.ts` how they are solved.
//
// TypeScript, with which editors check this file, does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.
export { sortDistinct } from '../../policy/assembly/sort-hashes';

const ONES: u64 = 0x0101010101010101;
/** 64 slots of rows of 128 bits. */
const WORD_BYTES: usize = 64 * 32;

// @ts-ignore: decorator
@inline
function startOf(hash: u64, slots: u32, width: u32): u32 {
  const start = i32(((hash >> 32) * u64(max(slots, width))) >> 32) - i32(width / 2 - 1);
  return u32(max(0, min(start, i32(slots) - i32(width))));
}

/** The first 64 bits of the row of a hash. */
// @ts-ignore: decorator
@inline
function rowOf(hash: u64): u64 {
  const p = (u32(hash) ^ rotl<u32>(u32(hash >> 32), 16)) * 0x9e3779b1;
  return (hash & 0xffffffff) | 1 | (u64(p ^ (p >> 15)) << 32);
}

/** The next 64 bits, after `row`. */
// @ts-ignore: decorator
@inline
function upperRowOf(hash: u64, row: u64): u64 {
  const q = (u32(row >> 32) ^ u32(hash >> 32)) * 0x85ebca6b;
  const c2 = q ^ (q >> 13);
  const t = (c2 + u32(hash)) * 0xc2b2ae35;
  return u64(c2) | (u64(t ^ (t >> 16)) << 32);
}

// @ts-ignore: decorator
@inline
function valueOf(hash: u64): u32 {
  return ((u32(hash >> 32) ^ rotl<u32>(u32(hash), 11)) * 0x85ebca77) >> 15;
}

/** The lowest `count` bits. */
// @ts-ignore: decorator
@inline
function lowest(count: i32): u64 {
  return count >= 64 ? ~u64(0) : count <= 0 ? 0 : (u64(1) << count) - 1;
}

/** Elimination of one row of 64 bits. @returns false when its equation contradicts others. */
function place64(slot: u32, row: u64, value: u32, rows: usize, values: usize): bool {
  while (row) {
    const by = ctz<u64>(row);
    slot += u32(by);
    row >>= by;
    const there = rows + (usize(slot) << 3);
    const other = load<u64>(there);
    if (!other) {
      store<u64>(there, row);
      store<u32>(values + (usize(slot) << 2), value);
      return true;
    }
    row ^= other;
    value ^= load<u32>(values + (usize(slot) << 2));
  }
  return value == 0;
}

/**
 * Elimination, for rows of 64 bits. The solution is the same in any order: two rows are reduced in turns, so that the processor has
 * other work while it waits for the next of one, and those that start last come first, because two thirds of the rows then find
 * their slot free. It takes three quarters of the time of one row after the other.
 *
 * @param hashes in order, `count` of them, which is at least 1.
 * @param rows eight zero bytes for each slot, and `values` four.
 * @returns false when an equation contradicts others.
 */
export function eliminate64(hashes: usize, count: u32, slots: u32, valueMask: u32, rows: usize, values: usize): bool {
  let at = hashes + (usize(count) << 3);
  let hash: u64;
  let there: usize;
  let other: u64;
  let by: u64;
  let slotA: u32 = 0;
  let rowA: u64 = 0;
  let valueA: u32 = 0;
  let slotB: u32 = 0;
  let rowB: u64 = 0;
  let valueB: u32 = 0;
  while (true) {
    if (!rowA) {
      if (valueA) return false;
      if (at == hashes) return place64(slotB, rowB, valueB, rows, values);
      at -= 8;
      hash = load<u64>(at);
      slotA = startOf(hash, slots, 64);
      rowA = rowOf(hash) & lowest(slots - slotA);
      valueA = valueOf(hash) & valueMask;
    }
    there = rows + (usize(slotA) << 3);
    other = load<u64>(there);
    if (other) {
      rowA ^= other;
      valueA ^= load<u32>(values + (usize(slotA) << 2));
      by = ctz<u64>(rowA);
      slotA += u32(by);
      rowA >>= by;
    } else {
      store<u64>(there, rowA);
      store<u32>(values + (usize(slotA) << 2), valueA);
      if (at == hashes) return place64(slotB, rowB, valueB, rows, values);
      at -= 8;
      hash = load<u64>(at);
      slotA = startOf(hash, slots, 64);
      rowA = rowOf(hash) & lowest(slots - slotA);
      valueA = valueOf(hash) & valueMask;
    }
    if (!rowB) {
      if (valueB) return false;
      if (at == hashes) return place64(slotA, rowA, valueA, rows, values);
      at -= 8;
      hash = load<u64>(at);
      slotB = startOf(hash, slots, 64);
      rowB = rowOf(hash) & lowest(slots - slotB);
      valueB = valueOf(hash) & valueMask;
    }
    there = rows + (usize(slotB) << 3);
    other = load<u64>(there);
    if (other) {
      rowB ^= other;
      valueB ^= load<u32>(values + (usize(slotB) << 2));
      by = ctz<u64>(rowB);
      slotB += u32(by);
      rowB >>= by;
    } else {
      store<u64>(there, rowB);
      store<u32>(values + (usize(slotB) << 2), valueB);
      if (at == hashes) return place64(slotA, rowA, valueA, rows, values);
      at -= 8;
      hash = load<u64>(at);
      slotB = startOf(hash, slots, 64);
      rowB = rowOf(hash) & lowest(slots - slotB);
      valueB = valueOf(hash) & valueMask;
    }
  }
}

// While equations are solved, a row of 128 bits takes 32 bytes: the three words of 64 slots that it lies in, and its value. Two rows
// that begin at the same slot lie in the same words, so that none is ever shifted, which took a third more time.

/**
 * Elimination of one row of 128 bits: `base` is the place of the first slot of its first word, `lower` has two words, the first of
 * which is also `first`, and `upper` the third and the value. @returns false when its equation contradicts others.
 */
function place128(base: usize, first: u64, lower: v128, upper: v128): bool {
  let second = i64x2.extract_lane(lower, 1);
  let third = i64x2.extract_lane(upper, 0);
  let value = i64x2.extract_lane(upper, 1);
  while (true) {
    while (!first) {
      if (!(second | third)) return value == 0;
      first = second;
      second = third;
      third = 0;
      base += WORD_BYTES;
    }
    const there = base + (usize(ctz<u64>(first)) << 5);
    const other = load<u64>(there);
    if (!other) {
      store<u64>(there, first);
      store<u64>(there, second, 8);
      store<u64>(there, third, 16);
      store<u64>(there, value, 24);
      return true;
    }
    first ^= other;
    second ^= load<u64>(there, 8);
    third ^= load<u64>(there, 16);
    value ^= load<u64>(there, 24);
  }
}

/**
 * The same for rows of 128 bits, three in turns. The steps stand here for each of the three, because AssemblyScript's functions have one
 * result.
 *
 * @param rows 32 zero bytes for each slot.
 */
export function eliminate128(hashes: usize, count: u32, slots: u32, valueMask: u32, rows: usize): bool {
  let at = hashes + (usize(count) << 3);
  let hash: u64;
  let slot: u32;
  let row: u64;
  let next: u64;
  let by: u64;
  let there: usize;
  let other: u64;
  let baseA: usize = 0;
  let firstA: u64 = 0;
  let lowerA = i64x2.splat(0);
  let upperA = i64x2.splat(0);
  let baseB: usize = 0;
  let firstB: u64 = 0;
  let lowerB = i64x2.splat(0);
  let upperB = i64x2.splat(0);
  let baseC: usize = 0;
  let firstC: u64 = 0;
  let lowerC = i64x2.splat(0);
  let upperC = i64x2.splat(0);
  while (true) {
    if (!firstA) {
      firstA = i64x2.extract_lane(lowerA, 1);
      other = i64x2.extract_lane(upperA, 0);
      baseA += WORD_BYTES;
      if (!firstA) {
        firstA = other;
        other = 0;
        baseA += WORD_BYTES;
      }
      if (firstA) {
        lowerA = i64x2.replace_lane(i64x2.splat(firstA), 1, other);
        upperA = i64x2.replace_lane(upperA, 0, 0);
      } else {
        if (i64x2.extract_lane(upperA, 1)) return false;
        if (at == hashes) return place128(baseB, firstB, lowerB, upperB) && place128(baseC, firstC, lowerC, upperC);
        at -= 8;
        hash = load<u64>(at);
        slot = startOf(hash, slots, 128);
        row = rowOf(hash);
        next = upperRowOf(hash, row) & lowest(i32(slots - slot) - 64);
        row &= lowest(slots - slot);
        by = u64(slot & 63);
        baseA = rows + (usize(slot & ~63) << 5);
        firstA = row << by;
        lowerA = i64x2.replace_lane(i64x2.splat((next << by) | ((row >> 1) >> (63 - by))), 0, firstA);
        upperA = i64x2.replace_lane(i64x2.splat((next >> 1) >> (63 - by)), 1, u64(valueOf(hash) & valueMask));
      }
    }
    there = baseA + (usize(ctz<u64>(firstA)) << 5);
    other = load<u64>(there);
    if (other) {
      firstA ^= other;
      lowerA = v128.xor(lowerA, v128.load(there));
      upperA = v128.xor(upperA, v128.load(there, 16));
    } else {
      v128.store(there, lowerA);
      v128.store(there, upperA, 16);
      if (at == hashes) return place128(baseB, firstB, lowerB, upperB) && place128(baseC, firstC, lowerC, upperC);
      at -= 8;
      hash = load<u64>(at);
      slot = startOf(hash, slots, 128);
      row = rowOf(hash);
      next = upperRowOf(hash, row) & lowest(i32(slots - slot) - 64);
      row &= lowest(slots - slot);
      by = u64(slot & 63);
      baseA = rows + (usize(slot & ~63) << 5);
      firstA = row << by;
      lowerA = i64x2.replace_lane(i64x2.splat((next << by) | ((row >> 1) >> (63 - by))), 0, firstA);
      upperA = i64x2.replace_lane(i64x2.splat((next >> 1) >> (63 - by)), 1, u64(valueOf(hash) & valueMask));
    }
    if (!firstB) {
      firstB = i64x2.extract_lane(lowerB, 1);
      other = i64x2.extract_lane(upperB, 0);
      baseB += WORD_BYTES;
      if (!firstB) {
        firstB = other;
        other = 0;
        baseB += WORD_BYTES;
      }
      if (firstB) {
        lowerB = i64x2.replace_lane(i64x2.splat(firstB), 1, other);
        upperB = i64x2.replace_lane(upperB, 0, 0);
      } else {
        if (i64x2.extract_lane(upperB, 1)) return false;
        if (at == hashes) return place128(baseA, firstA, lowerA, upperA) && place128(baseC, firstC, lowerC, upperC);
        at -= 8;
        hash = load<u64>(at);
        slot = startOf(hash, slots, 128);
        row = rowOf(hash);
        next = upperRowOf(hash, row) & lowest(i32(slots - slot) - 64);
        row &= lowest(slots - slot);
        by = u64(slot & 63);
        baseB = rows + (usize(slot & ~63) << 5);
        firstB = row << by;
        lowerB = i64x2.replace_lane(i64x2.splat((next << by) | ((row >> 1) >> (63 - by))), 0, firstB);
        upperB = i64x2.replace_lane(i64x2.splat((next >> 1) >> (63 - by)), 1, u64(valueOf(hash) & valueMask));
      }
    }
    there = baseB + (usize(ctz<u64>(firstB)) << 5);
    other = load<u64>(there);
    if (other) {
      firstB ^= other;
      lowerB = v128.xor(lowerB, v128.load(there));
      upperB = v128.xor(upperB, v128.load(there, 16));
    } else {
      v128.store(there, lowerB);
      v128.store(there, upperB, 16);
      if (at == hashes) return place128(baseA, firstA, lowerA, upperA) && place128(baseC, firstC, lowerC, upperC);
      at -= 8;
      hash = load<u64>(at);
      slot = startOf(hash, slots, 128);
      row = rowOf(hash);
      next = upperRowOf(hash, row) & lowest(i32(slots - slot) - 64);
      row &= lowest(slots - slot);
      by = u64(slot & 63);
      baseB = rows + (usize(slot & ~63) << 5);
      firstB = row << by;
      lowerB = i64x2.replace_lane(i64x2.splat((next << by) | ((row >> 1) >> (63 - by))), 0, firstB);
      upperB = i64x2.replace_lane(i64x2.splat((next >> 1) >> (63 - by)), 1, u64(valueOf(hash) & valueMask));
    }
    if (!firstC) {
      firstC = i64x2.extract_lane(lowerC, 1);
      other = i64x2.extract_lane(upperC, 0);
      baseC += WORD_BYTES;
      if (!firstC) {
        firstC = other;
        other = 0;
        baseC += WORD_BYTES;
      }
      if (firstC) {
        lowerC = i64x2.replace_lane(i64x2.splat(firstC), 1, other);
        upperC = i64x2.replace_lane(upperC, 0, 0);
      } else {
        if (i64x2.extract_lane(upperC, 1)) return false;
        if (at == hashes) return place128(baseA, firstA, lowerA, upperA) && place128(baseB, firstB, lowerB, upperB);
        at -= 8;
        hash = load<u64>(at);
        slot = startOf(hash, slots, 128);
        row = rowOf(hash);
        next = upperRowOf(hash, row) & lowest(i32(slots - slot) - 64);
        row &= lowest(slots - slot);
        by = u64(slot & 63);
        baseC = rows + (usize(slot & ~63) << 5);
        firstC = row << by;
        lowerC = i64x2.replace_lane(i64x2.splat((next << by) | ((row >> 1) >> (63 - by))), 0, firstC);
        upperC = i64x2.replace_lane(i64x2.splat((next >> 1) >> (63 - by)), 1, u64(valueOf(hash) & valueMask));
      }
    }
    there = baseC + (usize(ctz<u64>(firstC)) << 5);
    other = load<u64>(there);
    if (other) {
      firstC ^= other;
      lowerC = v128.xor(lowerC, v128.load(there));
      upperC = v128.xor(upperC, v128.load(there, 16));
    } else {
      v128.store(there, lowerC);
      v128.store(there, upperC, 16);
      if (at == hashes) return place128(baseA, firstA, lowerA, upperA) && place128(baseB, firstB, lowerB, upperB);
      at -= 8;
      hash = load<u64>(at);
      slot = startOf(hash, slots, 128);
      row = rowOf(hash);
      next = upperRowOf(hash, row) & lowest(i32(slots - slot) - 64);
      row &= lowest(slots - slot);
      by = u64(slot & 63);
      baseC = rows + (usize(slot & ~63) << 5);
      firstC = row << by;
      lowerC = i64x2.replace_lane(i64x2.splat((next << by) | ((row >> 1) >> (63 - by))), 0, firstC);
      upperC = i64x2.replace_lane(i64x2.splat((next >> 1) >> (63 - by)), 1, u64(valueOf(hash) & valueMask));
    }
  }
}

/**
 * Back substitution, from the last slot to the first, one column after the other. Rows and values are those of {@link eliminate64}.
 *
 * @param states eight zero bytes for each column: for the 64 slots after the one at hand, its bits.
 */
export function substitute64(
  rows: usize,
  values: usize,
  groups: u32,
  columns: u32,
  extraGroups: u32,
  states: usize,
  array: usize,
): void {
  const all = extraGroups ? columns + 1 : columns;
  const statesEnd = states + (usize(all) << 3);
  const extraAt = array + usize(groups) * columns;
  for (let slot = i32(groups << 3) - 1; slot >= 0; slot--) {
    const row = load<u64>(rows + (usize(slot) << 3));
    let value = u64(load<u32>(values + (usize(slot) << 2)));
    for (let state = states; state < statesEnd; state += 8) {
      const shifted = load<u64>(state) << 1;
      store<u64>(state, shifted | ((popcnt<u64>(shifted & row) ^ value) & 1));
      value >>= 1;
    }
    if (slot & 7) continue;
    const group = u32(slot) >> 3;
    for (let column: u32 = 0; column < columns; column++) {
      store<u8>(array + usize(group) * columns + column, load<u8>(states + (usize(column) << 3)));
    }
    if (group >= groups - extraGroups) store<u8>(extraAt + (group + extraGroups - groups), load<u8>(statesEnd - 8));
  }
}

/**
 * The same with the rows of {@link eliminate128}.
 *
 * @param states 24 zero bytes for each column: three words of its bits, as in a row.
 */
export function substitute128(rows: usize, groups: u32, columns: u32, extraGroups: u32, states: usize, array: usize): void {
  const all = extraGroups ? columns + 1 : columns;
  const statesEnd = states + usize(all) * 24;
  const extraAt = array + usize(groups) * columns;
  for (let slot = i32(groups << 3) - 1; slot >= 0; slot--) {
    const at = rows + (usize(slot) << 5);
    const first = load<u64>(at);
    const second = load<u64>(at, 8);
    const third = load<u64>(at, 16);
    let value = load<u64>(at, 24);
    const by = u64(slot & 63);
    for (let state = states; state < statesEnd; state += 24) {
      const bits = load<u64>(state);
      const sum = (bits & first) ^ (load<u64>(state, 8) & second) ^ (load<u64>(state, 16) & third);
      store<u64>(state, bits | (((popcnt<u64>(sum) ^ value) & 1) << by));
      value >>= 1;
    }
    if (slot & 7) continue;
    const group = u32(slot) >> 3;
    const byte = usize(group & 7);
    for (let column: u32 = 0; column < columns; column++) {
      store<u8>(array + usize(group) * columns + column, load<u8>(states + usize(column) * 24 + byte));
    }
    if (group >= groups - extraGroups) store<u8>(extraAt + (group + extraGroups - groups), load<u8>(statesEnd - 24 + byte));
    if (slot & 63) continue;
    for (let state = states; state < statesEnd; state += 24) {
      store<u64>(state, load<u64>(state, 8), 16);
      store<u64>(state, load<u64>(state), 8);
      store<u64>(state, 0);
    }
  }
}

/** Eight columns of two groups, `stride` bytes apart. */
// @ts-ignore: decorator
@inline
function twoGroups(at: usize, stride: usize): v128 {
  return v128.load64_lane(at + stride, v128.load64_zero(at), 1);
}

/** The sum modulo 2 of eight groups, each with the bits of one of the row's lower eight bytes: eight columns of a byte each, twice. */
// @ts-ignore: decorator
@inline
function sumOfLower(at: usize, stride: usize, row: v128): v128 {
  let sum = v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
  at += stride << 1;
  sum = v128.xor(sum, v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3)));
  at += stride << 1;
  sum = v128.xor(sum, v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5)));
  at += stride << 1;
  return v128.xor(sum, v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7)));
}

/** The same with the row's upper eight bytes. */
// @ts-ignore: decorator
@inline
function sumOfUpper(at: usize, stride: usize, row: v128): v128 {
  let sum = v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9));
  at += stride << 1;
  sum = v128.xor(sum, v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 10, 10, 10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11)));
  at += stride << 1;
  sum = v128.xor(sum, v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 12, 12, 12, 12, 12, 12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 13)));
  at += stride << 1;
  return v128.xor(sum, v128.and(twoGroups(at, stride), i8x16.shuffle(row, row, 14, 14, 14, 14, 14, 14, 14, 14, 15, 15, 15, 15, 15, 15, 15, 15)));
}

/** Writes 1 for each hash that the filter matches, 0 for the others. Rows may be read up to 17 groups past the array. */
export function test(
  hashes: usize,
  count: u32,
  width: u32,
  groups: u32,
  columns: u32,
  extraGroups: u32,
  array: usize,
  answers: usize,
): void {
  const slots = groups << 3;
  const stride = usize(columns);
  const extraAt = array + usize(groups) * stride;
  const firstExtra = groups - extraGroups;
  for (let i: u32 = 0; i < count; i++) {
    const hash = load<u64>(hashes + (usize(i) << 3));
    const start = startOf(hash, slots, width);
    const group = start >> 3;
    const by = u64(start & 7);
    const value = valueOf(hash);
    const left = i32(slots - start);
    const row = rowOf(hash);
    const kept = row & lowest(left);
    const lower = kept << by;
    // Shifts by 64 would be shifts by 0.
    let middle = (kept >> 1) >> (63 - by);
    let last: u64 = 0;
    if (width == 128) {
      const upper = upperRowOf(hash, row) & lowest(left - 64);
      middle |= upper << by;
      last = (upper >> 1) >> (63 - by);
    }
    const chosen = i64x2.replace_lane(i64x2.splat(lower), 1, middle);
    let matches = true;
    for (let column: u32 = 0; column < columns; column += 8) {
      const at = array + usize(group) * stride + column;
      let sums = sumOfLower(at, stride, chosen);
      let sum: u64;
      if (width == 64) {
        sum = load<u64>(at + (stride << 3)) & (middle * ONES);
      } else {
        sums = v128.xor(sums, sumOfUpper(at + (stride << 3), stride, chosen));
        sum = load<u64>(at + (stride << 4)) & (last * ONES);
      }
      sum ^= i64x2.extract_lane(sums, 0) ^ i64x2.extract_lane(sums, 1);
      sum ^= sum >> 4;
      sum ^= sum >> 2;
      sum ^= sum >> 1;
      const bits = u64(value >> column);
      // Each of eight bits to a byte of its own.
      const expected = ((bits & 0x7f) * 0x0002040810204081) | ((bits & 0x80) << 49);
      if ((sum ^ expected) & ONES & lowest(i32(columns - column) << 3)) {
        matches = false;
        break;
      }
    }
    if (matches && group >= firstExtra) {
      const at = extraAt + (group - firstExtra);
      let sum = load<u64>(at) & lower;
      if (width == 64) sum ^= u64(load<u8>(at, 8)) & middle;
      else sum ^= (load<u64>(at, 8) & middle) ^ (u64(load<u8>(at, 16)) & last);
      matches = ((popcnt<u64>(sum) ^ u64(value >> columns)) & 1) == 0;
    }
    store<u8>(answers + i, u32(matches));
  }
}
