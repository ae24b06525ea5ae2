/**
 * A Bloom filter of 64-bit hashes, for a policy that needs another filter for a few keys.
 *
 *     bits, as many bytes as there are | number of probes k (u8)
 *
 * Bit b is byte b >> 3, mask 1 << (b & 7). A hash sets k bits, and matches when all of them are set. With m bits, and x at first
 * the low lane of the hash, each probe is x = x * 0x9e3779b1 + high lane modulo 2^32, and its bit is floor(x * m / 2^32).
 */

const MAX_PROBES = 32;
const MULTIPLIER = 0x9e3779b1;

/** Few keys, with few bits, meet each other's bits more often than the formula says, which is for many. */
const MARGIN = 0.9;
const MARGIN_BITS = 6;

/** The number of probes with which the fewest bits give `rate`. */
function probesFor(rate: number): number {
  return Math.min(Math.max(Math.round(-Math.log2(rate)), 1), MAX_PROBES);
}

/**
 * The length in bytes of a filter of `count` hashes that matches at most `rate` of others.
 *
 * @param rate above 0, below 1.
 */
export function hashBloomFilterByteLength(count: number, rate: number): number {
  const probes = probesFor(rate);
  const bits = (count * probes) / -Math.log1p(-((MARGIN * rate) ** (1 / probes)));
  return Math.ceil((bits + MARGIN_BITS) / 8) + 1;
}

/**
 * Writes the filter of `hashes`.
 *
 * @param hashes two elements for each hash, the low lane and the high one.
 * @param filter zero bytes, of {@link hashBloomFilterByteLength}.
 * @throws RangeError when `filter` is shorter than two bytes.
 */
export function encodeHashBloomFilter(hashes: Uint32Array, rate: number, filter: Uint8Array): void {
  if (filter.length < 2) throw new RangeError(`filter must have at least 2 bytes, got ${filter.length}`);
  const probes = probesFor(rate);
  const bits = (filter.length - 1) * 8;
  filter[filter.length - 1] = probes;
  for (let i = 0; i < hashes.length; i += 2) {
    let x = hashes[i]!;
    const high = hashes[i + 1]!;
    for (let probe = 0; probe < probes; probe++) {
      x = (Math.imul(x, MULTIPLIER) + high) >>> 0;
      const bit = bitOf(x, bits);
      filter[Math.floor(bit / 8)]! |= 1 << (bit & 7);
    }
  }
}

/**
 * Whether a hash may be among those that the filter `bytes[start, end)` was made from. A filter shorter than two bytes, or with
 * no or more than 32 probes, matches every hash.
 */
export function hashBloomFilterMayMatch(low: number, high: number, bytes: Uint8Array, start: number, end: number): boolean {
  const bits = (end - 1 - start) * 8;
  const probes = bytes[end - 1]!;
  if (bits <= 0 || probes === 0 || probes > MAX_PROBES) return true;
  let x = low;
  for (let probe = 0; probe < probes; probe++) {
    x = (Math.imul(x, MULTIPLIER) + high) >>> 0;
    const bit = bitOf(x, bits);
    if (((bytes[start + Math.floor(bit / 8)]! >>> (bit & 7)) & 1) === 0) return false;
  }
  return true;
}

/** Below `bits`: rounding moves the product by less than it is below. */
function bitOf(x: number, bits: number): number {
  return Math.floor(x * bits * 2 ** -32);
}
