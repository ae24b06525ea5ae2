/**
 * XXH64 with seed 0, of which zstd stores the low 32 bits.
 *
 * 64-bit numbers are kept as two halves, because BigInt takes six times as long.
 *
 * Source: xxHash, doc/xxhash_spec.md.
 */

/** A 64-bit number. */
class Word {
  high = 0;
  low = 0;

  set(high: number, low: number): this {
    this.high = high;
    this.low = low;
    return this;
  }

  add(high: number, low: number): this {
    const sum = (this.low >>> 0) + (low >>> 0);
    this.high = (this.high + high + (sum > 0xffff_ffff ? 1 : 0)) | 0;
    this.low = sum | 0;
    return this;
  }

  xor(high: number, low: number): this {
    this.high ^= high;
    this.low ^= low;
    return this;
  }

  multiply(high: number, low: number): this {
    const { low: mine } = this;
    // The high half of the product of the low halves, by parts of 16 bits.
    const a = mine & 0xffff;
    const b = mine >>> 16;
    const c = low & 0xffff;
    const d = low >>> 16;
    const lower = a * c;
    const middle = b * c + (lower >>> 16);
    const carried = a * d + (middle & 0xffff);
    const carry = b * d + Math.floor(middle / 0x1_0000) + Math.floor(carried / 0x1_0000);
    this.high = (carry + Math.imul(this.high, low) + Math.imul(mine, high)) | 0;
    this.low = Math.imul(mine, low);
    return this;
  }

  /** @param bits from 1 to 31. */
  rotateLeft(bits: number): this {
    const { high, low } = this;
    return this.set((high << bits) | (low >>> (32 - bits)), (low << bits) | (high >>> (32 - bits)));
  }
}

// The five primes, in halves.
const P1_HIGH = 0x9e3779b1;
const P1_LOW = 0x85ebca87;
const P2_HIGH = 0xc2b2ae3d;
const P2_LOW = 0x27d4eb4f;
const P3_HIGH = 0x165667b1;
const P3_LOW = 0x9e3779f9;
const P4_HIGH = 0x85ebca77;
const P4_LOW = 0xc2b2ae63;
const P5_HIGH = 0x27d4eb2f;
const P5_LOW = 0x165667c5;

/** Mixes eight bytes into a lane. */
function mix(lane: Word, input: Word, high: number, low: number): Word {
  input.set(high, low).multiply(P2_HIGH, P2_LOW);
  return lane.add(input.high, input.low).rotateLeft(31).multiply(P1_HIGH, P1_LOW);
}

/** The low 32 bits of the hash of bytes[start, end): a uint32. */
export function xxh64Low(bytes: Uint8Array, start: number, end: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const input = new Word();
  const hash = new Word();
  let position = start;
  if (end - start >= 32) {
    const lanes = [
      new Word().set(P1_HIGH, P1_LOW).add(P2_HIGH, P2_LOW),
      new Word().set(P2_HIGH, P2_LOW),
      new Word(),
      new Word().xor(~P1_HIGH, ~P1_LOW).add(0, 1),
    ] as const;
    for (; position + 32 <= end; position += 32) {
      for (let i = 0; i < 4; i++) mix(lanes[i]!, input, view.getInt32(position + 8 * i + 4, true), view.getInt32(position + 8 * i, true));
    }
    const rotated = new Word();
    [1, 7, 12, 18].forEach((bits, i) => {
      rotated.set(lanes[i]!.high, lanes[i]!.low).rotateLeft(bits);
      hash.add(rotated.high, rotated.low);
    });
    for (const { high, low } of lanes) {
      const merged = mix(rotated.set(0, 0), input, high, low);
      hash.xor(merged.high, merged.low).multiply(P1_HIGH, P1_LOW).add(P4_HIGH, P4_LOW);
    }
  } else {
    hash.set(P5_HIGH, P5_LOW);
  }
  const length = end - start;
  hash.add(Math.floor(length / 2 ** 32), length | 0);
  const lane = new Word();
  for (; position + 8 <= end; position += 8) {
    mix(lane.set(0, 0), input, view.getInt32(position + 4, true), view.getInt32(position, true));
    hash.xor(lane.high, lane.low).rotateLeft(27).multiply(P1_HIGH, P1_LOW).add(P4_HIGH, P4_LOW);
  }
  if (position + 4 <= end) {
    input.set(0, view.getInt32(position, true)).multiply(P1_HIGH, P1_LOW);
    hash.xor(input.high, input.low).rotateLeft(23).multiply(P2_HIGH, P2_LOW).add(P3_HIGH, P3_LOW);
    position += 4;
  }
  for (; position < end; position++) {
    input.set(0, bytes[position]!).multiply(P5_HIGH, P5_LOW);
    hash.xor(input.high, input.low).rotateLeft(11).multiply(P1_HIGH, P1_LOW);
  }
  hash.xor(0, hash.high >>> 1).multiply(P2_HIGH, P2_LOW);
  hash.xor(hash.high >>> 29, (hash.low >>> 29) | (hash.high << 3)).multiply(P3_HIGH, P3_LOW);
  return (hash.low ^ hash.high) >>> 0;
}
