/** Lists whose count, bytes or longest key do not fit into 16 bits, or that are too long for the stack. */
import type { Random } from '@bloom/bytes';
import { noise } from './lending.js';
import { randomBytes } from './sample.js';

export interface LargeList {
  readonly what: string;
  readonly keys: readonly Uint8Array[];
}

/** One list at a time, so that only one is in memory. */
export function* largeLists(random: Random): Generator<LargeList, void, undefined> {
  yield { what: '65,536 keys', keys: shortKeys(random, 65_536) };
  // Too many for the arguments of one call, such as Math.max(...hashes), and for any recursion.
  yield { what: '200,003 keys in order', keys: ascendingKeys(200_003) };
  const [key] = shortKeys(random, 1);
  yield { what: 'the same key 70,001 times', keys: Array.from({ length: 70_001 }, () => key!) };
  const sizes = [16_383, 16_384, 32_767, 32_768, 65_535, 65_536, 65_537, 131_072, 200_001].flatMap((size) => [9, size, 0, 31]);
  yield { what: 'keys of up to 200,001 bytes', keys: sizes.map((size) => longKey(random, size)) };
  yield { what: 'one key of 200,003 bytes', keys: [longKey(random, 200_003)] };
  yield { what: '1100 keys of 4 MiB in total', keys: Array.from({ length: 1100 }, () => longKey(random, 3813)) };
}

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
