import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { keyOption } from './key-argument.js';
import type { KeyBounds } from './merge-order.js';
import { wholeNumber } from './whole-number.js';

/** The options that select a range of keys. */
export interface RangeOptions {
  readonly prefix?: string;
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly hex?: true;
}

/** Adds --prefix and the bounds. */
export function addRangeOptions(command: Command): Command {
  return command
    .option('--prefix <key>', 'only keys that begin with KEY')
    .option('--gt <key>', 'only keys after KEY')
    .option('--gte <key>', 'only KEY and keys after it')
    .option('--lt <key>', 'only keys before KEY')
    .option('--lte <key>', 'only KEY and keys before it');
}

export function addLimitOption(command: Command): Command {
  return command.addOption(new Option('--limit <n>', 'at most N entries').argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)));
}

type Bounds = Readonly<Partial<Record<'gt' | 'gte' | 'lt' | 'lte', Uint8Array | undefined>>>;

/** The selected keys: those within the bounds that begin with the prefix. */
export class WantedRange {
  readonly #bounds: Bounds;
  readonly #prefix: Uint8Array | undefined;

  constructor({ hex, prefix, ...bounds }: RangeOptions) {
    const bytes = (text: string | undefined): Uint8Array | undefined => keyOption(text, hex === true);
    this.#prefix = bytes(prefix);
    this.#bounds = { gt: bytes(bounds.gt), gte: bytes(bounds.gte), lt: bytes(bounds.lt), lte: bytes(bounds.lte) };
  }

  /** Whether all keys are wanted. */
  get isAll(): boolean {
    return this.#prefix === undefined && !this.#hasBounds;
  }

  /** Whether there is a bound, for which keys have to be compared. */
  get #hasBounds(): boolean {
    return Object.values(this.#bounds).some((bound) => bound !== undefined);
  }

  /**
   * The range to read from a table or a database, and a test of which keys in it to keep.
   *
   * @param comparator the order of the keys; undefined if it is unknown, so that everything has to be read.
   */
  in(comparator: Pick<Comparator, 'name'> | undefined, compare: (a: Uint8Array, b: Uint8Array) => number): { readonly range: Bounds; readonly keeps: ((key: Uint8Array) => boolean) | undefined } {
    const prefix = this.#prefix;
    const begins = prefix && ((key: Uint8Array): boolean => beginsWith(key, prefix));
    if (comparator === undefined) {
      const { gt, gte, lt, lte } = this.#bounds;
      if (this.isAll) return { range: {}, keeps: undefined };
      return {
        range: {},
        keeps: (key) =>
          !(gt !== undefined && compare(key, gt) <= 0) &&
          !(gte !== undefined && compare(key, gte) < 0) &&
          !(lt !== undefined && compare(key, lt) >= 0) &&
          !(lte !== undefined && compare(key, lte) > 0) &&
          begins?.(key) !== false,
      };
    }
    // In bytewise order, keys with the same prefix are adjacent.
    if (prefix !== undefined && !this.#hasBounds && comparator.name === bytewiseComparator.name) {
      return { range: { gte: prefix, lt: successorOf(prefix) }, keeps: undefined };
    }
    return { range: this.#bounds, keeps: begins };
  }

  /** @throws Failure when an upper bound is before a lower one: for commands that write. To others, it is an empty range, as in LevelDB. */
  mustNotBeReversed(compare: (a: Uint8Array, b: Uint8Array) => number): void {
    for (const lower of ['gt', 'gte'] as const) for (const upper of ['lt', 'lte'] as const) mustNotBeReversed(`--${lower}`, this.#bounds[lower], `--${upper}`, this.#bounds[upper], compare);
  }
}

/** The range of --gte and --lt. @throws Failure when --lt is before --gte. */
export function boundsOf({ gte, lt, hex }: Pick<RangeOptions, 'gte' | 'lt' | 'hex'>, comparator: Comparator = bytewiseComparator): KeyBounds {
  const range = { gte: keyOption(gte, hex === true), lt: keyOption(lt, hex === true) };
  mustNotBeReversed('--gte', range.gte, '--lt', range.lt, (a, b) => comparator.compare(a, b));
  return range;
}

/** @throws Failure when the last key of a range is before its first, which are given by these options. */
export function mustNotBeReversed(first: string, begin: Uint8Array | undefined, last: string, end: Uint8Array | undefined, compare: (a: Uint8Array, b: Uint8Array) => number): void {
  if (begin === undefined || end === undefined || compare(begin, end) <= 0) return;
  throw new Failure(`${last} is before ${first}, so no key is between them`);
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && prefix.every((byte, i) => key[i] === byte);
}

/** The first key in bytewise order that is after all keys of a prefix; undefined when there is none. */
function successorOf(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  // Not slice(), because the slice of a Buffer is a view, and the prefix would change.
  const successor = new Uint8Array(prefix.subarray(0, length));
  successor[length - 1]!++;
  return successor;
}
