import { mustBeBytes } from '@bloom/bytes/internal';
import { kernelCrc32c } from './crc32c-kernel.js';
import { makeCrcTables } from './crc-tables.js';
import { type Crc32c, plainCrc32c } from './plain-crc32c.js';

/** For fewer bytes, copying them into the kernel and calling it takes longer than the plain TypeScript. */
const MIN_KERNEL_BYTES = 256;
/**
 * The kernel is compiled after this many bytes in calls that could have used it. In a new process, compiling it takes as long as their checksums
 * in plain TypeScript; for 32 KiB, the compiler of V8 would add two milliseconds.
 */
const BYTES_BEFORE_KERNEL = 8 * 2 ** 10;

// Made at first use, so that nothing is computed or compiled at import.
let implementation: Crc32c | undefined;

/**
 * The CRC-32C of the first `length` bytes of `bytes`, or of all of them, a uint32. `seed` is the CRC-32C of the bytes before them.
 *
 * @throws TypeError when `bytes` is not a `Uint8Array`, or is detached; RangeError when it has fewer than `length` bytes.
 */
export function crc32c(bytes: Uint8Array, seed = 0, length?: number): number {
  mustBeBytes('bytes', bytes);
  length ??= bytes.length;
  if (!(Number.isInteger(length) && length >= 0 && length <= bytes.length)) {
    throw new RangeError(`length must be a whole number from 0 to ${bytes.length}, got ${length}`);
  }
  implementation ??= makeCrc32c();
  return implementation(bytes, seed, length);
}

/** CRC-32C in WebAssembly or, where the host does not allow it and for few bytes, in plain TypeScript. */
export function makeCrc32c(): Crc32c {
  const tables = makeCrcTables();
  const plain = plainCrc32c(tables);
  let kernel: Crc32c | undefined;
  let left = BYTES_BEFORE_KERNEL;
  return (bytes, seed, length) => {
    if (length < MIN_KERNEL_BYTES) return plain(bytes, seed, length);
    if (kernel === undefined) {
      left -= length;
      if (left >= 0) return plain(bytes, seed, length);
      kernel = kernelCrc32c(tables) ?? plain;
    }
    return kernel(bytes, seed, length);
  };
}
