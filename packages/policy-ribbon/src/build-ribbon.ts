/** Makes Ribbon filters: chooses a shape, and solves the equations of `ribbon-filter.ts`. */
import type { HashFilterForm } from '@bloom/policy/internal';
import {
  GROUP_SLOTS,
  MAX_GROUPS,
  ribbonByteLength,
  type RibbonShape,
  type RibbonWidth,
  startOf,
  valueOf,
  writeRibbonTrailer,
} from './ribbon-filter.js';

/** What a caller asks of a filter. */
export interface RibbonSettings {
  /** The share of absent keys that may match. */
  readonly rate: number;
  /** Undefined: by the number of keys. */
  readonly width: RibbonWidth | undefined;
}

/** Up to this many keys, rows of 64 bits are faster, and need at most 4.2% more space. */
const MOST_KEYS_OF_64 = 2 ** 16;

/** Aimed at in place of 1, so that a million absent keys hardly ever measure more than the rate that was asked for. */
const AIM = 0.97;

/** After this many seeds that have no solution, the next ones have more slots. */
const SEEDS_OF_SIZE = 6;

/**
 * How many slots a key gets with the first seeds, so that about two thirds of the seeds have a solution: measured for 1,000 to
 * 1,000,000 keys. The logarithm is that of the longest run of keys that are crowded.
 */
const SLOTS_AT_2_17 = { 64: 1.0715, 128: 1.024 } as const;
const SLOTS_PER_DOUBLING = { 64: 0.0089, 128: 0.004 } as const;

/** How filters with these settings are made. */
export function ribbonForm(settings: RibbonSettings): HashFilterForm<RibbonShape> {
  return {
    rate: settings.rate,
    shapeFor: (count, seed) => shapeFor(count, settings, seed),
    byteLength: ribbonByteLength,
    solve: (hashes, shape) => {
      const solution = solve(hashes, shape);
      return solution && ((filter) => writeColumns(filter, shape, solution));
    },
    writeTrailer: writeRibbonTrailer,
  };
}

/** The shape of the filter of `count` keys with a seed; undefined where there are too many. */
export function shapeFor(count: number, { rate, width: asked }: RibbonSettings, seed: number): RibbonShape | undefined {
  const width = asked ?? (count <= MOST_KEYS_OF_64 ? 64 : 128);
  const enlarged = 1 + 0.02 * Math.floor(seed / SEEDS_OF_SIZE);
  const perKey = SLOTS_AT_2_17[width] + SLOTS_PER_DOUBLING[width] * (Math.log2(count) - 17);
  const slots = Math.max(1, perKey) * enlarged * count + 1 + Math.floor(seed / SEEDS_OF_SIZE);
  const groups = Math.ceil(slots / GROUP_SLOTS);
  return groups > MAX_GROUPS ? undefined : columnsFor(groups, width, rate);
}

/**
 * With r columns, an absent key passes with probability 2^-r. Some groups get one more column, so that the mean is the rate aimed at. Rows
 * that would start past the last possible slot are moved to it, so either all of them have the extra column or none has.
 */
function columnsFor(groups: number, width: RibbonWidth, rate: number): RibbonShape {
  const aim = AIM * rate;
  const columns = Math.floor(-Math.log2(aim));
  const share = 2 - aim * 2 ** (columns + 1);
  const slots = groups * GROUP_SLOTS;
  const lastStart = Math.max(slots - width, 0);
  const without = Math.floor((lastStart + 1 + width / 2 - share * Math.max(slots, width)) / GROUP_SLOTS);
  if (without * GROUP_SLOTS > lastStart && 2 ** -columns <= rate) return { width, groups, columns, extraGroups: 0 };
  const extraGroups = groups - Math.min(without, lastStart / GROUP_SLOTS);
  return extraGroups >= groups ? { width, groups, columns: columns + 1, extraGroups: 0 } : { width, groups, columns, extraGroups };
}

/**
 * Solves the equations by Gaussian elimination, row by row: each is reduced by those that begin at its first slot, and then
 * begins at another, until it begins at a slot of its own.
 *
 * @param hashes two elements for each, distinct; in the order of their starts rows that meet are near each other in memory.
 * @returns the bits of each slot, that of column c at 2^c; undefined when a row contradicts others.
 */
