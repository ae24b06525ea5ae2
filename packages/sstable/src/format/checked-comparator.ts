import { mustHaveMethods, quotedName } from '@bloom/bytes/internal';
import { compareBytes, compareInternalBytes, compareInternalKeys, type CompareRange, isBytewiseOrder } from './bytewise-order.js';
import { bytewiseComparator, type Comparator } from './comparator.js';
import { ComparatorError, shownKey } from './comparator-error.js';

/** Comparators whose results need no check, since they are checked already or made of checked ones. */
export abstract class SoundComparator {
  abstract readonly compareRange: CompareRange;
  readonly #brand = undefined;

  /** Its order; undefined for any other comparator. */
  static orderOf(comparator: object): CompareRange | undefined {
    return #brand in comparator ? comparator.compareRange : undefined;
  }
}

/** See {@link checkedComparator}. Its functions do not use `this`. */
class CheckedComparator extends SoundComparator implements Comparator {
  readonly name: string;
  readonly keyEquivalence: string | undefined;
  readonly compare: Comparator['compare'];
  readonly compareRange: CompareRange;
  readonly findShortestSeparator: Comparator['findShortestSeparator'];
  readonly findShortSuccessor: Comparator['findShortSuccessor'];

  constructor(given: Comparator) {
    super();
    const { name, keyEquivalence } = given;
    const compareGivenRange = givenRangeOf(given);
    this.name = name;
    this.keyEquivalence = keyEquivalence;
    const compare: Comparator['compare'] = (a, b) => {
      const order = given.compare(a, b);
      if (typeof order === 'number' && order !== 0 && order === order && a !== b) return order;
      mustOrder(name, keyEquivalence, order, a, 0, a.length, b, 0, b.length);
      return 0;
    };
    const compareRange: CompareRange = (a, aStart, aEnd, b, bStart, bEnd) => {
      const order = compareGivenRange(a, aStart, aEnd, b, bStart, bEnd);
      if (typeof order === 'number' && order !== 0 && order === order && (a !== b || aStart !== bStart || aEnd !== bEnd)) return order;
      mustOrder(name, keyEquivalence, order, a, aStart, aEnd, b, bStart, bEnd);
      return 0;
    };
    const findShortestSeparator: Comparator['findShortestSeparator'] = (start, limit) => given.findShortestSeparator(start, limit);
    const findShortSuccessor: Comparator['findShortSuccessor'] = (key) => given.findShortSuccessor(key);
    this.compare = compare;
    this.compareRange = compareRange;
    this.findShortestSeparator = findShortestSeparator;
    this.findShortSuccessor = findShortSuccessor;
  }
}

/** Checks a result that is not a number other than 0, or is that of a key and itself. @throws ComparatorError unless it is 0 for keys that may be equal. */
function mustOrder(
  name: string,
  keyEquivalence: string | undefined,
  order: unknown,
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): void {
  const isZero = typeof order === 'number' && order === 0;
  if (isZero && (keyEquivalence !== undefined || compareBytes(a, aStart, aEnd, b, bStart, bEnd) === 0)) return;
  // Copies: callers lend memory that they use again.
  const keys = [new Uint8Array(a.subarray(aStart, aEnd)), new Uint8Array(b.subarray(bStart, bEnd))] as const;
  const [first, second] = keys.map(shownKey);
  if (isZero) {
    throw new ComparatorError(
      'BLOOM_UNDECLARED_EQUIVALENCE',
      name,
      keys,
      `the comparator ${quotedName(name)} calls the keys ${first} and ${second} equal, and has no keyEquivalence: a filter tells these keys apart, ` +
        'so a lookup of one would find the other in some places and not in others. Return 0 only for the same bytes, or give the ' +
        'comparator a keyEquivalence, which names the rule that makes different keys equal, and use a filter policy with the same keyEquivalence',
    );
  }
  if (typeof order === 'number' && order === order) {
    throw new ComparatorError('BLOOM_BAD_COMPARISON', name, keys, `compare of the comparator ${quotedName(name)} must return 0 for the key ${first} and itself, got ${order}`);
  }
  const got = typeof order === 'number' ? 'NaN' : typeof order === 'bigint' ? 'a bigint' : order === null ? 'null' : typeof order;
  const problem = `compare of the comparator ${quotedName(name)} must return a number for the keys ${first} and ${second}, got ${got}`;
  throw new ComparatorError('BLOOM_BAD_COMPARISON', name, keys, problem);
}

