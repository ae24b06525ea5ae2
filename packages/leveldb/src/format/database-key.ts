/**
 * Internal keys in a database: their order, their bounds, and what makes one valid.
 *
 * Source: LevelDB, db/dbformat.cc.
 */
import { CorruptionError } from '@bloom/bytes';
import { numberOf } from '@bloom/bytes/internal';
import { type Comparator } from '@bloom/sstable';
import { decodeInternalKey, DELETION, encodeInternalKey, type InternalKey, INTERNAL_KEY_TRAILER_LENGTH, internalKeyComparator, MAX_SEQUENCE, MAX_TYPE, VALUE } from '@bloom/sstable/database';
import { compareRangeOf } from '@bloom/sstable/internal';
import type { KeyOrder } from './version.js';

/** The orders of user keys and internal keys in a database with this `comparator`. */
export function keyOrderOf(comparator: Comparator): KeyOrder {
  return {
    compareInternalKeys: compareRangeOf(internalKeyComparator(comparator)),
    compareUserKeys: compareRangeOf(comparator),
  };
}

/** The internal key at or after which the versions of a user key from `sequence` down are. */
export function seekKey(userKey: Uint8Array, sequence: bigint): Uint8Array {
  return encodeInternalKey({ userKey, sequence: sequence > MAX_SEQUENCE ? MAX_SEQUENCE : sequence, type: MAX_TYPE });
}

/** The internal key that is before all versions of a user key. */
export function beforeVersions(userKey: Uint8Array): Uint8Array {
  return encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: MAX_TYPE });
}

/** The internal key that is after all versions of a user key, or their last one. */
export function afterVersions(userKey: Uint8Array): Uint8Array {
  return encodeInternalKey({ userKey, sequence: 0n, type: DELETION });
}

/**
 * The type of the internal key that ends at `end`: `VALUE` or `DELETION`.
 *
 * @throws CorruptionError `BLOOM_BAD_INTERNAL_KEY` for any other, and for a key that is too short.
 */
export function typeOf(bytes: Uint8Array, start: number, end: number, file: string | undefined): number {
  const trailer = end - INTERNAL_KEY_TRAILER_LENGTH;
  const type = trailer < start ? -1 : bytes[trailer]!;
  if (type === VALUE || type === DELETION) return type;
  const problem = type < 0 ? `a key of ${numberOf(end - start, 'byte')} is too short for an internal key` : `a key has the unknown type ${type}`;
  throw new CorruptionError('BLOOM_BAD_INTERNAL_KEY', { structure: 'file', offset: 0, file }, problem);
}

/**
 * A stored key as a key of a database; undefined if it cannot be one.
 *
 * For the keys that a repair keeps: it accepts the types that readers know, and any sequence that leaves one for the next write.
 * `isLikelyInternalKey` in `@bloom/sstable` rejects more: keys that are only unlikely, which a repair must not lose.
 */
export function databaseKeyOf(stored: Uint8Array): InternalKey | undefined {
  const key = decodeInternalKey(stored);
  return key !== undefined && (key.type === VALUE || key.type === DELETION) && key.sequence < MAX_SEQUENCE ? key : undefined;
}

/** A sequence as the two halves of an internal key's trailer, so that no bigint is made for each entry. */
export class SequenceBound {
  readonly #high: number;
  readonly #low: number;

  constructor(sequence: bigint) {
    const trailer = (sequence << 8n) | BigInt(MAX_TYPE);
    this.#high = Number(trailer >> 32n);
    this.#low = Number(trailer & 0xffff_ffffn);
  }

  /** Whether the sequence of the internal key that ends at `end` is at or below this one. */
  admits(bytes: Uint8Array, end: number): boolean {
    const high = (bytes[end - 4]! | (bytes[end - 3]! << 8) | (bytes[end - 2]! << 16) | (bytes[end - 1]! << 24)) >>> 0;
    if (high !== this.#high) return high < this.#high;
    const low = (bytes[end - 8]! | (bytes[end - 7]! << 8) | (bytes[end - 6]! << 16) | (bytes[end - 5]! << 24)) >>> 0;
    return low <= this.#low;
  }
}
