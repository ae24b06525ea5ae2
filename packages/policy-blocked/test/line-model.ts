import { hash } from '@bloom/hash';

/** MurmurHash3 x86_32 with bigints, following its author's code. */
export function modelMurmur3(key: Uint8Array, seed: number): number {
  const M = 0xffffffffn;
  const rotl = (x: bigint, r: bigint): bigint => ((x << r) | (x >> (32n - r))) & M;
  const mix = (word: bigint): bigint => (rotl((word * 0xcc9e2d51n) & M, 15n) * 0x1b873593n) & M;
  const wordOf = (part: Uint8Array): bigint => part.reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n);
  const whole = key.length - (key.length % 4);
  let h = BigInt(seed);
  for (let i = 0; i < whole; i += 4) h = (rotl(h ^ mix(wordOf(key.subarray(i, i + 4))), 13n) * 5n + 0xe6546b64n) & M;
  h ^= mix(wordOf(key.subarray(whole)));
  h ^= BigInt(key.length);
  h = ((h ^ (h >> 16n)) * 0x85ebca6bn) & M;
  h = ((h ^ (h >> 13n)) * 0xc2b2ae35n) & M;
  return Number(h ^ (h >> 16n));
}

/** The numbers of the bits that a key sets, counted from the start of the filter. */
function bitsOf(key: Uint8Array, lines: number, probes: number): number[] {
  const line = (BigInt(modelMurmur3(key, 0)) * BigInt(lines)) >> 32n;
  const h = BigInt(hash(key, 0xb10cf117));
  return Array.from({ length: probes }, (_, i) => {
    const mixed = (h * 0x9e3779b9n ** BigInt(i + 1)) % 2n ** 32n;
    return Number(line * 512n + (mixed >> 23n));
  });
}

/** A filter made from the set of its bits. */
export function modelFilter(keys: readonly Uint8Array[], bitsPerKey: number, probes: number): Uint8Array {
  const lines = keys.length === 0 ? 0 : Math.max(1, Math.ceil((keys.length * bitsPerKey) / 512));
  const set = new Set(keys.flatMap((key) => bitsOf(key, lines, probes)));
  const bytes = Array.from({ length: lines * 64 }, (_, i) =>
    Array.from({ length: 8 }, (_, b) => (set.has(i * 8 + b) ? 2 ** b : 0)).reduce((sum, bit) => sum + bit, 0),
  );
  return Uint8Array.of(...bytes, probes);
}

export function modelMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
  const probes = filter.at(-1);
  if (probes === undefined) return false;
  const lines = (filter.length - 1) / 64;
  if (!Number.isInteger(lines) || probes < 1 || probes > 32) return true;
  if (lines === 0) return false;
  return bitsOf(key, lines, probes).every((bit) => (filter[Math.floor(bit / 8)]! >> (bit % 8)) % 2 === 1);
}

const LINE_BITS = 512;

/**
 * The fraction of absent keys that match if all probes are independent and keys are distributed over lines at random, for
 * 0 to `maxProbes` probes. Element 0 has no meaning.
 */
export function independentRates(bitsPerKey: number, maxProbes: number): number[] {
  const mean = LINE_BITS / bitsPerKey;
  const maxKeys = Math.ceil(mean + 12 * Math.sqrt(mean) + 12);
  const weights = [Math.exp(-mean)];
  for (let keys = 1; keys <= maxKeys; keys++) weights.push((weights[keys - 1]! * mean) / keys);
  const rates = new Array<number>(maxProbes + 1).fill(0);
  // The probability of each number of set bits.
  let chances = Float64Array.from({ length: LINE_BITS + 1 }, (_, set) => (set === 0 ? 1 : 0));
  for (let throws = 1; throws <= maxKeys * maxProbes; throws++) {
    chances = chances.map((chance, set) => {
      const fromBelow = set === 0 ? 0 : chances[set - 1]! * (1 - (set - 1) / LINE_BITS);
      return (chance * set) / LINE_BITS + fromBelow;
    });
    for (let probes = 1; probes <= maxProbes; probes++) {
      const keys = throws / probes;
      if (!Number.isInteger(keys) || keys > maxKeys) continue;
      const passes = chances.reduce((sum, chance, set) => sum + chance * (set / LINE_BITS) ** probes, 0);
      rates[probes]! += weights[keys]! * passes;
    }
  }
  return rates;
}
