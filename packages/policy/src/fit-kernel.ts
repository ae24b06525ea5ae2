/** The search for the shape of a fitted filter, `filter-fit.ts`, in WebAssembly, for one filter at a time. */
import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { type FilterShape, JUDGES_PER_KEY, JUDGES_PER_PASS, judgeStride, LENGTHS_PER_PASS, MAX_FITTED_KEYS, PASS_COST, PATIENCE, type ShapeChoice } from './filter-fit.js';
import { FIT_KERNEL } from './fit-kernel.wasm.js';
import { mustAscend } from './key-list-order.js';
import type { KeyList } from './policy.js';

/** Room for the lengths and the costs of a {@link ShapeChoice}, each. */
const MAX_CHOICES = 64;
/** Judges of one filter. */
const MAX_JUDGES = 1024;
/** Up to this many elements, a loop is faster than `set` with a view. */
const MAX_LOOPED = 64;

// The kernel's memory, in bytes. It has room for as many keys, shapes and judges as `filter-fit.ts` allows; the kernel's own areas
// start at 0x30000, and its constants at 1024.
const LENGTHS_AT = 2048;
const COSTS_AT = LENGTHS_AT + MAX_CHOICES * 4;
const JUDGES_AT = COSTS_AT + MAX_CHOICES * 4;
const OFFSETS_AT = JUDGES_AT + MAX_JUDGES * 4;
const HASHES_AT = OFFSETS_AT + (MAX_FITTED_KEYS + 1) * 4;
const KEYS_AT = 0x100000;
/** The kernel reads this much past a key. */
const READ_PAST = 16;

interface KernelExports extends Kernel {
  readonly BITS_AT: { readonly value: number };
  fit(bytes: number, offsets: number, keys: number, hashes: number, judges: number, stride: number, perKey: number, shift: number, lengths: number, lengthCount: number, costs: number, minProbes: number, maxProbesAtFirst: number, maxProbes: number, passCost: number, lengthsPerPass: number, patience: number, judgesPerPass: number): number;
  fittedProbes(): number;
}

/** An instance of the kernel, with its own memory. */
export class FitKernel {
  readonly #exports: KernelExports;
  readonly #bitsAt: number;
  readonly #bytes: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #lengths: Uint32Array;
  readonly #costs: Uint32Array;
  /** The choice that the memory holds. */
  #held: ShapeChoice | undefined;

  private constructor(exports: KernelExports) {
    const { buffer } = exports.memory;
    this.#exports = exports;
    this.#bitsAt = exports.BITS_AT.value;
    this.#bytes = new Uint8Array(buffer);
    this.#offsets = new Uint32Array(buffer, OFFSETS_AT, MAX_FITTED_KEYS + 1);
    this.#lengths = new Uint32Array(buffer, LENGTHS_AT, MAX_CHOICES);
    this.#costs = new Uint32Array(buffer, COSTS_AT, MAX_CHOICES);
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): FitKernel | undefined {
    const exports = instantiateKernel<KernelExports>(FIT_KERNEL);
    return exports && new FitKernel(exports);
  }

  /**
   * The best of the shapes; {@link copyTo} then copies its bits. Undefined when the keys are too long for the kernel's memory.
   *
   * @throws RangeError when the offsets of the keys do not ascend or leave their bytes.
   */
  fit(keys: KeyList, choice: ShapeChoice): FilterShape | undefined {
    const { bytes, offsets, length } = keys;
    mustAscend(keys, 0, length);
    const start = offsets[0]!;
    const end = offsets[length]!;
    if (end - start > this.#bytes.length - KEYS_AT - READ_PAST) return undefined;
    if (length < MAX_LOOPED) for (let i = 0, to = this.#offsets; i <= length; i++) to[i] = offsets[i]!;
    else this.#offsets.set(offsets.subarray(0, length + 1));
    this.#bytes.set(bytes.subarray(start, end), KEYS_AT);
    const { lengths, minProbes, maxProbesAtFirst, costs } = choice;
    if (this.#held !== choice) {
      this.#held = choice;
      this.#lengths.set(lengths.map((length) => length * 8));
      this.#costs.set(costs);
    }
    // At least four places for each key in the table of stored hashes: with two, looking judges up takes a third longer.
    const shift = Math.clz32(length * 4 - 1);
    const maxProbes = minProbes + costs.length - 1;
    const best = this.#exports.fit(KEYS_AT - start, OFFSETS_AT, length, HASHES_AT, JUDGES_AT, judgeStride(length), JUDGES_PER_KEY, shift, LENGTHS_AT, lengths.length, COSTS_AT, minProbes, maxProbesAtFirst, maxProbes, PASS_COST, LENGTHS_PER_PASS, PATIENCE, JUDGES_PER_PASS);
    return { bytes: lengths[best]!, probes: this.#exports.fittedProbes() };
  }

  /** Copies the bits of the filter that was fitted last. */
  copyTo(filter: Uint8Array, byteLength: number): void {
    const from = this.#bytes;
    const at = this.#bitsAt;
    if (byteLength > MAX_LOOPED) filter.set(from.subarray(at, at + byteLength));
    else for (let i = 0; i < byteLength; i++) filter[i] = from[at + i]!;
  }
}
