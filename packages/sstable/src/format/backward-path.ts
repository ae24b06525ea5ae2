import { copyBytes } from '@bloom/bytes/internal';

/** The initial size of the array for key bytes: enough for a restart interval of short keys, so that the array rarely grows. */
const MIN_OVERWRITTEN = 512;

/**
 * The entries from a restart up to the current one, so that `prev` takes one step instead of a walk from the restart.
 *
 * For each entry it keeps its position, and the end of the previous key, which the entry's own key overwrote. A position
 * takes four bytes and an entry of a block at least three; the key bytes are never more than the block has.
 */
export class BackwardPath {
  length = 0;
  #starts = new Uint32Array(0);
  #overwritten = new Uint8Array(0);
  #overwrittenEnd = 0;

  /** Where in the block the current entry starts. */
  get entryStart(): number {
    return this.#starts[this.length - 1]!;
  }

  clear(): void {
    this.length = 0;
    this.#overwrittenEnd = 0;
  }

  /** Records the next entry, before its key overwrites the previous one from byte `shared` on. */
  push(entryStart: number, shared: number, previousKey: Uint8Array, previousKeyLength: number): void {
    if (this.length === this.#starts.length) {
      const grown = new Uint32Array(Math.max(64, this.length * 2));
      grown.set(this.#starts);
      this.#starts = grown;
    }
    this.#starts[this.length++] = entryStart;
    const end = this.#overwrittenEnd + previousKeyLength - shared;
    if (end > this.#overwritten.length) {
      const grown = new Uint8Array(Math.max(MIN_OVERWRITTEN, end * 2));
      grown.set(this.#overwritten.subarray(0, this.#overwrittenEnd));
      this.#overwritten = grown;
    }
    copyBytes(previousKey, shared, previousKeyLength, this.#overwritten, this.#overwrittenEnd);
    this.#overwrittenEnd = end;
  }

  /** Drops the current entry. */
  pop(): void {
    this.length--;
  }

  /** Puts back into `key` what the dropped entry overwrote: the bytes from `shared` to `previousKeyLength`. */
  restore(key: Uint8Array, shared: number, previousKeyLength: number): void {
    const start = this.#overwrittenEnd - (previousKeyLength - shared);
    copyBytes(this.#overwritten, start, this.#overwrittenEnd, key, shared);
    this.#overwrittenEnd = start;
  }
}
