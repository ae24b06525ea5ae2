/**
 * The Bloom filter's two inner loops over many keys, in WebAssembly: the same bits as `bloom-filter.ts`, in a third to
 * a half of the time. Where WebAssembly or its SIMD is unavailable, for example under a Content-Security-Policy without
 * `wasm-unsafe-eval`, there is no kernel, and the plain loops do the work.
 */
import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { BLOOM_KERNEL } from './bloom-kernel.wasm.js';
import { BLOOM_SEED, hashRange } from '@bloom/hash';
import { MAX_PROBES } from './bloom-filter.js';
import { mustAscend } from './key-list-order.js';
import type { KeyList } from './policy.js';

/** Keys that are copied and hashed at a time: with their hashes they fit into the processor's L1 cache. */
const KEYS_AT_A_TIME = 1024;

/** A filter with more bytes per key looked up is tested in place: copying it into the kernel would take longer. */
const MAX_COPIED_BYTES_PER_KEY = 128;

/** Up to this many elements, a loop is faster than `set` with a view. */
const MAX_LOOPED = 64;

// The kernel's memory, in bytes. The kernel handles eight keys at a time, so all areas except the offsets have room for
// a multiple of eight. The memory never grows: that would detach the buffer, and once a program has detached one, V8
// checks for it at every access to any typed array, which makes hashes and lookups take half as long again.
const OFFSETS_AT = 1024;
const HASHES_AT = OFFSETS_AT + (KEYS_AT_A_TIME + 1) * 4;
const ANSWERS_AT = HASHES_AT + KEYS_AT_A_TIME * 4;
const POSITIONS_AT = ANSWERS_AT + KEYS_AT_A_TIME;
const KEYS_AT = POSITIONS_AT + KEYS_AT_A_TIME * MAX_PROBES * 4;
// A filter takes the rest, from the kernel's own FILTER_AT.

interface KernelExports extends Kernel {
  readonly FILTER_AT: { readonly value: number };
  hashKeys(bytes: number, offsets: number, count: number, seed: number, hashes: number): void;
  setBits(hashes: number, count: number, bits: number, probes: number): void;
  testBits(hashes: number, count: number, bits: number, probes: number, answers: number): void;
  locateBits(hashes: number, count: number, bits: number, probes: number, positions: number): void;
}

/** An instance of the kernel, with its own memory. */
export class BloomKernel {
  readonly #exports: KernelExports;
  readonly #filterAt: number;
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #hashes: Uint32Array;
  readonly #positions: Uint32Array;

  private constructor(exports: KernelExports) {
    const { buffer } = exports.memory;
    this.#exports = exports;
    this.#filterAt = exports.FILTER_AT.value;
    this.#bytes = new Uint8Array(buffer);
    this.#offsets = new Uint32Array(buffer, OFFSETS_AT, KEYS_AT_A_TIME + 1);
    this.#hashes = new Uint32Array(buffer, HASHES_AT, KEYS_AT_A_TIME);
    this.#positions = new Uint32Array(buffer, POSITIONS_AT, KEYS_AT_A_TIME * MAX_PROBES);
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): BloomKernel | undefined {
    const exports = instantiateKernel<KernelExports>(BLOOM_KERNEL);
    return exports && new BloomKernel(exports);
  }

  /** Whether the kernel can handle a filter of that length: the number of bits must fit into a uint32. */
  static takes(filterBytes: number): boolean {
    return filterBytes >= 2 && filterBytes <= 2 ** 29;
  }

