import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { BloomFilterPolicy, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { CorruptionError, MemorySource, type Source, type TableStats } from '@bloom/sstable';
import { type RefilteredTable, refilterTable } from '@bloom/sstable/inspect';
import { internalKeyPolicy } from '@bloom/sstable/database';
import { allCodecs } from '@bloom/codecs';
import { clipped } from '../table/clipped.js';
import type { Work } from '../worker/calls.js';
import { breather } from '../worker/serve-calls.js';
import { absentKeys, absentNeighbours, PORTION } from './absent-keys.js';
import type { AbsentKind, FilterChoice, TrialStart, TriedFilters } from './trial-facts.js';

/** Tables up to this total size are kept in memory for further trials. */
const MOST_KEPT_BYTES = 64 * 2 ** 20;

/** A table or database that is read with certain filters. */
export interface Reading {
  /** Whether it has the key; undefined if damage may hide it. */
  has(key: Uint8Array): Promise<boolean | undefined>;
  stats(): TableStats;
  keys(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** A table or database that can be read with other filters. */
export interface TrialSubject {
  /** Whether keys are internal keys. Filters are made from their user keys. */
  readonly hasVersions: boolean;
  readonly isIndexedDb: boolean;
  /** The tables by name. */
  readonly tables: ReadonlyMap<string, Source>;
  /** The bytes of the filter blocks that it has. */
  storedFilters(signal: AbortSignal): Promise<{ readonly filterBytes: number; readonly filters: number }>;
  /** Reads it with `tables` instead of its own. @param policy the policy for user keys; undefined for the stored filters. */
  open(tables: ReadonlyMap<string, RefilteredTable> | undefined, policy: FilterPolicy | undefined, signal: AbortSignal): Promise<Reading>;
}

/** Builds filters of all keys of a table or database, and looks keys up with them. */
export class FilterTrials {
  readonly #subject: TrialSubject;
  #tables: ReadonlyMap<string, Source> | undefined;
  #keys: readonly Uint8Array[] = [];
  readonly #damaged = new Set<string>();

  constructor(subject: TrialSubject) {
    this.#subject = subject;
  }

  /** @param asked the user's own keys, or the kind of up to 10,000 absent keys. @param seed a different seed gives different keys. */
  async start(work: Work, asked: readonly Uint8Array[] | AbsentKind, seed: number): Promise<TrialStart> {
    const { signal } = work;
    const reading = await this.#subject.open(undefined, undefined, signal);
    let stored: TriedFilters;
    let present = 0;
    try {
      if (asked === 'random') this.#keys = await absentKeys(reading.keys(), (key) => reading.has(key), seed, signal);
      else if (asked === 'neighbours') this.#keys = await absentNeighbours(reading.keys(), (key) => reading.has(key), seed, signal);
      else {
        const absent: Uint8Array[] = [];
        const breathe = breather();
        for (const [i, key] of asked.entries()) {
          if ((await reading.has(key)) === true) present++;
          else absent.push(key);
          if (i % PORTION === 0) await breathe();
        }
        this.#keys = absent;
      }
      const without = await this.#try(work, { policy: 'none', bitsPerKey: 0, filterRange: 2048 });
      const filters = await this.#subject.storedFilters(signal);
      stored = { ...filters, entries: without.entries, ...(await this.#lookups(reading, work)) };
      const { filterBytes } = filters;
      const bytes = [...this.#subject.tables.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
      return {
        keys: { count: this.#keys.length, present, example: this.#keys[0] && clipped(this.#keys[0], 200) },
        stored,
        without,
        otherBytes: bytes - filterBytes,
        damagedTables: [...this.#damaged],
      };
    } finally {
      await reading.close();
    }
  }

  /** Builds filters, and looks up the keys from `start`. */
  try(work: Work, choice: FilterChoice): Promise<TriedFilters> {
    return this.#try(work, choice);
  }

  async #try(work: Work, choice: FilterChoice): Promise<TriedFilters> {
    const { signal } = work;
    const { isIndexedDb, hasVersions } = this.#subject;
    const policy = policyOf(choice, isIndexedDb);
    const stored = policy && hasVersions ? internalKeyPolicy(policy) : policy;
    this.#tables ??= await kept(this.#subject.tables, signal);
    const refiltered = new Map<string, RefilteredTable>();
    let filterBytes = 0;
    let filters = 0;
    let entries = 0;
    for (const [name, source] of this.#tables) {
      work.progress(refiltered.size, this.#tables.size * 2);
      try {
        const table = await refilterTable(source, { filterPolicy: stored ?? null, filterRange: choice.filterRange, codecs: allCodecs, signal });
        refiltered.set(name, table);
        filterBytes += table.filterBytes;
        filters += table.filters;
        entries += table.entries;
      } catch (error) {
        if (!(error instanceof CorruptionError)) throw error;
        this.#damaged.add(name);
      }
    }
    const reading = await this.#subject.open(refiltered, policy, signal);
    try {
      return { filterBytes, filters, entries, ...(await this.#lookups(reading, work)) };
    } finally {
      await reading.close();
    }
  }

  async #lookups(reading: Reading, work: Work): Promise<Pick<TriedFilters, 'reads' | 'asked' | 'wrong' | 'failures'>> {
    const keys = this.#keys;
    const before = reading.stats();
    let failures = 0;
    const breathe = breather();
    for (const [i, key] of keys.entries()) {
      if ((await reading.has(key)) === undefined) failures++;
      if (i % PORTION === 0) {
        work.signal.throwIfAborted();
        work.progress(keys.length + i, keys.length * 2);
        await breathe();
      }
    }
    const after = reading.stats();
    const wrong = after.filterFalsePositives - before.filterFalsePositives;
    return {
      reads: after.blockReads + after.cacheHits - before.blockReads - before.cacheHits,
      asked: after.filterNegatives - before.filterNegatives + wrong,
      wrong,
      failures,
    };
  }
}

/** Tables in memory, if they are small enough in total, because each trial reads all of them. */
async function kept(tables: ReadonlyMap<string, Source>, signal: AbortSignal): Promise<ReadonlyMap<string, Source>> {
  const bytes = [...tables.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (bytes > MOST_KEPT_BYTES) return tables;
  const sources = new Map<string, Source>();
  for (const [name, source] of tables) sources.set(name, new MemorySource(await source.read(0, source.byteLength, signal), source.name));
  return sources;
}

function policyOf({ policy, bitsPerKey }: FilterChoice, isIndexedDb: boolean): FilterPolicy | undefined {
  if (policy === 'none') return undefined;
  const made = policy === 'leveldb' ? new BloomFilterPolicy(bitsPerKey) : policy === 'fitted' ? new FittedBloomFilterPolicy(bitsPerKey) : new BlockedBloomFilterPolicy(bitsPerKey);
  return isIndexedDb ? forIndexedDb(made) : made;
}

/** A filter that matches no key, except those that IndexedDB's policy lets pass with any filter. */
const NO_BITS = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 6);

/** A policy for keys with several encodings. Such keys match any filter. */
function forIndexedDb(policy: FilterPolicy): FilterPolicy {
  return {
    name: policy.name,
    keyEquivalence: idbComparator.keyEquivalence,
    createFilter: (keys, dst) => policy.createFilter(keys, dst),
    keyMayMatch: (key, filter) => policy.keyMayMatch(key, filter) || idbFilterPolicy.keyMayMatch(key, NO_BITS),
  };
}
