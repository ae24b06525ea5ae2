/** Output whose length is not known beforehand: it grows with what is written, never past a limit. */
export class GrowingOutput {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;
  readonly #maxBytes: number;

  /** @param expected bytes that are allocated at once, where the limit allows. */
  constructor(expected: number, maxBytes: number) {
    this.bytes = new Uint8Array(Math.min(expected, maxBytes));
    this.#maxBytes = maxBytes;
  }

  /** Makes room for `byteLength` more. @throws RangeError when the limit does not allow them. */
  reserve(byteLength: number): void {
    const needed = this.length + byteLength;
    if (needed <= this.bytes.length) return;
    if (needed > this.#maxBytes) throw new RangeError(`the contents have more than ${this.#maxBytes} bytes, the limit`);
    const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(needed, 2 * this.bytes.length)));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  /** What was written, in a buffer of its own length. */
  toBytes(): Uint8Array {
    return this.length === this.bytes.length ? this.bytes : this.bytes.slice(0, this.length);
  }
}