function solve(hashes: Uint32Array, shape: RibbonShape): Uint32Array | undefined {
  const { width, groups, columns, extraGroups } = shape;
  const slots = groups * GROUP_SLOTS;
  const words = width / 32;
  const rows = new Int32Array(slots * words);
  const values = new Uint32Array(slots);
  const valueMask = 2 ** (extraGroups > 0 ? columns + 1 : columns) - 1;
  const row = new Int32Array(4);
  for (let i = 0; i < hashes.length; i += 2) {
    const low = hashes[i]!;
    const high = hashes[i + 1]!;
    let slot = startOf(high, slots, width);
    let value = valueOf(low, high) & valueMask;
    writeRow(row, low, high, width);
    dropPast(row, slots - slot);
    for (;;) {
      const at = slot * words;
      if ((rows[at]! & 1) === 0) {
        for (let word = 0; word < words; word++) rows[at + word] = row[word]!;
        values[slot] = value;
        break;
      }
      for (let word = 0; word < words; word++) row[word]! ^= rows[at + word]!;
      value ^= values[slot]!;
      const by = trailingZeros(row);
      if (by === 128) {
        // A row that says what others say together.
        if (value === 0) break;
        return undefined;
      }
      slot += by;
      shiftRight(row, by);
    }
  }
  return substitute(rows, words, values);
}

/** Back substitution: replaces the values of rows by those of slots. */
function substitute(rows: Int32Array, words: number, values: Uint32Array): Uint32Array {
  for (let slot = values.length - 1; slot >= 0; slot--) {
    let value = values[slot]!;
    for (let word = 0; word < words; word++) {
      let left = word === 0 ? rows[slot * words]! & ~1 : rows[slot * words + word]!;
      const from = slot + word * 32;
      while (left !== 0) {
        value ^= values[from + 31 - Math.clz32(left & -left)]!;
        left &= left - 1;
      }
    }
    values[slot] = value;
  }
  return values;
}

/** The row of a key, in words of 32 bits. */
function writeRow(row: Int32Array, low: number, high: number, width: RibbonWidth): void {
  const d = low ^ ((high << 16) | (high >>> 16));
  const p = Math.imul(d, 0x9e3779b1);
  const c1 = p ^ (p >>> 15);
  row[0] = low | 1;
  row[1] = c1;
  row[2] = row[3] = 0;
  if (width === 64) return;
  const q = Math.imul(c1 ^ high, 0x85ebca6b);
  const c2 = q ^ (q >>> 13);
  const t = Math.imul((c2 + low) | 0, 0xc2b2ae35);
  row[2] = c2;
  row[3] = t ^ (t >>> 16);
}

/** Clears all bits from bit `count` on. */
function dropPast(row: Int32Array, count: number): void {
  for (let word = 0; word < 4; word++) {
    const left = count - word * 32;
    if (left < 32) row[word] = left <= 0 ? 0 : row[word]! & (2 ** left - 1);
  }
}

/** How many bits below the lowest that is set; 128 where none is. */
function trailingZeros(row: Int32Array): number {
  for (let word = 0; word < 4; word++) {
    const bits = row[word]!;
    if (bits !== 0) return word * 32 + 31 - Math.clz32(bits & -bits);
  }
  return 128;
}

function shiftRight(row: Int32Array, by: number): void {
  const words = by >> 5;
  const bits = by & 31;
  for (let word = 0; word < 4; word++) {
    const lower = row[word + words] ?? 0;
    const upper = row[word + words + 1] ?? 0;
    row[word] = bits === 0 ? lower : (lower >>> bits) | (upper << (32 - bits));
  }
}

function writeColumns(filter: Uint8Array, { groups, columns, extraGroups }: RibbonShape, slots: Uint32Array): void {
  const extraAt = groups * columns;
  for (let group = 0; group < groups; group++) {
    const at = group * GROUP_SLOTS;
    for (let column = 0; column < columns; column++) filter[group * columns + column] = byteOf(slots, at, column);
    const extra = group - (groups - extraGroups);
    if (extra >= 0) filter[extraAt + extra] = byteOf(slots, at, columns);
  }
}

/** The bits of eight slots in one column. */
function byteOf(slots: Uint32Array, at: number, column: number): number {
  let byte = 0;
  for (let i = 0; i < GROUP_SLOTS; i++) byte |= ((slots[at + i]! >>> column) & 1) << i;
  return byte;
}
