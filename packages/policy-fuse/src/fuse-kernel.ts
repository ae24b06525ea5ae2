/** The loops of `build-fuse.ts` and of batches of lookups in WebAssembly, in a third of the time. */
import { instantiateKernel } from '@bloom/bytes/internal';
import { HASHES_AT, HashFilterKernel, type HashFilterKernelExports } from '@bloom/policy/internal';
import { FUSE_KERNEL } from './fuse-kernel.wasm.js';
import type { FuseShape } from './fuse-filter.js';

interface KernelExports extends HashFilterKernelExports {
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
export class FuseKernel extends HashFilterKernel<FuseShape> {
  readonly #exports: KernelExports;

  private constructor(exports: KernelExports) {
    super(exports, 0);
    this.#exports = exports;
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): FuseKernel | undefined {
    const exports = instantiateKernel<KernelExports>(FUSE_KERNEL);
    return exports && new FuseKernel(exports);
  }

  protected override another(): this | undefined {
    return FuseKernel.create() as this | undefined;
  }

  protected override bytesFor(count: number, { fingerprintBits, length }: FuseShape): number {
    return this.scratchAt + count * 9 + 16 + length * (13 + fingerprintBits / 8) + 8;
  }

  override build(count: number, { fingerprintBits, segmentLog, length }: FuseShape): Uint8Array | undefined {
    const ownAt = this.scratchAt + count * 8;
    const sumsAt = (ownAt + count + 7) & ~7;
    const countsAt = sumsAt + length * 8;
    const aloneAt = (countsAt + length + 3) & ~3;
    // One element more than there are positions: the next one is written before it is known to be alone.
    const arrayAt = aloneAt + length * 4 + 4;
    const end = arrayAt + (length * fingerprintBits) / 8;
    this.bytes.fill(0, sumsAt, aloneAt);
    this.bytes.fill(0, arrayAt, end);
    const isBuilt = this.#exports.build(
      HASHES_AT, count, segmentLog, length, fingerprintBits, this.scratchAt, ownAt, sumsAt, countsAt, aloneAt, arrayAt,
    );
    return isBuilt ? this.bytes.subarray(arrayAt, end) : undefined;
  }

  protected override testHashes(hashes: number, count: number, { fingerprintBits, segmentLog, length }: FuseShape, filter: number, answers: number): void {
    this.#exports.test(hashes, count, segmentLog, length, fingerprintBits, filter, answers);
  }
}
