import { mustBeOptions, shownValue } from '@bloom/bytes/internal';
import { bloomHashes, fillBloomFilter } from './bloom-filter.js';
import { BloomFilterPolicy } from './bloom-filter-policy.js';
import { fittedShape, isFitted, type ShapeChoice, shapesFor } from './filter-fit.js';
import { FitKernel } from './fit-kernel.js';
import { KeptKernel } from './kept-kernel.js';
import { mustBeKeyList } from './key-list.js';
import type { FilterSink, KeyList } from './policy.js';

/** Filters of 4 KiB blocks have few different numbers of keys; with more than this many, the shapes are computed again. */
const MAX_KEPT_SHAPES = 256;

/** How filters are fitted. */
export interface FitOptions {
  /**
   * The share, 0 to 1, by which filters may be larger than LevelDB's on average. A single filter is larger by at most twice that share.
   * If all filters have the same number of keys, the average can be higher. Default: 0.05.
   */
  readonly extraBytes?: number | undefined;
}

/**
 * LevelDB's Bloom filter, with a length and a number of probes that are fitted to the keys of each filter.
 *
 * The filters have LevelDB's format and its policy's name, and every reader of LevelDB uses them: a reader takes both numbers from the
 * filter. With LevelDB's own numbers, all absent neighbours of numbered keys can pass, such as `0000000000000043` between
 * `…42` and `…44`; see docs/similar-keys.md. Fitted filters let a tenth as many pass, and of random keys about as many as an ideal filter of that size.
 *
 * A filter depends on its keys alone. Filters of more than 4,096 keys or 16 KiB are LevelDB's: among that many keys,
 * absent keys that match have the hash of a stored key, and match filters of any shape. `BlockedBloomFilterPolicy` of
 * `@bloom/policy-blocked` has a wider hash for them.
 *
 * @example
 * ```ts
 * await writeTable('numbers.ldb', entries, { filterPolicy: new FittedBloomFilterPolicy(10) });
 * ```
 */
export class FittedBloomFilterPolicy extends BloomFilterPolicy {
  /** The share by which filters may be larger than LevelDB's on average. */
  readonly extraBytes: number;
  readonly #kernel = new KeptKernel(() => FitKernel.create(), 1);
  readonly #shapes = new Map<number, ShapeChoice>();

  /**
   * @throws RangeError when `bitsPerKey` is not a whole number from 0 to 2^31 - 1, or `extraBytes` is not from 0 to 1.
   */
  constructor(bitsPerKey = 10, options: FitOptions = {}) {
    super(bitsPerKey);
    mustBeOptions('FittedBloomFilterPolicy', options, { extraBytes: true });
    const { extraBytes = 0.05 } = options;
    if (!(typeof extraBytes === 'number' && extraBytes >= 0 && extraBytes <= 1)) throw new RangeError(`extraBytes must be from 0 to 1, got ${shownValue(extraBytes)}`);
    this.extraBytes = extraBytes;
  }

  override createFilter(keys: KeyList, dst: FilterSink): void {
    mustBeKeyList('keys', keys);
    if (!isFitted(keys.length, this.bitsPerKey)) {
      super.createFilter(keys, dst);
      return;
    }
    const shapes = this.#shapesFor(keys.length);
    const kernel = this.#kernel.for(keys.length);
    const fitted = kernel?.fit(keys, shapes);
    if (fitted !== undefined) {
      const filter = dst.extend(fitted.bytes + 1);
      kernel!.copyTo(filter, fitted.bytes);
      filter[fitted.bytes] = fitted.probes;
      return;
    }
    const hashes = bloomHashes(keys);
    const { bytes, probes } = fittedShape(keys, hashes, shapes);
    fillBloomFilter(dst.extend(bytes + 1), hashes, probes);
  }

  #shapesFor(keys: number): ShapeChoice {
    let shapes = this.#shapes.get(keys);
    if (shapes === undefined) {
      if (this.#shapes.size === MAX_KEPT_SHAPES) this.#shapes.clear();
      shapes = shapesFor(keys, this.bitsPerKey, this.extraBytes);
      this.#shapes.set(keys, shapes);
    }
    return shapes;
  }
}
