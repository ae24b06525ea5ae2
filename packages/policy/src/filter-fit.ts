/**
 * Which shape a fitted Bloom filter gets: its number of bytes and its number of probes.
 *
 * Every reader of LevelDB's filters takes both numbers from the filter, so a writer may choose them. LevelDB computes them from the
 * number of keys alone. All probes of a key come from one 32-bit hash, and the hashes of keys that differ only in their last characters
 * differ by multiples of large powers of two. Modulo a number of bits that is a multiple of 32 or 64, such hashes share few positions:
 * of 19 numbers in a filter of 24 bytes, 53% of the absent numbers between them match, where independent hashes would give 1%.
 *
 * So several shapes are tried. Each is judged by absent neighbours of the filter's own keys, and the shape that lets the fewest of them
 * pass is used. The choice depends on the keys of the filter and on nothing else.
 *
 * `assembly/fit-kernel.ts` does the same for a whole filter at once.
 */
import { bloomHash } from '@bloom/hash';
import { bloomFilterMayMatch, fillBloomFilter, filterByteLength, MAX_PROBES, probesFor } from './bloom-filter.js';
import { commonTail, neighboursOf } from './key-neighbour.js';
import type { KeyList } from './policy.js';

/** A filter of more keys gets LevelDB's shape: there, absent keys that match mostly have the hash of a stored key, and match in any shape. */
export const MAX_FITTED_KEYS = 4096;
/** The most bytes of a filter that is fitted, so that the kernel has room for its bits. */
export const MAX_FITTED_BYTES = 2 ** 14;

/** The absent neighbours of one key that judge. */
export const JUDGES_PER_KEY = 2;
/** With more keys than this, only some of them have judges. */
const MAX_JUDGING_KEYS = 256;
/** The most lengths that are tried. Longer filters have more lengths within the budget than are worth trying. */
const MAX_LENGTHS = 20;
/**
 * A shape is good enough if at most one judge in 256 passes: half of the share that independent hashes would give. Without this, filters
 * of a thousand keys took six times as long.
 */
export const JUDGES_PER_PASS = 256;
/**
 * For each 12 shapes that were tried, 1% of the judges may pass, but for each 24 shapes only one: the search for big-endian numbers ends
 * earlier.
 */
export const PATIENCE = 1200;
export const SHAPES_PER_PASS = 24;
/** Probes are tried in this order, as differences from LevelDB's number. */
const PROBE_STEPS = [0, -1, 1, -2, 2, 3, -3, 4, 5, 6, -4];

/**
 * A number of probes is tried if an ideal filter lets at most this share, 0 to 1, of absent keys more pass with it than with LevelDB's
 * number. Judges are close to stored keys, so that none of them may pass with one probe, while 8% more of all other keys do.
 */
const MAX_ADDED_RATE = 0.03;

/** A filter's length in bytes, without the byte that holds the number of probes, and its number of probes. */
export interface FilterShape {
  readonly bytes: number;
  readonly probes: number;
}

/**
 * The shapes to try for a filter of `keys` keys, best guess first.
 *
 * An odd number of bytes usually lets far fewer neighbours pass than an even one, and a multiple of four lets the most pass. So odd
 * lengths come first, those close to LevelDB's length before others, and multiples of four come last.
 *
 * @param extraBytes the share of bytes, 0 to 1, that filters may take more than LevelDB's on average. Lengths from twice that share
 *   below LevelDB's length to twice that share above it are tried, so that shorter filters pay for longer ones.
 */
