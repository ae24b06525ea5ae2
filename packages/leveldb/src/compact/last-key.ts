import { copyBytes } from '@bloom/bytes/internal';
import type { CompareRange } from '@bloom/sstable/internal';
import type { Entry } from '../cursor/entry-cursor.js';

/** The internal key of the entry that a cursor was on before it moved, in a buffer that is reused. */
export class LastKey {
  /** The key is `bytes[0, length)`. */
  bytes = new Uint8Array(64);
  /** -1: there is none. */
  length = -1;

  set({ keyBytes, keyStart, keyEnd }: Entry): void {
    this.length = keyEnd - keyStart;
    if (this.length > this.bytes.length) this.bytes = new Uint8Array(this.length * 2);
    copyBytes(keyBytes, keyStart, keyEnd, this.bytes, 0);
  }

  clear(): void {
    this.length = -1;
  }

  /** Whether the entry's key is equal to it, ignoring the trailers of both. */
  isEqual(compare: CompareRange, { keyBytes, keyStart, keyEnd }: Entry, lastBytes: number): boolean {
    return this.length >= 0 && compare(this.bytes, 0, this.length - lastBytes, keyBytes, keyStart, keyEnd - lastBytes) === 0;
  }
}
