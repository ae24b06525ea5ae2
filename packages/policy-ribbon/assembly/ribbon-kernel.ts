// AssemblyScript. The loops over many keys of a Ribbon filter, for `src/ribbon-kernel.ts`, which lays out the memory: all
// addresses are bytes from its start. `src/ribbon-filter.ts` explains the equations, `src/build-ribbon.ts` how they are solved.
//
// TypeScript, with which editors check this file, does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.
export { sortDistinct } from '../../policy/assembly/sort-hashes';

const ONES: u64 = 0x0101010101010101;

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
 * Elimination, for rows of 64 bits. Two rows are reduced in turns, so that the processor has other work while it waits for the next
 * of one: four fifths of the time. The solution is the same in any order.
 *
 * @param count at least 1.
 * @param rows eight zero bytes for each slot, and `values` four.
 * @returns false when an equation contradicts others.
 */
export function eliminate64(hashes: usize, count: u32, slots: u32, valueMask: u32, rows: usize, values: usize): bool {
  const end = hashes + (usize(count) << 3);
  let at = hashes;
  let hash = load<u64>(at);
  let slotA = startOf(hash, slots, 64);
  let rowA = rowOf(hash) & lowest(slots - slotA);
  let valueA = valueOf(hash) & valueMask;
  if (count == 1) return place64(slotA, rowA, valueA, rows, values);
  at += 8;
  hash = load<u64>(at);
  let slotB = startOf(hash, slots, 64);
  let rowB = rowOf(hash) & lowest(slots - slotB);
  let valueB = valueOf(hash) & valueMask;
  let there: usize;
  let other: u64;
  let by: u64;
  while (true) {
    if (!rowA) {
      if (valueA) return false;
      at += 8;
      if (at >= end) return place64(slotB, rowB, valueB, rows, values);
      hash = load<u64>(at);
      slotA = startOf(hash, slots, 64);
      rowA = rowOf(hash) & lowest(slots - slotA);
      valueA = valueOf(hash) & valueMask;
    }
    if (!rowB) {
      if (valueB) return false;
      at += 8;
      if (at >= end) return place64(slotA, rowA, valueA, rows, values);
      hash = load<u64>(at);
      slotB = startOf(hash, slots, 64);
      rowB = rowOf(hash) & lowest(slots - slotB);
      valueB = valueOf(hash) & valueMask;
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
      at += 8;
      if (at >= end) return place64(slotB, rowB, valueB, rows, values);
      hash = load<u64>(at);
      slotA = startOf(hash, slots, 64);
      rowA = rowOf(hash) & lowest(slots - slotA);
      valueA = valueOf(hash) & valueMask;
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
      at += 8;
      if (at >= end) return place64(slotA, rowA, valueA, rows, values);
      hash = load<u64>(at);
      slotB = startOf(hash, slots, 64);
      rowB = rowOf(hash) & lowest(slots - slotB);
      valueB = valueOf(hash) & valueMask;
    }
  }
}

/** Elimination of one row of 128 bits. @returns false when its equation contradicts others. */
function place128(slot: u32, row: u64, upper: u64, value: u32, rows: usize, values: usize): bool {
  while (row | upper) {
    if (!row) {
      slot += 64;
      row = upper;
      upper = 0;
    }
    const by = ctz<u64>(row);
    slot += u32(by);
    row = (row >> by) | ((upper << 1) << (63 - by));
    upper >>= by;
    const there = rows + (usize(slot) << 4);
    const other = load<u64>(there);
    if (!other) {
      store<u64>(there, row);
      store<u64>(there, upper, 8);
      store<u32>(values + (usize(slot) << 2), value);
      return true;
    }
    row ^= other;
    upper ^= load<u64>(there, 8);
    value ^= load<u32>(values + (usize(slot) << 2));
  }
  return value == 0;
}

