// A merge compares keys from where they may differ, as its sources tell. Here keys have much or little in common, and sources tell all of
// it, some of it, or nothing.
import { seeded } from '@bloom/fixtures';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { DELETION, encodeInternalKey, VALUE } from '@bloom/sstable/database';
import type { Side } from '@bloom/sstable/internal';
import { describe, expect, test } from 'vitest';
import { EntryCursor } from '../src/cursor/entry-cursor.js';
import { MergeCursor } from '../src/cursor/merge-cursor.js';
import { VisibleCursor } from '../src/cursor/visible-cursor.js';
import { DamagePolicy } from '../src/folder/damage.js';
import { keyOrderOf } from '../src/format/database-key.js';
import type { KeyOrder } from '../src/format/version.js';
import { reverseComparator } from './reverse-comparator.js';

interface Stored {
  readonly key: Uint8Array;
  /** Tells which source the entry is of. */
  readonly value: number;
}

type Random = ReturnType<typeof seeded>;

/** The entries of an array, whose keys take each other's place in one buffer, as in the walk through a block. */
class ArrayEntries extends EntryCursor {
  readonly #stored: readonly Stored[];
  readonly #order: KeyOrder;
  readonly #says: (common: number) => number;
  readonly #buffer = new Uint8Array(64);
  #i = -1;

  /** @param says how much of what a key has in common with the one before is told. */
  constructor(stored: readonly Stored[], order: KeyOrder, says: (common: number) => number) {
    super();
    this.#stored = stored;
    this.#order = order;
    this.#says = says;
  }

  override seekToFirst(): boolean {
    return this.#land(0);
  }

  override seekToLast(): boolean {
    return this.#land(this.#stored.length - 1);
  }

  override seek(key: Uint8Array, side: Side): boolean {
    const orderOf = (stored: Stored): number => this.#order.compareInternalKeys(stored.key, 0, stored.key.length, key, 0, key.length);
    const isAfter = side === 'at-or-after' || side === 'before' ? (order: number) => order >= 0 : (order: number) => order > 0;
    const found = this.#stored.findIndex((stored) => isAfter(orderOf(stored)));
    const i = found < 0 ? this.#stored.length : found;
    return this.#land(side === 'before' || side === 'at-or-before' ? i - 1 : i);
  }

  override next(): boolean {
    return this.#land(this.#i + 1, this.#stored[this.#i]!.key);
  }

  override prev(): boolean {
    return this.#land(this.#i - 1);
  }

  #land(i: number, before?: Uint8Array): true {
    this.#i = i;
    const stored = this.#stored[i];
    this.valid = stored !== undefined;
    // After a seek, a walk through a block leaves a number that is about other entries.
    this.entry.shared = before === undefined ? 5 : 0;
    if (stored === undefined) return true;
    const { key, value } = stored;
    if (before !== undefined) {
      let common = 0;
      while (common < Math.min(key.length, before.length) && key[common] === before[common]) common++;
      this.entry.shared = this.#says(common);
    }
    this.#buffer.set(key);
    this.entry.keyBytes = this.#buffer;
    this.entry.keyEnd = key.length;
    this.entry.valueBytes = Uint8Array.of(value);
    this.entry.valueEnd = 1;
    return true;
  }
}

/** Keys of few different bytes, of which many are the start of others. */
function userKey(random: Random): Uint8Array {
  const stem = Uint8Array.from({ length: random.below(3) * 4 }, () => 7);
  return Uint8Array.of(...stem, ...Array.from({ length: random.below(5) }, () => random.below(3) * random.below(2)));
}

function sourcesOf(random: Random, order: KeyOrder): Stored[][] {
  return Array.from({ length: 1 + random.below(5) }, (_, value) => {
    const stored = Array.from({ length: random.below(30) }, (): Stored => {
      // A damaged key, too short to be one of a database.
      if (random.below(20) === 0) return { key: Uint8Array.from({ length: random.below(8) }, () => random.below(2)), value };
      const sequence = BigInt(1 + random.below(4)) << BigInt(8 * random.below(3));
      return { key: encodeInternalKey({ userKey: userKey(random), sequence, type: random.below(4) === 0 ? DELETION : VALUE }), value };
    });
    return stored.sort((a, b) => compare(order, a.key, b.key));
  });
}

