import type { Bytes } from '@bloom/bytes';
import { shownValue } from '@bloom/bytes/internal';
import type { FilterSink } from './policy.js';

/**
 * A {@link FilterSink} that concatenates filters.
 *
 * Each part is lent in a buffer of its own, so that a policy cannot reach earlier filters; `settle` copies the parts to
 * the end of those.
 */
export class FilterBuffer implements FilterSink {
  #settled = new Uint8Array(0);
  #settledLength = 0;
  #lent: Uint8Array[] = [];
  #byteLength = 0;
  readonly #maxBytes: number;
  #refusedLength: number | undefined;

  /**
   * @param maxBytes the most bytes of all filters.
   * @throws RangeError when `maxBytes` is not a number, or is below 0.
   */
  constructor(maxBytes = Infinity) {
    if (!(typeof maxBytes === 'number' && maxBytes >= 0)) throw new RangeError(`maxBytes must be a number, at least 0, got ${shownValue(maxBytes)}`);
    this.#maxBytes = maxBytes;
  }

  /** Total bytes appended. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** The total that a policy asked for, if it was more than `maxBytes`. */
  get refusedLength(): number | undefined {
    return this.#refusedLength;
  }

  /** @throws RangeError when the filters would have more than `maxBytes` bytes. No memory is allocated then. */
  extend(byteLength: number): Uint8Array {
    if (!(Number.isSafeInteger(byteLength) && byteLength >= 0)) {
      throw new RangeError(`byteLength must be a whole number of bytes, got ${shownValue(byteLength)}`);
    }
    const total = this.#byteLength + byteLength;
    if (total > this.#maxBytes) {
      this.#refusedLength = total;
      throw new RangeError(`filters would have ${total} bytes, the limit is ${this.#maxBytes}`);
    }
    const part = new Uint8Array(byteLength);
    this.#lent.push(part);
    this.#byteLength += byteLength;
    return part;
  }

  /** Ends the loan of all parts: later writes to them have no effect. */
  settle(): void {
    if (this.#byteLength > this.#settled.length) {
      const grown = new Uint8Array(Math.max(this.#byteLength, this.#settled.length * 2));
      grown.set(this.#settled.subarray(0, this.#settledLength));
      this.#settled = grown;
    }
    for (const part of this.#lent) {
      this.#settled.set(part, this.#settledLength);
      this.#settledLength += part.length;
    }
    this.#lent = [];
  }

  /** A copy of all appended bytes. */
  toBytes(): Bytes {
    const bytes = new Uint8Array(this.#byteLength);
    this.copyTo(bytes);
    return bytes;
  }

  /** Copies all appended bytes to the start of `bytes`. */
  copyTo(bytes: Uint8Array): void {
    this.settle();
    bytes.set(this.#settled.subarray(0, this.#settledLength));
  }
}
