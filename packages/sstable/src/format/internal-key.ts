/**
 * The keys of tables inside a LevelDB database.
 *
 *     user key | sequence << 8 | type (u64, little-endian)
 *
 * Order: user keys ascending, then the last eight bytes, as a number, descending, so that the newest version comes first.
 * The table's filters are made from user keys alone, under the user policy's own name. A table does not record
 * whether its keys are internal keys.
 *
 * The comparison itself is in `bytewise-order.ts`, which searches have faster paths for.
 *
 * Source: LevelDB, db/dbformat.h and db/dbformat.cc.
 */
import type { Bytes } from '@bloom/bytes';
import { mustBeBytes, shownValue } from '@bloom/bytes/internal';
import { askablePrefixes, type FilterPolicy, KeyBuffer, mayAskInRanges, mustBeFilterPolicy } from '@bloom/policy';
import { compareBytes, compareInternalBytes, compareInternalKeys, type CompareRange, INTERNAL_KEY_TRAILER_LENGTH, internalOrderOf } from './bytewise-order.js';
import { checkedComparator, compareRangeOf, mustBeComparator, SoundComparator } from './checked-comparator.js';
import { bytewiseComparator, type Comparator } from './comparator.js';

/** The largest sequence number: 56 bits. */
export const MAX_SEQUENCE = 2n ** 56n - 1n;

/** The type of an entry that deletes its key. Other programs write further types, which are passed on as they are. */
export const DELETION = 0;
/** The type of an entry that stores a value. */
export const VALUE = 1;

/**
 * The highest type. Of several versions with the same sequence, the one with the highest type comes first, so a key with this type
 * is at or before all of them. LevelDB seeks with 1 (`kValueTypeForSeek`), its own highest; other programs have higher ones.
 */
export const MAX_TYPE = 0xff;

/** What an entry does to its key. A number is the type of an entry that a program other than LevelDB wrote. */
export type EntryKind = 'value' | 'deletion' | number;

/** The kind of an entry of {@link InternalKey.type}. */
export function kindOfType(type: number): EntryKind {
  if (type === VALUE) return 'value';
  return type === DELETION ? 'deletion' : type;
}

/** The type byte of a kind: the reverse of {@link kindOfType}. */
export function typeOfKind(kind: EntryKind): number {
  if (kind === 'value') return VALUE;
  return kind === 'deletion' ? DELETION : kind;
}

/** The parts of a key in a database. */
export interface InternalKey {
  readonly userKey: Uint8Array;
  /** Grows with every write to the database. */
  readonly sequence: bigint;
  /** {@link VALUE}, {@link DELETION}, or what another program wrote. */
  readonly type: number;
}

/**
 * The stored form of a key.
 *
 * @throws TypeError when the user key is not a Uint8Array, or the sequence is not a bigint.
 * @throws RangeError when the sequence does not fit into 56 bits, or the type into 8.
 */
export function encodeInternalKey({ userKey, sequence, type }: InternalKey): Bytes {
  mustBeBytes('userKey', userKey);
  if (typeof sequence !== 'bigint') throw new TypeError(`sequence must be a bigint, got ${typeof sequence}`);
  if (sequence < 0n || sequence > MAX_SEQUENCE) throw new RangeError(`sequence must be from 0 to 2^56 - 1, got ${sequence}`);
  if (!(Number.isInteger(type) && type >= 0 && type <= MAX_TYPE)) throw new RangeError(`type must be a byte, got ${shownValue(type)}`);
  const key = new Uint8Array(userKey.length + INTERNAL_KEY_TRAILER_LENGTH);
  key.set(userKey);
  new DataView(key.buffer).setBigUint64(userKey.length, (sequence << 8n) | BigInt(type), true);
  return key;
}

/** Decodes a stored key. The user key is a view. Undefined when the key is too short to be an internal key. */
export function decodeInternalKey(key: Bytes): (InternalKey & { readonly userKey: Bytes }) | undefined;
export function decodeInternalKey(key: Uint8Array): InternalKey | undefined;
export function decodeInternalKey(key: Uint8Array): InternalKey | undefined {
  mustBeBytes('key', key);
  const userKeyLength = key.length - INTERNAL_KEY_TRAILER_LENGTH;
  if (userKeyLength < 0) return undefined;
  const trailer = new DataView(key.buffer, key.byteOffset).getBigUint64(userKeyLength, true);
  return { userKey: key.subarray(0, userKeyLength), sequence: trailer >> 8n, type: Number(trailer & BigInt(MAX_TYPE)) };
}

