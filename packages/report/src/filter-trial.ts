/**
 * How often absent keys match a table's filters: measured, and in theory.
 */
import { joinedBytes, type Random, seeded } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy, type FilterSink, idealFalsePositiveRate, type KeyList, MAX_PROBES } from '@bloom/policy';
import { commonTail, neighboursOf } from '@bloom/policy/internal';
import { bytewiseComparator, type SyncTable } from '@bloom/sstable';
import { decodeInternalKey, encodeInternalKey, MAX_SEQUENCE, MAX_TYPE } from '@bloom/sstable/database';
import { KeySet } from './key-set.js';

/** The most absent keys to try. */
const MAX_TRIED = 20_000;
/** The most total bytes of the keys to try, and of the keys from which they are made: of long keys, there are fewer. */
const MAX_TRIED_BYTES = 64 * 2 ** 20;
/** Draws per key to try: some draws result in present keys. */
const DRAWS = 4;
const SEED = 0x626c6f6d;
/** Keys in a step. */
const STEP_KEYS = 1000;

/** A policy that remembers the filter that was used last. */
export class WatchedPolicy implements FilterPolicy {
  readonly #policy: FilterPolicy;
  readonly name: string;
  readonly keyEquivalence: string | undefined;
  /** Whether it is LevelDB's Bloom filter, of which a filter says how many probes it has. */
  readonly isBloom: boolean;
  asked: Uint8Array | undefined;

  constructor(policy: FilterPolicy = new BloomFilterPolicy()) {
    this.#policy = policy;
    this.name = policy.name;
    this.keyEquivalence = policy.keyEquivalence;
    this.isBloom = policy instanceof BloomFilterPolicy;
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    this.#policy.createFilter(keys, dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    this.asked = filter;
    return this.#policy.keyMayMatch(key, filter);
  }
}

/** The result of trying the filters. */
export interface FilterTrial {
  /** How many stored keys the table has. */
  readonly stored: number;
  /** Keys of the table that do not match its filters: 0 unless the filters were made from other keys. */
  readonly denied: number;
  /** Adjacent keys that are not in bytewise order: 0 unless the table has another order. */
  readonly inversions: number;
  /** Bits that a key sets in the first filter; undefined when there is no filter, or none of LevelDB's policy. */
  readonly probes: number | undefined;
  /** The fewest and the most probes of all filters: they differ in fitted filters. Undefined where `probes` is. */
  readonly probeRange: { readonly least: number; readonly most: number } | undefined;
  /** Undefined when it would be meaningless: without keys, with another order, or with filters of other keys or none. */
  readonly falsePositives: FalsePositives | undefined;
}

/** Absent keys of one kind. */
export interface AbsentKeys {
  /** How many were tried: all different, and none after the last key of the table. */
  readonly tried: number;
  /** How many of them matched a filter. */
  readonly passed: number;
}

/** Stored keys with a byte changed, or some appended. */
export interface FalsePositives extends AbsentKeys {
  /**
   * The rate at which absent keys would match filters of these sizes if all bits were drawn independently:
   * (1 - (1 - 1/m)^(k n))^k for a filter of m bits, n keys and k probes. Undefined for another policy than LevelDB's.
   */
  readonly expectedRate: number | undefined;
  /** The absent keys next to stored ones. Undefined when there is none, as in a table of all numbers up to some number. */
  readonly neighbours: (AbsentKeys & { readonly example: Uint8Array }) | undefined;
}

interface Filter {
  readonly bits: number;
  readonly probes: number;
  keys: number;
}

/** From which part of the stored keys filters are made. */
export interface FilteredKeys {
  /** The part of a stored key that goes into the filter. */
  readonly filtered: (key: Uint8Array) => Uint8Array;
  /** The key with which to look up that part: at or before all stored keys that have it. */
  readonly lookedUp: (filtered: Uint8Array) => Uint8Array;
}

/** For filters made from the keys as stored. */
export const plainKeys: FilteredKeys = { filtered: (key) => key, lookedUp: (key) => key };

/** For a database's filters, made from user keys. */
export const databaseKeys: FilteredKeys = {
  filtered: (key) => decodeInternalKey(key)?.userKey ?? key,
  lookedUp: (userKey) => encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: MAX_TYPE }),
};

