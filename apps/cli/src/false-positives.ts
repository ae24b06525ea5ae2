/**
 * How often a table's filters let absent keys pass: measured, and as theory has it.
 */
import { createHash } from 'node:crypto';
import { BloomFilterPolicy, type FilterPolicy, type FilterSink, type KeyList } from '@bloom/policy';
import { bytewiseComparator, type SyncTable } from '@bloom/sstable';
import { decodeInternalKey, encodeInternalKey, MAX_SEQUENCE } from '@bloom/sstable/database';

/** The most absent keys that are tried. */
const MAX_TRIED = 20_000;
/** The most bytes that the keys drawn may have together, and those that they are made of: long keys are fewer. */
const MAX_TRIED_BYTES = 64 * 2 ** 20;
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

/** What filters are made of, for a kind of keys. */
export interface FilteredKeys {
  /** The part of a stored key that filters are made of. */
  readonly filtered: (key: Uint8Array) => Uint8Array;
  /** The key to look up for that part: it comes before all stored keys that have it, or is the only one. */
  readonly lookedUp: (filtered: Uint8Array) => Uint8Array;
}

/** Filters are made of the keys as they are stored. */
export const plainKeys: FilteredKeys = { filtered: (key) => key, lookedUp: (key) => key };

/** A database's filters are made of user keys. */
export const databaseKeys: FilteredKeys = {
  filtered: (key) => decodeInternalKey(key)?.userKey ?? key,
  lookedUp: (userKey) => encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: 0xff }),
};

/**
 * Tries the filters of a table on all its keys, and on keys that it has not.
 *
 * @param policy that which the table was opened with.
 * @param entries how many the table has.
 */
export function tryFilters(
  table: SyncTable,
  policy: WatchedBloomPolicy,
  entries: number,
  keys: FilteredKeys,
): FilterTrial {
  const random = splitmix32(SEED);
  const filters = new Map<number, Filter>();
  const samples = new Samples(Math.max(1, Math.floor(entries / MAX_TRIED)));
  const cursor = table.cursor();
  let lastKey: Uint8Array | undefined;
  let lastFiltered: Uint8Array | undefined;
  let denied = 0;
  let inversions = 0;
  for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
    const key = cursor.key.slice();
    if (lastKey !== undefined && table.compare(lastKey, key) >= 0) inversions++;
    lastKey = key;
    policy.asked = undefined;
    if (!table.mayContain(key)) denied++;
    const filtered = keys.filtered(key);
    const filter = policy.asked as Uint8Array | undefined;
    const isNew = lastFiltered === undefined || bytewiseComparator.compare(lastFiltered, filtered) !== 0;
    if (filter !== undefined) countKey(filters, filter, isNew);
    lastFiltered = filtered;
    samples.add(filtered);
  }
  const probes = filters.values().next().value?.probes;
  const isMeaningful = denied === 0 && inversions === 0 && filters.size > 0;
  const falsePositives = isMeaningful ? measure(table, policy, samples.kept, filters, random, keys) : undefined;
  return { denied, inversions, probes, falsePositives };
}

/** Some of a table's keys, from all of it. */
class Samples {
  kept: Uint8Array[] = [];
  #bytes = 0;
  #stride: number;
  #position = 0;

  constructor(stride: number) {
    this.#stride = stride;
  }

  add(key: Uint8Array): void {
    if (this.#position++ % this.#stride !== 0) return;
    this.kept.push(key);
    this.#bytes += key.length;
    while (this.#bytes > MAX_TRIED_BYTES && this.kept.length > 1) {
      this.kept = this.kept.filter((_, i) => i % 2 === 0);
      this.#bytes = this.kept.reduce((bytes, { length }) => bytes + length, 0);
      this.#stride *= 2;
    }
  }
}

function measure(
  table: SyncTable,
  policy: WatchedBloomPolicy,
  samples: readonly Uint8Array[],
  filters: ReadonlyMap<number, Filter>,
  random: () => number,
  keys: FilteredKeys,
): FalsePositives | undefined {
  const cursor = table.cursor();
  const seen = new Set<string>();
  let passed = 0;
  let expected = 0;
  let bytes = 0;
  for (let draw = 0; draw < MAX_TRIED * DRAWS && seen.size < MAX_TRIED && bytes < MAX_TRIED_BYTES; draw++) {
    const filtered = misspell(samples[draw % samples.length]!, random);
    bytes += filtered.length;
    const key = keys.lookedUp(filtered);
    // Past the last key no filter is asked.
    if (!cursor.seek(key) || bytewiseComparator.compare(keys.filtered(cursor.key), filtered) === 0) continue;
    const text = identityOf(filtered);
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

/** Keys of more bytes are told apart by a hash. */
const MAX_IDENTITY_BYTES = 256;

/** A short text that no other key has. V8 takes the length for the hash of strings of 16 KiB and more: sets of them are slow. */
function identityOf(key: Uint8Array): string {
  if (key.length > MAX_IDENTITY_BYTES) return createHash('sha256').update(key).digest('base64');
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
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

/** @param isNew whether it is another key than the one before it: versions of a key set its bits once. */
function countKey(filters: Map<number, Filter>, filter: Uint8Array, isNew: boolean): void {
  const known = filters.get(filter.byteOffset);
  if (known === undefined) {
    filters.set(filter.byteOffset, { bits: (filter.length - 1) * 8, probes: filter[filter.length - 1]!, keys: 1 });
  } else if (isNew) known.keys++;
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