/**
 * The largest type in LevelDB and its relatives, including RocksDB and Pebble. If a plain key is text, the byte at the
 * position of the type is larger.
 */
const MAX_KNOWN_TYPE = 0x1f;

/**
 * Whether a stored key may be an internal key, of LevelDB or of any of its relatives. A plain binary key can look like one too.
 *
 * Use it where a wrong no does harm: it decides how damaged tables are salvaged and which mistakes are reported. To guess what a table
 * is, {@link isLikelyInternalKey} asks for more.
 */
export function mayBeInternalKey(key: Uint8Array): boolean {
  return key.length >= INTERNAL_KEY_TRAILER_LENGTH && key[key.length - INTERNAL_KEY_TRAILER_LENGTH]! <= MAX_KNOWN_TYPE;
}

/** A database would reach this sequence after nine years with a million writes per second. */
const MAX_LIKELY_SEQUENCE = 2n ** 48n;

/**
 * Whether LevelDB writes keys of such a sequence and type: it has two types, and its sequences start at 1. Sequence 0 is that of
 * values that another program loaded in bulk.
 *
 * Use it where a wrong yes does harm: {@link mayBeInternalKey} takes one in eight random strings of eight bytes for sequence and type.
 */
export function isLikelyInternalKey({ sequence, type }: InternalKey): boolean {
  if (sequence === 0n) return type === VALUE;
  return (type === VALUE || type === DELETION) && sequence < MAX_LIKELY_SEQUENCE;
}

/**
 * The comparator of internal keys, given that of user keys.
 *
 * Keys too short to be internal keys come before all others, so that the order is total.
 */
export function internalKeyComparator(userComparator: Comparator = bytewiseComparator): Comparator {
  return new InternalKeyComparator(userComparator);
}

/** See {@link internalKeyComparator}. Its functions do not use `this`. */
export class InternalKeyComparator extends SoundComparator implements Comparator {
  readonly name = 'leveldb.InternalKeyComparator';
  readonly keyEquivalence: string | undefined;
  readonly compare: Comparator['compare'];
  readonly compareRange: CompareRange;
  readonly findShortestSeparator: Comparator['findShortestSeparator'];
  readonly findShortSuccessor: Comparator['findShortSuccessor'];

  constructor(given: Comparator) {
    super();
    mustBeComparator('comparator', given);
    const userComparator = checkedComparator(given);
    const compareUserKeys = compareRangeOf(userComparator);
    const compareRange = compareUserKeys === compareBytes ? compareInternalBytes : internalOrderOf(compareUserKeys);

    /** `key` with a shorter user key and the trailer that sorts first, or `key` itself if it cannot be shortened. */
    function shorten(key: Uint8Array, shorten: (userKey: Uint8Array) => Uint8Array): Uint8Array {
      const userKey = userKeyOf(key);
      const short = shorten(userKey);
      if (!(short.length < userKey.length && userComparator.compare(userKey, short) < 0)) return key;
      return encodeInternalKey({ userKey: short, sequence: MAX_SEQUENCE, type: VALUE });
    }

    this.keyEquivalence = userComparator.keyEquivalence;
    this.compare = compareRange === compareInternalBytes ? compareInternalKeys : (a, b) => compareRange(a, 0, a.length, b, 0, b.length);
    this.compareRange = compareRange;
    const findShortestSeparator: Comparator['findShortestSeparator'] = (start, limit) =>
      shorten(start, (userKey) => {
        const userLimit = userKeyOf(limit);
        // Two versions of one key have no shorter separator. LevelDB asks for one nevertheless.
        return userComparator.compare(userKey, userLimit) < 0 ? userComparator.findShortestSeparator(userKey, userLimit) : userKey;
      });
    const findShortSuccessor: Comparator['findShortSuccessor'] = (key) => shorten(key, (userKey) => userComparator.findShortSuccessor(userKey));
    this.findShortestSeparator = findShortestSeparator;
    this.findShortSuccessor = findShortSuccessor;
  }
}

/** The policy that a database filters internal keys with: `userPolicy` on the user keys, under its own name. */
export function internalKeyPolicy(userPolicy: FilterPolicy): FilterPolicy {
  return new InternalKeyPolicy(userPolicy);
}

