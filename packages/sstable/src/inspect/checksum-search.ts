/**
 * Finds stored blocks by their checksums where neither their starts nor their ends are known.
 *
 *     contents (from `start`) | compression type (at `typeAt`) | masked crc32c
 *
 * Trying each pair of positions would take time with the square of the bytes. But a CRC is linear: with the register's
 * step for a zero byte, Z, and its table, T, the register after `start … typeAt` is
 *
 *     Z^(typeAt + 1 - start) ones  ^  Σ Z^(typeAt - i) T[bytes[i]]        for i from start to typeAt
 *
 * With Z^(n - 1 - typeAt) on both sides, the sum is the difference of two sums up to n, the end of the bytes:
 *
 *     sum(start) ^ Z^(n - start) ones  =  sum(typeAt + 1) ^ Z^(n - 1 - typeAt) register that is stored behind typeAt
 *
 * where sum(i) is Σ Z^(n - 1 - j) T[bytes[j]] for j from i to n. The left side depends on the start alone and the right
 * side on the type's position alone, so one walk from the end and a hash table find all pairs, in time with the bytes.
 *
 * Source: Ross Williams, A Painless Guide to CRC Error Detection Algorithms, for the table; the rest is algebra.
 */
import { VarintReader } from '@bloom/bytes';
import { unmaskCrc } from '@bloom/crc32c';

/** The polynomial of CRC-32C, bits reversed, as an int32: small integers are fast. */
const POLYNOMIAL = 0x82f63b78 | 0;

/** What is known of how the contents of a compression type start and end: that no block has the type. */
export const NO_SHAPE = 0;
/** A block as it is. */
export const RAW_SHAPE = 1;
export const SNAPPY_SHAPE = 2;
/** Nothing is known. */
export const ANY_SHAPE = 3;

/** The most positions of a type that are remembered; 16 bytes each. */
const MAX_TYPES = 2 ** 22;
/** The most pairs that are given for one window. */
const MAX_PAIRS = 2 ** 16;
/** The most positions of a type that are tried for one start. Without crafting, two are hardly ever met. */
const MAX_PER_START = 16;
/** Bytes between two calls of `pause`. */
const PAUSE_BYTES = 2 ** 20;

/** Pairs for which the checksum is right, ascending by start, then by the type's position. */
export interface ChecksumPairs {
  readonly length: number;
  readonly starts: Uint32Array;
  readonly typesAt: Uint32Array;
}

let crcTable: Int32Array | undefined;

/** For each byte, what it makes of a register of zeros. */
export function tableOfCrc(): Int32Array {
  if (crcTable !== undefined) return crcTable;
  crcTable = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let register = byte;
    for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (-(register & 1) & POLYNOMIAL);
    crcTable[byte] = register;
  }
  return crcTable;
}

/** The register, not inverted, that the checksum stored at `position` stands for. */
export function storedRegister(bytes: Uint8Array, position: number): number {
  const masked =
    (bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24)) >>> 0;
  return ~unmaskCrc(masked);
}

/**
 * All pairs of a start and a compression type in `bytes` that could be those of a stored block.
 *
 * @param shapes what is known of each compression type.
 * @param pause called now and then, so that others can run.
 * @returns undefined when there are too many positions that could be a type's: use fewer bytes.
 */
export async function checksumPairs(
  bytes: Uint8Array,
  shapes: Uint8Array,
  pause: () => Promise<void>,
): Promise<ChecksumPairs | undefined> {
  const { length } = bytes;
  const types = typePositions(bytes, shapes);
  if (types === undefined) return undefined;
  const search = new PairSearch(bytes, shapes, types);
  for (let end = length; end > 0; end -= PAUSE_BYTES) {
    search.walk(Math.max(0, end - PAUSE_BYTES), end);
    await pause();
  }
  return search.pairs();
}

/** The positions that could be a compression type's, ascending; undefined when there are too many. */
function typePositions(bytes: Uint8Array, shapes: Uint8Array): Uint32Array | undefined {
  let positions = new Uint32Array(1024);
  let count = 0;
  // The checksum follows.
  for (let i = 0; i < bytes.length - 4; i++) {
    const shape = shapes[bytes[i]!];
    if (shape === NO_SHAPE || (shape === RAW_SHAPE && !mayEndRaw(bytes, i))) continue;
    if (count === MAX_TYPES) return undefined;
    if (count === positions.length) {
      const longer = new Uint32Array(count * 2);
      longer.set(positions);
      positions = longer;
    }
    positions[count++] = i;
  }
  return positions.subarray(0, count);
}

