import { bloomHash } from '@bloom/hash';
import {
  bloomFilterMayMatch,
  bloomProbes,
  fillBloomFilter,
  filterByteLength,
  idealFalsePositiveRate,
  KeyBuffer,
  probesFor,
} from '@bloom/policy';
import {
  blockedBloomFilterMayMatch,
  blockedBloomProbes,
  fillBlockedBloomFilter,
  filterByteLength as blockedByteLength,
  probesFor as blockedProbesFor,
} from '@bloom/policy-blocked';
import type { PolicyName } from './filter-state.js';

const encoder = new TextEncoder();

export const POLICY_TITLES: Record<PolicyName, string> = { leveldb: 'LevelDB’s filter', blocked: 'One cache line per key' };

/** A probe of a key, with what it found. */
export interface Probe {
  readonly hash: number;
  readonly bit: number;
  readonly isSet: boolean;
}

/** How a key is looked up, step by step. */
export interface Probing {
  readonly key: string;
  /** The hash that starts it all. */
  readonly hash: number;
  /** LevelDB's: what is added from one probe to the next. */
  readonly delta: number | undefined;
  /** The blocked filter's: the line that all probes fall into. */
  readonly line: number | undefined;
  readonly probes: readonly Probe[];
  /** The first probe that meets a zero, or undefined when none does. */
  readonly firstZero: number | undefined;
  readonly wasAdded: boolean;
}

/** What the filter says of a key, and whether that is so. */
export type Verdict = 'no' | 'true positive' | 'false positive';

export function verdictOf({ firstZero, wasAdded }: Probing): Verdict {
  if (firstZero !== undefined) return 'no';
  return wasAdded ? 'true positive' : 'false positive';
}

/** A lookup ends at the first 0. */
export function neededProbes({ firstZero, probes }: Probing): number {
  return firstZero === undefined ? probes.length : firstZero + 1;
}

/** A filter of a size that was chosen, filled with keys. */
export class BuiltFilter {
  readonly policy: PolicyName;
  readonly bytes: Uint8Array;
  readonly probes: number;
  readonly keys: readonly string[];
  readonly setBits: number;
  readonly #added: ReadonlySet<string>;

  constructor(policy: PolicyName, size: { bitsPerKey: number; expectedKeys: number; probes: number | undefined }, keys: readonly string[]) {
    const { bitsPerKey, expectedKeys } = size;
    this.policy = policy;
    this.keys = keys;
    this.#added = new Set(keys);
    const encoded = keys.map((key) => encoder.encode(key));
    if (policy === 'leveldb') {
      this.probes = size.probes ?? probesFor(bitsPerKey);
      this.bytes = new Uint8Array(filterByteLength(expectedKeys, bitsPerKey));
      fillBloomFilter(this.bytes, Uint32Array.from(encoded, bloomHash), this.probes);
    } else {
      this.probes = size.probes ?? blockedProbesFor(bitsPerKey);
      this.bytes = new Uint8Array(blockedByteLength(expectedKeys, bitsPerKey));
      fillBlockedBloomFilter(this.bytes, KeyBuffer.from(encoded), this.probes);
    }
    let setBits = 0;
    for (let i = 0; i < this.bytes.length - 1; i++) for (let byte = this.bytes[i]!; byte !== 0; byte &= byte - 1) setBits++;
    this.setBits = setBits;
  }

  /** How many bits there are to set: those of the last byte, which holds the number of probes, are not among them. */
  get bits(): number {
    return (this.bytes.length - 1) * 8;
  }

  isSet(bit: number): boolean {
    return ((this.bytes[bit >> 3]! >> (bit & 7)) & 1) === 1;
  }

  mayMatch(key: Uint8Array): boolean {
    return this.policy === 'leveldb' ? bloomFilterMayMatch(bloomHash(key), this.bytes) : blockedBloomFilterMayMatch(key, this.bytes);
  }

  probingOf(key: string): Probing {
    const bytes = encoder.encode(key);
    const { hash, delta, line, probes } = this.#bitsOf(bytes);
    const found = probes.map((probe) => ({ ...probe, isSet: this.isSet(probe.bit) }));
    const firstZero = found.findIndex(({ isSet }) => !isSet);
    return { key, hash, delta, line, probes: found, firstZero: firstZero < 0 ? undefined : firstZero, wasAdded: this.#added.has(key) };
  }

  /** The keys that set each of `bits`, in one pass over all keys. */
  ownersOf(bits: Iterable<number>): ReadonlyMap<number, readonly string[]> {
    const owners = new Map<number, string[]>(Array.from(bits, (bit) => [bit, []]));
    for (const key of this.keys) {
      for (const bit of new Set(this.#bitsOf(encoder.encode(key)).probes.map((probe) => probe.bit))) owners.get(bit)?.push(key);
    }
    return owners;
  }

  /** The part of absent keys that an ideal filter of this size with these keys lets pass. */
  expectedRate(keys = this.keys.length): number {
    return keys === 0 ? 0 : idealFalsePositiveRate({ bitsPerKey: this.bits / keys, probes: this.probes, keys });
  }

  /** The part of keys that are certainly absent which this very filter lets pass. */
  measuredRate(): { readonly passed: number; readonly asked: number } {
    let passed = 0;
    for (const key of absentKeys()) if (this.mayMatch(key)) passed++;
    return { passed, asked: ABSENT_KEYS };
  }

  #bitsOf(key: Uint8Array): { hash: number; delta: number | undefined; line: number | undefined; probes: readonly { hash: number; bit: number }[] } {
    if (this.policy === 'leveldb') {
      const hash = bloomHash(key);
      return { hash, line: undefined, ...bloomProbes(hash, this.bytes.length, this.probes) };
    }
    const { lineHash, line, probes } = blockedBloomProbes(key, this.bytes.length, this.probes);
    return { hash: lineHash, delta: undefined, line, probes };
  }
}

const ABSENT_KEYS = 10_000;
let absent: Uint8Array[] | undefined;

/** Keys that nobody can type: they begin with a byte that is in no UTF-8. */
function absentKeys(): readonly Uint8Array[] {
  absent ??= Array.from({ length: ABSENT_KEYS }, (_, i) => {
    const key = new Uint8Array(9);
    key[0] = 0xff;
    new DataView(key.buffer).setFloat64(1, i);
    return key;
  });
  return absent;
}