/** How far a trial is: keys. */
export interface TrialProgress {
  readonly done: number;
  readonly total: number;
}

/** What is tried, and how. */
export interface FilterTrialSubject {
  readonly table: SyncTable;
  /** The one with which the table was opened. */
  readonly policy: WatchedPolicy;
  /** How many entries the table has. */
  readonly entries: number;
  readonly keys: FilteredKeys;
  /** Receives the absent neighbours that are tried, to try other filters of the same table with them. */
  readonly neighbours?: KeySet | undefined;
}

/** How many of the absent keys match the filters of a table: those that a trial has collected of a table with the same entries. */
export function countMatching(absent: KeySet, table: SyncTable, { lookedUp }: FilteredKeys): number {
  let passed = 0;
  for (const key of absent) if (table.mayContain(lookedUp(key))) passed++;
  return passed;
}

/** Tries the filters of a table with all its keys, and with absent keys. */
export function tryFilters(subject: FilterTrialSubject): FilterTrial {
  const steps = filterTrialSteps(subject);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same a few keys at a time, for a caller that does something in between. Yields how many keys it has looked at, out of about how many. */
export function* filterTrialSteps(subject: FilterTrialSubject): Generator<TrialProgress, FilterTrial, undefined> {
  const { table, policy, entries, keys } = subject;
  const total = entries + 2 * MAX_TRIED;
  let done = 0;
  const random = seeded(SEED);
  const filters = new Map<number, Filter>();
  const samples = new Samples(Math.max(1, Math.floor(entries / MAX_TRIED)));
  const cursor = table.cursor();
  let lastKey: Uint8Array | undefined;
  let lastFiltered: Uint8Array | undefined;
  let before: Uint8Array | undefined;
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
    if (isNew) before = lastFiltered;
    samples.add(filtered, before);
    lastFiltered = filtered;
    if (++done % STEP_KEYS === 0) yield { done, total };
  }
  const probes = policy.isBloom ? filters.values().next().value?.probes : undefined;
  const probeCounts = Array.from(filters.values(), (filter) => filter.probes);
  const probeRange = probes === undefined ? undefined : { least: probeCounts.reduce((a, b) => Math.min(a, b)), most: probeCounts.reduce((a, b) => Math.max(a, b)) };
  const isMeaningful = denied === 0 && inversions === 0 && filters.size > 0;
  const falsePositives = isMeaningful ? yield* measure(subject, samples.kept, filters, random) : undefined;
  return { stored: done, denied, inversions, probes, probeRange, falsePositives };
}

interface Sample {
  readonly key: Uint8Array;
  /** How many bytes at its end are the same in the key before it; undefined for the first key. */
  readonly tail: number | undefined;
}

/** Keeps a sample of a table's keys, from the whole table. */
class Samples {
  kept: Sample[] = [];
  #bytes = 0;
  /** One of this many keys is kept, at a random position: with a fixed step, all kept numbers could end with the same digit. */
  #stride: number;
  #position = 0;
  #chosen: number;
  readonly #random = seeded(SEED + 1);

  constructor(stride: number) {
    this.#stride = stride;
    this.#chosen = this.#random.below(stride);
  }

  /** @param before the last key that is another than `key`. */
  add(key: Uint8Array, before: Uint8Array | undefined): void {
    if (this.#position === this.#stride) {
      this.#position = 0;
      this.#chosen = this.#random.below(this.#stride);
    }
    if (this.#position++ !== this.#chosen) return;
    this.kept.push({ key, tail: before && commonTail(before, key) });
    this.#bytes += key.length;
    while (this.#bytes > MAX_TRIED_BYTES && this.kept.length > 1) {
      this.kept = this.kept.filter((_, i) => i % 2 === 0);
      this.#bytes = this.kept.reduce((bytes, { key: { length } }) => bytes + length, 0);
      this.#stride *= 2;
    }
  }
}

/** Asks a table's filters for keys that it does not have, each once. */
class Asking {
  passed = 0;
  /** The sum of the expected rates. */
  expected = 0;
  /** Bytes of all keys, whether absent or not. */
  bytes = 0;
  readonly #seen: KeySet;
  readonly #cursor: ReturnType<SyncTable['cursor']>;

