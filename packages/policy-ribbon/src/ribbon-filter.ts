/**
 * A standard Ribbon filter, whose columns lie in groups of eight slots.
 *
 *     group 0 (r bytes) | group 1 | … | group G - 1 | the extra column (E bytes) | G (1 to 4 bytes) | seed (u8) | shape (u8)
 *     shape = r << 3 | (128 bits wide ? 4 : 0) | bytes of G, less 1
 *
 * G is little-endian. A slot has r bits: that of column c of slot 8g + b is bit b of byte c of group g. The slots of the last E
 * groups, fewer than G, have one bit more, in the extra column: one byte for each of those groups. E follows from the length.
 * No keys give no bytes. Shapes 1 and 0 with r = 0 are described below; all others with r = 0 or above 17 are reserved.
 *
 * A key has the 64-bit hash, with the filter's seed, of `@bloom/hash`, whose lanes are l (low) and h (high). Of these come, all
 * modulo 2^32, with the width w = 64 or 128 and m = 8G slots,
 *
 *     its start  s = floor(h * max(m, w) / 2^32) - (w / 2 - 1), at least 0 and at most m - w, or 0 where m < w
 *     its row    w bits: words c0 and c1, and for 128 bits c2 and c3, lowest bit first; those past slot m - 1 are dropped
 *                d = l ^ rotl(h, 16);  c0 = l | 1;  p = d * 0x9e3779b1;  c1 = p ^ (p >>> 15)
 *                q = (c1 ^ h) * 0x85ebca6b;  c2 = q ^ (q >>> 13);  t = (c2 + l) * 0xc2b2ae35;  c3 = t ^ (t >>> 16)
 *     its value  v = ((h ^ rotl(l, 11)) * 0x85ebca77) >>> 15
 *
 * A key matches when, in each column of the group of its start, the sum modulo 2 of the bits of the slots s + i, for all i with
 * bit i of its row, is the bit of its value with the number of the column. To make a filter is to solve these equations. They
 * have a solution with about as many slots as keys, and then other keys match as often as r or r + 1 coins show heads. Slots that
 * no equation determines are 0, so that a filter is a function of the set of its keys' hashes.
 *
 * Starts are distributed as if the filter were w - 1 slots longer, half of that at each end, and those outside are moved to the
 * first or last slot ("smash"), since slots at the ends would otherwise be in fewer rows.
 *
 * With shape 0x01, the rest up to the seed is a Bloom filter with a few keys, as `@bloom/policy` describes it in
 * `hash-bloom-filter.ts`:
 *
 *     bits | number of probes (u8) | seed (u8) | shape = 0x01
 *
 * Sources: Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor"; for smash and columns that only a part
 * of the slots has, RocksDB, util/ribbon_impl.h. The order of the bytes is this package's own.
 */
import { hash64Range } from '@bloom/hash';
import { hashBloomFilterMayMatch, scaled } from '@bloom/policy/kit';

/** Bits of a key's row. */
export type RibbonWidth = 64 | 128;

/** Slots of a group, which takes a byte for each column. */
export const GROUP_SLOTS = 8;
/** The most columns that a filter can have in all slots; another may be in some. */
export const MAX_COLUMNS = 17;
/** The most groups: slots are numbered in 32 bits. */
export const MAX_GROUPS = 2 ** 29 - 1;
/** The largest index in int32 arithmetic. */
const MAX_INT32 = 2 ** 31 - 1;
/** The shape of a Bloom filter in place of the columns. */
export const BLOOM_SHAPE = 1;
/** The bytes of a Bloom filter's trailer: the seed and the shape. */
export const BLOOM_TRAILER_BYTES = 2;

/** The measures of a filter that is well-formed. */
export interface RibbonShape {
  readonly width: RibbonWidth;
  readonly groups: number;
  readonly columns: number;
  /** How many of the last groups have one more column. */
  readonly extraGroups: number;
}

/** How many bytes it takes to write the number of groups. */
export function groupCountBytes(groups: number): number {
  return groups < 2 ** 8 ? 1 : groups < 2 ** 16 ? 2 : groups < 2 ** 24 ? 3 : 4;
}

/** The length in bytes of a filter with that shape. */
export function ribbonByteLength({ groups, columns, extraGroups }: RibbonShape): number {
  return groups * columns + extraGroups + groupCountBytes(groups) + 2;
}

