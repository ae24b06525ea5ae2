/** Lookups in a table whose order ignores trailing spaces, with a policy that does not ignore them and with one that does. */
import { trailingSpaceComparator, TrailingSpacePolicy } from '@bloom/example-trailing-space-policy';
import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, bloomProbes, buildFilter, type FilterPolicy, type FilterSink, type KeyList } from '@bloom/policy';
import { MemorySink, TableBuilder } from '@bloom/sstable';
import { FEW_BITS } from './story-state.js';

/** LevelDB's policy, which records the keys that it receives from the policy around it. */
class WatchedPolicy implements FilterPolicy {
  /** A key has three bits, as in the previous steps. With the usual six, the picture would be full of lines. */
  readonly #policy = new BloomFilterPolicy(FEW_BITS);
  readonly name = this.#policy.name;
  seen: readonly Uint8Array[] = [];

  createFilter(keys: KeyList, dst: FilterSink): void {
    this.seen = Array.from(keys, (key) => key.slice());
    this.#policy.createFilter(keys, dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    this.seen = [key.slice()];
    return this.#policy.keyMayMatch(key, filter);
  }
}

export interface EqualKeys {
  /** Whether the table treats the keys as equal. */
  readonly isSameKey: boolean;
  /** The answer of the filter. */
  readonly mayMatch: boolean;
  readonly bits: number;
  readonly storedBits: readonly number[];
  readonly askedBits: readonly number[];
}

/** @param ignoresSpaces whether the policy treats keys as the order does. */
export function askAnotherForm(stored: string, asked: string, ignoresSpaces: boolean): EqualKeys {
  const encoder = new TextEncoder();
  const [storedKey, askedKey] = [encoder.encode(stored), encoder.encode(asked)];
  const watched = new WatchedPolicy();
  const policy: FilterPolicy = ignoresSpaces ? new TrailingSpacePolicy(watched) : watched;
  const filter = buildFilter(policy, [storedKey]);
  const bitsOf = (key: Uint8Array): number[] => [...new Set(bloomProbes(bloomHash(key), filter.length, filter.at(-1)!).probes.map(({ bit }) => bit))];
  const storedBits = bitsOf(watched.seen[0]!);
  const mayMatch = policy.keyMayMatch(askedKey, filter);
  return { isSameKey: trailingSpaceComparator.compare(storedKey, askedKey) === 0, mayMatch, bits: (filter.length - 1) * 8, storedBits, askedBits: bitsOf(watched.seen[0]!) };
}

/** The builder's error for such a table with the wrong policy. */
export function refusal(): string {
  try {
    new TableBuilder(new MemorySink(), { comparator: trailingSpaceComparator, filterPolicy: new BloomFilterPolicy() });
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
  throw new TypeError('the builder has taken a policy that does not fit the order');
}
