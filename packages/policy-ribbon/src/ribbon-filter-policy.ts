import { mustBeBytes, mustBeOptions, shownValue } from '@bloom/bytes/internal';
import type { FilterPolicy, FilterSink, KeyList } from '@bloom/policy';
import { answersFor, encodeHashFilter, type HashFilterForm, hashFilterMayMatchEach } from '@bloom/policy/internal';
import { KeptKernel, mustBeKeyRange } from '@bloom/policy/kit';
import { ribbonForm } from './build-ribbon.js';
import { ribbonFilterMayMatch, type RibbonShape, ribbonShapeOf, type RibbonWidth } from './ribbon-filter.js';
import { RibbonKernel } from './ribbon-kernel.js';

/** With fewer keys than this, the plain loops finish before the keys could be copied to the kernel. */
const KERNEL_MIN_KEYS = 64;

const MIN_RATE = 2 ** -16;
const MAX_RATE = 0.5;

/** The settings of new filters. Reading does not depend on them: each filter carries its own. */
export interface RibbonFilterOptions {
  /** The share of absent keys that may match, from 2^-16 to 0.5. Default: 0.01. */
  readonly rate?: number | undefined;
  /**
   * Bits of a key's row. With 128, large filters are smaller, by 4% at 100,000 keys, and take longer to build and to test. Default:
   * 64 for up to 65,536 keys, 128 for more.
   */
  readonly width?: RibbonWidth | undefined;
}

/**
 * A filter of about 7 bits per key at a rate of 1%, for which LevelDB's Bloom filter needs 10.
 *
 * Absent keys that are close to stored ones match no more often than others. README.md compares it with the other policies: it
 * takes longer to build and to test than a Bloom filter.
 *
 * Source: Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor".
 *
 * @example
 * ```ts
 * const filter = buildFilter(new RibbonFilterPolicy({ rate: 0.01 }), keys);
 * new RibbonFilterPolicy().keyMayMatch(keys[0], filter); // true
 * ```
 */
export class RibbonFilterPolicy implements FilterPolicy {
  readonly name = 'bloom.RibbonFilter';
  /** The share of absent keys that may match, 0 to 1. */
  readonly rate: number;
  /** Bits of a key's row; undefined where the number of keys decides. */
  readonly width: RibbonWidth | undefined;
  readonly #form: HashFilterForm<RibbonShape>;
  readonly #lanes = new Uint32Array(2);
  readonly #kernel = new KeptKernel(() => RibbonKernel.create(), KERNEL_MIN_KEYS);

  /**
   * @throws RangeError when `rate` is not from 2^-16 to 0.5, or `width` is neither 64 nor 128.
   * @throws TypeError for an unknown option.
   */
  constructor(options: RibbonFilterOptions = {}) {
    mustBeOptions('RibbonFilterPolicy', options, { rate: true, width: true });
    const { rate = 0.01, width } = options;
    if (!(typeof rate === 'number' && rate >= MIN_RATE && rate <= MAX_RATE)) throw new RangeError(`rate must be from 2^-16 to 0.5, got ${shownValue(rate)}`);
    if (![undefined, 64, 128].includes(width)) throw new RangeError(`width must be 64 or 128, got ${shownValue(width)}`);
    this.rate = rate;
    this.width = width;
    this.#form = ribbonForm({ rate, width });
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    encodeHashFilter(keys, this.#form, dst, this.#kernel);
  }

  /** @throws TypeError when `key` or `filter` is not a `Uint8Array`, or is detached. */
  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    if (!(key instanceof Uint8Array && key.length > 0)) mustBeBytes('key', key);
    if (!(filter instanceof Uint8Array && filter.length > 0)) mustBeBytes('filter', filter);
    return ribbonFilterMayMatch(key, 0, key.length, filter, 0, filter.length, this.#lanes);
  }

  /**
   * @throws TypeError when `keyBytes` or `filterBytes` is not a `Uint8Array`, or is detached.
   * @throws RangeError when the key is not a range of `keyBytes`.
   */
  keyMayMatchRange(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    filterBytes: Uint8Array,
    filterStart: number,
    filterEnd: number,
  ): boolean {
    if (!(keyBytes instanceof Uint8Array && keyBytes.length > 0)) mustBeBytes('keyBytes', keyBytes);
    if (!(filterBytes instanceof Uint8Array && filterBytes.length > 0)) mustBeBytes('filterBytes', filterBytes);
    mustBeKeyRange(keyBytes, keyStart, keyEnd);
    return ribbonFilterMayMatch(keyBytes, keyStart, keyEnd, filterBytes, filterStart, filterEnd, this.#lanes);
  }

  /**
   * `keyMayMatch` for many keys at once.
   *
   * @param answers receives 1 (may match) or 0 (does not match) for each key; at least one byte per key. Default: a new array.
   * @returns `answers`.
   * @throws TypeError when `filter` or `answers` is not a `Uint8Array`, or is detached.
   * @throws RangeError when `answers` is too short, or the offsets of `keys` are not within its bytes.
   */
  keysMayMatch(keys: KeyList, filter: Uint8Array, answers: Uint8Array = answersFor(keys)): Uint8Array {
    return hashFilterMayMatchEach(keys, filter, answers, { kernel: this.#kernel, seedFromEnd: 2, shapeOf: ribbonShapeOf, mayMatch: ribbonFilterMayMatch });
  }
}
