/** Where a table's bytes come from. */
export interface Source {
  /** Bytes of the whole file. */
  readonly byteLength: number;
  /** Names the file in errors. */
  readonly name?: string | undefined;

  /**
   * The bytes of the file at `[offset, offset + length)`, which lies inside it.
   *
   * The table reads them and never writes; they must not change while it is open.
   *
   * @param signal ends the read early.
   */
  read(offset: number, length: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array>;
}

/** A source that answers at once. */
export interface SyncSource extends Source {
  read(offset: number, length: number): Uint8Array;
}

/** A table that lies in memory. */
export class MemorySource implements SyncSource {
  readonly byteLength: number;
  readonly name: string | undefined;
  readonly #bytes: Uint8Array;

  /** @param bytes the whole file, which must not change as long as the source is used. */
  constructor(bytes: Uint8Array, name?: string) {
    // A plain array: to take a part of a Buffer costs Node several times as much.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.byteLength = bytes.length;
    this.name = name;
  }

  read(offset: number, length: number): Uint8Array {
    return this.#bytes.subarray(offset, offset + length);
  }
}
