/**
 * How often a table's filters let absent keys pass: measured, and as theory has it.
 */
import { BloomFilterPolicy, type FilterPolicy, type FilterSink, type KeyList } from '@bloom/policy';
import { bytewiseComparator, type SyncTable } from '@bloom/sstable';

/** The most absent keys that are tried. */
const MAX_TRIED = 20_000;
/** Draws for every key that is to be tried: some come out as keys that are there. */
const DRAWS = 4;
const SEED = 0x626c6f6d;

/** LevelDB's Bloom filter, which keeps the filter that was asked last. */
export class WatchedBloomPolicy implements FilterPolicy {
  readonly #policy = new BloomFilterPolicy();
  readonly name = this.#policy.name;
  asked: Uint8Array | undefined;

  createFilter(keys: KeyList, dst: FilterSink): void {
    this.#policy.createFilter(keys, dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    this.asked = filter;
    return this.#policy.keyMayMatch(key, filter);
  }
}

/** What became of trying the filters. */
export interface FilterTrial {
  /** Keys of the table that its filters say no to: 0 unless they were made over other keys. */
  readonly denied: number;
  /** Neighbours whose keys do not ascend by their bytes: 0 unless the table has an order of its own. */
  readonly inversions: number;
  /** Bits that a key sets: those of the first filter; undefined when there is none. */
  readonly probes: number | undefined;
  /** Undefined when it would mean nothing: no keys, an order of its own, filters over other keys. */
  readonly falsePositives: FalsePositives | undefined;
}

export interface FalsePositives {
  /** Absent keys that were tried, all different, each at a place among the keys of the table. */
  readonly tried: number;
  /** Those that a filter let pass. */
  readonly passed: number;
  /**
   * The rate at which filters of these sizes, over so many keys, let absent keys pass if all bits were drawn
   * independently: (1 - (1 - 1/m)^(k n))^k for a filter of m bits, n keys and k probes.
   */
  readonly expectedRate: number;
}

interface Filter {
  readonly bits: number;
  readonly probes: number;
  keys: number;
}

/**
 * Tries the filters of a table on all its keys, and on keys that it has not.
 *
 * @param policy that which the table was opened with.
 * @param entries how many the table has.
 */
export function tryFilters(table: SyncTable, policy: WatchedBloomPolicy, entries: number): FilterTrial {
  const random = splitmix32(SEED);
  const filters = new Map<number, Filter>();
  const stride = Math.max(1, Math.floor(entries / MAX_TRIED));
  const samples: Uint8Array[] = [];
  const cursor = table.cursor();
  let lastKey = new Uint8Array(0);
  let denied = 0;
  let inversions = 0;
  let position = 0;
  for (let more = cursor.seekToFirst(); more; more = cursor.next(), position++) {
    const { key } = cursor;
    if (position > 0 && bytewiseComparator.compare(lastKey, key) >= 0) inversions++;
    lastKey = key.slice();
    policy.asked = undefined;
    if (!table.mayContain(key)) denied++;
    const filter = policy.asked as Uint8Array | undefined;
    if (filter !== undefined) countKey(filters, filter);
    if (position % stride === 0) samples.push(lastKey);
  }
  const probes = filters.values().next().value?.probes;
  const isMeaningful = denied === 0 && inversions === 0 && filters.size > 0;
  const falsePositives = isMeaningful ? measure(table, policy, samples, filters, random) : undefined;
  return { denied, inversions, probes, falsePositives };
}

function measure(
  table: SyncTable,
  policy: WatchedBloomPolicy,
  samples: readonly Uint8Array[],
  filters: ReadonlyMap<number, Filter>,
  random: () => number,
): FalsePositives | undefined {
  const cursor = table.cursor();
  const seen = new Set<string>();
  let passed = 0;
  let expected = 0;
  for (let draw = 0; draw < MAX_TRIED * DRAWS && seen.size < MAX_TRIED; draw++) {
    const key = misspell(samples[draw % samples.length]!, random);
    // Past the last key no filter is asked.
    if (!cursor.seek(key) || bytewiseComparator.compare(cursor.key, key) === 0) continue;
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
    if (seen.has(text)) continue;
    seen.add(text);
    policy.asked = undefined;
    if (table.mayContain(key)) passed++;
    const filter = policy.asked as Uint8Array | undefined;
    expected += filter === undefined ? 1 : expectedRate(filters.get(filter.byteOffset));
  }
  const tried = seen.size;
  return tried === 0 ? undefined : { tried, passed, expectedRate: expected / tried };
}

/** A key like `key`, with another byte at one place or a few bytes more. */
function misspell(key: Uint8Array, random: () => number): Uint8Array {
  if (key.length > 0 && random() % 2 === 0) {
    const other = key.slice();
    const i = random() % key.length;
    other[i] = key[i]! + 1 + (random() % 255);
    return other;
  }
  const other = new Uint8Array(key.length + 1 + (random() % 4));
  other.set(key);
  for (let i = key.length; i < other.length; i++) other[i] = random();
  return other;
}

function countKey(filters: Map<number, Filter>, filter: Uint8Array): void {
  const known = filters.get(filter.byteOffset);
  if (known === undefined) {
    filters.set(filter.byteOffset, { bits: (filter.length - 1) * 8, probes: filter[filter.length - 1]!, keys: 1 });
  } else known.keys++;
}

/** @param filter undefined for one that no key of the table is in. */
function expectedRate(filter: Filter | undefined): number {
  if (filter === undefined) return 0;
  const { bits, probes, keys } = filter;
  return (1 - (1 - 1 / bits) ** (probes * keys)) ** probes;
}

/** Numbers from 0 to 2^32 - 1 that look random, and are the same in every run. */
function splitmix32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
}
