/** The search for the shape of a fitted filter, `filter-fit.ts`, in WebAssembly, for one filter at a time. */
import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { type FilterShape, JUDGES_PER_PASS, judgeStride, JUDGES_PER_KEY, MAX_FITTED_KEYS, PATIENCE, SHAPES_PER_PASS } from './filter-fit.js';
import { FIT_KERNEL } from './fit-kernel.wasm.js';
import { mustAscend } from './key-list-order.js';
import type { KeyList } from './policy.js';

/** The most shapes that are tried for a filter. */
const MAX_SHAPES = 512;
/** Judges of one filter. */
const MAX_JUDGES = 1024;
/** Up to this many elements, a loop is faster than `set` with a view. */
const MAX_LOOPED = 64;

// The kernel's memory, in bytes. It has room for as many keys, shapes and judges as `filter-fit.ts` allows; the kernel's own areas
// start at 0x30000, and its constants at 1024.
const SHAPES_AT = 2048;
const JUDGES_AT = SHAPES_AT + MAX_SHAPES * 8;
const OFFSETS_AT = JUDGES_AT + MAX_JUDGES * 4;
const HASHES_AT = OFFSETS_AT + (MAX_FITTED_KEYS + 1) * 4;
const KEYS_AT = 0x100000;
/** The kernel reads this much past a key. */
const READ_PAST = 16;

interface KernelExports extends Kernel {
  readonly BITS_AT: { readonly value: number };
  fit(bytes: number, offsets: number, keys: number, hashes: number, judges: number, stride: number, perKey: number, shift: number, shapes: number, shapeCount: number, shapesPerPass: number, patience: number, judgesPerPass: number): number;
}

/** An instance of the kernel, with its own memory. */
export class FitKernel {
  readonly #exports: KernelExports;
  readonly #bitsAt: number;
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #shapes: Uint32Array;
  /** The shapes that the memory holds. */
  #held: readonly FilterShape[] | undefined;

  private constructor(exports: KernelExports) {
    const { buffer } = exports.memory;
    this.#exports = exports;
    this.#bitsAt = exports.BITS_AT.value;
    this.#bytes = new Uint8Array(buffer);
    this.#offsets = new Uint32Array(buffer, OFFSETS_AT, MAX_FITTED_KEYS + 1);
    this.#shapes = new Uint32Array(buffer, SHAPES_AT, MAX_SHAPES * 2);
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): FitKernel | undefined {
    const exports = instantiateKernel<KernelExports>(FIT_KERNEL);
    return exports && new FitKernel(exports);
  }

  /**
   * The best of the shapes, whose bits the kernel then has: see {@link copyTo}. Undefined when the keys are too long for its memory.
   *
   * @throws RangeError when the offsets of the keys do not ascend or leave their bytes.
   */
  fit(keys: KeyList, shapes: readonly FilterShape[]): FilterShape | undefined {
    const { bytes, offsets, length } = keys;
    mustAscend(keys, 0, length);
    const start = offsets[0]!;
    const end = offsets[length]!;
    if (end - start > this.#bytes.length - KEYS_AT - READ_PAST) return undefined;
    if (length < MAX_LOOPED) for (let i = 0, to = this.#offsets; i <= length; i++) to[i] = offsets[i]!;
    else this.#offsets.set(offsets.subarray(0, length + 1));
    this.#bytes.set(bytes.subarray(start, end), KEYS_AT);
    if (this.#held !== shapes) {
      this.#held = shapes;
      for (const [i, shape] of shapes.entries()) {
        this.#shapes[i * 2] = shape.bytes * 8;
        this.#shapes[i * 2 + 1] = shape.probes;
      }
    }
    // At least four places for each key in the table of stored hashes: with two, looking judges up takes a third longer.
    const shift = Math.clz32(length * 4 - 1);
    const best = this.#exports.fit(KEYS_AT - start, OFFSETS_AT, length, HASHES_AT, JUDGES_AT, judgeStride(length), JUDGES_PER_KEY, shift, SHAPES_AT, shapes.length, SHAPES_PER_PASS, PATIENCE, JUDGES_PER_PASS);
    return shapes[best]!;
  }

  /** Copies the bits of the filter that was fitted last. */
  copyTo(filter: Uint8Array, byteLength: number): void {
    const from = this.#bytes;
    const at = this.#bitsAt;
    if (byteLength > MAX_LOOPED) filter.set(from.subarray(at, at + byteLength));
    else for (let i = 0; i < byteLength; i++) filter[i] = from[at + i]!;
  }
}
