/**
 * Which shape a fitted Bloom filter gets: its number of bytes and its number of probes.
 *
 * Every reader of LevelDB's filters takes both numbers from the filter, so a writer may choose them. LevelDB computes them from the
 * number of keys alone. All probes of a key come from one 32-bit hash, and the hashes of keys that differ only in their last characters
 * differ by multiples of large powers of two. Modulo a number of bits that is a multiple of 32 or 64, such hashes share few positions:
 * in a filter of 24 bytes, more than half of the absent numbers between 19 stored ones match (`fitted-bloom-filter-policy.test.ts`), where
 * independent hashes would give 1%.
 *
 * So several shapes are tried. Absent neighbours of the filter's own keys judge each shape, and the shape that lets the fewest of them pass
 * wins. The choice depends on the keys of the filter and on nothing else.
 *
 * One fill judges all numbers of probes for a length: it notes for each bit the first probe with which any key sets it. A judge passes with
 * k probes if each of its first k bits is set by one of the first k probes of some key.
 *
 * `assembly/fit-kernel.ts` does the same for a whole filter at once.
 */
import { bloomHash } from '@bloom/hash';
import { filterByteLength, MAX_PROBES, probesFor, rotateRight17 } from './bloom-filter.js';
import { commonTail, neighboursOf } from './key-neighbour.js';
import type { KeyList } from './policy.js';

/** A filter of more keys gets LevelDB's shape: there, absent keys that match mostly have the hash of a stored key, and match in any shape. */
export const MAX_FITTED_KEYS = 4096;
/** The most bytes of a filter that is fitted, and of every length that is tried for it: the kernel has room for that many bits. */
export const MAX_FITTED_BYTES = 2 ** 14;

/** The number of absent neighbours of a key that judge. */
export const JUDGES_PER_KEY = 2;
/** With more keys than this, only some of them have judges. */
const MAX_JUDGING_KEYS = 256;
/** The most lengths to try. Long filters have more lengths within the budget than are worth trying. */
const MAX_LENGTHS = 20;
/** The cost of each judge that passes. */
export const PASS_COST = 4096;
/** A shape is good enough if it costs at most one pass in 256 judges: half of the share that independent hashes would give. */
export const JUDGES_PER_PASS = 256;
/** After n more lengths than the first, a shape is good enough if at most n / 2 judges pass, … */
export const LENGTHS_PER_PASS = 2;
/** … and, with n lengths tried, at most n judges in 100. */
export const PATIENCE = 100;
/** Numbers of probes up to this many below and above LevelDB's are tried. */
const FEWER_PROBES = 4;
const MORE_PROBES = 6;
const MORE_PROBES_AT_FIRST = 2;

/**
 * A number of probes is tried if an ideal filter lets at most this share, 0 to 1, of absent keys more pass with it than with the best
 * number.
 */
const MAX_ADDED_RATE = 0.03;

/** A filter's length in bytes, without the byte that holds the number of probes, and its number of probes. */
export interface FilterShape {
  readonly bytes: number;
  readonly probes: number;
}

/** The shapes to try for a filter: each length with each number of probes. */
export interface ShapeChoice {
  /** Lengths in bytes, without the byte that holds the number of probes, best guess first. */
  readonly lengths: readonly number[];
  readonly minProbes: number;
  /** The most probes tried with the first length, which is good enough for most keys. */
  readonly maxProbesAtFirst: number;
  /**
   * What each number of probes from `minProbes` on costs, for each judge: the share of absent keys that an ideal filter lets pass with it,
   * less the share of the best number. Judges are close to stored keys, so that none of them may pass with two probes, while 2% more of
   * all other keys do.
   */
  readonly costs: readonly number[];
}

/**
 * The shapes to try for a filter of `keys` keys.
 *
 * An odd number of bytes usually lets far fewer neighbours pass than an even one, and a multiple of four lets the most pass. So odd
 * lengths come first, those close to LevelDB's length before others, and multiples of four come last.
 *
 * @param extraBytes the share of bytes, 0 to 1, that filters may take more than LevelDB's on average. Lengths from twice that share
 *   below LevelDB's length to twice that share above it are tried, so that shorter filters pay for longer ones.
 */
