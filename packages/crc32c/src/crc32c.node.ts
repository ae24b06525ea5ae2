// @node-rs/crc32: uses the processor's CRC instruction, prebuilt for every common platform.
import { createRequire } from 'node:module';
import { crc32c as crc32cInJavaScript } from './crc32c.default.js';

interface Native {
  readonly crc32c: (input: Uint8Array, seed?: number) => number;
}

let implementation: ((bytes: Uint8Array, seed?: number) => number) | undefined;

/** The CRC-32C of `bytes`, a uint32. `seed` is the CRC-32C of the bytes before them. */
export function crc32c(bytes: Uint8Array, seed?: number): number {
  implementation ??= load();
  return implementation(bytes, seed);
}

/** The native function or, on platforms that it is not built for, the one in JavaScript, which must be part of a bundle. */
function load(): (bytes: Uint8Array, seed?: number) => number {
  try {
    return (createRequire(import.meta.url)('@node-rs/crc32') as Native).crc32c;
  } catch {
    return crc32cInJavaScript;
  }
}
