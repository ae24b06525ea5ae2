/**
 * The two inner loops of the Bloom filter over many keys, in WebAssembly: the same bits as `bloom-filter.ts`, in a
 * third to a half of the time. Where WebAssembly, or its SIMD, is not to be had, such as under a Content-Security-Policy
 * without `wasm-unsafe-eval`, there is no kernel, and the plain loops do the work.
 */
import { BLOOM_KERNEL } from './bloom-kernel.wasm.js';
import type { KeyList } from './policy.js';

/** Keys that are hashed at a time: their hashes stay in the processor's second cache. */
const KEYS_AT_A_TIME = 4096;

/** Above this many bytes a filter is not copied into the kernel's memory, which would keep them. */
const MAX_FILTER_BYTES = 16 * 2 ** 20;

/** The first bytes of the memory are left alone. */
const MEMORY_START = 64;

const PAGE_BYTES = 2 ** 16;

/** What is needed of the host's WebAssembly, where it has one. */
interface WebAssemblyHost {
  readonly WebAssembly?: {
    readonly Module: new (binary: Uint8Array) => object;
    readonly Instance: new (module: object, imports: object) => { readonly exports: object };
  };
}

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  hashKeys(bytes: number, offsets: number, count: number, hashes: number): void;
  setBits(hashes: number, count: number, filter: number, bits: number, probes: number): void;
  testBits(hashes: number, count: number, filter: number, bits: number, probes: number, answers: number): void;
}

/** Where a batch of keys, its hashes and its answers are in the kernel's memory. */
interface Batch {
  readonly count: number;
  readonly hashes: number;
  readonly answers: number;
}

/** The kernel, with a memory of its own. */
export class BloomKernel {
  readonly #exports: KernelExports;
  #bytes: Uint8Array;

  private constructor(exports: KernelExports) {
    this.#exports = exports;
    this.#bytes = new Uint8Array(exports.memory.buffer);
  }

  /** A new kernel, or undefined where there can be none. */
  static create(): BloomKernel | undefined {
    const { WebAssembly } = globalThis as WebAssemblyHost;
    if (WebAssembly === undefined) return undefined;
    try {
      const binary = Uint8Array.from(atob(BLOOM_KERNEL), (character) => character.charCodeAt(0));
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary), {});
      return new BloomKernel(exports as KernelExports);
    } catch {
      return undefined;
    }
  }

  /** Whether a filter of that length is for the kernel. */
  static takes(filterBytes: number): boolean {
    return filterBytes >= 2 && filterBytes <= MAX_FILTER_BYTES;
  }

  /** Makes zero bytes, which it `takes`, the filter of `keys`; the last byte is the caller's to write. */
  fill(filter: Uint8Array, keys: KeyList, probes: number): void {
    const filterAt = MEMORY_START;
    const filterEnd = this.#reserve(filterAt, filter.length);
    this.#bytes.fill(0, filterAt, filterEnd);
    const bits = (filter.length - 1) * 8;
    for (let first = 0; first < keys.length; first += KEYS_AT_A_TIME) {
      const { hashes, count } = this.#hash(keys, first, filterEnd);
      this.#exports.setBits(hashes, count, filterAt, bits, probes);
    }
    filter.set(this.#bytes.subarray(filterAt, filterEnd));
  }

  /** Writes 1 to `answers` for each key that may be in `filter`, which it `takes`, 0 for the others. */
  test(filter: Uint8Array, keys: KeyList, probes: number, answers: Uint8Array): void {
    const filterAt = MEMORY_START;
    const filterEnd = this.#reserve(filterAt, filter.length);
    this.#bytes.set(filter, filterAt);
    const bits = (filter.length - 1) * 8;
    for (let first = 0; first < keys.length; first += KEYS_AT_A_TIME) {
      const batch = this.#hash(keys, first, filterEnd);
      this.#exports.testBits(batch.hashes, batch.count, filterAt, bits, probes, batch.answers);
      answers.set(this.#bytes.subarray(batch.answers, batch.answers + batch.count), first);
    }
  }

  /** Copies the next keys behind `start`, and hashes them. */
  #hash(keys: KeyList, first: number, start: number): Batch {
    const { bytes, offsets } = keys;
    const count = Math.min(KEYS_AT_A_TIME, keys.length - first);
    const keysStart = offsets[first]!;
    const keysEnd = offsets[first + count]!;
    const offsetsAt = align4(start);
    const hashes = offsetsAt + (count + 1) * 4;
    const answers = hashes + count * 4;
    const bytesAt = answers + count;
    this.#reserve(bytesAt, keysEnd - keysStart);
    new Uint32Array(this.#bytes.buffer, offsetsAt, count + 1).set(offsets.subarray(first, first + count + 1));
    this.#bytes.set(bytes.subarray(keysStart, keysEnd), bytesAt);
    // The offsets count from the start of the list's buffer.
    this.#exports.hashKeys(bytesAt - keysStart, offsetsAt, count, hashes);
    return { count, hashes, answers };
  }

  /** Makes sure that the memory has `byteLength` bytes at `start`. @returns the address behind them. */
  #reserve(start: number, byteLength: number): number {
    const end = start + byteLength;
    if (end > this.#bytes.length) {
      this.#exports.memory.grow(Math.ceil((end - this.#bytes.length) / PAGE_BYTES));
      this.#bytes = new Uint8Array(this.#exports.memory.buffer);
    }
    return end;
  }
}

function align4(address: number): number {
  return Math.ceil(address / 4) * 4;
}
