/** The loops of `build-ribbon.ts` and of batches of lookups in WebAssembly, in a fraction of the time. */
import { instantiateKernel } from '@bloom/bytes/internal';
import { HASHES_AT, HashFilterKernel, type HashFilterKernelExports, STATE_AT, STATE_BYTES } from '@bloom/policy/internal';
import { RIBBON_KERNEL } from './ribbon-kernel.wasm.js';
import { GROUP_SLOTS, type RibbonShape } from './ribbon-filter.js';

/** Rows are read up to this many bytes past the filter: 17 groups of 17 columns. */
const READ_PAST = 512;

/** Bytes for each slot while equations are solved: its row and its value. */
const SLOT_BYTES = { 64: 8 + 4, 128: 32 } as const;
/** Slots are at a multiple of this many bytes, so that none is in two cache lines. */
const SLOTS_ALIGNMENT = 32;

interface KernelExports extends HashFilterKernelExports {
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
export class RibbonKernel extends HashFilterKernel<RibbonShape> {
  readonly #exports: KernelExports;

  private constructor(exports: KernelExports) {
    super(exports, READ_PAST);
    this.#exports = exports;
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): RibbonKernel | undefined {
    const exports = instantiateKernel<KernelExports>(RIBBON_KERNEL);
    return exports && new RibbonKernel(exports);
  }

  protected override another(): this | undefined {
    return RibbonKernel.create() as this | undefined;
  }

  protected override bytesFor(count: number, { width, groups, columns }: RibbonShape): number {
    return slotsAfter(count) + groups * (GROUP_SLOTS * SLOT_BYTES[width] + columns + 1);
  }

  override build(count: number, { width, groups, columns, extraGroups }: RibbonShape): Uint8Array | undefined {
    const slots = groups * GROUP_SLOTS;
    const rowsAt = slotsAfter(count);
    const arrayAt = rowsAt + slots * SLOT_BYTES[width];
    this.bytes.fill(0, rowsAt, arrayAt);
    this.bytes.fill(0, STATE_AT, STATE_AT + STATE_BYTES);
    const valueMask = 2 ** (extraGroups > 0 ? columns + 1 : columns) - 1;
    if (width === 64) {
      const valuesAt = rowsAt + slots * 8;
      if (!this.#exports.eliminate64(HASHES_AT, count, slots, valueMask, rowsAt, valuesAt)) return undefined;
      this.#exports.substitute64(rowsAt, valuesAt, groups, columns, extraGroups, STATE_AT, arrayAt);
    } else {
      if (!this.#exports.eliminate128(HASHES_AT, count, slots, valueMask, rowsAt)) return undefined;
      this.#exports.substitute128(rowsAt, groups, columns, extraGroups, STATE_AT, arrayAt);
    }
    return this.bytes.subarray(arrayAt, arrayAt + groups * columns + extraGroups);
  }

  protected override testHashes(hashes: number, count: number, { width, groups, columns, extraGroups }: RibbonShape, filter: number, answers: number): void {
    this.#exports.test(hashes, count, width, groups, columns, extraGroups, filter, answers);
  }
}

/** Where the slots begin after this many hashes. */
function slotsAfter(hashes: number): number {
  return Math.ceil((HASHES_AT + hashes * 8) / SLOTS_ALIGNMENT) * SLOTS_ALIGNMENT;
}