const NO_KEY = new Uint8Array(0);

/** A list of user keys is used again unless it has become larger than this. */
const MAX_KEPT_BYTES = 2 ** 20;

/** See {@link internalKeyPolicy}. */
export class InternalKeyPolicy implements FilterPolicy {
  readonly name: string;
  readonly keyEquivalence: string | undefined;
  readonly createFilter: FilterPolicy['createFilter'];
  readonly keyMayMatch: FilterPolicy['keyMayMatch'];
  declare readonly keyMayMatchRange?: NonNullable<FilterPolicy['keyMayMatchRange']>;
  /** Those of user keys. */
  declare readonly prefixes?: FilterPolicy['prefixes'];
  declare readonly prefixMayMatch?: NonNullable<FilterPolicy['prefixMayMatch']>;
  readonly #userPolicy: FilterPolicy;
  readonly #createFilter: FilterPolicy['createFilter'];

  constructor(userPolicy: FilterPolicy) {
    mustBeFilterPolicy('userPolicy', userPolicy);
    this.#userPolicy = userPolicy;
    this.name = userPolicy.name;
    this.keyEquivalence = userPolicy.keyEquivalence;
    // A filter has few keys by default, so that a list for each would take as long as the filter.
    let userKeys = new KeyBuffer();
    const createFilter: FilterPolicy['createFilter'] = (keys, dst) => {
      const { bytes, offsets } = keys;
      userKeys.clear();
      for (let i = 0; i < keys.length; i++) {
        const start = offsets[i]!;
        userKeys.pushRange(bytes, start, Math.max(start, offsets[i + 1]! - INTERNAL_KEY_TRAILER_LENGTH));
      }
      const lent = userKeys;
      if (lent.bytes.length > MAX_KEPT_BYTES) userKeys = new KeyBuffer();
      userPolicy.createFilter(lent, dst);
    };
    if (mayAskInRanges(userPolicy)) {
      const keyMayMatchRange: FilterPolicy['keyMayMatchRange'] = (keyBytes, keyStart, keyEnd, filterBytes, filterStart, filterEnd) => {
        const userKeyEnd = Math.max(keyStart, keyEnd - INTERNAL_KEY_TRAILER_LENGTH);
        return userPolicy.keyMayMatchRange!(keyBytes, keyStart, userKeyEnd, filterBytes, filterStart, filterEnd);
      };
      // Not copied with the others by a spread, whose maker may replace these.
      Object.defineProperty(this, 'keyMayMatchRange', { value: keyMayMatchRange, configurable: true, enumerable: false });
    }
    const prefixes = askablePrefixes(userPolicy);
    if (prefixes !== undefined) {
      const prefixMayMatch: FilterPolicy['prefixMayMatch'] = (prefix, filter) => userPolicy.prefixMayMatch!(prefix, filter);
      Object.defineProperty(this, 'prefixes', { value: prefixes, configurable: true, enumerable: false });
      Object.defineProperty(this, 'prefixMayMatch', { value: prefixMayMatch, configurable: true, enumerable: false });
    }
    this.createFilter = this.#createFilter = createFilter;
    // A database looks up the same array in one table after another, and making a view takes as long as the lookup.
    let lastKey: Uint8Array = NO_KEY;
    let lastUserKey: Uint8Array = NO_KEY;
    const keyMayMatch: FilterPolicy['keyMayMatch'] = (key, filter) => {
      // The length changes if the array's buffer was resized.
      if (key !== lastKey || key.length !== lastUserKey.length + INTERNAL_KEY_TRAILER_LENGTH) {
        lastUserKey = userKeyOf(key);
        lastKey = key;
      }
      return userPolicy.keyMayMatch(lastUserKey, filter);
    };
    this.keyMayMatch = keyMayMatch;
  }

  /** The user policy, if the filters of `policy` are just its filters of user keys: not where something wraps or replaces `createFilter`. */
  static userPolicyOf(policy: FilterPolicy): FilterPolicy | undefined {
    return #createFilter in policy && policy.createFilter === policy.#createFilter ? policy.#userPolicy : undefined;
  }
}

/** The user key of an internal key; empty for a key that is too short to be one. */
export function userKeyOf(key: Uint8Array): Uint8Array {
  return key.subarray(0, Math.max(0, key.length - INTERNAL_KEY_TRAILER_LENGTH));
}
