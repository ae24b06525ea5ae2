// @node-rs/crc32: uses the processor's CRC instruction, prebuilt for every common platform.
import { createRequire } from 'node:module';

interface Native {
  readonly crc32c: (input: Uint8Array, seed?: number) => number;
}

let implementation: ((bytes: Uint8Array, seed?: number) => number) | undefined;

/** The CRC-32C of `bytes`, a uint32. `seed` is the CRC-32C of the bytes before them. */
export function crc32c(bytes: Uint8Array, seed?: number): number {
  implementation ??= load();
  return implementation(bytes, seed);
}

/** The native function or, on platforms that it is not built for, that of crc-32, which is not loaded otherwise. */
function load(): (bytes: Uint8Array, seed?: number) => number {
  const require = createRequire(import.meta.url);
  try {
    return (require('@node-rs/crc32') as Native).crc32c;
  } catch {
    const { buf } = require('crc-32/crc32c.js') as { readonly buf: (bytes: Uint8Array, seed: number) => number };
    return (bytes, seed = 0) => buf(bytes, seed) >>> 0;
  }
}
