import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { keyOption } from './key-argument.js';
import { type RangeOptions, WantedRange } from './key-range.js';
import { wholeNumber } from './whole-number.js';

/** The options that group keys. */
export interface GroupOptions extends RangeOptions {
  readonly byPrefix?: number;
  readonly bySeparator?: string;
  readonly limit?: number;
}

/** Adds --by-prefix, --by-separator and --limit. @param what the figure that is printed for each prefix. */
export function addGroupOptions(command: Command, what: string): Command {
  return command
    .addOption(new Option('--by-prefix <n>', `print ${what} of each prefix of N bytes`).argParser(wholeNumber(1, 1024)).conflicts('bySeparator'))
    .option('--by-separator <text>', `print ${what} of each prefix that ends in TEXT, such as /`)
    .addOption(new Option('--limit <n>', 'print only the N largest prefixes, and the sum of the others').argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)));
}

/** A prefix as text with one character per byte; {@link NO_PREFIX} for keys without a separator. */
export type Group = string;

export const NO_PREFIX: Group = 'none';
const PREFIX_MARK = '+';

/** The keys between two others are, or may be, in several groups. */
export const SEVERAL = Symbol('several groups');

/** The bytes of a prefix; undefined for keys without one. */
export function prefixOf(group: Group): Uint8Array | undefined {
  return group === NO_PREFIX ? undefined : Buffer.from(group.slice(PREFIX_MARK.length), 'latin1');
}

/** The selected keys in groups of the same prefix; without --by-prefix and --by-separator, in one group. */
export class PrefixGroups {
  readonly isGrouped: boolean;
  readonly #wanted: WantedRange;
  readonly #byPrefix: number | undefined;
  readonly #separator: Uint8Array | undefined;
  /** The length of --prefix in bytes. Prefixes of groups continue after it. */
  readonly #from: number;

  /** @throws Failure for options that contradict each other. */
  constructor(options: GroupOptions) {
    const { byPrefix, bySeparator, limit, prefix, hex } = options;
    this.isGrouped = byPrefix !== undefined || bySeparator !== undefined;
    if (limit !== undefined && !this.isGrouped) throw new Failure('--limit is for --by-prefix and --by-separator');
    if (bySeparator === '') throw new Failure('--by-separator needs text that is not empty: --by-prefix takes a number of bytes');
    this.#wanted = new WantedRange(options);
    this.#byPrefix = byPrefix;
    this.#separator = keyOption(bySeparator, hex === true);
    this.#from = keyOption(prefix, hex === true)?.length ?? 0;
  }

  /**
   * The groups of keys in an order.
   *
   * @param comparator the order; undefined if it is unknown.
   */
  in(comparator: Pick<Comparator, 'name'> | undefined, compare: (a: Uint8Array, b: Uint8Array) => number): OrderedGroups {
    const { range, keeps } = this.#wanted.in(this.#wanted.isAll ? (comparator ?? bytewiseComparator) : comparator, compare);
    const contains = this.#wanted.in(undefined, compare).keeps;
    const { gt, gte, lt, lte } = range;
    const isOutside = (first: Uint8Array | undefined, last: Uint8Array): boolean =>
      (gt !== undefined && compare(last, gt) <= 0) ||
      (gte !== undefined && compare(last, gte) < 0) ||
      (first !== undefined && ((lt !== undefined && compare(first, lt) >= 0) || (lte !== undefined && compare(first, lte) > 0)));
    const isInside = (first: Uint8Array | undefined, last: Uint8Array): boolean =>
      keeps === undefined &&
      (gt === undefined || (first !== undefined && compare(first, gt) > 0)) &&
      (gte === undefined || (first !== undefined && compare(first, gte) >= 0)) &&
      (lt === undefined || compare(last, lt) < 0) &&
      (lte === undefined || compare(last, lte) <= 0);
    // In bytewise order, keys with the same prefix are adjacent.
    const mayShare = !this.isGrouped || comparator?.name === bytewiseComparator.name;
    const isOrdered = comparator !== undefined;
    const isOne = this.#wanted.isAll && !this.isGrouped;
    return {
      range,
      keeps,
      of: (key) => (contains?.(key) === false ? undefined : this.#groupOf(key)),
      between: (first, last) => {
        if (isOne) return PREFIX_MARK;
        if (!isOrdered) return SEVERAL;
        if (isOutside(first, last)) return undefined;
        return mayShare && isInside(first, last) ? this.#sharedGroup(first, last) : SEVERAL;
      },
    };
  }

  #groupOf(key: Uint8Array): Group {
    if (!this.isGrouped) return PREFIX_MARK;
    const end = this.#separator === undefined ? Math.min(key.length, this.#from + this.#byPrefix!) : this.#separatorEnd(key, this.#separator);
    return end === undefined ? NO_PREFIX : PREFIX_MARK + Buffer.from(key.buffer, key.byteOffset, end).toString('latin1');
  }

  /** The end of the first separator that is not at the start of the key, unlike the first one in `!name!key`. */
  #separatorEnd(key: Uint8Array, separator: Uint8Array): number | undefined {
    const at = Buffer.from(key.buffer, key.byteOffset, key.length).indexOf(separator, this.#from + 1);
    return at < 0 ? undefined : at + separator.length;
  }

  /** The group of all keys between two, in bytewise order. */
  #sharedGroup(first: Uint8Array | undefined, last: Uint8Array): Group | typeof SEVERAL {
    if (!this.isGrouped) return PREFIX_MARK;
    if (first === undefined) return SEVERAL;
    const group = this.#groupOf(last);
    if (group === NO_PREFIX || group !== this.#groupOf(first)) return SEVERAL;
    // A key that is shorter than a prefix is the only one in its group.
    return this.#byPrefix !== undefined && last.length < this.#from + this.#byPrefix ? SEVERAL : group;
  }
}

/** Groups of keys that are in an order. */
export interface OrderedGroups {
  /** The range that contains all groups. */
  readonly range: ReturnType<WantedRange['in']>['range'];
  /** Which keys in the range are selected; undefined for all. */
  readonly keeps: ReturnType<WantedRange['in']>['keeps'];
  /** The group of a key; undefined if the key is not selected. */
  readonly of: (key: Uint8Array) => Group | undefined;
  /**
   * The group of all keys from `first` to `last`, if these two determine it; undefined if none of the keys is selected.
   *
   * @param first undefined if it is unknown.
   */
  readonly between: (first: Uint8Array | undefined, last: Uint8Array) => Group | typeof SEVERAL | undefined;
}

/** The most groups, which are held in memory. */
const MOST_GROUPS = 1_000_000;

/** A number for each group. */
export class GroupSums {
  readonly sums = new Map<Group, number>();

  /** The sum of all groups. */
  get total(): number {
    let total = 0;
    for (const sum of this.sums.values()) total += sum;
    return total;
  }

  /** @throws Failure when there are too many groups. */
  add(group: Group, number: number): void {
    const before = this.sums.get(group);
    if (before === undefined && this.sums.size >= MOST_GROUPS) throw new Failure(`there are more than ${MOST_GROUPS} prefixes: use shorter ones, or limit them with --prefix`);
    this.sums.set(group, (before ?? 0) + number);
  }
}
