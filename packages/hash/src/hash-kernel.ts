import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { HASH_KERNEL } from './hash-kernel.wasm.js';

/** Keys that are copied and hashed at a time. */
const MAX_KEYS = 1024;

// The kernel's memory, in bytes: one page of 64 KiB, which never grows, so that views of it stay valid.
const OFFSETS_AT = 1024;
const HASHES_AT = OFFSETS_AT + (MAX_KEYS + 1) * 4;
const KEYS_AT = HASHES_AT + MAX_KEYS * 8;

interface KernelExports extends Kernel {
  hashKeys(bytes: number, offsets: number, count: number, seed: number, hashes: number): void;
  hashKeys64(bytes: number, offsets: number, count: number, seed: number, hashes: number): void;
}

/**
 * The loops of `hashEach` and `hash64Each` in WebAssembly, `assembly/hash-kernel.ts`.
 *
 * All calls can share an instance: each writes what it reads, and none can begin before another has ended.
 */
export class HashKernel {
  readonly #exports: KernelExports;
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #hashes: Uint32Array;

  private constructor(exports: KernelExports) {
    const { buffer } = exports.memory;
    this.#exports = exports;
    this.#bytes = new Uint8Array(buffer);
    this.#offsets = new Uint32Array(buffer, OFFSETS_AT, MAX_KEYS + 1);
    this.#hashes = new Uint32Array(buffer, HASHES_AT, MAX_KEYS * 2);
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): HashKernel | undefined {
    const exports = instantiateKernel<KernelExports>(HASH_KERNEL);
    return exports && new HashKernel(exports);
  }

  /**
   * Writes the hashes of as many keys as there is room for, from key `first` on, to the same places in `out`.
   *
   * @returns how many; 0 when the first two offsets descend or are not within `bytes`, and when the key is too long.
   */
  hash(bytes: Uint8Array, offsets: Uint32Array, first: number, seed: number, out: Uint32Array): number {
    const count = this.#lend(bytes, offsets, first);
    if (count === 0) return 0;
    this.#exports.hashKeys(KEYS_AT - this.#offsets[0]!, OFFSETS_AT, count, seed, HASHES_AT);
    out.set(this.#hashes.subarray(0, count), first);
    return count;
  }

  /** {@link hash} for 64-bit hashes: two elements of `out` for each key. */
  hash64(bytes: Uint8Array, offsets: Uint32Array, first: number, seed: number, out: Uint32Array): number {
    const count = this.#lend(bytes, offsets, first);
    if (count === 0) return 0;
    this.#exports.hashKeys64(KEYS_AT - this.#offsets[0]!, OFFSETS_AT, count, seed, HASHES_AT);
    out.set(this.#hashes.subarray(0, count * 2), first * 2);
    return count;
  }

  /** Copies as many keys as there is room for, and their offsets, which stay relative to the start of `bytes`. */
  #lend(bytes: Uint8Array, offsets: Uint32Array, first: number): number {
    const copied = this.#offsets;
    const most = Math.min(MAX_KEYS, offsets.length - 1 - first);
    copied.set(offsets.subarray(first, first + most + 1));
    // The copies are checked, because memory that threads share can change.
    const start = copied[0]!;
    const end = Math.min(bytes.length, start + (this.#bytes.length - KEYS_AT));
    let count = 0;
    for (let previous = start; count < most; count++) {
      const next = copied[count + 1]!;
      if (previous > next || next > end) break;
      previous = next;
    }
    if (count > 0) this.#bytes.set(bytes.subarray(start, copied[count]), KEYS_AT);
    return count;
  }
}