  constructor(
    readonly subject: FilterTrialSubject,
    readonly filters: ReadonlyMap<number, Filter>,
    seen = new KeySet(),
  ) {
    this.#seen = seen;
    this.#cursor = subject.table.cursor();
  }

  get tried(): number {
    return this.#seen.size;
  }

  get isOver(): boolean {
    return this.tried >= MAX_TRIED || this.bytes >= MAX_TRIED_BYTES;
  }

  /** @returns whether the table does not have `filtered`, and a filter decides that. */
  ask(filtered: Uint8Array): boolean {
    const { table, policy, keys } = this.subject;
    this.bytes += filtered.length;
    const key = keys.lookedUp(filtered);
    // Past the last key, no filter is used.
    if (!this.#cursor.seek(key) || bytewiseComparator.compare(keys.filtered(this.#cursor.key), filtered) === 0) return false;
    if (!this.#seen.add(filtered)) return true;
    policy.asked = undefined;
    if (table.mayContain(key)) this.passed++;
    const filter = policy.asked as Uint8Array | undefined;
    this.expected += filter === undefined ? 1 : expectedRate(this.filters.get(filter.byteOffset));
    return true;
  }
}

function* measure(
  subject: FilterTrialSubject,
  samples: readonly Sample[],
  filters: ReadonlyMap<number, Filter>,
  random: Random,
): Generator<TrialProgress, FalsePositives | undefined, undefined> {
  const { entries } = subject;
  const total = entries + 2 * MAX_TRIED;
  const asking = new Asking(subject, filters);
  for (let draw = 0; draw < MAX_TRIED * DRAWS && !asking.isOver; draw++) {
    asking.ask(misspell(samples[draw % samples.length]!.key, random));
    if (draw % STEP_KEYS === 0) yield { done: entries + asking.tried, total };
  }
  const { tried, passed, expected } = asking;
  if (tried === 0) return undefined;
  const neighbours = new Asking(subject, filters, subject.neighbours);
  let example: Uint8Array | undefined;
  for (const [i, { key, tail }] of samples.entries()) {
    if (i % STEP_KEYS === 0) yield { done: entries + MAX_TRIED + neighbours.tried, total };
    if (tail === undefined && samples.length > 1) continue;
    // The nearest absent one.
    for (const neighbour of neighboursOf(key, tail ?? 0)) {
      if (neighbours.isOver) break;
      if (!neighbours.ask(neighbour)) continue;
      example ??= neighbour;
      break;
    }
  }
  return {
    tried,
    passed,
    expectedRate: subject.policy.isBloom ? expected / tried : undefined,
    neighbours: example === undefined ? undefined : { tried: neighbours.tried, passed: neighbours.passed, example },
  };
}

/** A key like `key`, with one byte changed or a few bytes appended. */
function misspell(key: Uint8Array, random: Random): Uint8Array {
  if (key.length > 0 && random.below(2) === 0) {
    const other = key.slice();
    const i = random.below(key.length);
    other[i] = key[i]! + 1 + random.below(255);
    return other;
  }
  return joinedBytes([key, random.bytes(1 + random.below(4))]);
}

/** @param isNew whether the key differs from the previous one: all versions of a key set the same bits. */
function countKey(filters: Map<number, Filter>, filter: Uint8Array, isNew: boolean): void {
  const known = filters.get(filter.byteOffset);
  if (known === undefined) {
    filters.set(filter.byteOffset, { bits: (filter.length - 1) * 8, probes: filter[filter.length - 1]!, keys: 1 });
  } else if (isNew) known.keys++;
}

/** @param filter undefined for a filter without keys of the table. */
function expectedRate(filter: Filter | undefined): number {
  // LevelDB takes a filter of less than two bytes for one without keys.
  if (filter === undefined || filter.bits === 0) return 0;
  const { bits, probes, keys } = filter;
  // These numbers of probes are reserved: the filter matches every key.
  if (probes === 0 || probes > MAX_PROBES) return 1;
  return idealFalsePositiveRate({ bitsPerKey: bits / keys, probes, keys });
}