function compare({ compareInternalKeys }: KeyOrder, a: Uint8Array, b: Uint8Array): number {
  return compareInternalKeys(a, 0, a.length, b, 0, b.length);
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const shown = ({ key, value }: Stored): string => `${hex(key)} of ${value}`;

function at({ entry: { keyBytes, keyStart, keyEnd, valueBytes, valueStart } }: EntryCursor): string {
  return shown({ key: keyBytes.slice(keyStart, keyEnd), value: valueBytes[valueStart]! });
}

/** What a walk gives, given the move that it begins with. */
function walk(cursor: EntryCursor, begin: (cursor: EntryCursor) => boolean, move: 'next' | 'prev'): string[] {
  const walked: string[] = [];
  for (begin(cursor); cursor.valid; cursor[move]()) walked.push(at(cursor));
  return walked;
}

/** Of each user key the newest version at or below a sequence, unless that is a deletion, found by comparing whole keys. */
function visibleOf(all: readonly Stored[], { compareUserKeys }: KeyOrder, sequence: bigint): string[] {
  const visible: string[] = [];
  let last: Uint8Array | undefined;
  for (const { key, value } of all) {
    if (key.length < 8) continue;
    const trailer = Buffer.from(key).readBigUInt64LE(key.length - 8);
    if (trailer >> 8n > sequence) continue;
    const user = key.subarray(0, key.length - 8);
    if (last !== undefined && compareUserKeys(user, 0, user.length, last, 0, last.length) <= 0) continue;
    last = user;
    if (Number(trailer & 0xffn) === VALUE) visible.push(shown({ key: user, value }));
  }
  return visible;
}

const SAYS: Record<string, (random: Random) => (common: number) => number> = {
  'all that they know': () => (common) => common,
  'some of it': (random) => (common) => random.below(common + 1),
  'nothing of it': () => () => 0,
};

/** Keys that start with the same odd byte are in reverse order, so a comparison that skips the first byte is wrong. */
const byFirstByte: Comparator = {
  ...reverseComparator,
  name: 'test.ByFirstByte',
  compare: (a, b) => (a[0] === b[0] && a[0]! % 2 === 1 ? -1 : 1) * bytewiseComparator.compare(a, b),
};

const COMPARATORS: Record<string, Comparator> = { 'bytewise order': bytewiseComparator, 'reverse order': reverseComparator, 'an order of its own': byFirstByte };

const CASES = Object.keys(COMPARATORS).flatMap((order) => Object.keys(SAYS).map((says) => [order, says] as const));

describe.each(CASES)('in %s, of sources that tell %s', (orderName, says) => {
  const order = keyOrderOf(COMPARATORS[orderName]!);
  const given = (seed: number): { readonly random: Random; readonly all: readonly Stored[]; readonly open: () => MergeCursor } => {
    const random = seeded(seed);
    const sources = sourcesOf(random, order);
    return {
      random,
      // Sorting is stable: of equal keys that of the newer source comes first.
      all: sources.flat().sort((a, b) => compare(order, a.key, b.key)),
      open: () =>
        new MergeCursor(
          sources.map((stored) => new ArrayEntries(stored, order, SAYS[says]!(random))),
          order.compareInternalKeys,
        ),
    };
  };

  test('a merge is the sorted entries of all its sources, from any place on', () => {
    for (let seed = 0; seed < 150; seed++) {
      const { random, all, open } = given(seed);
      const expected = all.map(shown);
      const merge = open();
      expect(walk(merge, (cursor) => cursor.seekToFirst(), 'next'), `seed ${seed}`).toEqual(expected);
      expect(walk(merge, (cursor) => cursor.seekToLast(), 'prev'), `seed ${seed}`).toEqual([...expected].reverse());
      for (let i = 0; i < 3; i++) {
        const target = encodeInternalKey({ userKey: userKey(random), sequence: BigInt(random.below(5)), type: VALUE });
        const from = all.filter(({ key }) => compare(order, key, target) >= 0);
        expect(walk(merge, (cursor) => cursor.seek(target, 'at-or-after'), 'next'), `seed ${seed}`).toEqual(from.map(shown));
      }
    }
  });

  test('of each user key the newest version at or below a sequence is visible', () => {
    for (let seed = 0; seed < 150; seed++) {
      const { all, open } = given(seed);
      for (const sequence of [2n, 600n, 2n ** 40n]) {
        const visible = new VisibleCursor(open(), order, sequence, new DamagePolicy(false));
        const seen: string[] = [];
        for (visible.seekToFirst(); visible.valid; visible.next()) {
          seen.push(shown({ key: visible.keyBytes.slice(0, visible.keyLength), value: visible.valueBytes[visible.valueStart]! }));
        }
        expect(seen, `seed ${seed}`).toEqual(visibleOf(all, order, sequence));
      }
    }
  });
});
