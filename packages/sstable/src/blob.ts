/** Tables in a `Blob` or `File`: what a browser gives for a file that was chosen or stored. */
import type { Source } from './read/source.js';

/** What is needed of a `Blob`. */
export interface BlobLike {
  readonly size: number;
  /** Of a `File`: its name. */
  readonly name?: string;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/**
 * A table in a `Blob` or `File`. Only the parts that are asked for are read.
 *
 * @example
 * ```ts
 * input.onchange = async () => {
 *   const table = await Table.open(new BlobSource(input.files[0]));
 * };
 * ```
 */
export class BlobSource implements Source {
  readonly byteLength: number;
  readonly name: string | undefined;
  readonly #blob: BlobLike;

  constructor(blob: BlobLike, name = blob.name) {
    this.#blob = blob;
    this.byteLength = blob.size;
    this.name = name;
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    signal?.throwIfAborted();
    return new Uint8Array(await this.#blob.slice(offset, offset + length).arrayBuffer());
  }
}
