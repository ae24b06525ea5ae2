/**
 * Finds stored blocks by means of their checksums, when neither their starts nor their ends are known.
 *
 *     contents (from `start`) | compression type (at `typeAt`) | masked crc32c
 *
 * Trying each pair of positions would take quadratic time. But a CRC is linear: if Z is the register's step for a zero byte
 * and T the CRC table, the register after `start … typeAt` is
 *
 *     Z^(typeAt + 1 - start) ones  ^  Σ Z^(typeAt - i) T[bytes[i]]        for i from start to typeAt
 *
 * After Z^(n - 1 - typeAt) is applied to both sides, the sum becomes the difference of two sums up to n, the number of bytes:
 *
 *     sum(start) ^ Z^(n - start) ones  =  sum(typeAt + 1) ^ Z^(n - 1 - typeAt) register stored after typeAt
 *
 * where sum(i) is Σ Z^(n - 1 - j) T[bytes[j]] for j from i to n - 1. The left side depends only on the start and the right
 * side only on the type's position, so one walk from the end with a hash table finds all pairs in linear time.
 *
 * Source: Ross Williams, A Painless Guide to CRC Error Detection Algorithms, for the table; the rest is algebra.
 */
import { VarintReader } from '@bloom/bytes';
import { unmaskCrc } from '@bloom/crc32c';
import { restartsBeforeHashIndex } from '../format/hash-index.js';
import { uint32At } from '../format/block-walk.js';

/** The polynomial of CRC-32C, bits reversed, as an int32: small integers are fast. */
const POLYNOMIAL = 0x82f63b78 | 0;

/** What is known about the start and end of contents of a compression type. This one: no block has the type. */
export const NO_SHAPE = 0;
/** An uncompressed block. */
export const RAW_SHAPE = 1;
export const SNAPPY_SHAPE = 2;
/** Nothing is known about them. */
export const ANY_SHAPE = 3;

/** The most positions of types to keep; each takes 16 bytes. */
const MAX_TYPES = 2 ** 22;
/** The most pairs to return for one window. */
const MAX_PAIRS = 2 ** 16;
/** The most positions of types to try for one start. In files that are not crafted, there are hardly ever two. */
const MAX_PER_START = 16;
/** Bytes between two calls of `pause`. */
const PAUSE_BYTES = 2 ** 20;

/** Pairs for which the checksum is right, in ascending order of start, then of the type's position. */
export interface ChecksumPairs {
  readonly length: number;
  readonly starts: Uint32Array;
  readonly typesAt: Uint32Array;
}

let crcTable: Int32Array | undefined;

/** The CRC table: for each byte, the register after it if the register was zero before. */
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

/** The register that corresponds to the checksum stored at `position`, not inverted. */
export function storedRegister(bytes: Uint8Array, position: number): number {
  return ~unmaskCrc(uint32At(bytes, position));
}

