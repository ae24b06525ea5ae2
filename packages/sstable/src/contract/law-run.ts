/** One run of one law: asks the comparator, and reports what it finds. */
import type { Comparator } from '../format/comparator.js';
import { shownKey } from '../format/comparator-error.js';
import { ComparatorLawError } from './comparator-law-error.js';
import type { ComparatorLawsOptions } from './options.js';

/** A finding counts if it is found again this many times: another law says that answers do not change. */
const CONFIRMATIONS = 4;

/** An order of two keys: -1, 0 or 1; NaN where the comparator throws, or gives no number. */
export type Order = number;

export class LawRun {
  readonly comparator: Comparator;
  readonly options: ComparatorLawsOptions;
  readonly pools: readonly (readonly Uint8Array[])[];
  readonly #law: string;
  readonly #seed: number;

  /** @param pools keys to compare. No comparator gets the arrays themselves, since other laws compare them too. */
  constructor(law: string, comparator: Comparator, options: ComparatorLawsOptions, pools: readonly (readonly Uint8Array[])[]) {
    this.#law = law;
    this.comparator = comparator;
    this.options = options;
    this.#seed = options.seed ?? 1;
    this.pools = pools;
  }

  /** The order of two keys, of which the comparator gets copies: what it does with them is another law's concern. */
  order(a: Uint8Array, b: Uint8Array): Order {
    return orderOf(() => this.comparator.compare(a.slice(), b.slice()));
  }

  /** Whether the comparator orders two keys one way and the other: laws about more than that are not about these keys otherwise. */
  isOrdered(a: Uint8Array, b: Uint8Array): boolean {
    const order = this.order(a, b);
    return !Number.isNaN(order) && order + this.order(b, a) === 0;
  }

  /**
   * Fails if `problemOf` returns a problem now and each time that it is asked again.
   *
   * @param ask is called a different number of times in between, so that answers which depend on the number of calls change.
   */
  check(problemOf: () => string | undefined, ask: () => void): void {
    let problem = problemOf();
    for (let i = 0; problem !== undefined && i < CONFIRMATIONS; i++) {
      for (let asked = 0; asked < i; asked++) ask();
      problem = problemOf();
    }
    if (problem !== undefined) this.fail(problem);
  }

  /** {@link check} for each two keys of each pool, in both orders. */
  overPairs(problemOf: (a: Uint8Array, b: Uint8Array) => string | undefined): void {
    for (const pool of this.pools) for (const a of pool) for (const b of pool) this.check(() => problemOf(a, b), () => this.order(a, b));
  }

  fail(problem: string): never {
    throw new ComparatorLawError(this.#law, this.#seed, problem);
  }
}

/** The sign of a result. */
export function orderOf(compare: () => unknown): Order {
  try {
    const result = compare();
    return typeof result === 'number' ? Math.sign(result) + 0 : NaN;
  } catch {
    return NaN;
  }
}

/** What an order says of two keys. */
export function shownOrder(a: Uint8Array, order: Order, b: Uint8Array): string {
  const words = order < 0 ? 'before' : order > 0 ? 'after' : 'equal to';
  return Number.isNaN(order) ? `${shownKey(a)} is not ordered with ${shownKey(b)}` : `${shownKey(a)} is ${words} ${shownKey(b)}`;
}

/** A thrown value as text. */
export function shownError(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'a value that cannot be shown';
  }
}
