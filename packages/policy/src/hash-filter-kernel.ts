import { growMemory, type Kernel } from '@bloom/bytes/internal';
import { hash64Each } from '@bloom/hash';
import type { KeyList } from './policy.js';

/** Keys hashed at a time: their hashes fit into the processor's L1 cache. */
const KEYS_AT_A_TIME = 1024;
/** A filter with more bytes per key looked up is tested in place: copying it into the kernel would take longer. */
const MAX_COPIED_BYTES_PER_KEY = 128;
/** Filters of more keys are made by another kernel, which is kept only until memory is collected. */
const MOST_KEPT_KEYS = 2 ** 17;

// The kernel's memory, in bytes. It grows for more than a million keys, and pages that are not used take no memory.
const COUNTS_AT = 1024;
/** Where a kernel has room for a state of its own. */
export const STATE_AT = COUNTS_AT + 2048 * 4;
/** The bytes of the state. */
export const STATE_BYTES = 18 * 24;
/** Where the hashes are. */
export const HASHES_AT = STATE_AT + STATE_BYTES;
const ANSWERS_AT = HASHES_AT + KEYS_AT_A_TIME * 8;
const FILTER_AT = ANSWERS_AT + KEYS_AT_A_TIME;

/** What every kernel of 64-bit hashes exports. */
export interface HashFilterKernelExports extends Kernel {
  /** Sorts hashes, and leaves each once. @returns how many there are. */
  sortDistinct(hashes: number, scratch: number, counts: number, n: number): number;
}

/**
 * A WebAssembly kernel that makes and tests filters of 64-bit hashes, with its own memory: the same bytes and answers as the plain
 * loops, in less time. Where WebAssembly or its SIMD is unavailable, for example under a Content-Security-Policy without
 * `wasm-unsafe-eval`, there is no kernel, and the plain loops do the work.
 */
export abstract class HashFilterKernel<Shape> {
  protected bytes: Uint8Array;
  /** The first byte that the hashes of {@link hash} can leave free. */
  protected scratchAt = 0;
  readonly #exports: HashFilterKernelExports;
  readonly #readPast: number;
  #large: WeakRef<this> | undefined;

  /** @param readPast the number of bytes that a test may read past the filter. */
  protected constructor(exports: HashFilterKernelExports, readPast: number) {
    this.#exports = exports;
    this.#readPast = readPast;
    this.bytes = new Uint8Array(exports.memory.buffer);
  }

  /** A new kernel of the same kind; undefined where the host does not allow one. */
  protected abstract another(): this | undefined;

  /** The number of bytes of memory that {@link build} needs. */
  protected abstract bytesFor(count: number, shape: Shape): number;

  /**
   * The array of a filter of the hashes of {@link hash}; undefined when the seed gives none. It is lent until the next call. There must
   * be room for it: {@link hasRoomFor}.
   */
  abstract build(count: number, shape: Shape): Uint8Array | undefined;

  /** Writes to `answers` 1 for each of `count` hashes that may be in the filter, and 0 for the others. All are addresses. */
  protected abstract testHashes(hashes: number, count: number, shape: Shape, filter: number, answers: number): void;

  /**
   * The kernel that makes a filter of this many keys: this one, or one whose memory is freed when the host needs it. Until then the
   * next large filter takes four fifths of the time, because the system need not clear new memory.
   */
  forKeys(count: number): this {
    if (count <= MOST_KEPT_KEYS) return this;
    const large = this.#large?.deref() ?? this.another();
    if (large === undefined) return this;
    this.#large = new WeakRef(large);
    return large;
  }

  /** Whether the memory has this many bytes, or can get them: it may have 1 GiB. */
  #hasRoom(byteLength: number): boolean {
    if (byteLength <= this.bytes.length) return true;
    const { memory } = this.#exports;
    const isThere = growMemory(memory, byteLength);
    this.bytes = new Uint8Array(memory.buffer);
    return isThere;
  }

  /** Hashes `keys`, and leaves each hash once. @returns how many there are; undefined when there is no room for them. */
  hash(keys: KeyList, seed: number): number | undefined {
    const { bytes, offsets, length } = keys;
    this.scratchAt = HASHES_AT + length * 8;
    if (!this.#hasRoom(this.scratchAt + length * 8)) return undefined;
    hash64Each(bytes, offsets.subarray(0, length + 1), seed, new Uint32Array(this.bytes.buffer, HASHES_AT, length * 2));
    return this.#exports.sortDistinct(HASHES_AT, this.scratchAt, COUNTS_AT, length);
  }

  /** The hashes of {@link hash}, the low lane of each and the high one. They are lent until the next call. */
  hashes(count: number): Uint32Array {
    return new Uint32Array(this.bytes.buffer, HASHES_AT, count * 2);
  }

  /** Whether there is room to {@link build} a filter of that shape of the hashes of {@link hash}. */
  hasRoomFor(count: number, shape: Shape): boolean {
    return this.#hasRoom(this.bytesFor(count, shape));
  }

  /** Whether the kernel takes a filter of that length for this many lookups. */
  takes(filterBytes: number, keys: number): boolean {
    return filterBytes <= keys * MAX_COPIED_BYTES_PER_KEY && filterBytes <= this.bytes.length - FILTER_AT - this.#readPast;
  }

  /** Writes to `answers` 1 for each key that may be in `filter`, which the kernel {@link takes}, and 0 for the others. */
  test(filter: Uint8Array, keys: KeyList, seed: number, shape: Shape, answers: Uint8Array): void {
    const hashes = new Uint32Array(this.bytes.buffer, HASHES_AT, KEYS_AT_A_TIME * 2);
    this.bytes.set(filter, FILTER_AT);
    for (let i = 0; i < keys.length; i += KEYS_AT_A_TIME) {
      const count = Math.min(KEYS_AT_A_TIME, keys.length - i);
      hash64Each(keys.bytes, keys.offsets.subarray(i, i + count + 1), seed, hashes);
      this.testHashes(HASHES_AT, count, shape, FILTER_AT, ANSWERS_AT);
      answers.set(this.bytes.subarray(ANSWERS_AT, ANSWERS_AT + count), i);
    }
  }
}
