import type { CompareRange } from '../format/bytewise-order.js';
import { KeyBounds, type Seek, seekOf } from './key-bounds.js';
import { hasBounds, type KeyInterval } from './key-range.js';
import type { Side } from './table-cursor.js';

/** The keys between which a cursor stays. */
export class CursorBounds {
  /** How the first entry is sought; undefined for that of all. */
  readonly first: Seek | undefined;
  /** How the last entry is sought; undefined for that of all. */
  readonly last: Seek | undefined;
  readonly #compare: CompareRange;

  private constructor({ from, to }: KeyBounds, compare: CompareRange) {
    this.first = from;
    this.last = to && seekOf(to, true);
    this.#compare = compare;
  }

  /** Those of a cursor with these options; undefined where it moves over all keys. @throws the errors of {@link KeyBounds}. */
  static of(options: KeyInterval, compare: CompareRange): CursorBounds | undefined {
    const { gt, gte, lt, lte, prefix } = options;
    return hasBounds(options) ? new CursorBounds(new KeyBounds({ gt, gte, lt, lte, prefix }, compare), compare) : undefined;
  }

  /** How to seek a key without going to entries before the first, or after the last. */
  seek(key: Uint8Array, side: Side): Seek {
    const isForward = side === 'at-or-after' || side === 'after';
    const bound = isForward ? this.first : this.last;
    if (bound === undefined) return { key, side };
    const order = this.#compare(key, 0, key.length, bound.key, 0, bound.key.length);
    // Of two seeks of one key, the one that passes over the key is the stricter.
    const isStricter = order === 0 ? bound.side === 'after' || bound.side === 'before' : order < 0 === isForward;
    return isStricter ? bound : { key, side };
  }

  /** Whether the key `keyBytes[keyStart, keyEnd)` is between the bounds. */
  admits(keyBytes: Uint8Array, keyStart: number, keyEnd: number): boolean {
    const { first, last } = this;
    if (first !== undefined) {
      const order = this.#compare(keyBytes, keyStart, keyEnd, first.key, 0, first.key.length);
      if (order < 0 || (order === 0 && first.side === 'after')) return false;
    }
    if (last === undefined) return true;
    const order = this.#compare(keyBytes, keyStart, keyEnd, last.key, 0, last.key.length);
    return order < 0 || (order === 0 && last.side === 'at-or-before');
  }
}
