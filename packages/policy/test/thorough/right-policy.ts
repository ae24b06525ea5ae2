import { triedOf } from '@bloom/fixtures/hash-filter-suite';
import {
  bloomFilterMayMatch,
  type FilterPolicy,
  type FilterSink,
  KeyBuffer,
  type KeyList,
} from '@bloom/policy';
import { policyLaws, type PolicyLaw, PolicyLawError, type PolicyLawsOptions } from '@bloom/policy/contract';
import { bloomHash } from '@bloom/hash';
import { describe, expect, test } from 'vitest';
import { encodeBloomFilter } from '../../src/bloom-filter.js';

/** A correct policy with its own name. Each mutant breaks it in one place. */
export class Right implements FilterPolicy {
  readonly name: string = 'test.Right';
  readonly keyEquivalence: string | undefined = undefined;

  createFilter(keys: KeyList, dst: FilterSink): void {
    encodeBloomFilter(keys, 10, dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return bloomFilterMayMatch(bloomHash(key), filter);
  }
}

/** A correct policy whose filter lists all keys, each after its length in four bytes. It has no false positives. */
export class RightList implements FilterPolicy {
  readonly name: string = 'test.RightList';

  createFilter(keys: KeyList, dst: FilterSink): void {
    const { length, bytes, offsets } = keys;
    const filter = dst.extend(4 * length + (offsets[length]! - offsets[0]!));
    const view = viewOf(filter);
    for (let i = 0, at = 0; i < length; i++) {
      const key = bytes.subarray(offsets[i], offsets[i + 1]);
      view.setUint32(at, key.length);
      filter.set(key, at + 4);
      at += 4 + key.length;
    }
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    const view = viewOf(filter);
    let at = 0;
    while (at + 4 <= filter.length) {
      const length = view.getUint32(at);
      if (at + 4 + length > filter.length) return true;
      // The first byte is compared beforehand, because most keys differ there and an array for each takes time.
      if (length === key.length && (length === 0 || filter[at + 4] === key[0]) && Buffer.compare(key, filter.subarray(at + 4, at + 4 + length)) === 0) return true;
      at += 4 + length;
    }
    return at !== filter.length;
  }
}

function stripSpaces(key: Uint8Array): Uint8Array {
  let end = key.length;
  while (end > 0 && key[end - 1] === 0x20) end--;
  return key.subarray(0, end);
}

export const spacesIgnored = {
  name: 'test.SpacesIgnored',
  keyEquivalence: 'trailing-spaces',
  compare: (a: Uint8Array, b: Uint8Array) => Buffer.compare(stripSpaces(a), stripSpaces(b)),
};

export class RightForSpaces extends Right {
  override readonly name: string = 'test.RightForSpaces';
  override readonly keyEquivalence: string | undefined = 'trailing-spaces';

  override createFilter(keys: KeyList, dst: FilterSink): void {
    super.createFilter(KeyBuffer.from(Array.from(keys, stripSpaces)), dst);
  }

  override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return super.keyMayMatch(stripSpaces(key), filter);
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

export function setBit(filter: Uint8Array, bit: number): void {
  filter[bit >> 3]! |= 1 << (bit & 7);
}

/** The Bloom hash as RocksDB computes it: the last bytes are sign-extended. */
export function signedTailHash(key: Uint8Array): number {
  const m = 0xc6a4a793;
  let h = 0xbc9f1d34 ^ Math.imul(key.length, m);
  const view = viewOf(key);
  const words = Math.floor(key.length / 4);
  for (let i = 0; i < words; i++) {
    h = Math.imul((h + view.getUint32(i * 4, true)) | 0, m);
    h ^= h >>> 16;
  }
  const rest = key.length % 4;
  if (rest === 3) h += view.getInt8(words * 4 + 2) << 16;
  if (rest >= 2) h += view.getInt8(words * 4 + 1) << 8;
  if (rest >= 1) {
    h = Math.imul((h + view.getInt8(words * 4)) | 0, m);
    h ^= h >>> 24;
  }
  return h >>> 0;
}

/** A correct filter, in an array of its own. */
export function bloomOf(keys: KeyList): Uint8Array {
  let filter = new Uint8Array(0);
  encodeBloomFilter(keys, 10, { extend: (byteLength) => (filter = new Uint8Array(byteLength)) });
  return filter;
}

/** The laws that the policy breaks, by number. Tries only law `number`, if given. */
export function lawsBrokenBy(
  makePolicy: () => FilterPolicy,
  options?: PolicyLawsOptions,
  number?: string,
): Map<string, PolicyLawError> {
  const broken = new Map<string, PolicyLawError>();
  for (const law of policyLaws(makePolicy, options)) {
    const [itsNumber = ''] = law.name.split('.');
    const error = number === undefined || number === itsNumber ? errorOf(law) : undefined;
    if (error !== undefined) broken.set(itsNumber, error);
  }
  return broken;
}

function errorOf(law: PolicyLaw): PolicyLawError | undefined {
  try {
    law.run();
    return undefined;
  } catch (error) {
    if (error instanceof PolicyLawError) return error;
    throw error;
  }
}

/** A policy that is wrong in one place. */
export interface Mutant {
  readonly fault: string;
  /** The number of the law that names the fault. */
  readonly law: string;
  /** What the message must match. */
  readonly says: RegExp;
  /** Returns a maker of policies. State that policies share is shared only between those of one maker. */
  readonly make: () => () => FilterPolicy;
  readonly options?: PolicyLawsOptions;
}

/** Milliseconds of processor time that finding the fault may take: a law's budget, and its last step. */
const MOST_MS = 14_000;

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export function testMutants(mutants: readonly Mutant[]): void {
  describe('a policy that', () => {
    test.each(triedOf(mutants))('$fault breaks law $law', ({ law, says, make, options }) => {
      const start = processorMs();
      const error = lawsBrokenBy(make(), options, law).get(law);
      expect(error?.message).toMatch(says);
      expect(processorMs() - start).toBeLessThan(MOST_MS);
    });
  });
}
