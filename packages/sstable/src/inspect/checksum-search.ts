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
  const n = bytes.length;
  let count = 0;
  for (let i = 0; i < n - 4; i++) if (mayBeType(bytes, i, shapes)) count++;
  if (count > MAX_TYPES) return undefined;

  const table = tableOfCrc();
  const mask = 2 ** Math.ceil(Math.log2(2 * count + 16)) - 1;
  /** By the low bits of a key: the position among `keys` that was put in last, plus one. */
  const heads = new Uint32Array(mask + 1);
  const keys = new Int32Array(count);
  const positions = new Uint32Array(count);
  const others = new Uint32Array(count);
  let used = 0;

  const starts = new Uint32Array(Math.min(MAX_PAIRS, n));
  const typesAt = new Uint32Array(starts.length);
  let length = 0;

  let sum = 0;
  /** Z^(n - 1 - i) of T[0x80]. */
  let power = POLYNOMIAL;
  /** The same of the register that multiplies by one. */
  let unit = -0x8000_0000;
  /** Z^(n - i) of a register of ones. */
  let ones = -1;
  for (let end = n; end > 0; end -= PAUSE_BYTES) {
    const begin = Math.max(0, end - PAUSE_BYTES);
    for (let i = end - 1; i >= begin; i--) {
      const byte = bytes[i]!;
      if (shapes[byte] !== NO_SHAPE && i < n - 4 && mayBeType(bytes, i, shapes)) {
        const key = sum ^ product(storedRegister(bytes, i + 1), unit);
        const slot = (key ^ (key >>> 15)) & mask;
        keys[used] = key;
        positions[used] = i;
        others[used] = heads[slot]!;
        heads[slot] = ++used;
      }
      // sum ^= byte * power: eight shifted powers, each a table's step.
      const p = power;
      sum ^=
        (p & -(byte >> 7)) ^
        (((p >>> 1) ^ table[(p & 1) << 7]!) & -((byte >> 6) & 1)) ^
        (((p >>> 2) ^ table[(p & 3) << 6]!) & -((byte >> 5) & 1)) ^
        (((p >>> 3) ^ table[(p & 7) << 5]!) & -((byte >> 4) & 1)) ^
        (((p >>> 4) ^ table[(p & 15) << 4]!) & -((byte >> 3) & 1)) ^
        (((p >>> 5) ^ table[(p & 31) << 3]!) & -((byte >> 2) & 1)) ^
        (((p >>> 6) ^ table[(p & 63) << 2]!) & -((byte >> 1) & 1)) ^
        (((p >>> 7) ^ table[(p & 127) << 1]!) & -(byte & 1));
      power = (p >>> 8) ^ table[p & 0xff]!;
      unit = (unit >>> 8) ^ table[unit & 0xff]!;
      ones = (ones >>> 8) ^ table[ones & 0xff]!;
      const key = sum ^ ones;
      let tries = 0;
      for (let at = heads[(key ^ (key >>> 15)) & mask]!; at > 0 && tries < MAX_PER_START; at = others[at - 1]!) {
        if (keys[at - 1] !== key) continue;
        tries++;
        const typeAt = positions[at - 1]!;
        if (length < starts.length && mayStart(bytes, i, typeAt, shapes)) {
          starts[length] = i;
          typesAt[length++] = typeAt;
        }
      }
    }
    await pause();
  }
  return ascending(starts, typesAt, length);
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

/** Whether the compression type of a block may be at `i`, as far as the bytes in front of it tell. */
function mayBeType(bytes: Uint8Array, i: number, shapes: Uint8Array): boolean {
  const shape = shapes[bytes[i]!];
  if (shape !== RAW_SHAPE) return shape !== NO_SHAPE;
  // The number of restarts, and the first restart, which is at byte 0 of the block.
  if (i < 11) return false;
  const restarts = uint32At(bytes, i - 4);
  const first = i - 4 - 4 * restarts;
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
      // Its length, and a literal that starts with the zero of the first entry.
      let position = start;
      let byteLength = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[position++]!;
        byteLength += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) break;
        if (shift === 28) return false;
      }
      const tag = bytes[position]!;
      if ((tag & 3) !== 0) return false;
      const literal = position + 1 + Math.max(0, (tag >> 2) - 59);
      const size = typeAt - start;
      // At the most 64 bytes for three, and never much more than the contents.
      return bytes[literal] === 0 && byteLength <= 22 * size + 64 && size <= byteLength + byteLength / 6 + 32;
    }
    default:
      return true;
  }
}

/** The walk finds them by descending starts; those of one start by ascending positions. */
function ascending(starts: Uint32Array, typesAt: Uint32Array, length: number): ChecksumPairs {
  const order = Uint32Array.from({ length }, (_, i) => i);
  order.sort((a, b) => starts[a]! - starts[b]! || typesAt[a]! - typesAt[b]!);
  return { length, starts: order.map((i) => starts[i]!), typesAt: order.map((i) => typesAt[i]!) };
}

function uint32At(bytes: Uint8Array, position: number): number {
  return (
    (bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24)) >>> 0
  );
}
