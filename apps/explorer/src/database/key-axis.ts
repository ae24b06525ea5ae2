import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { commonStart } from '@bloom/report';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import type { DatabaseFacts } from './database-facts.js';

/** `bytes`: distances are those of the keys as numbers. `even`: all bounds of tables have equal distances. */
export type KeyScale = 'bytes' | 'even';

/** The positions of keys, from left to right in the order of the database. */
export interface KeyAxis {
  /** The ends of the axis; undefined without keys. */
  readonly ends: { readonly first: Uint8Array; readonly last: Uint8Array } | undefined;
  /** From 0 to 1. There are margins on both sides for keys before the first and after the last. */
  position(key: Uint8Array): number;
}

/** The margins left and right, for keys before and after all tables. */
const MARGIN = 0.025;
/** The least distance between two bounds, so that a key between two tables is visibly in neither. */
const LEAST_GAP = 0.008;
/** The largest share of the axis for these gaps. */
const MOST_GAPS = 0.6;
/** The distance of a key from an adjacent bound, as a share of the gap. */
const NEAREST = 0.25;
/** The most bytes that a number represents exactly. */
const NUMBER_BYTES = 6;

export function keyOrderOf({ isIndexedDb }: DatabaseFacts): Comparator {
  return isIndexedDb ? idbComparator : bytewiseComparator;
}

/** An axis for all tables of a database. A key between two bounds is drawn between them in every scale. */
export function keyAxis(facts: DatabaseFacts, scale: KeyScale): KeyAxis {
  const order = keyOrderOf(facts);
  const { firstKey, lastKey } = facts;
  const all = facts.levels.flat().flatMap(({ smallest, largest }) => [smallest.bytes, largest.bytes]);
  if (firstKey !== undefined && lastKey !== undefined) all.push(firstKey.bytes, lastKey.bytes);
  all.sort((a, b) => order.compare(a, b));
  const bounds = all.filter((bound, i) => i === 0 || order.compare(all[i - 1]!, bound) !== 0);
  const first = bounds[0];
  const last = bounds.at(-1);
  if (first === undefined || last === undefined) return { ends: undefined, position: () => 0.5 };
  const numberOf = numbersAfter(commonStart(first, last));
  const gaps = bounds.slice(1).map((bound, i) => (scale === 'even' ? 1 : Math.max(0, numberOf(bound) - numberOf(bounds[i]!))));
  const span = gaps.reduce((sum, gap) => sum + gap, 0) || 1;
  const least = Math.min(LEAST_GAP, MOST_GAPS / Math.max(1, gaps.length));
  const places = [MARGIN];
  for (const gap of gaps) places.push(places.at(-1)! + (least + (gap / span) * (1 - least * gaps.length)) * (1 - 2 * MARGIN));
  return {
    ends: { first, last },
    position(key) {
      let left = 0;
      let right = bounds.length;
      while (left < right) {
        const middle = (left + right) >>> 1;
        if (order.compare(bounds[middle]!, key) < 0) left = middle + 1;
        else right = middle;
      }
      if (left === bounds.length) return 1 - MARGIN / 2;
      if (order.compare(bounds[left]!, key) === 0) return places[left]!;
      if (left === 0) return MARGIN / 2;
      const from = numberOf(bounds[left - 1]!);
      const share = (numberOf(key) - from) / (numberOf(bounds[left]!) - from);
      const within = scale === 'even' || !(share >= 0 && share <= 1) ? 0.5 : Math.max(NEAREST, Math.min(1 - NEAREST, share));
      return places[left - 1]! + (places[left]! - places[left - 1]!) * within;
    },
  };
}

/** Keys as numbers, from the bytes after `start`. All keys have the bytes before it in common. */
function numbersAfter(start: number): (key: Uint8Array) => number {
  return (key) => {
    let number = 0;
    for (let i = start; i < start + NUMBER_BYTES; i++) number = number * 256 + (key[i] ?? 0);
    return number;
  };
}