/** The walk from the end, in parts. */
class PairSearch {
  readonly #bytes: Uint8Array;
  readonly #shapes: Uint8Array;
  /** Where types may be, ascending, and how many of them are still in front of the walk. */
  readonly #types: Uint32Array;
  #typesLeft: number;
  /**
   * For each shape, by the low bits of a key: the number of the last type put in, plus one. Each shape has a table of its
   * own, because it is looked up only for starts that look like it, and a small one stays in the processor's cache.
   */
  readonly #heads: readonly Uint32Array[];
  /** By the number of a type: its key, and the number of the one put in before into the same slot, plus one. */
  readonly #keys: Int32Array;
  readonly #others: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #typesAt: Uint32Array;
  #length = 0;

  // At position i, of n bytes: the sum from i on,
  #sum = 0;
  /** Z^(n - i) of T[0x80], which is the polynomial, */
  #power = POLYNOMIAL;
  /** Z^(n - i) of the register that multiplies by one, */
  #unit = -0x8000_0000;
  /** and Z^(n - i) of a register of ones. */
  #ones = -1;

  constructor(bytes: Uint8Array, shapes: Uint8Array, types: Uint32Array) {
    this.#bytes = bytes;
    this.#shapes = shapes;
    this.#types = types;
    this.#typesLeft = types.length;
    const counts = [0, 0, 0, 0];
    for (const at of types) counts[shapes[bytes[at]!]!]!++;
    // Powers of two, of which half stay free.
    this.#heads = counts.map((count) => new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 16))));
    this.#keys = new Int32Array(types.length);
    this.#others = new Uint32Array(types.length);
    this.#starts = new Uint32Array(Math.min(MAX_PAIRS, bytes.length));
    this.#typesAt = new Uint32Array(this.#starts.length);
  }

  /** Walks from `end`, where it was left, to `begin`. */
  walk(begin: number, end: number): void {
    const bytes = this.#bytes;
    const types = this.#types;
    const table = tableOfCrc();
    const rawHeads = this.#heads[RAW_SHAPE]!;
    const snappyHeads = this.#heads[SNAPPY_SHAPE]!;
    const anyHeads = this.#heads[ANY_SHAPE]!;
    const rawMask = rawHeads.length - 1;
    const snappyMask = snappyHeads.length - 1;
    const anyMask = anyHeads.length - 1;
    let typesLeft = this.#typesLeft;
    let nextType = typesLeft > 0 ? types[typesLeft - 1]! : -1;
    let sum = this.#sum;
    let power = this.#power;
    let unit = this.#unit;
    let ones = this.#ones;
    for (let i = end - 1; i >= begin; i--) {
      if (i === nextType) {
        this.#add(--typesLeft, sum ^ product(storedRegister(bytes, i + 1), unit));
        nextType = typesLeft > 0 ? types[typesLeft - 1]! : -1;
      }
      // The byte times the power: for each of its bits the power, multiplied by as many steps of one bit.
      const byte = bytes[i]!;
      sum ^=
        (power & -(byte >> 7)) ^
        (((power >>> 1) ^ table[(power & 1) << 7]!) & -((byte >> 6) & 1)) ^
        (((power >>> 2) ^ table[(power & 3) << 6]!) & -((byte >> 5) & 1)) ^
        (((power >>> 3) ^ table[(power & 7) << 5]!) & -((byte >> 4) & 1)) ^
        (((power >>> 4) ^ table[(power & 15) << 4]!) & -((byte >> 3) & 1)) ^
        (((power >>> 5) ^ table[(power & 31) << 3]!) & -((byte >> 2) & 1)) ^
        (((power >>> 6) ^ table[(power & 63) << 2]!) & -((byte >> 1) & 1)) ^
        (((power >>> 7) ^ table[(power & 127) << 1]!) & -(byte & 1));
      power = (power >>> 8) ^ table[power & 0xff]!;
      unit = (unit >>> 8) ^ table[unit & 0xff]!;
      ones = (ones >>> 8) ^ table[ones & 0xff]!;
      const key = sum ^ ones;
      const hash = key ^ (key >>> 15);
      const anyHead = anyHeads[hash & anyMask]!;
      if (anyHead > 0) this.#match(i, key, anyHead);
      // The first entry of a block shares nothing.
      const rawHead = byte === 0 ? rawHeads[hash & rawMask]! : 0;
      if (rawHead > 0) this.#match(i, key, rawHead);
      const snappyHead = isSnappyStart(bytes, i) ? snappyHeads[hash & snappyMask]! : 0;
      if (snappyHead > 0) this.#match(i, key, snappyHead);
    }
    this.#typesLeft = typesLeft;
    this.#sum = sum;
    this.#power = power;
    this.#unit = unit;
    this.#ones = ones;
  }

