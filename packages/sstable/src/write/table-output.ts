import type { TableSink } from './sink.js';

/**
 * Output goes to the sink in chunks of this size, so that many blocks share one buffer and one call. The first chunk is
 * smaller, as small tables have only that one.
 */
const CHUNK_BYTES = 256 * 2 ** 10;
const FIRST_CHUNK_BYTES = 64 * 2 ** 10;

/** Gathers the bytes of a table into chunks for its sink, which may keep them. */
export class TableOutput {
  /** The chunk that is being filled: write here, at the position that `extend` returns. */
  bytes = new Uint8Array(0);
  readonly #sink: TableSink;
  #length = 0;
  #given = 0;

  constructor(sink: TableSink) {
    this.#sink = sink;
  }

  /** Bytes of the file so far. */
  get byteLength(): number {
    return this.#given + this.#length;
  }

  /** Makes room for `length` bytes, which the caller writes at once. @returns their position in `bytes`. */
  extend(length: number): number {
    if (length > this.bytes.length - this.#length) {
      this.flush();
      this.bytes = new Uint8Array(Math.max(length, this.#given === 0 ? FIRST_CHUNK_BYTES : CHUNK_BYTES));
    }
    const position = this.#length;
    this.#length += length;
    return position;
  }

  /** Hands the current chunk to the sink. */
  flush(): void {
    if (this.#length === 0) return;
    const bytes = this.#length === this.bytes.length ? this.bytes : this.bytes.subarray(0, this.#length);
    this.#given += this.#length;
    this.#length = 0;
    this.bytes = new Uint8Array(0);
    this.#sink.append(bytes);
  }
}
