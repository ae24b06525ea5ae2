/**
 * Finds a key in a block: a binary search over the restarts, then a scan.
 *
 * Source: LevelDB, table/block.cc, `Block::Iter::Seek`.
 */
import type { Structure } from '@bloom/bytes';
import { copyBytes } from '@bloom/bytes/internal';
import { BlockWalk } from './block-walk.js';
import { type CompareRange, isBytewiseOrder } from './bytewise-order.js';
import { BytewiseSearch, PAST, UNKNOWN } from './bytewise-search.js';

/** A {@link BlockWalk} that can also seek a key, by the order of the block. */
export class BlockSearch extends BlockWalk {
  /** For lookups, which need a walk only if its outcome is {@link UNKNOWN}. */
  readonly entries: BytewiseSearch;
  private readonly compare: CompareRange;

  constructor(compare: CompareRange, structure: Structure, file?: string) {
    super(structure, file);
    this.entries = new BytewiseSearch(compare);
    this.compare = compare;
  }

  /** Moves to the first entry whose key is at or after `key[start, end)`. */
  seek(key: Uint8Array, start = 0, end = key.length): boolean {
    this.valid = false;
    const outcome = this.entries.search(this.bytes, key, start, end);
    if (outcome === PAST) return false;
    return outcome === UNKNOWN ? this.walkTo(key, start, end) : this.land(key, start);
  }

  /** Does {@link seek} in any order of keys, and reports damage on the way. */
  private walkTo(key: Uint8Array, start: number, end: number): boolean {
    this.entries.restart = 0;
    if (this.entriesEnd === 0) return false;
    let left = 0;
    let right = this.restartCount - 1;
    while (left < right) {
      const middle = (left + right + 1) >>> 1;
      this.parse(this.restartOffset(middle));
      if (this.shared !== 0) throw this.damage(`the entry at byte ${this.entryStart} is at a restart, but its key is not whole`);
      if (this.compare(this.bytes, this.unsharedStart, this.valueStart, key, start, end) < 0) left = middle;
      else right = middle - 1;
    }
    this.entries.restart = left;
    this.toRestart(left);
    while (this.step()) if (this.compare(this.keyBytes, 0, this.keyLength, key, start, end) >= 0) return true;
    return false;
  }

  /** Moves to the entry that a search found, whose shared bytes are equal to the target's. */
  private land(target: Uint8Array, start: number): true {
    const { entryStart, shared, unsharedStart, valueStart, valueEnd, restart } = this.entries;
    this.place(entryStart, shared, unsharedStart, valueStart, valueEnd, restart);
    this.reserveKey(this.keyLength, 0);
    copyBytes(target, start, start + shared, this.keyBytes, 0);
    copyBytes(this.bytes, unsharedStart, valueStart, this.keyBytes, shared);
    return (this.valid = true);
  }
}

/**
 * A function that returns a search for one data block, valid until its next call. In the two bytewise orders it returns the same object
 * each time. In any other order it returns a new one, because a comparator may look up another key before the search has ended.
 */
export function dataBlockSearches(compare: CompareRange, file?: string): () => BlockSearch {
  const make = (): BlockSearch => new BlockSearch(compare, 'data block', file);
  if (!isBytewiseOrder(compare)) return make;
  const shared = make();
  return () => shared;
}
