import type { KeyValue, Random } from '@bloom/fixtures';
import { hex } from './entries.js';

export interface RandomEntriesOptions {
  /** The most entries. */
  readonly most: number;
  /** Default: bytewise. */
  readonly compare?: (a: Uint8Array, b: Uint8Array) => number;
}

/**
 * Sorted entries of kinds that are difficult for a table: the empty key, runs of 0xff, long shared prefixes, and keys that are
 * prefixes of others. Values have 0 to 300 KB; few are large.
 */
export function randomEntries(random: Random, options: RandomEntriesOptions): KeyValue[] {
  const { most, compare = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) } = options;
  const count = random.below(8) === 0 ? random.below(3) : random.below(most + 1);
  const prefixes = Array.from({ length: 4 }, () => random.bytes(random.pick([1, 4, 30, 300])));
  const keys = new Map<string, Uint8Array>();
  for (let i = 0; i < count; i++) {
    const key = randomKey(random, prefixes);
    keys.set(hex(key), key);
  }
  let largeValues = random.below(4) === 0 ? 2 : 0;
  return [...keys.values()].sort(compare).map((key) => {
    if (largeValues > 0 && random.below(10) === 0) {
      largeValues--;
      return [key, randomValue(random, 5000 + random.below(295_001))];
    }
    return [key, randomValue(random, random.pick([0, 1, 10, 100, 200]))];
  });
}

export function randomKey(random: Random, prefixes: readonly Uint8Array[]): Uint8Array {
  const tail = random.bytes(random.below(6));
  switch (random.below(8)) {
    case 0:
      return new Uint8Array(random.below(5)).fill(0xff);
    case 1:
      return Uint8Array.of(...new Uint8Array(random.below(4)).fill(0xff), ...tail);
    case 2:
      return random.bytes(random.below(40));
    case 3:
      return Uint8Array.from({ length: random.below(5) }, () => random.pick([0, 1, 0xfe, 0xff]));
    default:
      return Uint8Array.of(...random.pick(prefixes), ...tail);
  }
}

/** Half of the values can be compressed. */
function randomValue(random: Random, length: number): Uint8Array {
  if (random.below(2) === 0) return random.bytes(length);
  const pattern = random.bytes(7);
  return Uint8Array.from({ length }, (_, i) => pattern[i % 7]!);
}
