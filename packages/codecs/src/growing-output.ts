/** A buffer for output of unknown length. It grows as bytes are written, up to a limit. */
export class GrowingOutput {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;
  readonly #maxBytes: number;

  /** @param expected the number of bytes to allocate first, if the limit allows it. */
  constructor(expected: number, maxBytes: number) {
    this.bytes = new Uint8Array(Math.min(expected, maxBytes));
    this.#maxBytes = maxBytes;
  }

  /** Makes room for `byteLength` more bytes. @throws RangeError when that would exceed the limit. */
  reserve(byteLength: number): void {
    const needed = this.length + byteLength;
    if (needed <= this.bytes.length) return;
    if (needed > this.#maxBytes) throw new RangeError(`the contents exceed the limit of ${this.#maxBytes} bytes`);
    const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(needed, 2 * this.bytes.length)));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  /** The bytes written, in a buffer of exactly their length. */
  toBytes(): Uint8Array {
    return this.length === this.bytes.length ? this.bytes : this.bytes.slice(0, this.length);
  }
}
