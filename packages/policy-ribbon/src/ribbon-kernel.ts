/**
 * The loops of `build-ribbon.ts` and of batches of lookups in WebAssembly: the same bytes and answers, in a fraction of the time.
 * Where WebAssembly or its SIMD is unavailable, for example under a Content-Security-Policy without `wasm-unsafe-eval`, there is
 * no kernel, and the plain loops do the work.
 */
import { growMemory, instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { hash64Each } from '@bloom/hash';
import type { KeyList } from '@bloom/policy';
import { RIBBON_KERNEL } from './ribbon-kernel.wasm.js';
import { GROUP_SLOTS, type RibbonShape } from './ribbon-filter.js';

/** Keys that are hashed at a time: their hashes fit into the processor's L1 cache. */
const KEYS_AT_A_TIME = 1024;

/** A filter with more bytes per key looked up is tested in place: copying it into the kernel would take longer. */
const MAX_COPIED_BYTES_PER_KEY = 128;

/** Rows are read up to so many bytes past the filter: 17 groups of 17 columns. */
const READ_PAST = 512;

// The kernel's memory, in bytes. It grows for more than a million keys, and pages that are not used take no memory.
const COUNTS_AT = 1024;
const STATES_AT = COUNTS_AT + 2048 * 4;
const STATES_END = STATES_AT + 18 * 24;
const HASHES_AT = STATES_END;
const ANSWERS_AT = HASHES_AT + KEYS_AT_A_TIME * 8;
const FILTER_AT = ANSWERS_AT + KEYS_AT_A_TIME;

/** Bytes for each slot while equations are solved: its row and its value. */
const SLOT_BYTES = { 64: 8 + 4, 128: 32 } as const;
/** Slots are at a multiple of so many bytes, so that none is in two cache lines. */
const SLOTS_ALIGNMENT = 32;

/** Filters of more keys are made by another kernel, which is kept only until memory is collected. */
const MOST_KEPT_KEYS = 2 ** 17;

interface KernelExports extends Kernel {
  sortDistinct(hashes: number, scratch: number, counts: number, n: number): number;
  eliminate64(hashes: number, count: number, slots: number, valueMask: number, rows: number, values: number): number;
  eliminate128(hashes: number, count: number, slots: number, valueMask: number, rows: number): number;
  substitute64(
    rows: number,
    values: number,
    groups: number,
    columns: number,
    extraGroups: number,
    states: number,
    array: number,
  ): void;
  substitute128(rows: number, groups: number, columns: number, extraGroups: number, states: number, array: number): void;
  test(
    hashes: number,
    count: number,
    width: number,
    groups: number,
    columns: number,
    extraGroups: number,
    array: number,
    answers: number,
  ): void;
}

/** An instance of the kernel, with its own memory. */
export class RibbonKernel {
  readonly #exports: KernelExports;
  #bytes: Uint8Array;
  #large: WeakRef<RibbonKernel> | undefined;

  private constructor(exports: KernelExports) {
    this.#exports = exports;
    this.#bytes = new Uint8Array(exports.memory.buffer);
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): RibbonKernel | undefined {
    const exports = instantiateKernel<KernelExports>(RIBBON_KERNEL);
    return exports && new RibbonKernel(exports);
  }

  /**
   * The kernel that makes a filter of so many keys: this one, or one that memory is taken from when it is needed. Until then the next
   * large filter takes four fifths of the time, because the system need not clear new memory.
   */
  forKeys(count: number): RibbonKernel {
    if (count <= MOST_KEPT_KEYS) return this;
    const large = this.#large?.deref() ?? RibbonKernel.create();
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
    if (!this.#hasRoom(HASHES_AT + length * 16)) return undefined;
    hash64Each(bytes, offsets.subarray(0, length + 1), seed, new Uint32Array(this.#bytes.buffer, HASHES_AT, length * 2));
    return this.#exports.sortDistinct(HASHES_AT, HASHES_AT + length * 8, COUNTS_AT, length);
  }

  /** Whether there is room to {@link build} a filter of that shape of the hashes of {@link hash}. */
  hasRoomFor(count: number, { width, groups, columns }: RibbonShape): boolean {
    return this.#hasRoom(slotsAfter(count) + groups * (GROUP_SLOTS * SLOT_BYTES[width] + columns + 1));
  }

  /**
   * The columns of the filter of the hashes of {@link hash}; undefined when the seed gives none. They are lent until the next
   * call.
   */
  build(count: number, { width, groups, columns, extraGroups }: RibbonShape): Uint8Array | undefined {
    const slots = groups * GROUP_SLOTS;
    const rowsAt = slotsAfter(count);
    const arrayAt = rowsAt + slots * SLOT_BYTES[width];
    this.#bytes.fill(0, rowsAt, arrayAt);
    this.#bytes.fill(0, STATES_AT, STATES_END);
    const valueMask = 2 ** (extraGroups > 0 ? columns + 1 : columns) - 1;
    if (width === 64) {
      const valuesAt = rowsAt + slots * 8;
      if (!this.#exports.eliminate64(HASHES_AT, count, slots, valueMask, rowsAt, valuesAt)) return undefined;
      this.#exports.substitute64(rowsAt, valuesAt, groups, columns, extraGroups, STATES_AT, arrayAt);
    } else {
      if (!this.#exports.eliminate128(HASHES_AT, count, slots, valueMask, rowsAt)) return undefined;
      this.#exports.substitute128(rowsAt, groups, columns, extraGroups, STATES_AT, arrayAt);
    }
    return this.#bytes.subarray(arrayAt, arrayAt + groups * columns + extraGroups);
  }

  /** Whether the kernel takes a filter of that length for so many lookups. */
  takes(filterBytes: number, keys: number): boolean {
    return filterBytes <= keys * MAX_COPIED_BYTES_PER_KEY && filterBytes <= this.#bytes.length - FILTER_AT - READ_PAST;
  }

  /** Writes to `answers` 1 for each key that may be in `filter`, which the kernel {@link takes}, and 0 for the others. */
  test(filter: Uint8Array, keys: KeyList, { width, groups, columns, extraGroups }: RibbonShape, answers: Uint8Array): void {
    const seed = filter[filter.length - 2]!;
    const hashes = new Uint32Array(this.#bytes.buffer, HASHES_AT, KEYS_AT_A_TIME * 2);
    this.#bytes.set(filter, FILTER_AT);
    for (let i = 0; i < keys.length; i += KEYS_AT_A_TIME) {
      const count = Math.min(KEYS_AT_A_TIME, keys.length - i);
      hash64Each(keys.bytes, keys.offsets.subarray(i, i + count + 1), seed, hashes);
      this.#exports.test(HASHES_AT, count, width, groups, columns, extraGroups, FILTER_AT, ANSWERS_AT);
      answers.set(this.#bytes.subarray(ANSWERS_AT, ANSWERS_AT + count), i);
    }
  }
}

/** Where the slots begin after so many hashes. */
function slotsAfter(hashes: number): number {
  return Math.ceil((HASHES_AT + hashes * 8) / SLOTS_ALIGNMENT) * SLOTS_ALIGNMENT;
}
