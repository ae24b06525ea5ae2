import { kernelCrc32c } from './crc32c-kernel.js';
import { makeCrcTables } from './crc-tables.js';
import { type Crc32c, plainCrc32c } from './plain-crc32c.js';

/** For fewer bytes, copying them into the kernel and calling it takes longer than the plain TypeScript. */
const MIN_KERNEL_BYTES = 256;

// Made at first use, so that nothing is computed or compiled at import.
let implementation: Crc32c | undefined;

/** The CRC-32C of the first `length` bytes of `bytes`, or of all of them, a uint32. `seed` is the CRC-32C of the bytes before them. */
export function crc32c(bytes: Uint8Array, seed = 0, length = bytes.length): number {
  implementation ??= makeCrc32c();
  return implementation(bytes, seed, length);
}

/** CRC-32C in WebAssembly or, where the host does not allow it and for few bytes, in plain TypeScript. */
export function makeCrc32c(): Crc32c {
  const tables = makeCrcTables();
  const plain = plainCrc32c(tables);
  const kernel = kernelCrc32c(tables);
  if (kernel === undefined) return plain;
  return (bytes, seed, length) => (length < MIN_KERNEL_BYTES ? plain : kernel)(bytes, seed, length);
}