  #add(number: number, key: number): void {
    const heads = this.#heads[this.#shapes[this.#bytes[this.#types[number]!]!]!]!;
    const slot = (key ^ (key >>> 15)) & (heads.length - 1);
    this.#keys[number] = key;
    this.#others[number] = heads[slot]!;
    heads[slot] = number + 1;
  }

  /** Takes down the pairs of a start: the nearest types first. */
  #match(start: number, key: number, head: number): void {
    const keys = this.#keys;
    let tries = 0;
    for (let at = head; at > 0 && tries < MAX_PER_START; at = this.#others[at - 1]!) {
      if (keys[at - 1] !== key) continue;
      tries++;
      const typeAt = this.#types[at - 1]!;
      if (this.#length === this.#starts.length || !mayStart(this.#bytes, start, typeAt, this.#shapes)) continue;
      this.#starts[this.#length] = start;
      this.#typesAt[this.#length++] = typeAt;
    }
  }

  pairs(): ChecksumPairs {
    const [starts, typesAt, length] = [this.#starts, this.#typesAt, this.#length];
    const order = Uint32Array.from({ length }, (_, i) => i);
    order.sort((a, b) => starts[a]! - starts[b]! || typesAt[a]! - typesAt[b]!);
    return { length, starts: order.map((i) => starts[i]!), typesAt: order.map((i) => typesAt[i]!) };
  }
}

/** `a * b` as polynomials: `b` is the register that multiplies by it. */
function product(a: number, b: number): number {
  let result = 0;
  for (let left = a; left !== 0; left <<= 1) {
    result ^= b & (left >> 31);
    b = (b >>> 1) ^ (-(b & 1) & POLYNOMIAL);
  }
  return result;
}

/** Whether a block that is not compressed may end at `end`: with the number of its restarts, the first of them 0. */
function mayEndRaw(bytes: Uint8Array, end: number): boolean {
  if (end < 11) return false;
  const restarts = uint32At(bytes, end - 4);
  const first = end - 4 - 4 * restarts;
  return restarts > 0 && first >= 3 && uint32At(bytes, first) === 0;
}

/** Whether a block of entries whose type is at `typeAt` may start at `start`, as far as its first bytes tell. */
function mayStart(bytes: Uint8Array, start: number, typeAt: number, shapes: Uint8Array): boolean {
  switch (shapes[bytes[typeAt]!]) {
    case RAW_SHAPE: {
      // The first entry shares nothing, and the last restart is at an entry.
      const entriesEnd = typeAt - 4 - 4 * uint32At(bytes, typeAt - 4);
      return bytes[start] === 0 && entriesEnd - start >= 3 && uint32At(bytes, typeAt - 8) < entriesEnd - start;
    }
    case SNAPPY_SHAPE: {
      const byteLength = new VarintReader(bytes, start).varint32();
      const size = typeAt - start;
      // At the most 64 bytes for three, and never much more than the contents.
      return byteLength <= 22 * size + 64 && size <= byteLength + byteLength / 6 + 32;
    }
    default:
      return true;
  }
}

/**
 * Whether Snappy can have compressed a block of entries from `start` on: the length of the contents, and a tag of a
 * literal that starts with the zero of the first entry.
 */
function isSnappyStart(bytes: Uint8Array, start: number): boolean {
  let position = start;
  while (bytes[position]! >= 0x80) if (++position - start === 5) return false;
  const tag = bytes[++position]!;
  return (tag & 3) === 0 && bytes[position + 1 + Math.max(0, (tag >> 2) - 59)] === 0;
}

function uint32At(bytes: Uint8Array, position: number): number {
  return (
    (bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24)) >>> 0
  );
}
