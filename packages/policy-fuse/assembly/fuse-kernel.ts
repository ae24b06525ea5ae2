// AssemblyScript. The loops over many keys of a binary fuse filter, for `src/fuse-kernel.ts`, which lays out the memory: all
// addresses are bytes from its start. `src/build-fuse.ts` explains them.
//
// TypeScript, with which editors check this file, does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.
export { sortDistinct } from '../../policy/assembly/sort-hashes';

/** floor(hash * range / 2^64) for a range below 2^32. */
// @ts-ignore: decorator
@inline
function first(hash: u64, range: u64): u32 {
  return u32(((hash >> 32) * range + (((hash & 0xffffffff) * range) >> 32)) >> 32);
}

// @ts-ignore: decorator
@inline
function add(position: u32, number: u32, hash: u64, counts: usize, sums: usize): u32 {
  const count = u32(load<u8>(counts + position));
  store<u8>(counts + position, (count + 4) ^ number);
  const sum = sums + (usize(position) << 3);
  store<u64>(sum, load<u64>(sum) ^ hash);
  return count;
}

// @ts-ignore: decorator
@inline
function printAt(array: usize, position: u32, bits: u32): u32 {
  return bits == 8 ? u32(load<u8>(array + position)) : u32(load<u16>(array + (usize(position) << 1)));
}

/**
 * Writes the array of the hashes' filter into zero bytes.
 *
 * @param order room for as many hashes, and `own` for a byte for each.
 * @param sums eight zero bytes for each position, `counts` one, and `alone` room for four.
 * @returns whether all keys could be taken off.
 */
export function build(
  hashes: usize,
  count: u32,
  segmentLog: u32,
  length: u32,
  bits: u32,
  order: usize,
  own: usize,
  sums: usize,
  counts: usize,
  alone: usize,
  array: usize,
): bool {
  const segment = u32(1) << segmentLog;
  const mask = segment - 1;
  const range = u64(length - 2 * segment);
  const end = hashes + (usize(count) << 3);
  for (let at = hashes; at < end; at += 8) {
    const hash = load<u64>(at);
    const p0 = first(hash, range);
    const most = add(p0, 0, hash, counts, sums);
    const second = add((p0 + segment) ^ (u32(hash >> 18) & mask), 1, hash, counts, sums);
    const third = add((p0 + 2 * segment) ^ (u32(hash) & mask), 2, hash, counts, sums);
    if (max(max(most, second), third) >= 252) return false;
  }
  let waiting = alone;
  for (let position: u32 = 0; position < length; position++) {
    store<u32>(waiting, position);
    waiting += u32(load<u8>(counts + position)) >> 2 == 1 ? 4 : 0;
  }
  let taken: u32 = 0;
  while (waiting > alone) {
    waiting -= 4;
    const position = load<u32>(waiting);
    const state = u32(load<u8>(counts + position));
    if (state >> 2 != 1) continue;
    const hash = load<u64>(sums + (usize(position) << 3));
    const number = state & 3;
    store<u64>(order + (usize(taken) << 3), hash);
    store<u8>(own + taken, number);
    taken++;
    const p0 = first(hash, range);
    const p1 = (p0 + segment) ^ (u32(hash >> 18) & mask);
    const p2 = (p0 + 2 * segment) ^ (u32(hash) & mask);
    // The other two positions, in the order of src/build-fuse.ts.
    const nextNumber = number == 2 ? 0 : number + 1;
    const lastNumber = number == 0 ? 2 : number - 1;
    const next = number == 0 ? p1 : number == 1 ? p2 : p0;
    const last = number == 0 ? p2 : number == 1 ? p0 : p1;
    const nextCount = u32(load<u8>(counts + next));
    store<u32>(waiting, next);
    waiting += nextCount >> 2 == 2 ? 4 : 0;
    store<u8>(counts + next, (nextCount - 4) ^ nextNumber);
    const nextSum = sums + (usize(next) << 3);
    store<u64>(nextSum, load<u64>(nextSum) ^ hash);
    const lastCount = u32(load<u8>(counts + last));
    store<u32>(waiting, last);
    waiting += lastCount >> 2 == 2 ? 4 : 0;
    store<u8>(counts + last, (lastCount - 4) ^ lastNumber);
    const lastSum = sums + (usize(last) << 3);
    store<u64>(lastSum, load<u64>(lastSum) ^ hash);
    store<u8>(counts + position, 0);
  }
  if (taken != count) return false;
  while (taken > 0) {
    taken--;
    const hash = load<u64>(order + (usize(taken) << 3));
    const number = u32(load<u8>(own + taken));
    const p0 = first(hash, range);
    const p1 = (p0 + segment) ^ (u32(hash >> 18) & mask);
    const p2 = (p0 + 2 * segment) ^ (u32(hash) & mask);
    const print = u32(hash ^ (hash >> 32)) ^ printAt(array, p0, bits) ^ printAt(array, p1, bits) ^ printAt(array, p2, bits);
    const position = number == 0 ? p0 : number == 1 ? p1 : p2;
    if (bits == 8) store<u8>(array + position, print);
    else store<u16>(array + (usize(position) << 1), print);
  }
  return true;
}

/** Writes 1 for each hash that the array matches, 0 for the others. */
export function test(hashes: usize, count: u32, segmentLog: u32, length: u32, bits: u32, array: usize, answers: usize): void {
  const segment = u32(1) << segmentLog;
  const mask = segment - 1;
  const range = u64(length - 2 * segment);
  const printMask = bits == 8 ? 0xff : 0xffff;
  for (let i: u32 = 0; i < count; i++) {
    const hash = load<u64>(hashes + (usize(i) << 3));
    const p0 = first(hash, range);
    const p1 = (p0 + segment) ^ (u32(hash >> 18) & mask);
    const p2 = (p0 + 2 * segment) ^ (u32(hash) & mask);
    const print = u32(hash ^ (hash >> 32)) ^ printAt(array, p0, bits) ^ printAt(array, p1, bits) ^ printAt(array, p2, bits);
    store<u8>(answers + i, u32((print & printMask) == 0));
  }
}
