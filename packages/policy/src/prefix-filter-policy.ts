import { mustBeBytes, mustBeWhole, mustHaveMethods, shownValue } from '@bloom/bytes/internal';
import { BloomFilterPolicy } from './bloom-filter-policy.js';
import { KeyBuffer } from './key-buffer.js';
import { mustBeKeyList } from './key-list.js';
import { type FilterPolicy, type FilterSink, type KeyList, mayAskInRanges, mustBeFilterPolicy, type PrefixExtractor } from './policy.js';

/** Follows a prefix in the filter, to distinguish it from a key with the same bytes. */
const MARK = Uint8Array.of(0, 0xff, 0x70);

/** The list of keys and prefixes is reused unless it has become larger than this. */
const MAX_KEPT_BYTES = 2 ** 20;

/**
 * Filters of another policy that hold the prefixes of keys as well as the keys: each prefix once for each run of keys that have it.
 *
 * Each prefix takes as many bits as a key. Filters of a whole table (`filterRange` of 2^40) hold each prefix once. Filters of 2 KiB repeat
 * it: they are twice as large if nearly every key has a prefix of its own.
 *
 * LevelDB does not know the policy's name, and reads tables with such filters as if they had none.
 *
 * @example
 * ```ts
 * const policy = new PrefixFilterPolicy(prefixThrough(0x2f)); // up to the first slash
 * const database = await Database.open(folder, { filterPolicy: policy, filterRange: 2 ** 40 });
 * for await (const [key, value] of database.entries({ prefix: utf8('user42/') })) …
 * ```
 */
export class PrefixFilterPolicy implements FilterPolicy {
  readonly name: string;
  readonly keyEquivalence: string | undefined;
  readonly prefixes: PrefixExtractor;
  readonly #policy: FilterPolicy;
  readonly #asksInRanges: boolean;
  #list = new KeyBuffer();

  /**
   * @param policy makes the filters; it must have no prefixes of its own. Default: LevelDB's Bloom filter with 10 bits per key.
   * @throws TypeError when `prefixes` is not an extractor or `policy` is not a policy, RangeError when the name is empty or `policy` has
   *   prefixes of its own.
   */
  constructor(prefixes: PrefixExtractor, policy: FilterPolicy = new BloomFilterPolicy()) {
    mustHaveMethods('prefixes', prefixes, 'a PrefixExtractor', ['prefixLength']);
    if (typeof prefixes.name !== 'string' || prefixes.name === '') throw new RangeError('prefixes must have a name');
    mustBeFilterPolicy('policy', policy);
    if (policy.prefixes !== undefined) throw new RangeError(`policy must have no prefixes of its own, but ${policy.name} has`);
    this.name = `bloom.Prefix.${prefixes.name}.${policy.name}`;
    this.keyEquivalence = policy.keyEquivalence;
    this.prefixes = prefixes;
    this.#policy = policy;
    this.#asksInRanges = mayAskInRanges(policy);
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    mustBeKeyList('keys', keys);
    const list = this.#list;
    list.clear();
    const { bytes, offsets, length } = keys;
    let lastStart = 0;
    let lastLength = -1;
    for (let i = 0; i < length; i++) {
      const start = offsets[i]!;
      list.pushRange(bytes, start, offsets[i + 1]!);
      const prefixLength = this.prefixes.prefixLength(keys.at(i));
      if (prefixLength === undefined || (prefixLength === lastLength && areEqual(bytes, start, lastStart, prefixLength))) continue;
      list.push(marked(bytes.subarray(start, start + prefixLength)));
      lastStart = start;
      lastLength = prefixLength;
    }
    if (list.bytes.length > MAX_KEPT_BYTES) this.#list = new KeyBuffer();
    this.#policy.createFilter(list, dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return this.#policy.keyMayMatch(key, filter);
  }

  keyMayMatchRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, filterBytes: Uint8Array, filterStart: number, filterEnd: number): boolean {
    if (this.#asksInRanges) return this.#policy.keyMayMatchRange!(keyBytes, keyStart, keyEnd, filterBytes, filterStart, filterEnd);
    return this.#policy.keyMayMatch(keyBytes.subarray(keyStart, keyEnd), filterBytes.subarray(filterStart, filterEnd));
  }

  /** @throws TypeError when `prefix` is not a `Uint8Array`, and what `keyMayMatch` throws. */
  prefixMayMatch(prefix: Uint8Array, filter: Uint8Array): boolean {
    mustBeBytes('prefix', prefix);
    return this.#policy.keyMayMatch(marked(prefix), filter);
  }
}

function marked(prefix: Uint8Array): Uint8Array {
  const key = new Uint8Array(prefix.length + MARK.length);
  key.set(prefix);
  key.set(MARK, prefix.length);
  return key;
}

function areEqual(bytes: Uint8Array, start: number, other: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[start + i] !== bytes[other + i]) return false;
  return true;
}

/**
 * The first `length` bytes of each key. Shorter keys have no prefix.
 *
 * @throws RangeError unless `length` is a whole number, at least 1.
 */
export function prefixOfLength(length: number): PrefixExtractor {
  mustBeWhole('length', length, 1);
  return { name: `length.${length}`, prefixLength: (key) => (key.length >= length ? length : undefined) };
}

/**
 * Each key up to and including the first `delimiter`. Keys without one have no prefix.
 *
 * @param delimiter a byte, such as 0x2f for a slash.
 * @throws RangeError unless it is a byte.
 */
export function prefixThrough(delimiter: number): PrefixExtractor {
  if (!(Number.isInteger(delimiter) && delimiter >= 0 && delimiter <= 0xff)) throw new RangeError(`delimiter must be a byte, got ${shownValue(delimiter)}`);
  return {
    name: `through.${delimiter.toString(16).padStart(2, '0')}`,
    prefixLength(key) {
      const i = key.indexOf(delimiter);
      return i < 0 ? undefined : i + 1;
    },
  };
}
