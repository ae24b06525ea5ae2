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
import { BLOOM_FORM, BLOOM_TRAILER_BYTES } from '@bloom/policy/internal';
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

/** Whether a key may be among those that the filter `bytes[start, end)` was made from; true for any that is not well-formed. */
export function ribbonFilterMayMatch(
  keyBytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  lanes: Uint32Array,
): boolean {
  // The most frequent shape, in whole numbers of 32 bits and without an object: 0.7 to 0.8 of the time of the general function (Node 20).
  // It is one function because V8 inlines no part of this length, and a call more takes a tenth of the time.
  const length = end - start;
  if (!(length > 3 && end <= MAX_INT32)) return otherFilterMayMatch(keyBytes, keyStart, keyEnd, bytes, start, end, lanes);
  const shape = bytes[end - 1]!;
  const columns = shape >> 3;
  const wider = (shape & 4) << 4;
  const count = (shape & 3) + 1;
  let groups = bytes[end - 3]!;
  if (count > 1) groups = (groups << 8) | bytes[end - 4]!;
  if (count > 2) groups = (groups << 8) | bytes[end - 5]!;
  const extraGroups = (length - 2 - count - Math.imul(groups, columns)) | 0;
  // With 2^18 groups or more, a product below is no exact number.
  const isFrequent = columns > 0 && columns <= MAX_COLUMNS && count < 4 && groups > (wider === 0 ? 8 : 16) && groups < 2 ** 18;
  if (!(isFrequent && extraGroups >= 0 && extraGroups < groups)) {
    return otherFilterMayMatch(keyBytes, keyStart, keyEnd, bytes, start, end, lanes);
  }
  hash64Range(keyBytes, keyStart, keyEnd, bytes[end - 2]!, lanes);
  const low = lanes[0]! | 0;
  const high = lanes[1]! | 0;
  const slots = groups << 3;
  let first = ((((high >>> 0) * (slots * 2 ** -32)) | 0) - 31 - (wider >> 1)) | 0;
  if (first < 0) first = 0;
  if (first > slots - 64 - wider) first = slots - 64 - wider;
  const group = first >> 3;
  const by = first & 7;
  const value = Math.imul(high ^ ((low << 11) | (low >>> 21)), 0x85ebca77) >>> 15;
  const p = Math.imul(low ^ ((high << 16) | (high >>> 16)), 0x9e3779b1);
  const c0 = low | 1;
  const c1 = p ^ (p >>> 15);
  const w0 = c0 << by;
  const w1 = (c1 << by) | (c0 >>> 1 >>> (31 - by));
  let w2 = c1 >>> 1 >>> (31 - by);
  let w3 = 0;
  let rest = w2;
  if (wider !== 0) {
    const q = Math.imul(c1 ^ high, 0x85ebca6b);
    const c2 = q ^ (q >>> 13);
    const t = Math.imul((c2 + low) | 0, 0xc2b2ae35);
    const c3 = t ^ (t >>> 16);
    w2 |= c2 << by;
    w3 = (c3 << by) | (c2 >>> 1 >>> (31 - by));
    rest = c3 >>> 1 >>> (31 - by);
  }
  // The last byte of a row that begins with a group is 0, and past the end where it is the last row.
  const last = by === 0 ? 0 : Math.imul(columns, 8 + (wider >> 3));
  let at = (start + Math.imul(group, columns)) | 0;
  let column = 0;
  for (const pairs = columns - 1; column < pairs; column += 2, at = (at + 2) | 0) {
    let i = at;
    let sum = bytes[i]! & w0;
    let other = bytes[(i + 1) | 0]! & w0;
    sum ^= bytes[(i = (i + columns) | 0)]! & (w0 >>> 8);
    other ^= bytes[(i + 1) | 0]! & (w0 >>> 8);
    sum ^= bytes[(i = (i + columns) | 0)]! & (w0 >>> 16);
    other ^= bytes[(i + 1) | 0]! & (w0 >>> 16);
    sum ^= bytes[(i = (i + columns) | 0)]! & (w0 >>> 24);
    other ^= bytes[(i + 1) | 0]! & (w0 >>> 24);
    sum ^= bytes[(i = (i + columns) | 0)]! & w1;
    other ^= bytes[(i + 1) | 0]! & w1;
    sum ^= bytes[(i = (i + columns) | 0)]! & (w1 >>> 8);
    other ^= bytes[(i + 1) | 0]! & (w1 >>> 8);
    sum ^= bytes[(i = (i + columns) | 0)]! & (w1 >>> 16);
    other ^= bytes[(i + 1) | 0]! & (w1 >>> 16);
    sum ^= bytes[(i = (i + columns) | 0)]! & (w1 >>> 24);
    other ^= bytes[(i + 1) | 0]! & (w1 >>> 24);
    if (wider !== 0) {
      sum ^= bytes[(i = (i + columns) | 0)]! & w2;
      other ^= bytes[(i + 1) | 0]! & w2;
      sum ^= bytes[(i = (i + columns) | 0)]! & (w2 >>> 8);
      other ^= bytes[(i + 1) | 0]! & (w2 >>> 8);
      sum ^= bytes[(i = (i + columns) | 0)]! & (w2 >>> 16);
      other ^= bytes[(i + 1) | 0]! & (w2 >>> 16);
      sum ^= bytes[(i = (i + columns) | 0)]! & (w2 >>> 24);
      other ^= bytes[(i + 1) | 0]! & (w2 >>> 24);
      sum ^= bytes[(i = (i + columns) | 0)]! & w3;
      other ^= bytes[(i + 1) | 0]! & w3;
      sum ^= bytes[(i = (i + columns) | 0)]! & (w3 >>> 8);
      other ^= bytes[(i + 1) | 0]! & (w3 >>> 8);
      sum ^= bytes[(i = (i + columns) | 0)]! & (w3 >>> 16);
      other ^= bytes[(i + 1) | 0]! & (w3 >>> 16);
      sum ^= bytes[(i = (i + columns) | 0)]! & (w3 >>> 24);
      other ^= bytes[(i + 1) | 0]! & (w3 >>> 24);
    }
    i = (at + last) | 0;
    sum ^= bytes[i]! & rest;
    other ^= bytes[(i + 1) | 0]! & rest;
    sum ^= sum >>> 4;
    other ^= other >>> 4;
    // Bit n of 0x6996 is the parity of n.
    const differs = (0x6996 >>> (sum & 15)) ^ (value >>> column);
    const otherDiffers = (0x6996 >>> (other & 15)) ^ (value >>> column >>> 1);
    if ((differs | otherDiffers) & 1) return false;
  }
  if (column < columns) {
    let sum = sumOfFour(bytes, at, columns, w0) ^ sumOfFour(bytes, (at + 4 * columns) | 0, columns, w1);
    if (wider !== 0) sum ^= sumOfFour(bytes, (at + 8 * columns) | 0, columns, w2) ^ sumOfFour(bytes, (at + 12 * columns) | 0, columns, w3);
    sum ^= bytes[(at + last) | 0]! & rest;
    if (parity(sum) !== ((value >>> column) & 1)) return false;
  }
  const extra = (group - groups + extraGroups) | 0;
  if (extra < 0) return true;
  const from = (start + Math.imul(groups, columns) + extra) | 0;
  let sum = sumOfFour(bytes, from, 1, w0) ^ sumOfFour(bytes, (from + 4) | 0, 1, w1);
  if (wider !== 0) sum ^= sumOfFour(bytes, (from + 8) | 0, 1, w2) ^ sumOfFour(bytes, (from + 12) | 0, 1, w3);
  if (by !== 0) sum ^= bytes[(from + 8 + (wider >> 3)) | 0]! & rest;
  return parity(sum) === ((value >>> columns) & 1);
}

