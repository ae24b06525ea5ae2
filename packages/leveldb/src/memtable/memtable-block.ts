import { putVarint } from '@bloom/bytes';
import { copyBytes } from '@bloom/bytes/internal';
import { HEAD, type Memtable } from './memtable.js';

/** The first block has at most this many bytes, unless its first entry is longer. Each further block may have twice as many: a short walk copies few entries. */
const FIRST_BYTES = 2 ** 10;
const MOST_BYTES = 2 ** 13;
/** Three varint32. */
const MAX_LENGTHS_BYTES = 15;
/** One restart, at 0, and the number of restarts. */
const RESTARTS = Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0);

/** Entries of a memtable as the contents of a block, in which no key shares bytes with the one before. */
export class MemtableBlock {
  /** The contents, valid until the next `fill`. */
  contents: Uint8Array = RESTARTS;
  /** Where in the contents the last entry starts. */
  lastStart = 0;
  /** The nodes of the entries. Others, which were added since, may be between them. */
  readonly nodes: number[] = [];
  #bytes = new Uint8Array(0);
  #most = FIRST_BYTES;

  /** Replaces the contents with the entries from a node on, or with those up to it. */
  fill(memtable: Memtable, from: number, reverse: boolean): void {
    const { nodes } = this;
    nodes.length = 0;
    let byteLength = 0;
    for (let node = from; node !== HEAD; node = reverse ? memtable.before(node) : memtable.after(node)) {
      byteLength += MAX_LENGTHS_BYTES + memtable.keyLength(node) + memtable.valueLength(node);
      if (nodes.length > 0 && byteLength > this.#most) break;
      nodes.push(node);
    }
    if (reverse) nodes.reverse();
    this.#most = Math.min(this.#most * 2, MOST_BYTES);
    if (byteLength + RESTARTS.length > this.#bytes.length) this.#bytes = new Uint8Array(byteLength + RESTARTS.length);
    const end = this.#put(memtable);
    this.#bytes.set(RESTARTS, end);
    this.contents = this.#bytes.subarray(0, end + RESTARTS.length);
  }

  /** @returns where the entries end. */
  #put(memtable: Memtable): number {
    const bytes = this.#bytes;
    const { arena } = memtable;
    let end = 0;
    for (const node of this.nodes) {
      const keyLength = memtable.keyLength(node);
      const valueLength = memtable.valueLength(node);
      this.lastStart = end;
      bytes[end++] = 0;
      end = putVarint(bytes, putVarint(bytes, end, keyLength), valueLength);
      const start = memtable.keyStart(node);
      // The value follows the key.
      copyBytes(arena, start, start + keyLength + valueLength, bytes, end);
      end += keyLength + valueLength;
    }
    return end;
  }
}
