/** Bytes that are gathered before the sink gets them: one buffer and one call for many blocks. */
const CHUNK_BYTES = 64 * 2 ** 10;

/** Where the bytes of a table go. */
export interface TableSink {
  /** Takes the next bytes of the file, several blocks at a time; they are the sink's to keep. */
  append(bytes: Uint8Array): void;
}

/** The bytes of a table on their way to a sink, in pieces that are the sink's to keep. */
export class TableOutput {
  /** Where the next bytes are to be written, once there is room. */
  bytes = new Uint8Array(0);
  readonly #sink: TableSink;
  #length = 0;
  #given = 0;

  constructor(sink: TableSink) {
    this.#sink = sink;
  }

  /** How many bytes the file has so far. */
  get byteLength(): number {
    return this.#given + this.#length;
  }

  /** Makes room for `length` bytes that will be written at once. @returns where in `bytes`. */
  extend(length: number): number {
    if (length > this.bytes.length - this.#length) {
      this.flush();
      this.bytes = new Uint8Array(Math.max(length, CHUNK_BYTES));
    }
    const position = this.#length;
    this.#length += length;
    return position;
  }

  /** Gives the sink what was gathered. */
  flush(): void {
    if (this.#length === 0) return;
    const bytes = this.#length === this.bytes.length ? this.bytes : this.bytes.subarray(0, this.#length);
    this.#given += this.#length;
    this.#length = 0;
    this.bytes = new Uint8Array(0);
    this.#sink.append(bytes);
  }
}