/** {@link ribbonFilterMayMatch} for any filter. */
function otherFilterMayMatch(
  keyBytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  lanes: Uint32Array,
): boolean {
  if (end - start < 3) return end !== start;
  const shape = ribbonShapeOf(bytes, start, end);
  const isBloom = bytes[end - 1] === BLOOM_FORM;
  if (shape === undefined && !isBloom) return true;
  hash64Range(keyBytes, keyStart, keyEnd, bytes[end - 2]!, lanes);
  return shape === undefined
    ? hashBloomFilterMayMatch(lanes[0]! | 0, lanes[1]! | 0, bytes, start, end - BLOOM_TRAILER_BYTES)
    : ribbonMayMatch(lanes[0]!, lanes[1]!, bytes, start, shape);
}

/** Whether a hash may be among those that the filter, of that shape, at `start` of `bytes` was made from. */
export function ribbonMayMatch(low: number, high: number, bytes: Uint8Array, start: number, shape: RibbonShape): boolean {
  const { width, groups, columns, extraGroups } = shape;
  const first = startOf(high, groups * GROUP_SLOTS, width);
  const group = first >>> 3;
  const by = first & 7;
  const value = valueOf(low, high);
  const d = low ^ ((high << 16) | (high >>> 16));
  const p = Math.imul(d, 0x9e3779b1);
  const c0 = low | 1;
  const c1 = p ^ (p >>> 15);
  // The row from the group's first slot on, in up to 9 or 17 bytes. Shifts by 32 would be shifts by 0.
  const w0 = c0 << by;
  const w1 = (c1 << by) | (c0 >>> 1 >>> (31 - by));
  let w2 = c1 >>> 1 >>> (31 - by);
  let w3 = 0;
  let w4 = 0;
  if (width === 128) {
    const q = Math.imul(c1 ^ high, 0x85ebca6b);
    const c2 = q ^ (q >>> 13);
    const t = Math.imul((c2 + low) | 0, 0xc2b2ae35);
    const c3 = t ^ (t >>> 16);
    w2 |= c2 << by;
    w3 = (c3 << by) | (c2 >>> 1 >>> (31 - by));
    w4 = c3 >>> 1 >>> (31 - by);
  }
  const left = groups - group;
  const at = start + group * columns;
  if (left <= width / 8) {
    // The row ends with the filter, and its bits past that are dropped.
    const words = [w0, w1, w2, w3, w4];
    for (let column = 0; column < columns; column++) {
      if (parity(sumOfRest(bytes, at + column, columns, words, left)) !== ((value >>> column) & 1)) return false;
    }
    if (left > extraGroups) return true;
    const extraAt = start + groups * columns + extraGroups - left;
    return parity(sumOfRest(bytes, extraAt, 1, words, left)) === ((value >>> columns) & 1);
  }
  const wordBytes = 4 * columns;
  for (let column = 0; column < columns; column++) {
    const from = at + column;
    let sum = sumOfFour(bytes, from, columns, w0) ^ sumOfFour(bytes, from + wordBytes, columns, w1);
    if (width === 64) {
      sum ^= bytes[from + 2 * wordBytes]! & w2;
    } else {
      sum ^= sumOfFour(bytes, from + 2 * wordBytes, columns, w2) ^ sumOfFour(bytes, from + 3 * wordBytes, columns, w3);
      sum ^= bytes[from + 4 * wordBytes]! & w4;
    }
    if (parity(sum) !== ((value >>> column) & 1)) return false;
  }
  if (left > extraGroups) return true;
  const from = start + groups * columns + extraGroups - left;
  let sum = sumOfFour(bytes, from, 1, w0) ^ sumOfFour(bytes, from + 4, 1, w1);
  if (width === 64) sum ^= bytes[from + 8]! & w2;
  else sum ^= sumOfFour(bytes, from + 8, 1, w2) ^ sumOfFour(bytes, from + 12, 1, w3) ^ (bytes[from + 16]! & w4);
  return parity(sum) === ((value >>> columns) & 1);
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

/** The same for the last `count` groups of a filter. */
function sumOfRest(bytes: Uint8Array, at: number, stride: number, words: readonly number[], count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum ^= bytes[at + i * stride]! & (words[i >> 2]! >>> ((i & 3) * 8));
  return sum;
}

/** The parity of the bits of a byte. */
function parity(byte: number): number {
  return (0x6996 >>> ((byte ^ (byte >>> 4)) & 15)) & 1;
}
