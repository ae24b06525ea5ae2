import type { Bytes, Signal } from '@bloom/bytes';
import { mustBeOptions, mustBeSignal, mustBeWhole } from '@bloom/bytes/internal';
import type { CompareRange } from '../format/bytewise-order.js';
import type { ByteCopier } from './byte-copier.js';
import { type Bound, KeyBounds } from './key-bounds.js';

/** Where `nextMany` and `prevMany` end. */
export interface ManyOptions {
  /** The last entry is the one with which keys and values reach this many bytes. Default: no limit. */
  readonly maxBytes?: number | undefined;
}

/** Where `nextMany` ends. */
export interface NextManyOptions extends ManyOptions {
  /** Only keys before this one. */
  readonly lt?: Uint8Array | string | undefined;
  /** Only this key and keys before it. */
  readonly lte?: Uint8Array | string | undefined;
}

/** Where `prevMany` ends. */
export interface PrevManyOptions extends ManyOptions {
  /** Only keys after this one. */
  readonly gt?: Uint8Array | string | undefined;
  /** Only this key and keys after it. */
  readonly gte?: Uint8Array | string | undefined;
}

/** With a signal that ends the call. */
export type AsyncNextManyOptions = NextManyOptions & { readonly signal?: Signal | undefined };
/** With a signal that ends the call. */
export type AsyncPrevManyOptions = PrevManyOptions & { readonly signal?: Signal | undefined };

const NEXT_MANY: Record<keyof AsyncNextManyOptions, true> = { maxBytes: true, lt: true, lte: true, signal: true };
const PREV_MANY: Record<keyof AsyncPrevManyOptions, true> = { maxBytes: true, gt: true, gte: true, signal: true };

/** Takes copies of one entry after another, until there are enough. */
export class ManyEntries {
  readonly entries: [Bytes, Bytes][] = [];
  readonly signal: Signal | undefined;
  /** Copies keys and values. */
  readonly copier: ByteCopier;
  readonly #compare: CompareRange;
  readonly #reverse: boolean;
  readonly #to: Bound | undefined;
  readonly #count: number;
  readonly #maxBytes: number;
  #bytes = 0;

  /**
   * @param call its name, for errors.
   * @throws TypeError or RangeError for an argument or an option that is wrong.
   */
  constructor(call: string, reverse: boolean, count: number, options: AsyncNextManyOptions & AsyncPrevManyOptions, compare: CompareRange, copier: ByteCopier) {
    this.#count = mustBeWhole('count', count, 1);
    mustBeOptions(call, options, reverse ? PREV_MANY : NEXT_MANY);
    const { maxBytes = Infinity, signal } = options;
    this.#maxBytes = maxBytes === Infinity ? maxBytes : mustBeWhole('maxBytes', maxBytes, 1);
    if (signal !== undefined) mustBeSignal('signal', signal);
    this.signal = signal;
    const { gt, gte, lt, lte } = options;
    this.#to = new KeyBounds(reverse ? { gt, gte, reverse } : { lt, lte }, compare).to;
    this.#compare = compare;
    this.#reverse = reverse;
    this.copier = copier;
  }

  /** Takes the entry, if it is not beyond the end. @returns whether it did. */
  take(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): boolean {
    if (!this.admits(keyBytes, keyStart, keyEnd)) return false;
    this.add([this.copier.copyRange(keyBytes, keyStart, keyEnd), this.copier.copyRange(valueBytes, valueStart, valueEnd)]);
    return true;
  }

  /** Whether the entry with the key `keyBytes[keyStart, keyEnd)` is not beyond the end. */
  admits(keyBytes: Uint8Array, keyStart: number, keyEnd: number): boolean {
    if (this.entries.length >= this.#count || this.#bytes >= this.#maxBytes) return false;
    const to = this.#to;
    if (to === undefined) return true;
    const order = this.#compare(keyBytes, keyStart, keyEnd, to.key, 0, to.key.length);
    return order === 0 ? to.inclusive : order < 0 !== this.#reverse;
  }

  /** Adds copies of an entry. */
  add(entry: [Bytes, Bytes]): void {
    this.#bytes += entry[0].length + entry[1].length;
    this.entries.push(entry);
  }
}