/** The `compareRange` of a comparator as it was given, or one made of its `compare`. */
function givenRangeOf(comparator: Comparator): CompareRange {
  // A copy of one of the two bytewise orders with a `compare` of its own still has the `compareRange` of the original.
  const isBytewise = comparator.compareRange === compareBytes;
  const isInternal = comparator.compareRange === compareInternalBytes;
  if (isBytewise && comparator.compare === bytewiseComparator.compare) return compareBytes;
  if (isInternal && comparator.compare === compareInternalKeys) return compareInternalBytes;
  return comparator.compareRange !== undefined && !isBytewise && !isInternal
    ? comparator.compareRange.bind(comparator)
    : (a, aStart, aEnd, b, bStart, bEnd) => comparator.compare(a.subarray(aStart, aEnd), b.subarray(bStart, bEnd));
}

/**
 * A comparator that checks each result of `comparator`: it must be a number, and 0 for different bytes only where there is a
 * `keyEquivalence`. The orders of `bytewise-order.ts` and comparators that are checked already are returned themselves.
 *
 * Whatever takes a comparator from a caller uses this one in its place, so that no search, merge or builder meets another result.
 */
export function checkedComparator(comparator: Comparator): Comparator {
  const isSound = SoundComparator.orderOf(comparator) !== undefined || isBytewiseOrder(givenRangeOf(comparator));
  return isSound ? comparator : new CheckedComparator(comparator);
}

/**
 * @throws TypeError, which names the argument, unless `value` has the methods of a comparator and a well-formed name, and a `keyEquivalence` that is
 *   text or absent: with any other value, such as null, different keys would be merged as if the comparator had declared it.
 */
export function mustBeComparator(argument: string, value: unknown): asserts value is Comparator {
  mustCompare(argument, value);
  const { name, keyEquivalence } = value as { readonly name?: unknown; readonly keyEquivalence?: unknown };
  if (!isFilled(name)) throw new TypeError(`${argument} must have a name that is text and not empty, got ${shown(name)}`);
  // A MANIFEST stores it as UTF-8, which such a name would not come back from.
  if (/\p{Surrogate}/u.test(name)) throw new TypeError(`the name of ${argument} must be well-formed text, got one with half of a surrogate pair`);
  if (keyEquivalence === undefined || isFilled(keyEquivalence)) return;
  throw new TypeError(`keyEquivalence of ${argument} must be text that is not empty, or left out, got ${shown(keyEquivalence)}`);
}

/** @throws TypeError, which names the argument, unless `value` has the methods of a comparator. */
export function mustCompare(argument: string, value: unknown): asserts value is Comparator {
  mustHaveMethods(argument, value, 'a comparator', ['compare', 'findShortestSeparator', 'findShortSuccessor']);
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function shown(value: unknown): string {
  return value === null ? 'null' : typeof value === 'string' ? 'an empty string' : typeof value;
}

/**
 * The comparator that an option gives, checked as {@link checkedComparator} says; bytewise without one.
 *
 * @throws TypeError, which names the option, unless `value` has the methods of a comparator.
 */
export function comparatorOf(name: string, value: Comparator | undefined): Comparator {
  if (value === undefined) return bytewiseComparator;
  mustBeComparator(name, value);
  return checkedComparator(value);
}

/**
 * The comparator's `compareRange`, or one made of its `compare`, with the checks of {@link checkedComparator}. The orders of
 * `bytewise-order.ts` are returned themselves, which searches recognise to use their faster paths.
 */
export function compareRangeOf(comparator: Comparator): CompareRange {
  const sound = SoundComparator.orderOf(comparator);
  if (sound !== undefined) return sound;
  const given = givenRangeOf(comparator);
  return isBytewiseOrder(given) ? given : new CheckedComparator(comparator).compareRange;
}
