/** Makes binary fuse filters: finds an order in which each key has a fingerprint of its own. */
import type { HashFilterForm } from '@bloom/policy/internal';
import { type FingerprintBits, fuseByteLength, type FuseShape, fuseShapeFor, scaled64, writeFuseTrailer } from './fuse-filter.js';

/** How filters with fingerprints of this many bits are made. */
export function fuseForm(fingerprintBits: FingerprintBits): HashFilterForm<FuseShape> {
  return {
    rate: 2 ** -fingerprintBits,
    shapeFor: (count) => {
      const shape = fuseShapeFor(count, fingerprintBits);
      return shape.length < 2 ** 32 ? shape : undefined;
    },
    byteLength: fuseByteLength,
    solve: (hashes, shape) => {
      const order = peel(hashes, shape);
      return order && ((filter) => assign(filter, shape, order));
    },
    writeTrailer: writeFuseTrailer,
  };
}

/** Keys in the order in which they were taken off, and which of its positions each had for itself then. */
interface Order {
  readonly lows: Uint32Array;
  readonly highs: Uint32Array;
  readonly own: Uint8Array;
}

/**
 * Takes off, one by one, keys with a position that no other remaining key has.
 *
 * @returns undefined when some keys cannot be taken off.
 */
function peel(hashes: Uint32Array, { segmentLog, length }: FuseShape): Order | undefined {
  const segment = 1 << segmentLog;
  const range = length - 2 * segment;
  const count = hashes.length / 2;
  // Of the keys at each position: the exclusive or of their hashes, and of the numbers 0 to 2 of that position among theirs, in
  // the lowest two bits; above those, how many there are.
  const lows = new Uint32Array(length);
  const highs = new Uint32Array(length);
  const counts = new Uint8Array(length);
  const at = new Uint32Array(3);
  for (let i = 0; i < count; i++) {
    const low = hashes[i * 2]!;
    const high = hashes[i * 2 + 1]!;
    locate(low, high, range, segment, at);
    for (let number = 0; number < 3; number++) {
      const position = at[number]!;
      // At most 63 keys can be counted. That many share a position only with a bad seed.
      if (counts[position]! >= 63 << 2) return undefined;
      counts[position] = (counts[position]! + 4) ^ number;
      lows[position]! ^= low;
      highs[position]! ^= high;
    }
  }
  const alone = new Uint32Array(length);
  let waiting = 0;
  for (let position = 0; position < length; position++) if (counts[position]! >> 2 === 1) alone[waiting++] = position;
  const order = { lows: new Uint32Array(count), highs: new Uint32Array(count), own: new Uint8Array(count) };
  let taken = 0;
  while (waiting > 0) {
    const position = alone[--waiting]!;
    if (counts[position]! >> 2 !== 1) continue;
    const low = lows[position]!;
    const high = highs[position]!;
    const own = counts[position]! & 3;
    order.lows[taken] = low;
    order.highs[taken] = high;
    order.own[taken] = own;
    taken++;
    locate(low, high, range, segment, at);
    for (let next = 1; next < 3; next++) {
      const number = own + next > 2 ? own + next - 3 : own + next;
      const other = at[number]!;
      if (counts[other]! >> 2 === 2) alone[waiting++] = other;
      counts[other] = (counts[other]! - 4) ^ number;
      lows[other]! ^= low;
      highs[other]! ^= high;
    }
    counts[position] = 0;
  }
  return taken === count ? order : undefined;
}

/** Writes the three positions of a key with this hash to `at`. @param range `length` less two segments */
function locate(low: number, high: number, range: number, segment: number, at: Uint32Array): void {
  const mask = segment - 1;
  const p0 = scaled64(low, high, range);
  const within = p0 & mask;
  const base = p0 - within;
  at[0] = p0;
  at[1] = base + segment + (within ^ (((low >>> 18) | (high << 14)) & mask));
  at[2] = base + 2 * segment + (within ^ (low & mask));
}

/** Gives each key, the last one taken off first, its own fingerprint, so that all three together are that of the key. */
function assign(filter: Uint8Array, { fingerprintBits, segmentLog, length }: FuseShape, { lows, highs, own }: Order): void {
  const segment = 1 << segmentLog;
  const range = length - 2 * segment;
  const prints = fingerprintBits === 8 ? filter : new Uint16Array(length);
  const at = new Uint32Array(3);
  for (let i = own.length - 1; i >= 0; i--) {
    const low = lows[i]!;
    const high = highs[i]!;
    locate(low, high, range, segment, at);
    // Its own is still 0.
    prints[at[own[i]!]!] = low ^ high ^ prints[at[0]!]! ^ prints[at[1]!]! ^ prints[at[2]!]!;
  }
  if (fingerprintBits === 8) return;
  for (let i = 0; i < length; i++) {
    filter[2 * i] = prints[i]!;
    filter[2 * i + 1] = prints[i]! >>> 8;
  }
}
