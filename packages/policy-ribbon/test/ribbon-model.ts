import { hash64 } from '@bloom/hash';

const uint32 = (value: bigint): bigint => BigInt.asUintN(32, value);
const rotated = (value: bigint, by: bigint): bigint => uint32(value << by) | (value >> (32n - by));

/** What the description in src/ribbon-filter.ts says of a key: where its row starts, its row as a number, and its value. */
function equationOf(key: Uint8Array, seed: number, slots: number, width: number): { start: number; row: bigint; value: bigint } {
  const hash = hash64(key, seed);
  const l = uint32(hash);
  const h = hash >> 32n;
  const span = BigInt(Math.max(slots, width));
  const start = Number((h * span) >> 32n) - (width / 2 - 1);
  const d = l ^ rotated(h, 16n);
  const p = uint32(d * 0x9e3779b1n);
  const words = [l | 1n, p ^ (p >> 15n)];
  if (width === 128) {
    const q = uint32((words[1]! ^ h) * 0x85ebca6bn);
    words.push(q ^ (q >> 13n));
    const t = uint32((words[2]! + l) * 0xc2b2ae35n);
    words.push(t ^ (t >> 16n));
  }
  const row = words.reduceRight((all, word) => (all << 32n) | word, 0n);
  return {
    start: Math.min(Math.max(start, 0), Math.max(slots - width, 0)),
    row,
    value: uint32((h ^ rotated(l, 11n)) * 0x85ebca77n) >> 15n,
  };
}

interface Parts {
  readonly width: number;
  readonly columns: number;
  readonly groups: number;
  readonly seed: number;
  readonly extra: number;
}

function partsOf(filter: Uint8Array): Parts | undefined {
  const shape = filter.at(-1) ?? 0;
  const columns = shape >> 3;
  const size = (shape % 4) + 1;
  const trailer = [...filter].slice(-2 - size, -2);
  if (columns < 1 || columns > 17 || filter.length < size + 3) return undefined;
  const groups = trailer.reduceRight((sum, byte) => sum * 256 + byte, 0);
  const extra = filter.length - 2 - size - groups * columns;
  if (extra < 0 || extra >= groups || groups >= 2 ** 29) return undefined;
  return { width: shape % 8 >= 4 ? 128 : 64, columns, groups, seed: filter.at(-2)!, extra };
}

/** The bit of a slot in a column. */
function bitAt(filter: Uint8Array, { columns, groups, extra }: Parts, slot: number, column: number): bigint {
  const group = Math.floor(slot / 8);
  const byte = column < columns ? filter[group * columns + column]! : filter[groups * columns + group - (groups - extra)]!;
  return (BigInt(byte) >> BigInt(slot % 8)) & 1n;
}

/** Whether a key matches, bit by bit. */
export function modelMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
  if (filter.length === 0) return false;
  if (filter.length > 2 && filter.at(-1) === 1) return modelBloomMayMatch(key, filter);
  const parts = partsOf(filter);
  if (parts === undefined) return true;
  const slots = parts.groups * 8;
  const { start, row, value } = equationOf(key, parts.seed, slots, parts.width);
  const hasExtra = Math.floor(start / 8) >= parts.groups - parts.extra;
  for (let column = 0; column < parts.columns + (hasExtra ? 1 : 0); column++) {
    let sum = 0n;
    for (let i = 0; i < parts.width && start + i < slots; i++) {
      if ((row >> BigInt(i)) & 1n) sum ^= bitAt(filter, parts, start + i, column);
    }
    if (sum !== ((value >> BigInt(column)) & 1n)) return false;
  }
  return true;
}

function modelBloomMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
  const bits = BigInt((filter.length - 3) * 8);
  const probes = filter.at(-3)!;
  if (bits === 0n || probes < 1 || probes > 32) return true;
  const hash = hash64(key, filter.at(-2)!);
  let x = uint32(hash);
  for (let probe = 0; probe < probes; probe++) {
    x = uint32(x * 0x9e3779b1n + (hash >> 32n));
    const bit = Number((x * bits) >> 32n);
    if ((filter[bit >> 3]! >> (bit & 7)) % 2 === 0) return false;
  }
  return true;
}

/**
 * The same filter, by elimination of whole rows of all slots, for the shape and the seed of `filter`: each row is a number with a bit
 * for each slot, and above them its value. Undefined where the equations have no solution.
 */
export function modelFilter(keys: readonly Uint8Array[], filter: Uint8Array): Uint8Array | undefined {
  const parts = partsOf(filter)!;
  const slots = parts.groups * 8;
  const all = parts.extra > 0 ? parts.columns + 1 : parts.columns;
  const slotMask = (1n << BigInt(slots)) - 1n;
  const rows = new Map<number, bigint>();
  const lowest = (row: bigint): number => (row & -row).toString(2).length - 1;
  for (const key of keys) {
    const { start, row, value } = equationOf(key, parts.seed, slots, parts.width);
    let equation = ((row << BigInt(start)) & slotMask) | ((value & ((1n << BigInt(all)) - 1n)) << BigInt(slots));
    while ((equation & slotMask) !== 0n && rows.has(lowest(equation))) equation ^= rows.get(lowest(equation))!;
    if ((equation & slotMask) !== 0n) rows.set(lowest(equation), equation);
    else if (equation !== 0n) return undefined;
  }
  // Slots that no row begins with are 0; each other one follows from those behind it.
  const values = new Array<bigint>(slots).fill(0n);
  for (let slot = slots - 1; slot >= 0; slot--) {
    const row = rows.get(slot);
    if (row === undefined) continue;
    let value = row >> BigInt(slots);
    for (let other = slot + 1; other < slots && other < slot + parts.width; other++) if ((row >> BigInt(other)) & 1n) value ^= values[other]!;
    values[slot] = value;
  }
  const made = filter.slice().fill(0, 0, parts.groups * parts.columns + parts.extra);
  for (const [slot, value] of values.entries()) {
    const group = Math.floor(slot / 8);
    for (let column = 0; column < parts.columns; column++) {
      made[group * parts.columns + column]! |= Number((value >> BigInt(column)) & 1n) << (slot % 8);
    }
    const extra = group - (parts.groups - parts.extra);
    if (extra >= 0 && parts.extra > 0) {
      made[parts.groups * parts.columns + extra]! |= Number((value >> BigInt(parts.columns)) & 1n) << (slot % 8);
    }
  }
  return made;
}