/** The same for rows of 128 bits, with sixteen bytes for each. */
export function eliminate128(hashes: usize, count: u32, slots: u32, valueMask: u32, rows: usize, values: usize): bool {
  const end = hashes + (usize(count) << 3);
  let at = hashes;
  let hash = load<u64>(at);
  let slotA = startOf(hash, slots, 128);
  let rowA = rowOf(hash);
  let upperA = upperRowOf(hash, rowA) & lowest(i32(slots - slotA) - 64);
  rowA &= lowest(slots - slotA);
  let valueA = valueOf(hash) & valueMask;
  if (count == 1) return place128(slotA, rowA, upperA, valueA, rows, values);
  at += 8;
  hash = load<u64>(at);
  let slotB = startOf(hash, slots, 128);
  let rowB = rowOf(hash);
  let upperB = upperRowOf(hash, rowB) & lowest(i32(slots - slotB) - 64);
  rowB &= lowest(slots - slotB);
  let valueB = valueOf(hash) & valueMask;
  let there: usize;
  let other: u64;
  let by: u64;
  while (true) {
    if (!(rowA | upperA)) {
      if (valueA) return false;
      at += 8;
      if (at >= end) return place128(slotB, rowB, upperB, valueB, rows, values);
      hash = load<u64>(at);
      slotA = startOf(hash, slots, 128);
      rowA = rowOf(hash);
      upperA = upperRowOf(hash, rowA) & lowest(i32(slots - slotA) - 64);
      rowA &= lowest(slots - slotA);
      valueA = valueOf(hash) & valueMask;
    }
    if (!(rowB | upperB)) {
      if (valueB) return false;
      at += 8;
      if (at >= end) return place128(slotA, rowA, upperA, valueA, rows, values);
      hash = load<u64>(at);
      slotB = startOf(hash, slots, 128);
      rowB = rowOf(hash);
      upperB = upperRowOf(hash, rowB) & lowest(i32(slots - slotB) - 64);
      rowB &= lowest(slots - slotB);
      valueB = valueOf(hash) & valueMask;
    }
    there = rows + (usize(slotA) << 4);
    other = load<u64>(there);
    if (other) {
      rowA ^= other;
      upperA ^= load<u64>(there, 8);
      valueA ^= load<u32>(values + (usize(slotA) << 2));
      if (!rowA) {
        slotA += 64;
        rowA = upperA;
        upperA = 0;
      }
      by = ctz<u64>(rowA);
      slotA += u32(by);
      rowA = (rowA >> by) | (upperA << (0 - by));
      upperA >>= by;
    } else {
      store<u64>(there, rowA);
      store<u64>(there, upperA, 8);
      store<u32>(values + (usize(slotA) << 2), valueA);
      at += 8;
      if (at >= end) return place128(slotB, rowB, upperB, valueB, rows, values);
      hash = load<u64>(at);
      slotA = startOf(hash, slots, 128);
      rowA = rowOf(hash);
      upperA = upperRowOf(hash, rowA) & lowest(i32(slots - slotA) - 64);
      rowA &= lowest(slots - slotA);
      valueA = valueOf(hash) & valueMask;
    }
    there = rows + (usize(slotB) << 4);
    other = load<u64>(there);
    if (other) {
      rowB ^= other;
      upperB ^= load<u64>(there, 8);
      valueB ^= load<u32>(values + (usize(slotB) << 2));
      if (!rowB) {
        slotB += 64;
        rowB = upperB;
        upperB = 0;
      }
      by = ctz<u64>(rowB);
      slotB += u32(by);
      rowB = (rowB >> by) | (upperB << (0 - by));
      upperB >>= by;
    } else {
      store<u64>(there, rowB);
      store<u64>(there, upperB, 8);
      store<u32>(values + (usize(slotB) << 2), valueB);
      at += 8;
      if (at >= end) return place128(slotA, rowA, upperA, valueA, rows, values);
      hash = load<u64>(at);
      slotB = startOf(hash, slots, 128);
      rowB = rowOf(hash);
      upperB = upperRowOf(hash, rowB) & lowest(i32(slots - slotB) - 64);
      rowB &= lowest(slots - slotB);
      valueB = valueOf(hash) & valueMask;
    }
  }
}

/**
 * Back substitution, from the last slot to the first, one column after the other: its last 64 or 128 bits are in `states`, which
 * has sixteen zero bytes for each.
 */
export function substitute(
  rows: usize,
  values: usize,
  width: u32,
  groups: u32,
  columns: u32,
  extraGroups: u32,
  states: usize,
  array: usize,
): void {
  const all = extraGroups ? columns + 1 : columns;
  const statesEnd = states + (usize(all) << 4);
  const extraAt = array + usize(groups) * columns;
  for (let slot = i32(groups << 3) - 1; slot >= 0; slot--) {
    let value = u64(load<u32>(values + (usize(slot) << 2)));
    if (width == 64) {
      const row = load<u64>(rows + (usize(slot) << 3));
      for (let state = states; state < statesEnd; state += 16) {
        const shifted = load<u64>(state) << 1;
        store<u64>(state, shifted | ((popcnt<u64>(shifted & row) ^ value) & 1));
        value >>= 1;
      }
    } else {
      const row = load<u64>(rows + (usize(slot) << 4));
      const upperRow = load<u64>(rows + (usize(slot) << 4), 8);
      for (let state = states; state < statesEnd; state += 16) {
        const before = load<u64>(state);
        const shifted = before << 1;
        const upper = (load<u64>(state, 8) << 1) | (before >> 63);
        store<u64>(state, shifted | ((popcnt<u64>((shifted & row) ^ (upper & upperRow)) ^ value) & 1));
        store<u64>(state, upper, 8);
        value >>= 1;
      }
    }
    if (slot & 7) continue;
    const group = u32(slot) >> 3;
    for (let column: u32 = 0; column < columns; column++) {
      store<u8>(array + usize(group) * columns + column, load<u8>(states + (usize(column) << 4)));
    }
    if (group >= groups - extraGroups) store<u8>(extraAt + (group + extraGroups - groups), load<u8>(statesEnd - 16));
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
