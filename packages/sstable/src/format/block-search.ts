import type { Structure } from '@bloom/bytes';
import { BlockWalk } from './block-walk.js';
import { compareBytes, compareInternalBytes, type CompareRange, compareTrailers, INTERNAL_KEY_TRAILER_LENGTH } from './bytewise-order.js';
import { copyBytes } from './copy-bytes.js';

/** A {@link BlockWalk} that can also seek a key, by the order of the block. */
export class BlockSearch extends BlockWalk {
  readonly #compare: CompareRange;

  constructor(compare: CompareRange, structure: Structure, file?: string) {
    super(structure, file);
    this.#compare = compare;
  }

  /** Moves to the first entry whose key is at or after `key[start, end)`. */
  seek(key: Uint8Array, start = 0, end = key.length): boolean {
    if (this.entriesEnd === 0) return (this.valid = false);
    let left = 0;
    let right = this.restartCount - 1;
    while (left < right) {
      const middle = (left + right + 1) >>> 1;
      this.parse(this.restartOffset(middle));
      if (this.shared !== 0) throw this.damage(`the entry at byte ${this.entryStart} shares key bytes at a restart`);
      const { bytes } = this;
      if (this.#compare(bytes, this.unsharedStart, this.valueStart, key, start, end) < 0) left = middle;
      else right = middle - 1;
    }
    this.toRestart(left);
    if (this.#compare === compareBytes) return this.#seekBytes(key, start, end);
    if (this.#compare === compareInternalBytes && end - start >= INTERNAL_KEY_TRAILER_LENGTH) {
      const found = this.#seekInternal(key, start, end - INTERNAL_KEY_TRAILER_LENGTH);
      if (found !== undefined) return found;
      this.toRestart(left);
    }
    while (this.step()) if (this.#compare(this.keyBytes, 0, this.keyLength, key, start, end) >= 0) return true;
    return false;
  }

  /**
   * Walks on to the first entry whose key is at or after `target[start, end)` in bytewise order.
   *
   * Keys on the way are not assembled. An entry that shares more bytes with its predecessor than the predecessor has in
   * common with the target compares with the target as its predecessor did; of other entries only the unshared bytes
   * are compared.
   */
  #seekBytes(target: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this;
    /** The length of the common prefix of the entry's key and the target. */
    let common = 0;
    while (this.nextEntry < this.entriesEnd) {
      this.parse(this.nextEntry);
      this.checkShared();
      const shared = this.shared;
      this.keyLength = shared + this.valueStart - this.unsharedStart;
      if (shared > common) continue;
      let position = this.unsharedStart;
      let at = start + shared;
      const stop = Math.min(this.valueStart, position + end - at);
      while (position < stop && bytes[position] === target[at]) {
        position++;
        at++;
      }
      common = at - start;
      if (at === end || (position < this.valueStart && bytes[position]! > target[at]!)) return this.#land(target, start);
    }
    return false;
  }

  /**
   * Like {@link #seekBytes}, for internal keys: `target[start, end)` is the user key, and its trailer follows.
   *
   * @returns undefined when it comes to an entry whose user key is equal to the target's, or a prefix of it. The next
   *   entry may then share bytes of the trailer, so keys must be assembled. A lookup of the newest version never comes to
   *   an equal user key, because its target sorts before all versions.
   */
  #seekInternal(target: Uint8Array, start: number, end: number): boolean | undefined {
    const { bytes } = this;
    /** The length of the common prefix of the entry's user key and the target's, both of which are longer than it. */
    let common = 0;
    while (this.nextEntry < this.entriesEnd) {
      this.parse(this.nextEntry);
      this.checkShared();
      const shared = this.shared;
      this.keyLength = shared + this.valueStart - this.unsharedStart;
      if (shared > common) continue;
      const userKeyEnd = this.valueStart - INTERNAL_KEY_TRAILER_LENGTH;
      let position = this.unsharedStart;
      if (userKeyEnd < position) return undefined;
      let at = start + shared;
      const stop = Math.min(userKeyEnd, position + end - at);
      while (position < stop && bytes[position] === target[at]) {
        position++;
        at++;
      }
      common = at - start;
      if (position === userKeyEnd) {
        return at === end && compareTrailers(bytes, position, target, at) >= 0 ? this.#land(target, start) : undefined;
      }
      if (at === end || bytes[position]! > target[at]!) return this.#land(target, start);
    }
    return false;
  }

  /** Ends a search on the parsed entry, whose shared bytes are equal to the target's. */
  #land(target: Uint8Array, start: number): true {
    this.reserveKey(this.keyLength, 0);
    copyBytes(target, start, start + this.shared, this.keyBytes, 0);
    copyBytes(this.bytes, this.unsharedStart, this.valueStart, this.keyBytes, this.shared);
    return (this.valid = true);
  }
}