export function candidateShapes(keys: number, bitsPerKey: number, extraBytes: number): FilterShape[] {
  const plain = filterByteLength(keys, bitsPerKey) - 1;
  const room = Math.floor((plain + 1) * 2 * extraBytes);
  // LevelDB's minimum of 64 bits is the worst length of all: every neighbour of 2 to 6 keys can match. Shorter filters may have the bits
  // that LevelDB would give these keys without the minimum.
  const shortest = Math.max(1, Math.min(plain - room, Math.floor((keys * bitsPerKey) / 8)));
  const lengths = [plain];
  for (let step = 1; step <= Math.max(room, plain - shortest) && lengths.length < MAX_LENGTHS; step++) {
    if (step <= room) lengths.push(plain + step);
    if (plain - step >= shortest) lengths.push(plain - step);
  }
  const byEvenness = [...lengths].sort((a, b) => evennessOf(a) - evennessOf(b));
  const plainProbes = probesFor(bitsPerKey);
  const rateOf = (number: number): number => (1 - Math.exp(-number / bitsPerKey)) ** number;
  const highestRate = rateOf(plainProbes) + MAX_ADDED_RATE;
  const probes = PROBE_STEPS.map((step) => plainProbes + step).filter((number) => number >= 1 && number <= MAX_PROBES && rateOf(number) <= highestRate);
  const shapes: FilterShape[] = [];
  for (let first = 0, end: number; first < byEvenness.length; first = end) {
    end = byEvenness.findIndex((length, i) => i > first && evennessOf(length) !== evennessOf(byEvenness[first]!));
    if (end < 0) end = byEvenness.length;
    for (const number of probes) for (const bytes of byEvenness.slice(first, end)) shapes.push({ bytes, probes: number });
  }
  return shapes;
}

/** 0 for odd numbers, 1 for even ones, 2 for multiples of four. */
function evennessOf(length: number): number {
  return length % 4 === 0 ? 2 : 1 - (length % 2);
}

/** One key in this many has judges. */
export function judgeStride(keys: number): number {
  return Math.ceil(keys / MAX_JUDGING_KEYS);
}

/**
 * The Bloom hashes of the judges: the nearest neighbours of keys whose hash is not that of any key in the filter. One that is the nearest
 * neighbour of the key before too, as 43 is of 42 and of 44, judges once.
 */
export function judgeHashes(keys: KeyList, hashes: Uint32Array): number[] {
  const stored = new Set(hashes);
  const judges: number[] = [];
  const stride = judgeStride(keys.length);
  let nearest = 0;
  for (let i = 0; i < keys.length; i += stride) {
    const known = nearest;
    nearest = 0;
    const key = keys.at(i);
    const other = i > 0 ? i - 1 : 1;
    let found = 0;
    for (const neighbour of neighboursOf(key, other < keys.length ? commonTail(keys.at(other), key) : 0)) {
      const hash = bloomHash(neighbour);
      // The kernel's table of stored hashes has 0 for an empty place.
      if (hash === 0 || stored.has(hash)) continue;
      if (found === 0) nearest = hash;
      if (hash !== known) judges.push(hash);
      if (++found === JUDGES_PER_KEY) break;
    }
  }
  return judges;
}

/** The first of the shapes that lets the fewest judges pass, until that is good enough: {@link JUDGES_PER_PASS}, {@link PATIENCE}. */
export function fittedShape(keys: KeyList, hashes: Uint32Array, shapes: readonly FilterShape[]): FilterShape {
  const judges = judgeHashes(keys, hashes);
  let best = shapes[0]!;
  let fewest = Infinity;
  for (const [tried, shape] of shapes.entries()) {
    const filter = new Uint8Array(shape.bytes + 1);
    fillBloomFilter(filter, hashes, shape.probes);
    let passed = 0;
    for (let i = 0; i < judges.length && passed < fewest; i++) if (bloomFilterMayMatch(judges[i]!, filter)) passed++;
    if (passed < fewest) {
      best = shape;
      fewest = passed;
    }
    const isPatient = fewest * SHAPES_PER_PASS <= tried + 1 && fewest * PATIENCE <= (tried + 1) * judges.length;
    if (isPatient || fewest * JUDGES_PER_PASS <= judges.length) break;
  }
  return best;
}

/** Whether a filter of so many keys is fitted. */
export function isFitted(keys: number, bitsPerKey: number): boolean {
  return keys > 0 && keys <= MAX_FITTED_KEYS && filterByteLength(keys, bitsPerKey) <= MAX_FITTED_BYTES;
}

