import { MAX_SEQUENCE } from '@bloom/sstable/database';

/** The lowest and the highest sequence of the keys that it received. */
export class SequenceRange {
  #oldest = MAX_SEQUENCE;
  #newest = 0n;

  /** Adds the internal key that ends at `end`. */
  add(bytes: Uint8Array, end: number): void {
    const high = (bytes[end - 4]! | (bytes[end - 3]! << 8) | (bytes[end - 2]! << 16) | (bytes[end - 1]! << 24)) >>> 0;
    const low = bytes[end - 7]! | (bytes[end - 6]! << 8) | (bytes[end - 5]! << 16);
    const sequence = (BigInt(high) << 24n) | BigInt(low);
    if (sequence < this.#oldest) this.#oldest = sequence;
    if (sequence > this.#newest) this.#newest = sequence;
  }

  get bounds(): { readonly oldest: bigint; readonly newest: bigint } {
    return { oldest: this.#oldest, newest: this.#newest };
  }
}