export function shapesFor(keys: number, bitsPerKey: number, extraBytes: number): ShapeChoice {
  const plain = filterByteLength(keys, bitsPerKey) - 1;
  const room = Math.floor((plain + 1) * 2 * extraBytes);
  const longest = Math.min(plain + room, MAX_FITTED_BYTES);
  // LevelDB's minimum of 64 bits is the worst length of all: every neighbour of 2 to 6 keys can match. Shorter filters may have the bits
  // that LevelDB would give these keys without the minimum.
  const shortest = Math.max(1, Math.min(plain - room, Math.floor((keys * bitsPerKey) / 8)));
  const lengths = [plain];
  for (let step = 1; step <= Math.max(room, plain - shortest) && lengths.length < MAX_LENGTHS; step++) {
    if (plain + step <= longest) lengths.push(plain + step);
    if (plain - step >= shortest) lengths.push(plain - step);
  }
  const plainProbes = probesFor(bitsPerKey);
  const fewest = Math.max(1, plainProbes - FEWER_PROBES);
  const rates = Array.from({ length: Math.min(MAX_PROBES, plainProbes + MORE_PROBES) - fewest + 1 }, (_, i) => (1 - Math.exp(-(fewest + i) / bitsPerKey)) ** (fewest + i));
  const best = Math.min(...rates);
  const isTried = (rate: number): boolean => rate <= best + MAX_ADDED_RATE;
  const first = rates.findIndex(isTried);
  const costs = rates.filter(isTried).map((rate) => Math.round((rate - best) * PASS_COST));
  return {
    lengths: lengths.sort((a, b) => evennessOf(a) - evennessOf(b)),
    minProbes: fewest + first,
    maxProbesAtFirst: Math.min(plainProbes + MORE_PROBES_AT_FIRST, fewest + first + costs.length - 1),
    costs,
  };
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

/**
 * The shape with the lowest cost: of the judges that pass, and of its number of probes, which alone decides where all neighbours are
 * stored. The search ends once a shape is good enough: {@link JUDGES_PER_PASS}, {@link LENGTHS_PER_PASS}, {@link PATIENCE}.
 */
export function fittedShape(keys: KeyList, hashes: Uint32Array, { lengths, minProbes, maxProbesAtFirst, costs }: ShapeChoice): FilterShape {
  const judges = judgeHashes(keys, hashes);
  const weight = Math.max(1, judges.length);
  let shape = { bytes: lengths[0]!, probes: minProbes };
  let lowest = Infinity;
  for (const [tried, bytes] of lengths.entries()) {
    const maxProbes = tried === 0 ? maxProbesAtFirst : minProbes + costs.length - 1;
    const passed = passingJudges(judges, hashes, bytes * 8, maxProbes);
    for (let probes = minProbes; probes <= maxProbes; probes++) {
      const cost = costs[probes - minProbes]!;
      const sum = passed[probes - 1]! * PASS_COST + cost * weight;
      if (sum >= lowest) continue;
      lowest = sum;
      shape = { bytes, probes };
    }
    const isPatient = lowest * LENGTHS_PER_PASS <= tried * PASS_COST && lowest * PATIENCE <= (tried + 1) * judges.length * PASS_COST;
    if (isPatient || lowest * JUDGES_PER_PASS <= judges.length * PASS_COST) break;
  }
  return shape;
}

/** How many judges pass a filter of `bits` bits with 1, 2, … `maxProbes` probes. */
function passingJudges(judges: readonly number[], hashes: Uint32Array, bits: number, maxProbes: number): Uint32Array {
  // The first probe, counted from 0, that sets each bit.
  const first = new Uint8Array(bits).fill(maxProbes);
  for (let probe = maxProbes - 1; probe >= 0; probe--) for (const hash of hashes) first[positionOf(hash, probe, bits)] = probe;
  const passed = new Uint32Array(maxProbes);
  for (const judge of judges) {
    let latest = 0;
    for (let probe = 0; probe < maxProbes && latest < maxProbes; probe++) {
      latest = Math.max(latest, first[positionOf(judge, probe, bits)]!);
      if (latest <= probe) passed[probe]!++;
    }
  }
  return passed;
}

function positionOf(hash: number, probe: number, bits: number): number {
  return ((hash + Math.imul(probe, rotateRight17(hash))) >>> 0) % bits;
}

/** Whether a filter of this many keys is fitted. */
export function isFitted(keys: number, bitsPerKey: number): boolean {
  return keys > 0 && keys <= MAX_FITTED_KEYS && filterByteLength(keys, bitsPerKey) <= MAX_FITTED_BYTES;
}

