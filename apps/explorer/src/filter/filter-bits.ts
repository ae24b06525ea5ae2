import { bloomHash } from '@bloom/hash';
import { bloomProbes } from '@bloom/policy';
import { blockedBloomProbes } from '@bloom/policy-blocked';
import type { PolicyName } from './filter-state.js';

/** A probe of a key, and the bit that it found. */
export interface Probe {
  readonly hash: number;
  readonly bit: number;
  readonly isSet: boolean;
}

/** The bits of a key in a filter. */
export interface KeyBits {
  readonly hash: number;
  /** LevelDB's filter: the difference from one probe to the next. */
  readonly delta: number | undefined;
  /** The blocked filter: the cache line of all probes. */
  readonly line: number | undefined;
  readonly probes: readonly Probe[];
  /** The first probe that finds a 0; undefined if none does. */
  readonly firstZero: number | undefined;
}

/** The bits of a filter in its stored form: bits, then a byte with the number of probes. */
export class FilterBits {
  readonly policy: PolicyName;
  readonly bytes: Uint8Array;
  readonly probes: number;
  readonly setBits: number;

  constructor(policy: PolicyName, bytes: Uint8Array) {
    this.policy = policy;
    this.bytes = bytes;
    this.probes = bytes[bytes.length - 1] ?? 0;
    let setBits = 0;
    for (let i = 0; i < bytes.length - 1; i++) for (let byte = bytes[i]!; byte !== 0; byte &= byte - 1) setBits++;
    this.setBits = setBits;
  }

  /** The number of bits, without those of the last byte, which holds the number of probes. */
  get bits(): number {
    return (this.bytes.length - 1) * 8;
  }

  isSet(bit: number): boolean {
    return ((this.bytes[bit >> 3]! >> (bit & 7)) & 1) === 1;
  }

  bitsOf(key: Uint8Array): KeyBits {
    let bits: { hash: number; delta: number | undefined; line: number | undefined; probes: readonly { hash: number; bit: number }[] };
    if (this.policy !== 'blocked') {
      const hash = bloomHash(key);
      bits = { hash, line: undefined, ...bloomProbes(hash, this.bytes.length, this.probes) };
    } else {
      const { lineHash, line, probes } = blockedBloomProbes(key, this.bytes.length, this.probes);
      bits = { hash: lineHash, delta: undefined, line, probes };
    }
    const probes = bits.probes.map((probe) => ({ ...probe, isSet: this.isSet(probe.bit) }));
    const firstZero = probes.findIndex(({ isSet }) => !isSet);
    return { ...bits, probes, firstZero: firstZero < 0 ? undefined : firstZero };
  }
}
