import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { init } from '@bokuweb/zstd-wasm';

interface Zstd {
  readonly HEAPU8: Uint8Array;
  _malloc(byteLength: number): number;
  _ZSTD_compressBound(byteLength: number): number;
  _ZSTD_compress(to: number, capacity: number, from: number, byteLength: number, level: number): number;
  _ZSTD_decompress(to: number, capacity: number, from: number, byteLength: number): number;
  _ZSTD_isError(result: number): number;
}

// Its exported `decompress` uses the size of the first frame as the limit for all frames.
const require = createRequire(import.meta.url);
const main = require.resolve('@bokuweb/zstd-wasm');
const exported = require(main) as { readonly init: typeof init };
const internals = require(join(dirname(main), 'module.js')) as { readonly Module: Zstd };

/** The reference implementation of zstd, compiled to WebAssembly, in version 1.5.6 or later. */
export class ReferenceZstd {
  readonly #zstd = internals.Module;
  readonly #capacity: number;
  readonly #from: number;
  readonly #to: number;

  private constructor(capacity: number) {
    this.#capacity = capacity;
    this.#from = this.#zstd._malloc(capacity);
    this.#to = this.#zstd._malloc(capacity);
  }

  /** @param capacity the most bytes that streams and contents may have. */
  static async load(capacity: number): Promise<ReferenceZstd> {
    await exported.init();
    return new ReferenceZstd(capacity);
  }

  compress(contents: Uint8Array, level: number): Uint8Array {
    this.#zstd.HEAPU8.set(contents, this.#from);
    return this.#result(this.#zstd._ZSTD_compress(this.#to, this.#capacity, this.#from, contents.length, level))!;
  }

  /** The contents, or undefined when the stream is refused or the contents are longer than `maxBytes`. */
  decompress(stream: Uint8Array, maxBytes = this.#capacity): Uint8Array | undefined {
    this.#zstd.HEAPU8.set(stream, this.#from);
    return this.#result(this.#zstd._ZSTD_decompress(this.#to, maxBytes, this.#from, stream.length));
  }

  #result(length: number): Uint8Array | undefined {
    return this.#zstd._ZSTD_isError(length) === 0 ? this.#zstd.HEAPU8.slice(this.#to, this.#to + length) : undefined;
  }
}
