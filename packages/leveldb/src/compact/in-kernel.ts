// Flushes and compactions in a kernel: what `load-kernel-work.ts` loads.
export { flushInKernel } from './flush-in-kernel.js';
export { mergeInKernel } from './merge-in-kernel.js';
