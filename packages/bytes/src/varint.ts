/**
 * Variable-length unsigned integers: seven bits per byte, lowest first, with the high bit set in all but the last byte.
 *
 *     300 = 0b10_0101100:   1 0101100 | 0 0000010
 *
 * Source: LevelDB, util/coding.cc.
 */
import { shownValue } from './arguments.js';

/** The most bytes that a varint64 can have. A varint32 has at most five. */
const MAX_VARINT64_LENGTH = 10;

/** How many groups of seven bits a number holds exactly. */
const LOW_GROUPS = 7;

/** Two halves of a uint64, the upper first, of which one bigint is made. */
const WORDS = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));

const MAX_UINT64 = 2n ** 64n - 1n;

/** The largest integer up to which numbers are exact. */
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** How many bytes `value`, a whole number up to 2^53 - 1, takes. @throws RangeError for another number. */
export function varintLength(value: number): number {
  if (value >>> 0 !== value) mustBeExact(value);
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

/**
 * Writes `value`, a whole number up to 2^53 - 1, at `position`. The arguments are not checked, because that would take half as long again:
 * another number becomes other bytes, and bytes for which there is no room are lost.
 *
 * @returns the position after it.
 */
export function putVarint(bytes: Uint8Array, position: number, value: number): number {
  while (value > 0x7f) {
    bytes[position++] = (value & 0x7f) | 0x80;
    // Above 2^31 a division, because a shift would cut the value to 32 bits.
    value = value < 2 ** 31 ? value >>> 7 : Math.floor(value / 0x80);
  }
  bytes[position++] = value;
  return position;
}

/** Called after a faster check of uint32. */
function mustBeExact(value: number): void {
  if (!(Number.isSafeInteger(value) && value >= 0)) throw new RangeError(`value must be a whole number from 0 to 2^53 - 1, got ${shownValue(value)}`);
}

/**
 * Like {@link putVarint}, for a `value` from 0 to 2^64 - 1, such as a sequence number or a file number.
 *
 * @throws RangeError for another value.
 */
export function putBigVarint(bytes: Uint8Array, position: number, value: bigint): number {
  if (value > MAX_EXACT) {
    if (value > MAX_UINT64) throw outOfRange(value);
    do {
      bytes[position++] = Number(value & 0x7fn) | 0x80;
      value >>= 7n;
    } while (value > MAX_EXACT);
  }
  const rest = Number(value);
  if (rest < 0) throw outOfRange(value);
  return putVarint(bytes, position, rest);
}

function outOfRange(value: bigint): RangeError {
  return new RangeError(`value must be from 0 to 2^64 - 1, got ${value}`);
}

/** Reads consecutive varints up to `end`. */
export class VarintReader {
  bytes: Uint8Array;
  /** Where the next varint starts. */
  position: number;
  end: number;

  constructor(bytes: Uint8Array, position = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = position;
    this.end = end;
  }

  /** The next uint32, or -1 when no complete varint32 is left. */
  varint32(): number {
    let value = 0;
    for (let shift = 0; shift <= 28 && this.position < this.end; shift += 7) {
      const byte = this.bytes[this.position++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    return -1;
  }

  /** The next uint64, or -1 when no complete varint64 is left. Inexact above 2^53, which no file's length reaches. */
  varint64(): number {
    let value = 0;
    for (let i = 0, unit = 1; i < MAX_VARINT64_LENGTH && this.position < this.end; i++, unit *= 0x80) {
      const byte = this.bytes[this.position++]!;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    return -1;
  }

  /** The next uint64, exact, or undefined when no complete varint64 is left. */
  bigVarint64(): bigint | undefined {
    // Seven groups as a number, and what is above them as another: a bigint for each byte, or for each step, would take several times as long.
    let low = 0;
    let high = 0;
    for (let i = 0, unit = 1; i < MAX_VARINT64_LENGTH && this.position < this.end; i++, unit *= 0x80) {
      const byte = this.bytes[this.position++]!;
      if (i === LOW_GROUPS) unit = 1;
      if (i < LOW_GROUPS) low += (byte & 0x7f) * unit;
      else high += (byte & 0x7f) * unit;
      if (byte >= 0x80) continue;
      // The tenth byte has room for six bits too many; LevelDB drops them.
      if (high === 0) return BigInt(low);
      WORDS.setUint32(0, (high << (7 * LOW_GROUPS - 32)) | Math.floor(low / 2 ** 32));
      WORDS.setUint32(4, low);
      return WORDS.getBigUint64(0);
    }
    return undefined;
  }
}
