/** How flushes and compactions get the code of the merge kernel, which is loaded on demand: a page that only reads does not need it. */
import { compareInternalBytes } from '@bloom/sstable/internal';
import type { KeyOrder } from '../format/version.js';
import type * as inKernel from './in-kernel.js';

type KernelWork = typeof inKernel;

/** Smaller work is done before a kernel would have been compiled. */
const MIN_BYTES = 2 ** 14;

let provided: KernelWork | undefined;

/** Provides the code. On Node, importing it when it is needed would take five milliseconds. */
export function provideKernelWork(work: KernelWork): void {
  provided = work;
}

/** The code for work on `byteLength` bytes; undefined if a kernel is not for this work, or could not be loaded. */
export async function kernelWork(order: KeyOrder, byteLength: number): Promise<KernelWork | undefined> {
  if (order.compareInternalKeys !== compareInternalBytes || byteLength < MIN_BYTES) return undefined;
  // The page may be offline. The next job tries again.
  return (provided ??= await import('./in-kernel.js').catch(() => undefined));
}
