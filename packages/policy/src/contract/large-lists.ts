/** Lists whose count, bytes or longest key do not fit into 16 bits, or that are too long for the stack. */
import type { Random } from '@bloom/bytes/internal';
import { noise } from './lending.js';
import { randomBytes } from './sample.js';

export interface LargeList {
  readonly what: string;
  readonly keys: readonly Uint8Array[];
  /** Whether it is worth the time to ask for every key. */
  readonly asksAll?: boolean;
}

/** One list at a time, so that only one is in memory. */
export function* largeLists(random: Random): Generator<LargeList, void, undefined> {
  yield { what: '65,536 keys', keys: shortKeys(random, 65_536) };
  // Too many for the arguments of one call, such as Math.max(...hashes), and for any recursion.
  yield { what: '200,003 keys in order', keys: ascendingKeys(200_003) };
  // Among this many keys, about ten pairs have the same hash of 32 bits.
  yield { what: '300,007 keys', keys: shortKeys(random, 300_007), asksAll: true };
  const [key] = shortKeys(random, 1);
  yield { what: 'the same key 70,001 times', keys: Array.from({ length: 70_001 }, () => key!) };
  const sizes = [16_383, 16_384, 32_767, 32_768, 65_535, 65_536, 65_537, 131_072, 200_001].flatMap((size) => [9, size, 0, 31]);
  yield { what: 'keys of up to 200,001 bytes', keys: sizes.map((size) => longKey(random, size)) };
  yield { what: 'one key of 200,003 bytes', keys: [longKey(random, 200_003)] };
  yield { what: '1100 keys of 4 MiB in total', keys: Array.from({ length: 1100 }, () => longKey(random, 3813)) };
}

/** How much longer each list of {@link growingLists} is than the one before. */
const GROWTH = 1.025;
const FEWEST_GROWING = 200;
const MOST_GROWING = 10_000;
/** Numbers of keys of the lists after those. */
const GROWN = [14_000, 20_000, 29_000, 42_000];

/**
 * Lists of ever more keys, in groups that are tried together: a construction that needs a second attempt for one set of keys in a
 * hundred, or whose measures change with the number of keys, meets those cases here.
 */
export function* growingLists(random: Random): Generator<readonly (readonly Uint8Array[])[], void, undefined> {
  const pools = [shortKeys(random, GROWN.at(-1)!), ascendingKeys(GROWN.at(-1)!)];
  let drawn = 0;
  const list = (count: number): Uint8Array[] => {
    const pool = pools[++drawn % 4 === 0 ? 1 : 0]!;
    const from = random.below(pool.length - count + 1);
    return pool.slice(from, from + count);
  };
  let group: Uint8Array[][] = [];
  for (let count = FEWEST_GROWING; count <= MOST_GROWING; count = Math.ceil(count * GROWTH)) {
    group.push(list(count));
    if (group.length < GROUP) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
  for (const count of GROWN) yield [list(count)];
  // Every length that a format may write in another way, up to that of the largest keys.
  const lengths: number[] = [];
  for (let length = 280; length < 120_000; length = Math.ceil(length * 1.12)) lengths.push(length, length + 1);
  yield [lengths.map((length) => longKey(random, length))];
}

/** How many growing lists are tried in one step, of which all keys of one are asked for. */
export const GROUP = 8;

/** A list whose byte length does not fit into 24 bits, for fast policies. */
export function largestList(random: Random): LargeList {
  return { what: '90 keys of 17 MiB in total', keys: Array.from({ length: 90 }, () => longKey(random, 198_061)) };
}

/** A key that is random at both ends, with one repeated pattern in between. */
function longKey(random: Random, length: number): Uint8Array {
  const key = noise(length, 1);
  key.set(randomBytes(random, Math.min(length, 64)));
  key.set(randomBytes(random, Math.min(length, 64)), length - Math.min(length, 64));
  return key;
}

/** Different keys of 5 to 12 bytes, unsorted. */
export function shortKeys(random: Random, count: number): Uint8Array[] {
  const bytes = randomBytes(random, count * 12);
  const view = new DataView(bytes.buffer);
  return Array.from({ length: count }, (_, i) => {
    // Multiplication by an odd number modulo 2^32 maps different numbers to different numbers.
    view.setUint32(i * 12, Math.imul(i, 0x9e3779b1));
    return bytes.subarray(i * 12, i * 12 + 5 + (i % 8));
  });
}

/** Different keys of 8 bytes, sorted. */
export function ascendingKeys(count: number): Uint8Array[] {
  const bytes = new Uint8Array(count * 8);
  const view = new DataView(bytes.buffer);
  return Array.from({ length: count }, (_, i) => {
    view.setUint32(i * 8 + 3, i);
    return bytes.subarray(i * 8, i * 8 + 8);
  });
}
