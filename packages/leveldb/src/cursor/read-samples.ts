/** Receives samples of the entries that a cursor reads. */
export interface ReadSampler {
  /** The number of bytes of keys and values to read before the next sample; called at the start, and after each sample. */
  period(): number;
  /** @param internalKey a view that is valid only during the call. */
  take(internalKey: Uint8Array): void;
}

/** Counts the bytes of the entries that a cursor reads, and has samples taken. */
export class ReadSamples {
  /** Bytes until the next sample. */
  unsampled: number;
  readonly #sampler: ReadSampler;

  constructor(sampler: ReadSampler) {
    this.#sampler = sampler;
    this.unsampled = sampler.period();
  }

  /** Counts the entry whose internal key is `keyBytes[keyStart, keyEnd)`. */
  count(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueLength: number): void {
    const byteLength = keyEnd - keyStart + valueLength;
    while (byteLength > this.unsampled) {
      this.unsampled += this.#sampler.period();
      this.#sampler.take(keyBytes.subarray(keyStart, keyEnd));
    }
    this.unsampled -= byteLength;
  }
}