/**
 * All pairs of a start and a type's position in `bytes` that may be a stored block.
 *
 * @param shapes what is known about each compression type.
 * @param pause called regularly, so that other tasks can run.
 * @returns undefined when too many positions may be a type's: use fewer bytes.
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

/** The positions that may be a compression type's, ascending; undefined when there are too many. */
function typePositions(bytes: Uint8Array, shapes: Uint8Array): Uint32Array | undefined {
  let positions = new Uint32Array(1024);
  let count = 0;
  // The checksum follows the type.
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

/** The walk from the end, done in parts. */
class PairSearch {
  private readonly bytes: Uint8Array;
  private readonly shapes: Uint8Array;
  /** The possible positions of types, ascending, and how many of them the walk has not reached. */
  private readonly types: Uint32Array;
  private typesLeft: number;
  /**
   * For each shape, a hash table: for the low bits of a key, one plus the number of the last type with these bits. Each
   * shape has its own table, because it is searched only for starts that fit the shape, and a small table stays in the
   * processor's cache.
   */
  private readonly heads: readonly Uint32Array[];
  /** For each type, by number: its key, and one plus the number of the previous type in the same slot. */
  private readonly keys: Int32Array;
  private readonly others: Uint32Array;
  private readonly starts: Uint32Array;
  private readonly typesAt: Uint32Array;
  private length = 0;

  // State of the walk at position i of n bytes: the sum from i,
  private sum = 0;
  /** Z^(n - i) of T[0x80], which is the polynomial, */
  private power = POLYNOMIAL;
  /** Z^(n - i) of the register that multiplies by one, */
  private unit = -0x8000_0000;
  /** and Z^(n - i) of a register of ones. */
  private ones = -1;

  constructor(bytes: Uint8Array, shapes: Uint8Array, types: Uint32Array) {
    this.bytes = bytes;
    this.shapes = shapes;
    this.types = types;
    this.typesLeft = types.length;
    const counts = [0, 0, 0, 0];
    for (const at of types) counts[shapes[bytes[at]!]!]!++;
    // Powers of two, at most half full.
    this.heads = counts.map((count) => new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 16))));
    this.keys = new Int32Array(types.length);
    this.others = new Uint32Array(types.length);
    this.starts = new Uint32Array(Math.min(MAX_PAIRS, bytes.length));
    this.typesAt = new Uint32Array(this.starts.length);
  }

  /** Continues the walk from `end` to `begin`. */
  walk(begin: number, end: number): void {
    const bytes = this.bytes;
    const types = this.types;
    const table = tableOfCrc();
    const rawHeads = this.heads[RAW_SHAPE]!;
    const snappyHeads = this.heads[SNAPPY_SHAPE]!;
    const anyHeads = this.heads[ANY_SHAPE]!;
    const rawMask = rawHeads.length - 1;
    const snappyMask = snappyHeads.length - 1;
    const anyMask = anyHeads.length - 1;
    let typesLeft = this.typesLeft;
    let nextType = typesLeft > 0 ? types[typesLeft - 1]! : -1;
    let sum = this.sum;
    let power = this.power;
    let unit = this.unit;
    let ones = this.ones;
    for (let i = end - 1; i >= begin; i--) {
      if (i === nextType) {
        this.#add(--typesLeft, sum ^ product(storedRegister(bytes, i + 1), unit));
        nextType = typesLeft > 0 ? types[typesLeft - 1]! : -1;
      }
      // Multiplies the byte by the power: for each bit that is set, adds the power after as many one-bit steps.
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
      // The first entry of a block shares no bytes, so the block starts with 0.
      const rawHead = byte === 0 ? rawHeads[hash & rawMask]! : 0;
      if (rawHead > 0) this.#match(i, key, rawHead);
      const snappyHead = isSnappyStart(bytes, i) ? snappyHeads[hash & snappyMask]! : 0;
      if (snappyHead > 0) this.#match(i, key, snappyHead);
    }
    this.typesLeft = typesLeft;
    this.sum = sum;
    this.power = power;
    this.unit = unit;
    this.ones = ones;
  }

  #add(number: number, key: number): void {
    const heads = this.heads[this.shapes[this.bytes[this.types[number]!]!]!]!;
    const slot = (key ^ (key >>> 15)) & (heads.length - 1);
    this.keys[number] = key;
    this.others[number] = heads[slot]!;
    heads[slot] = number + 1;
  }

  /** Records the pairs of a start, nearest types first. */
  #match(start: number, key: number, head: number): void {
    const keys = this.keys;
    let tries = 0;
    for (let at = head; at > 0 && tries < MAX_PER_START; at = this.others[at - 1]!) {
      if (keys[at - 1] !== key) continue;
      tries++;
      const typeAt = this.types[at - 1]!;
      if (this.length === this.starts.length || !mayStart(this.bytes, start, typeAt, this.shapes)) continue;
      this.starts[this.length] = start;
      this.typesAt[this.length++] = typeAt;
    }
  }

  pairs(): ChecksumPairs {
    const [starts, typesAt, length] = [this.starts, this.typesAt, this.length];
    const order = Uint32Array.from({ length }, (_, i) => i);
    order.sort((a, b) => starts[a]! - starts[b]! || typesAt[a]! - typesAt[b]!);
    return { length, starts: order.map((i) => starts[i]!), typesAt: order.map((i) => typesAt[i]!) };
  }
}

/** The product of two polynomials, both in the bit order of the register. */
function product(a: number, b: number): number {
  let result = 0;
  for (let left = a; left !== 0; left <<= 1) {
    result ^= b & (left >> 31);
    b = (b >>> 1) ^ (-(b & 1) & POLYNOMIAL);
  }
  return result;
}

/** Whether an uncompressed block may end at `end`, by the number of restarts there and a first restart of 0. */
function mayEndRaw(bytes: Uint8Array, end: number): boolean {
  if (end < 11) return false;
  const last = uint32At(bytes, end - 4);
  let first = end - 4 - 4 * last;
  if (first < 0) first = restartsBeforeHashIndex(bytes, last, end)?.start ?? -1;
  return last > 0 && first >= 3 && uint32At(bytes, first) === 0;
}

/** Whether a block of entries whose type is at `typeAt` may start at `start`, judging by its first bytes. */
function mayStart(bytes: Uint8Array, start: number, typeAt: number, shapes: Uint8Array): boolean {
  switch (shapes[bytes[typeAt]!]) {
    case RAW_SHAPE: {
      // The first entry shares no bytes, and the last restart is inside the entries.
      const last = uint32At(bytes, typeAt - 4);
      const hashed = restartsBeforeHashIndex(bytes, last, typeAt);
      const count = hashed?.count ?? last;
      const entriesEnd = hashed?.start ?? typeAt - 4 - 4 * count;
      return bytes[start] === 0 && entriesEnd - start >= 3 && uint32At(bytes, entriesEnd + 4 * (count - 1)) < entriesEnd - start;
    }
    case SNAPPY_SHAPE: {
      const byteLength = new VarintReader(bytes, start).varint32();
      const size = typeAt - start;
      // A stream expands by at most 64 to 3, and is never much longer than its contents.
      return byteLength <= 22 * size + 64 && size <= byteLength + byteLength / 6 + 32;
    }
    default:
      return true;
  }
}

/**
 * Whether a Snappy stream of a block of entries may start at `start`: with the length of the contents, and the tag of a
 * literal whose first byte is the 0 of the first entry.
 */
function isSnappyStart(bytes: Uint8Array, start: number): boolean {
  let position = start;
  while (bytes[position]! >= 0x80) if (++position - start === 5) return false;
  const tag = bytes[++position]!;
  return (tag & 3) === 0 && bytes[position + 1 + Math.max(0, (tag >> 2) - 59)] === 0;
}
