// AssemblyScript. The loops of `hashEach` and `hash64Each`, for `src/hash-kernel.ts`, which lays out the memory: all addresses
// are bytes from its start.
import { writeHashes64 } from './hash64-keys';
import { writeHashes } from './hash-keys';

/** Writes the hash of each key. Key i is bytes[offsets[i], offsets[i + 1]). */
export function hashKeys(bytes: usize, offsets: usize, count: u32, seed: u32, hashes: usize): void {
  writeHashes(bytes, offsets, count, seed, hashes);
}

/** The same for the 64-bit hashes, of eight bytes each. */
export function hashKeys64(bytes: usize, offsets: usize, count: u32, seed: u32, hashes: usize): void {
  writeHashes64(bytes, offsets, count, seed, hashes);
}