  /** Writes the filter of `keys` into zero bytes of a length that it {@link takes}. The caller writes the last byte. */
  fill(filter: Uint8Array, keys: KeyList, probes: number): void {
    const bits = (filter.length - 1) * 8;
    const isCopied = this.#hasRoomFor(filter);
    const filterAt = this.#filterAt;
    const filterEnd = filterAt + filter.length;
    if (isCopied) this.#bytes.fill(0, filterAt, filterEnd);
    for (let first = 0, count: number; first < keys.length; first += count) {
      count = this.#hash(keys, first);
      if (isCopied) this.#exports.setBits(HASHES_AT, count, bits, probes);
      else this.#setLocated(filter, count, bits, probes);
    }
    if (!isCopied) return;
    if (filter.length > MAX_LOOPED) filter.set(this.#bytes.subarray(filterAt, filterEnd));
    else for (let i = 0, from = this.#bytes; i < filter.length; i++) filter[i] = from[filterAt + i]!;
  }

  /** Writes to `answers` 1 for each key that may be in `filter`, whose length it {@link takes}, and 0 for the others. */
  test(filter: Uint8Array, keys: KeyList, probes: number, answers: Uint8Array): void {
    const bits = (filter.length - 1) * 8;
    const isCopied = this.#hasRoomFor(filter) && filter.length <= keys.length * MAX_COPIED_BYTES_PER_KEY;
    if (isCopied) this.#bytes.set(filter, this.#filterAt);
    for (let first = 0, count: number; first < keys.length; first += count) {
      count = this.#hash(keys, first);
      if (isCopied) {
        this.#exports.testBits(HASHES_AT, count, bits, probes, ANSWERS_AT);
        answers.set(this.#bytes.subarray(ANSWERS_AT, ANSWERS_AT + count), first);
      } else {
        this.#testLocated(filter, count, bits, probes, answers, first);
      }
    }
  }

  #hasRoomFor(filter: Uint8Array): boolean {
    return filter.length <= this.#bytes.length - this.#filterAt;
  }

  /** Hashes as many of the next keys as there is room for. @returns how many. */
  #hash(keys: KeyList, first: number): number {
    const { bytes, offsets } = keys;
    const start = offsets[first]!;
    const room = this.#filterAt - KEYS_AT;
    let count = Math.min(KEYS_AT_A_TIME, keys.length - first);
    while (offsets[first + count]! - start > room) count = count >> 1;
    if (count === 0) {
      // One key that is longer than the whole area. Its hash is repeated eight times, as the kernel repeats the last one.
      this.#hashes.fill(hashRange(bytes, start, offsets[first + 1]!, BLOOM_SEED), 0, 8);
      return 1;
    }
    mustAscend(keys, first, first + count);
    if (count < MAX_LOOPED) for (let i = 0, to = this.#offsets; i <= count; i++) to[i] = offsets[first + i]!;
    else this.#offsets.set(offsets.subarray(first, first + count + 1));
    this.#bytes.set(bytes.subarray(start, offsets[first + count]), KEYS_AT);
    // The offsets are relative to the start of the list's buffer.
    this.#exports.hashKeys(KEYS_AT - start, OFFSETS_AT, count, BLOOM_SEED, HASHES_AT);
    return count;
  }

  #setLocated(filter: Uint8Array, count: number, bits: number, probes: number): void {
    this.#exports.locateBits(HASHES_AT, count, bits, probes, POSITIONS_AT);
    const positions = this.#positions;
    for (let i = 0; i < count; i++) {
      let at = positionsOf(i, probes);
      for (let probe = 0; probe < probes; probe++, at += 4) {
        const bit = positions[at]!;
        filter[bit >>> 3]! |= 1 << (bit & 7);
      }
    }
  }

  /** Four keys at a time, without a branch per bit, so that the processor loads many bytes of a large filter at once. */
  #testLocated(
    filter: Uint8Array,
    count: number,
    bits: number,
    probes: number,
    answers: Uint8Array,
    first: number,
  ): void {
    this.#exports.locateBits(HASHES_AT, count, bits, probes, POSITIONS_AT);
    const positions = this.#positions;
    let at = 0;
    for (let i = 0; i < count; i += 4) {
      let a = 1;
      let b = 1;
      let c = 1;
      let d = 1;
      for (const end = at + probes * 4; at < end; at += 4) {
        a &= bitOf(filter, positions[at]!);
        b &= bitOf(filter, positions[at + 1]!);
        c &= bitOf(filter, positions[at + 2]!);
        d &= bitOf(filter, positions[at + 3]!);
      }
      const to = first + i;
      answers[to] = a;
      if (i + 1 < count) answers[to + 1] = b;
      if (i + 2 < count) answers[to + 2] = c;
      if (i + 3 < count) answers[to + 3] = d;
    }
  }
}

/** Where the positions of key `i` start: for each probe, the positions of four keys are adjacent. */
function positionsOf(i: number, probes: number): number {
  return (i >>> 2) * probes * 4 + (i & 3);
}

/** The bit, with the byte's higher bits above it. */
function bitOf(filter: Uint8Array, bit: number): number {
  return filter[bit >>> 3]! >>> (bit & 7);
}
