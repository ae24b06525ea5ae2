import type { DecoderState } from './entry.js';

/** The pieces of an entry whose end has not been read yet. */
export class BegunEntry {
  byteLength: number;
  #pieces: Uint8Array[];

  /** @param state where another decoder stopped; undefined at the start of an input. */
  constructor(state: DecoderState | undefined) {
    this.byteLength = state?.begun.length ?? 0;
    this.#pieces = state === undefined || this.byteLength === 0 ? [] : [state.begun];
  }

  /** Adds a copy of the next piece. */
  add(piece: Uint8Array): void {
    this.#pieces.push(piece.slice());
    this.byteLength += piece.length;
  }

  /** The whole entry, which ends with `last`. The next entry begins after it. */
  take(last: Uint8Array): Uint8Array {
    if (this.byteLength === 0) return last;
    const { buffer, byteOffset, length } = Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.byteLength = 0;
    return new Uint8Array(buffer, byteOffset, length);
  }

  /** A copy of the pieces. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(Buffer.concat(this.#pieces));
  }
}
