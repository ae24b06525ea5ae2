/**
 * The loops of `build-fuse.ts` and of batches of lookups in WebAssembly: the same bytes and answers, in a third of the time. Where
 * WebAssembly or its SIMD is unavailable, for example under a Content-Security-Policy without `wasm-unsafe-eval`, there is no
 * kernel, and the plain loops do the work.
 */
import { growMemory, instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { hash64Each } from '@bloom/hash';
import type { KeyList } from '@bloom/policy';
import { FUSE_KERNEL } from './fuse-kernel.wasm.js';
import { type FuseShape, TRAILER_BYTES } from './fuse-filter.js';

/** Keys that are hashed at a time: their hashes fit into the processor's L1 cache. */
const KEYS_AT_A_TIME = 1024;

/** A filter with more bytes per key looked up is tested in place: copying it into the kernel would take longer. */
const MAX_COPIED_BYTES_PER_KEY = 128;

// The kernel's memory, in bytes. It grows for more than a million keys, and pages that are not used take no memory.
const COUNTS_AT = 1024;
const HASHES_AT = COUNTS_AT + 2048 * 4;
const ANSWERS_AT = HASHES_AT + KEYS_AT_A_TIME * 8;
const FILTER_AT = ANSWERS_AT + KEYS_AT_A_TIME;

/** Filters of more keys are made by another kernel, which is kept only until memory is collected. */
const MOST_KEPT_KEYS = 2 ** 17;

interface KernelExports extends Kernel {
  sortDistinct(hashes: number, scratch: number, counts: number, n: number): number;
  build(
    hashes: number,
    count: number,
    segmentLog: number,
    length: number,
    bits: number,
    order: number,
    own: number,
    sums: number,
    counts: number,
    alone: number,
    array: number,
  ): number;
  test(hashes: number, count: number, segmentLog: number, length: number, bits: number, array: number, answers: number): void;
}

/** An instance of the kernel, with its own memory. */
export class FuseKernel {
  readonly #exports: KernelExports;
  #bytes: Uint8Array;
  #large: WeakRef<FuseKernel> | undefined;
  #scratchAt = 0;

  private constructor(exports: KernelExports) {
    this.#exports = exports;
    this.#bytes = new Uint8Array(exports.memory.buffer);
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): FuseKernel | undefined {
    const exports = instantiateKernel<KernelExports>(FUSE_KERNEL);
    return exports && new FuseKernel(exports);
  }

  /**
   * The kernel that makes a filter of so many keys: this one, or one that memory is taken from when it is needed. Until then the next
   * large filter takes four fifths of the time, because the system need not clear new memory.
   */
  forKeys(count: number): FuseKernel {
    if (count <= MOST_KEPT_KEYS) return this;
    const large = this.#large?.deref() ?? FuseKernel.create();
    if (large === undefined) return this;
    this.#large = new WeakRef(large);
    return large;
  }

  /** Whether the memory has so many bytes, or can get them: it may have 1 GiB. */
  #hasRoom(byteLength: number): boolean {
    if (byteLength <= this.#bytes.length) return true;
    const { memory } = this.#exports;
    const isThere = growMemory(memory, byteLength);
    this.#bytes = new Uint8Array(memory.buffer);
    return isThere;
  }

  /** Hashes `keys`, and leaves each hash once. @returns how many there are; undefined when there is no room for them. */
  hash(keys: KeyList, seed: number): number | undefined {
    const { bytes, offsets, length } = keys;
    this.#scratchAt = HASHES_AT + length * 8;
    if (!this.#hasRoom(this.#scratchAt + length * 9)) return undefined;
    hash64Each(bytes, offsets.subarray(0, length + 1), seed, new Uint32Array(this.#bytes.buffer, HASHES_AT, length * 2));
    return this.#exports.sortDistinct(HASHES_AT, this.#scratchAt, COUNTS_AT, length);
  }

  /** The hashes of {@link hash}, the low lane of each and the high one. They are lent until the next call. */
  hashes(count: number): Uint32Array {
    return new Uint32Array(this.#bytes.buffer, HASHES_AT, count * 2);
  }

  /** Whether there is room to {@link build} a filter of that shape of the hashes of {@link hash}. */
  hasRoomFor(count: number, { fingerprintBits, length }: FuseShape): boolean {
    return this.#hasRoom(this.#scratchAt + count * 9 + 16 + length * (13 + fingerprintBits / 8) + 8);
  }

  /** The array of the filter of the hashes of {@link hash}; undefined when the seed gives none. It is lent until the next call. */
  build(count: number, { fingerprintBits, segmentLog, length }: FuseShape): Uint8Array | undefined {
    const ownAt = this.#scratchAt + count * 8;
    const sumsAt = (ownAt + count + 7) & ~7;
    const countsAt = sumsAt + length * 8;
    const aloneAt = (countsAt + length + 3) & ~3;
    // One element more than there are positions: the next one is written before it is known to be alone.
    const arrayAt = aloneAt + length * 4 + 4;
    const end = arrayAt + (length * fingerprintBits) / 8;
    this.#bytes.fill(0, sumsAt, aloneAt);
    this.#bytes.fill(0, arrayAt, end);
    const isBuilt = this.#exports.build(
      HASHES_AT, count, segmentLog, length, fingerprintBits, this.#scratchAt, ownAt, sumsAt, countsAt, aloneAt, arrayAt,
    );
    return isBuilt ? this.#bytes.subarray(arrayAt, end) : undefined;
  }

  /** Whether the kernel takes a filter of that length for so many lookups. */
  takes(filterBytes: number, keys: number): boolean {
    return filterBytes <= keys * MAX_COPIED_BYTES_PER_KEY && filterBytes <= this.#bytes.length - FILTER_AT;
  }

  /** Writes to `answers` 1 for each key that may be in `filter`, which the kernel {@link takes}, and 0 for the others. */
  test(filter: Uint8Array, keys: KeyList, { fingerprintBits, segmentLog, length }: FuseShape, answers: Uint8Array): void {
    const seed = filter[filter.length - TRAILER_BYTES]!;
    const hashes = new Uint32Array(this.#bytes.buffer, HASHES_AT, KEYS_AT_A_TIME * 2);
    this.#bytes.set(filter, FILTER_AT);
    for (let i = 0; i < keys.length; i += KEYS_AT_A_TIME) {
      const count = Math.min(KEYS_AT_A_TIME, keys.length - i);
      hash64Each(keys.bytes, keys.offsets.subarray(i, i + count + 1), seed, hashes);
      this.#exports.test(HASHES_AT, count, segmentLog, length, fingerprintBits, FILTER_AT, ANSWERS_AT);
      answers.set(this.#bytes.subarray(ANSWERS_AT, ANSWERS_AT + count), i);
    }
  }
}