/** Writes the end of a filter. */
export function writeRibbonTrailer(filter: Uint8Array, { width, groups, columns }: RibbonShape, seed: number): void {
  const count = groupCountBytes(groups);
  const at = filter.length - 2 - count;
  for (let i = 0, left = groups; i < count; i++, left = Math.floor(left / 256)) filter[at + i] = left % 256;
  filter[filter.length - 2] = seed;
  filter[filter.length - 1] = (columns << 3) | (width === 128 ? 4 : 0) | (count - 1);
}

/** The measures of the filter `bytes[start, end)`; undefined where it is none that this version makes, or no columns. */
export function ribbonShapeOf(bytes: Uint8Array, start: number, end: number): RibbonShape | undefined {
  if (end - start < 3) return undefined;
  const last = bytes[end - 1]!;
  const columns = last >> 3;
  const count = (last & 3) + 1;
  const stored = end - start - 2 - count;
  if (columns === 0 || columns > MAX_COLUMNS || stored < 1) return undefined;
  let groups = 0;
  for (let at = end - 3, to = end - 2 - count; at >= to; at--) groups = groups * 256 + bytes[at]!;
  const extraGroups = stored - groups * columns;
  if (groups > MAX_GROUPS || extraGroups < 0 || extraGroups >= groups) return undefined;
  return { width: (last & 4) === 0 ? 64 : 128, groups, columns, extraGroups };
}

/** The first slot of the row of a key whose hash has the high lane `high`. */
export function startOf(high: number, slots: number, width: RibbonWidth): number {
  const start = scaled(high, slots < width ? width : slots) - (width / 2 - 1);
  return start > 0 ? (start > slots - width ? Math.max(0, slots - width) : start) : 0;
}

/** The value of a key, as a number of {@link MAX_COLUMNS} bits. */
export function valueOf(low: number, high: number): number {
  return Math.imul(high ^ ((low << 11) | (low >>> 21)), 0x85ebca77) >>> 15;
}

/** Memory for the hash and the row of the key that is asked. */
export interface AskedKey {
  /** Two lanes. */
  readonly lanes: Uint32Array;
  /** The row from the first slot of its start's group on: in up to 9 or 17 bytes, a byte for each group. */
  readonly row: Int32Array;
}

export function newAskedKey(): AskedKey {
  return { lanes: new Uint32Array(2), row: new Int32Array(5) };
}

/** Whether a key may be among those that the filter `bytes[start, end)` was made from; true for any that is not well-formed. */
export function ribbonFilterMayMatch(
  keyBytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  asked: AskedKey,
): boolean {
  const length = end - start;
  if (length > 3 && end <= MAX_INT32) {
    // The most frequent shape, in whole numbers of 32 bits and without an object: half the time of what follows.
    const last = bytes[end - 1]!;
    const columns = last >> 3;
    const count = (last & 3) + 1;
    if (columns > 0 && columns <= MAX_COLUMNS && count < 4) {
      let groups = bytes[end - 3]!;
      if (count > 1) groups = (groups << 8) | bytes[end - 4]!;
      if (count > 2) groups = (groups << 8) | bytes[end - 5]!;
      const extraGroups = (length - 2 - count - Math.imul(groups, columns)) | 0;
      const wider = (last & 4) << 4;
      // With 2^18 groups or more, the product with the high lane is no exact number.
      if (groups > 8 + (wider >> 3) && groups < 2 ** 18 && extraGroups >= 0 && extraGroups < groups) {
        const { lanes, row } = asked;
        hash64Range(keyBytes, keyStart, keyEnd, bytes[end - 2]!, lanes);
        // V8 makes objects of numbers past int32 that it passes to a function.
        const low = lanes[0]! | 0;
        const high = lanes[1]! | 0;
        const slots = groups << 3;
        let first = ((((high >>> 0) * (slots * 2 ** -32)) | 0) - 31 - (wider >> 1)) | 0;
        if (first < 0) first = 0;
        if (first > slots - 64 - wider) first = slots - 64 - wider;
        const group = first >> 3;
        writeRow(low, high, first & 7, wider, row);
        const value = valueOf(low, high);
        if (!matches(bytes, (start + Math.imul(group, columns)) | 0, columns, row, wider, value)) return false;
        const extra = (group - groups + extraGroups) | 0;
        return extra < 0 || matches(bytes, (start + Math.imul(groups, columns) + extra) | 0, 1, row, wider, value >>> columns);
      }
    }
  }
  return otherFilterMayMatch(keyBytes, keyStart, keyEnd, bytes, start, end, asked);
}

