import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { init } from '@bokuweb/zstd-wasm';

interface Zstd {
  /** Undefined before `init`. */
  readonly HEAPU8?: Uint8Array;
  _malloc(byteLength: number): number;
  _free(address: number): void;
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

  private constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @param capacity the most bytes that contents and streams may have. */
  static async load(capacity: number): Promise<ReferenceZstd> {
    // A second `init` in the same process would replace the module while others use it.
    if (internals.Module.HEAPU8 === undefined) await exported.init();
    return new ReferenceZstd(capacity);
  }

  compress(contents: Uint8Array, level: number): Uint8Array {
    return this.#run(contents, (to, from) => this.#zstd._ZSTD_compress(to, this.#capacity, from, contents.length, level))!;
  }

  /** The contents, or undefined when the stream is refused or the contents are longer than `maxBytes`. */
  decompress(stream: Uint8Array, maxBytes = this.#capacity): Uint8Array | undefined {
    return this.#run(stream, (to, from) => this.#zstd._ZSTD_decompress(to, maxBytes, from, stream.length));
  }

  /** What a function that is given the addresses of output and input writes, unless it fails. */
  #run(input: Uint8Array, run: (to: number, from: number) => number): Uint8Array | undefined {
    // The memory is that of all tests of a process, and is freed so that there is enough for each.
    const from = this.#allocate(input.length);
    const to = this.#allocate(this.#capacity);
    try {
      this.#zstd.HEAPU8!.set(input, from);
      const length = run(to, from);
      return this.#zstd._ZSTD_isError(length) === 0 ? this.#zstd.HEAPU8!.slice(to, to + length) : undefined;
    } finally {
      this.#zstd._free(from);
      this.#zstd._free(to);
    }
  }

  #allocate(byteLength: number): number {
    const address = this.#zstd._malloc(Math.max(1, byteLength));
    if (address === 0) throw new Error(`the reference implementation has no memory for ${byteLength} bytes`);
    return address;
  }
}
