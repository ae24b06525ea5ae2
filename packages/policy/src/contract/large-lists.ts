/** Lists that do not fit into 16 bits, by count, by bytes or by one key, or onto the stack. */
import type { Random } from '@bloom/bytes';
import { noise } from './lending.js';
import { randomBytes } from './sample.js';

export interface LargeList {
  readonly what: string;
  readonly keys: readonly Uint8Array[];
}

/** One list after another, so that only one is in memory. */
export function* largeLists(random: Random): Generator<LargeList, void, undefined> {
  yield { what: '65,536 keys', keys: shortKeys(random, 65_536) };
  // Too many for the arguments of one call, such as Math.max(...hashes), and deeper than any stack.
  yield { what: '200,003 keys in order', keys: ascendingKeys(200_003) };
  const [key] = shortKeys(random, 1);
  yield { what: '70,001 times the same key', keys: Array.from({ length: 70_001 }, () => key!) };
  const sizes = [16_383, 16_384, 32_767, 32_768, 65_535, 65_536, 65_537, 131_072, 200_001].flatMap((size) => [9, size, 0, 31]);
  yield { what: 'keys of up to 200,001 bytes', keys: sizes.map((size) => longKey(random, size)) };
  yield { what: 'one key of 200,003 bytes', keys: [longKey(random, 200_003)] };
  yield { what: '1100 keys of 4 MiB together', keys: Array.from({ length: 1100 }, () => longKey(random, 3813)) };
}

/** A list that does not fit into 24 bits of bytes, for policies that are quick. */
export function largestList(random: Random): LargeList {
  return { what: '90 keys of 17 MiB together', keys: Array.from({ length: 90 }, () => longKey(random, 198_061)) };
}

/** Random at both ends; in between, the start again and again. */
function longKey(random: Random, length: number): Uint8Array {
  const key = noise(length, 1);
  key.set(randomBytes(random, Math.min(length, 64)));
  key.set(randomBytes(random, Math.min(length, 64)), length - Math.min(length, 64));
  return key;
}

/** Different keys of 5 to 12 bytes, in no order. */
export function shortKeys(random: Random, count: number): Uint8Array[] {
  const bytes = randomBytes(random, count * 12);
  const view = new DataView(bytes.buffer);
  return Array.from({ length: count }, (_, i) => {
    // An odd multiplier makes other numbers of other numbers.
    view.setUint32(i * 12, Math.imul(i, 0x9e3779b1));
    return bytes.subarray(i * 12, i * 12 + 5 + (i % 8));
  });
}

/** Different keys of 8 bytes, in order. */
export function ascendingKeys(count: number): Uint8Array[] {
  const bytes = new Uint8Array(count * 8);
  const view = new DataView(bytes.buffer);
  return Array.from({ length: count }, (_, i) => {
    view.setUint32(i * 8 + 3, i);
    return bytes.subarray(i * 8, i * 8 + 8);
  });
}