/** {@link ribbonFilterMayMatch} for any filter. */
function otherFilterMayMatch(
  keyBytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  { lanes, row }: AskedKey,
): boolean {
  if (end - start < 3) return end !== start;
  const shape = ribbonShapeOf(bytes, start, end);
  const isBloom = bytes[end - 1] === BLOOM_SHAPE;
  if (shape === undefined && !isBloom) return true;
  hash64Range(keyBytes, keyStart, keyEnd, bytes[end - 2]!, lanes);
  const low = lanes[0]! | 0;
  const high = lanes[1]! | 0;
  if (shape === undefined) return hashBloomFilterMayMatch(low, high, bytes, start, end - BLOOM_TRAILER_BYTES);
  const { width, groups, columns, extraGroups } = shape;
  const first = startOf(lanes[1]!, groups * GROUP_SLOTS, width);
  const group = Math.floor(first / GROUP_SLOTS);
  const wider = width - 64;
  writeRow(low, high, first % GROUP_SLOTS, wider, row);
  const value = valueOf(low, high);
  const left = groups - group;
  const at = start + group * columns;
  const extraAt = start + groups * columns + extraGroups - left;
  if (left > width / 8) return matches(bytes, at, columns, row, wider, value) && (left > extraGroups || matches(bytes, extraAt, 1, row, wider, value >>> columns));
  // The row ends with the filter, and its bits past that are dropped.
  for (let column = 0; column < columns; column++) {
    if (parity(sumOfRest(bytes, at + column, columns, row, left)) !== ((value >>> column) & 1)) return false;
  }
  return left > extraGroups || parity(sumOfRest(bytes, extraAt, 1, row, left)) === ((value >>> columns) & 1);
}

/**
 * Writes the row of a key whose start is the slot `by` of its group.
 *
 * @param wider 64 for rows of 128 bits, else 0.
 */
function writeRow(low: number, high: number, by: number, wider: number, row: Int32Array): void {
  const p = Math.imul(low ^ ((high << 16) | (high >>> 16)), 0x9e3779b1);
  const c0 = low | 1;
  const c1 = p ^ (p >>> 15);
  // Shifts by 32 would be shifts by 0.
  row[0] = c0 << by;
  row[1] = (c1 << by) | (c0 >>> 1 >>> (31 - by));
  const w2 = c1 >>> 1 >>> (31 - by);
  if (wider === 0) {
    row[2] = w2;
    return;
  }
  const q = Math.imul(c1 ^ high, 0x85ebca6b);
  const c2 = q ^ (q >>> 13);
  const t = Math.imul((c2 + low) | 0, 0xc2b2ae35);
  const c3 = t ^ (t >>> 16);
  row[2] = w2 | (c2 << by);
  row[3] = (c3 << by) | (c2 >>> 1 >>> (31 - by));
  row[4] = c3 >>> 1 >>> (31 - by);
}

/** Whether the sums of all columns, whose bytes begin at `at`, are the bits of `value`. */
function matches(bytes: Uint8Array, at: number, columns: number, row: Int32Array, wider: number, value: number): boolean {
  const rest = row[wider === 0 ? 2 : 4]!;
  // The last byte of a row that begins with a group is 0, and past the end where it is the last row.
  const last = rest === 0 ? 0 : columns * (8 + (wider >> 3));
  for (let column = 0; column < columns; column++, at++) {
    let sum = sumOfFour(bytes, at, columns, row[0]!) ^ sumOfFour(bytes, at + 4 * columns, columns, row[1]!);
    if (wider !== 0) sum ^= sumOfFour(bytes, at + 8 * columns, columns, row[2]!) ^ sumOfFour(bytes, at + 12 * columns, columns, row[3]!);
    sum ^= bytes[at + last]! & rest;
    if (parity(sum) !== ((value >>> column) & 1)) return false;
  }
  return true;
}

/** The sum modulo 2 of four bytes of a column, each with a byte of the row. */
function sumOfFour(bytes: Uint8Array, at: number, stride: number, row: number): number {
  return (
    (bytes[at]! & row) ^
    (bytes[at + stride]! & (row >>> 8)) ^
    (bytes[at + 2 * stride]! & (row >>> 16)) ^
    (bytes[at + 3 * stride]! & (row >>> 24))
  );
}

/** {@link sumOfFour} for the last `count` groups of a filter. */
function sumOfRest(bytes: Uint8Array, at: number, stride: number, row: Int32Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum ^= bytes[at + i * stride]! & (row[i >> 2]! >>> ((i & 3) * 8));
  return sum;
}

/** The parity of the bits of a byte. */
function parity(byte: number): number {
  return (0x6996 >>> ((byte ^ (byte >>> 4)) & 15)) & 1;
}
