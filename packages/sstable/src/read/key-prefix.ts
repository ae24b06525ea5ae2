import { bytesOf } from '@bloom/bytes/internal';
import { compareBytes, compareInternalBytes, type CompareRange } from '../format/bytewise-order.js';
import { encodeInternalKey, MAX_SEQUENCE, MAX_TYPE } from '../format/internal-key.js';
import type { KeyRange } from './key-range.js';
import type { OpenTable } from './open.js';

/** The bytes of a bound, if there is one. @throws TypeError or RangeError for a bound that is neither bytes nor text. */
export function boundOf(name: string, bound: Uint8Array | string | undefined): Uint8Array | undefined {
  return bound === undefined ? undefined : bytesOf(name, bound);
}

/** @throws RangeError unless keys that begin with the same bytes follow one another in this order. */
export function mustHavePrefixes(compare: CompareRange): void {
  if (compare === compareBytes) return;
  throw new RangeError('prefix needs keys in bytewise order: in any other order, keys with the same prefix may not be adjacent');
}

/** The first key, in bytewise order, after all that begin with `prefix`; undefined where there is none. */
export function afterPrefix(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  // A prefix of bytes 0xff alone has no key behind its own.
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const after = new Uint8Array(prefix.subarray(0, length));
  after[length - 1]!++;
  return after;
}

/**
 * A range of keys in bytewise order with the bounds that its `prefix` gives it.
 *
 * @throws TypeError or RangeError for bounds that are neither bytes nor text.
 */
export function withinPrefix<Range extends KeyRange>(range: Range): Range {
  if (range.prefix === undefined) return range;
  const prefix = boundOf('prefix', range.prefix)!;
  const gte = boundOf('gte', range.gte);
  const lt = boundOf('lt', range.lt);
  const after = afterPrefix(prefix);
  const isBefore = (a: Uint8Array, b: Uint8Array): boolean => compareBytes(a, 0, a.length, b, 0, b.length) < 0;
  return {
    ...range,
    gte: gte !== undefined && isBefore(prefix, gte) ? gte : prefix,
    lt: after === undefined || (lt !== undefined && isBefore(lt, after)) ? lt : after,
  };
}

/**
 * Whether a table may have keys that begin with `prefix`: false only where index and filters exclude it. Reads nothing.
 *
 * The first of such keys is in the block that the index leads to, or, where that block ends before them, at the start of the
 * next one. So only their filters are asked, if the policy's prefix of all these keys is known.
 *
 * @param given the prefix of the keys; of a database's table, of its user keys.
 * @throws RangeError when the keys are in another order than bytewise.
 */
export function mayHavePrefix({ index, filter, compare }: OpenTable, given: Uint8Array | string): boolean {
  const prefix = bytesOf('prefix', given);
  const isInternal = compare === compareInternalBytes;
  if (!isInternal) mustHavePrefixes(compare);
  const first = isInternal ? encodeInternalKey({ userKey: prefix, sequence: MAX_SEQUENCE, type: MAX_TYPE }) : prefix;
  const block = index.seek(first, compare);
  if (block >= index.length) return false;
  const length = filter?.prefixes?.prefixLength(prefix);
  // A wrong length would hide keys.
  if (length === undefined || !(length >= 0 && length <= prefix.length)) return true;
  const known = prefix.subarray(0, length);
  for (let i = block; i <= block + 1 && i < index.length; i++) {
    // Where the place of a block is damaged, nobody knows its filter.
    if (index.sizeOf(i) < 0 || !filter!.deniesPrefix(index.offsetOf(i), known)) return true;
  }
  return false;
}
