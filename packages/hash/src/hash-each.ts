import { mustBeBytes } from '@bloom/bytes/internal';
import { hashRange } from './hash.js';
import { hash64Range } from './hash64.js';
import { HashKernel } from './hash-kernel.js';

/** With fewer keys than this, the plain loop finishes before the keys could be copied to the kernel. */
const KERNEL_MIN_KEYS = 16;

/** Compiling the kernel takes as long as hashing this many keys. */
const KERNEL_WORTH_KEYS = 4096;

// Made when it pays, and then shared by all calls: see `HashKernel`. null where the host does not allow one.
let kernel: HashKernel | null | undefined;
let keysSeen = 0;

/**
 * Hashes many keys that lie in one flat buffer: key `i` is `bytes[offsets[i], offsets[i + 1])`.
 *
 * @param offsets in ascending order, one more than there are keys.
 * @param out receives the hashes: at least one element per key. Default: a new array.
 * @returns `out`.
 * @throws TypeError when `bytes` is not a `Uint8Array`.
 * @throws RangeError when `offsets` do not ascend or are not within `bytes`, or `out` is too short.
 * @example
 * ```ts
 * hashEach(new TextEncoder().encode('foobar'), Uint32Array.of(0, 3, 6), 1); // [0xfe7735c4, 0xd9738c37]
 * ```
 */
export function hashEach(
  bytes: Uint8Array,
  offsets: Uint32Array,
  seed: number,
  out: Uint32Array = new Uint32Array(Math.max(0, offsets.length - 1)),
): Uint32Array {
  const count = Math.max(0, offsets.length - 1);
  if (out.length < count) throw new RangeError(`out must have at least ${count} elements, one per key, got ${out.length}`);
  if (count === 0) mustBeBytes('bytes', bytes);
  const shared = count < KERNEL_MIN_KEYS ? null : kernelFor(count);
  if (shared && offsets instanceof Uint32Array && out instanceof Uint32Array) {
    if (!(bytes instanceof Uint8Array && bytes.length > 0)) mustBeBytes('bytes', bytes);
    for (let i = 0; i < count;) {
      const hashed = shared.hash(bytes, offsets, i, seed, out);
      if (hashed === 0) out[i] = hashRange(bytes, offsets[i]!, offsets[i + 1]!, seed);
      i += hashed || 1;
    }
    return out;
  }
  for (let i = 0; i < count; i++) out[i] = hashRange(bytes, offsets[i]!, offsets[i + 1]!, seed);
  return out;
}

/**
 * The 64-bit hashes of many keys that lie in one flat buffer: key `i` is `bytes[offsets[i], offsets[i + 1])`.
 *
 * @param offsets in ascending order, one more than there are keys.
 * @param out receives two elements for each key, the low lane of its hash and the high one. Default: a new array.
 * @returns `out`.
 * @throws TypeError when `bytes` is not a `Uint8Array`.
 * @throws RangeError when `offsets` do not ascend or are not within `bytes`, or `out` is too short.
 * @example
 * ```ts
 * hash64Each(new TextEncoder().encode('foobar'), Uint32Array.of(0, 3, 6), 1); // [0x7a0398b9, 0xdc36d2eb, …]
 * ```
 */
export function hash64Each(
  bytes: Uint8Array,
  offsets: Uint32Array,
  seed: number,
  out: Uint32Array = new Uint32Array(Math.max(0, offsets.length - 1) * 2),
): Uint32Array {
  const count = Math.max(0, offsets.length - 1);
  if (out.length < count * 2) throw new RangeError(`out must have at least ${count * 2} elements, two per key, got ${out.length}`);
  if (count === 0) mustBeBytes('bytes', bytes);
  const shared = count < KERNEL_MIN_KEYS ? null : kernelFor(count);
  if (shared && offsets instanceof Uint32Array && out instanceof Uint32Array) {
    if (!(bytes instanceof Uint8Array && bytes.length > 0)) mustBeBytes('bytes', bytes);
    for (let i = 0; i < count;) {
      const hashed = shared.hash64(bytes, offsets, i, seed, out);
      if (hashed === 0) hash64Range(bytes, offsets[i]!, offsets[i + 1]!, seed, out.subarray(i * 2));
      i += hashed || 1;
    }
    return out;
  }
  const lanes = new Uint32Array(2);
  for (let i = 0; i < count; i++) {
    hash64Range(bytes, offsets[i]!, offsets[i + 1]!, seed, lanes);
    out[i * 2] = lanes[0]!;
    out[i * 2 + 1] = lanes[1]!;
  }
  return out;
}

function kernelFor(count: number): HashKernel | null {
  if (kernel === undefined) {
    keysSeen += count;
    if (keysSeen < KERNEL_WORTH_KEYS) return null;
    kernel = HashKernel.create() ?? null;
  }
  return kernel;
}
