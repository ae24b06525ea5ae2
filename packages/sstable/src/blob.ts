/** Tables in a `Blob` or `File`, which is what browsers provide for chosen or stored files. */
import type { Bytes, Signal } from '@bloom/bytes';
import { mustHaveMethods, throwIfAborted } from '@bloom/bytes/internal';
import { allocate, mustLieInside, PIECE_BYTES, type Source } from './read/source.js';
import { untilAborted } from './read/until-aborted.js';

/** The members of a `Blob` that are needed. */
export interface BlobLike {
  readonly size: number;
  /** The name, in a `File`. */
  readonly name?: string;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/**
 * A table in a `Blob` or `File`. Reads only the requested parts.
 *
 * @example
 * ```ts
 * input.onchange = async () => {
 *   const table = await Table.open(new BlobSource(input.files![0]!));
 * };
 * ```
 */
export class BlobSource implements Source {
  readonly byteLength: number;
  readonly name: string | undefined;
  readonly #blob: BlobLike;

  /** @throws TypeError when `blob` is not a Blob or File, such as `undefined`, the first of an empty list of files. */
  constructor(blob: BlobLike, name?: string) {
    mustHaveMethods('blob', blob, 'a Blob or File', ['slice']);
    if (typeof blob.size !== 'number') throw new TypeError('blob must be a Blob or File, got an object without size');
    this.#blob = blob;
    this.byteLength = blob.size;
    this.name = name ?? blob.name;
  }

  /**
   * @returns fewer bytes than `length` when the Blob returns fewer.
   * @throws RangeError when the range is not inside the Blob; the host's error when the Blob can no longer be read.
   */
  async read(offset: number, length: number, signal?: Signal): Promise<Bytes> {
    mustLieInside(offset, length, this);
    throwIfAborted(signal);
    const reading = this.#read(offset, length, signal);
    return signal === undefined ? reading : untilAborted(reading, signal);
  }

  async #read(offset: number, length: number, signal: Signal | undefined): Promise<Bytes> {
    if (length <= PIECE_BYTES) return new Uint8Array(await this.#blob.slice(offset, offset + length).arrayBuffer());
    const bytes = allocate(length);
    let filled = 0;
    while (filled < length && signal?.aborted !== true) {
      const wanted = Math.min(PIECE_BYTES, length - filled);
      const piece = await this.#read(offset + filled, wanted, undefined);
      bytes.set(piece.subarray(0, wanted), filled);
      filled += Math.min(piece.length, wanted);
      if (piece.length !== wanted) break;
    }
    return bytes.subarray(0, filled);
  }
}
