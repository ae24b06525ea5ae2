import { zstdCodec } from '@bloom/codecs';
import { expect } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { ReferenceZstd } from './reference-zstd.js';
import { sameBytes } from './outcome.js';

const MAX_BYTES = 2 ** 20;

/** Expects that frames are read, or refused, and that the reference implementation does the same. */
export class ZstdJudges {
  readonly #reference: ReferenceZstd;

  private constructor(reference: ReferenceZstd) {
    this.#reference = reference;
  }

  static async load(): Promise<ZstdJudges> {
    return new ZstdJudges(await ReferenceZstd.load(MAX_BYTES));
  }

  /** Expects these contents. */
  expectRead(stream: Uint8Array, contents: readonly number[]): void {
    const expected = Uint8Array.from(contents);
    const read = zstdCodec.decompress(stream, MAX_BYTES);
    expect(read.length).toBe(expected.length);
    expect(sameBytes(read, expected)).toBe(true);
    expect(sameBytes(this.#reference.decompress(stream), expected)).toBe(true);
  }

  /** Expects an error with this message. */
  expectRefused(stream: Uint8Array, message: string): void {
    this.expectFaulty(stream, message);
    expect(this.#reference.decompress(stream)).toBeUndefined();
  }

  /** Expects an error with this message for a frame that the reference may read, although the RFC calls it faulty. */
  expectFaulty(stream: Uint8Array, message: string): void {
    const error = caught(() => zstdCodec.decompress(stream, MAX_BYTES)) as Error | undefined;
    expect(error?.message).toBe(message);
    expect(error?.constructor).toBe(Error);
  }
}
