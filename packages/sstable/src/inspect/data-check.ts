import type { Place } from '@bloom/bytes';
import type { FilterBlockReader } from '@bloom/filter-block';
import type { BlockWalk } from '../format/block-walk.js';
import { type CompareRange, isBytewiseOrder } from '../format/bytewise-order.js';
import { ComparatorError } from '../format/comparator-error.js';
import type { FindingList } from './finding.js';

/**
 * Checks the keys of data blocks in the order of the index: their order, their index keys and their filters.
 *
 * For each block, the calls are `(startBlock key*)? endBlock`. A block has at most one finding of each kind.
 */
export class DataCheck {
  readonly findings: FindingList;
  /** The first fault of the comparator, which counts only if the keys are what they were checked as. */
  fault: ComparatorError | undefined;
  readonly #compare: CompareRange | undefined;
  readonly #filter: FilterBlockReader | undefined;
  /** The previous key, in this block or an earlier one. */
  #lastKey = new Uint8Array(64);
  #lastKeyLength = -1;
  /** The index key of the previous block. */
  #separator: Uint8Array | undefined;

  // State of the current block.
  #offset = 0;
  #isFirstKey = true;
  #startsTooEarly = false;
  #outOfOrder = 0;
  #firstOutOfOrder = 0;
  private denied = 0;

  /**
   * @param compare undefined when the order is unknown.
   * @param filter undefined when there is no usable filter.
   */
  constructor(compare: CompareRange | undefined, filter: FilterBlockReader | undefined, findings: FindingList) {
    this.#compare = compare && (isBytewiseOrder(compare) ? compare : this.#notingFaults(compare));
    this.#filter = filter;
    this.findings = findings;
  }

  /** `compare`, with 0 in place of a fault. */
  #notingFaults(compare: CompareRange): CompareRange {
    return (...keys) => {
      try {
        return compare(...keys);
      } catch (error) {
        if (!(error instanceof ComparatorError)) throw error;
        this.fault ??= error;
        return 0;
      }
    };
  }

  startBlock(offset: number): void {
    this.#offset = offset;
    this.#isFirstKey = true;
    this.#startsTooEarly = false;
    this.#outOfOrder = this.denied = 0;
  }

  /** Checks the key that `walk` is on. */
  key(walk: BlockWalk): void {
    if (this.#compare !== undefined) this.#order(this.#compare, walk);
    if (this.#filter !== undefined && !this.#filter.keyMayMatch(this.#offset, walk.key)) this.denied++;
    this.#isFirstKey = false;
  }

  /** Ends a block, even one that cannot be read. @param separator its index key, which must not change later. */
  endBlock(place: Place, separator: Uint8Array): void {
    const compare = this.#compare;
    if (this.#outOfOrder > 0) {
      const [first, others] = [this.#firstOutOfOrder, this.#outOfOrder - 1];
      this.findings.add('BLOOM_OUT_OF_ORDER', place, () => {
        return `the key at byte ${first} is not after the previous key${others > 0 ? `, and neither are ${others} more of its keys` : ''}`;
      });
    }
    if (this.#startsTooEarly) {
      this.findings.add('BLOOM_BAD_SEPARATOR', place, () => 'its first key is not after the index key of the previous block');
    }
    if (this.denied > 0) {
      const denied = this.denied;
      this.findings.add('BLOOM_FILTER_MISS', place, () => `its filter does not match ${denied} of its keys`);
    }
    this.#startsTooEarly = false;
    this.#outOfOrder = this.denied = 0;
    if (compare === undefined) return;
    if (this.#lastKeyLength >= 0 && compare(this.#lastKey, 0, this.#lastKeyLength, separator, 0, separator.length) > 0) {
      this.findings.add('BLOOM_BAD_SEPARATOR', place, () => 'its last key is after its index key');
    }
    const previous = this.#separator;
    if (previous !== undefined && compare(previous, 0, previous.length, separator, 0, separator.length) >= 0) {
      this.findings.add('BLOOM_BAD_SEPARATOR', place, () => 'its index key is not after the previous one');
    }
    this.#separator = separator;
  }

  #order(compare: CompareRange, { keyBytes, keyLength, entryStart }: BlockWalk): void {
    if (this.#lastKeyLength >= 0 && compare(this.#lastKey, 0, this.#lastKeyLength, keyBytes, 0, keyLength) >= 0) {
      if (this.#outOfOrder++ === 0) this.#firstOutOfOrder = entryStart;
    }
    const separator = this.#separator;
    if (this.#isFirstKey && separator !== undefined) {
      this.#startsTooEarly = compare(separator, 0, separator.length, keyBytes, 0, keyLength) >= 0;
    }
    if (keyLength > this.#lastKey.length) this.#lastKey = new Uint8Array(keyLength * 2);
    this.#lastKey.set(keyBytes.subarray(0, keyLength));
    this.#lastKeyLength = keyLength;
  }
}
