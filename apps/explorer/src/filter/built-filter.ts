import { bloomHash } from '@bloom/hash';
import {
  bloomFilterMayMatch,
  buildFilter,
  fillBloomFilter,
  filterByteLength,
  FittedBloomFilterPolicy,
  idealFalsePositiveRate,
  KeyBuffer,
  probesFor,
} from '@bloom/policy';
import {
  blockedBloomFilterMayMatch,
  fillBlockedBloomFilter,
  filterByteLength as blockedByteLength,
  probesFor as blockedProbesFor,
} from '@bloom/policy-blocked';
import { FilterBits, type KeyBits } from './filter-bits.js';
import type { PolicyName } from './filter-state.js';

const encoder = new TextEncoder();

export const POLICY_TITLES: Record<PolicyName, string> = { leveldb: 'LevelDB’s filter', fitted: 'LevelDB’s, fitted', blocked: 'One cache line per key' };

/** How a key is looked up or added, step by step. */
export interface Probing extends KeyBits {
  /** If a key is being added, probes show the bits from before. */
  readonly kind: 'asking' | 'adding';
  readonly key: string;
  readonly wasAdded: boolean;
}

/** The filter's answer for a key and whether it is right, or that the key was added. */
export type Verdict = 'no' | 'true positive' | 'false positive' | 'added';

export function verdictOf({ kind, firstZero, wasAdded }: Probing): Verdict {
  if (kind === 'adding') return 'added';
  if (firstZero !== undefined) return 'no';
  return wasAdded ? 'true positive' : 'false positive';
}

/** The number of probes that are needed: a lookup ends at the first 0, and adding a key uses all its bits. */
export function neededProbes({ kind, firstZero, probes }: Probing): number {
  return firstZero === undefined || kind === 'adding' ? probes.length : firstZero + 1;
}

/** The size of a filter. */
export interface FilterSize {
  readonly bitsPerKey: number;
  readonly expectedKeys: number;
  /** Undefined for the number that the policy uses for the bits per key. */
  readonly probes: number | undefined;
  /** Replaces the length that the policy would compute from the number of keys. */
  readonly byteLength?: number | undefined;
}

/**
 * Sizes of the same number of bytes for both policies: whole cache lines, and the resulting bits per key.
 */
export function equalSize({ bitsPerKey, expectedKeys, probes }: FilterSize): FilterSize {
  const byteLength = blockedByteLength(expectedKeys, bitsPerKey);
  return { bitsPerKey: Math.max(1, Math.floor(((byteLength - 1) * 8) / expectedKeys)), expectedKeys, probes, byteLength };
}

/** A filter of a chosen size, filled with keys. */
export class BuiltFilter extends FilterBits {
  readonly keys: readonly string[];
  readonly #added: ReadonlySet<string>;

  constructor(policy: PolicyName, size: FilterSize, keys: readonly string[]) {
    super(policy, filledBytes(policy, size, keys));
    this.keys = keys;
    this.#added = new Set(keys);
  }

  mayMatch(key: Uint8Array): boolean {
    return this.policy === 'blocked' ? blockedBloomFilterMayMatch(key, this.bytes) : bloomFilterMayMatch(bloomHash(key), this.bytes);
  }

  probingOf(key: string): Probing {
    return { kind: 'asking', key, ...this.bitsOf(encoder.encode(key)), wasAdded: this.#added.has(key) };
  }

  /** The addition of `key`, which this filter has, to `before`, the same filter without it. */
  additionOf(key: string, before: BuiltFilter): Probing {
    const asked = this.probingOf(key);
    const seen = new Set<number>();
    const probes = asked.probes.map((probe) => {
      const isSet = before.isSet(probe.bit) || seen.has(probe.bit);
      seen.add(probe.bit);
      return { ...probe, isSet };
    });
    const firstZero = probes.findIndex(({ isSet }) => !isSet);
    return { ...asked, kind: 'adding', probes, firstZero: firstZero < 0 ? undefined : firstZero };
  }

  /** The keys that set each of `bits`, found in one pass over all keys. */
  ownersOf(bits: Iterable<number>): ReadonlyMap<number, readonly string[]> {
    const owners = new Map<number, string[]>(Array.from(bits, (bit) => [bit, []]));
    for (const key of this.keys) {
      for (const bit of new Set(this.bitsOf(encoder.encode(key)).probes.map((probe) => probe.bit))) owners.get(bit)?.push(key);
    }
    return owners;
  }

  /** The false positive rate of an ideal filter of this size with these keys. */
  expectedRate(keys = this.keys.length): number {
    return keys === 0 ? 0 : idealFalsePositiveRate({ bitsPerKey: this.bits / keys, probes: this.probes, keys });
  }

  /** The measured false positive rate of this filter. */
  measuredRate(): MeasuredRate {
    return measuredRate((key) => this.mayMatch(key));
  }
}

function filledBytes(policy: PolicyName, { bitsPerKey, expectedKeys, byteLength, probes }: FilterSize, keys: readonly string[]): Uint8Array {
  const encoded = keys.map((key) => encoder.encode(key));
  // Without keys, a filter cannot be fitted.
  if (policy === 'fitted' && keys.length > 0) return buildFilter(new FittedBloomFilterPolicy(bitsPerKey), encoded);
  if (policy !== 'blocked') {
    const bytes = new Uint8Array(byteLength ?? filterByteLength(expectedKeys, bitsPerKey));
    fillBloomFilter(bytes, Uint32Array.from(encoded, bloomHash), probes ?? probesFor(bitsPerKey));
    return bytes;
  }
  const bytes = new Uint8Array(byteLength ?? blockedByteLength(expectedKeys, bitsPerKey));
  fillBlockedBloomFilter(bytes, KeyBuffer.from(encoded), probes ?? blockedProbesFor(bitsPerKey));
  return bytes;
}

const ABSENT_KEYS = 10_000;

export interface MeasuredRate {
  /** The number of absent keys with the answer maybe. */
  readonly passed: number;
  readonly asked: number;
}

/** Measures the rate with 10,000 keys that are certainly absent. */
export function measuredRate(mayMatch: (key: Uint8Array) => boolean): MeasuredRate {
  let passed = 0;
  for (const key of absentKeys()) if (mayMatch(key)) passed++;
  return { passed, asked: ABSENT_KEYS };
}

let absent: Uint8Array[] | undefined;

/** Keys that cannot be typed: their first byte never occurs in UTF-8. */
function absentKeys(): readonly Uint8Array[] {
  absent ??= Array.from({ length: ABSENT_KEYS }, (_, i) => {
    const key = new Uint8Array(9);
    key[0] = 0xff;
    new DataView(key.buffer).setFloat64(1, i);
    return key;
  });
  return absent;
}
